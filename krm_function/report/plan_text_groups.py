"""The workloads of a plan in groups that the same nodes take, each group under one heading with its reasons.

Rule of this file: two workloads are of one group when heading and reasons are the same, so each reason stands once. The
words are those of the text form; plan_text.py decides the widths of lines.
"""

from collections.abc import Iterable

from krm_function.pipeline.result import Planned
from krm_function.placement.place import Placement, first_and_more, grouped
from krm_function.record import NamedTuple
from krm_function.report.plan import Plan, PlanEntry, changes_of, common_class, counted
from krm_function.report.plan_memory import memory_cell, memory_sum
from krm_function.report.variables_text import variables_text

REASONS = 3  # reasons that a group shows; the other forms of the plan show all


class Row(NamedTuple):
    """One workload. changes: with the beginning of the policy's digest; brief: without. notes: lines about it alone."""

    name: str
    kind: str
    vcpus: str = ""
    memory: str = ""
    changes: str = ""
    brief: str = ""
    notes: tuple[str, ...] = ()


class Group(NamedTuple):
    """Workloads under one heading. reasons: why other nodes do not take them. failed: whether one is in conflict.

    memory: of all their pods, where there is more than one.
    """

    heading: str
    rows: tuple[Row, ...]
    reasons: tuple[str, ...] = ()
    failed: bool = False
    memory: str = ""


def groups_of(plan: Plan) -> list[Group]:
    """Return the groups in the order of the plan, conflicts first; then the skipped workloads by the reason."""
    named, sized = (
        not common_class(plan),
        any(one.planned.memory and not one.planned.memory.unknown for one in plan.lines),
    )
    members: dict[tuple[bool, str, tuple[str, ...]], list[PlanEntry]] = {}
    for line in plan.lines:
        members.setdefault((line.failed, heading_of(line, named=named), reasons_of(line)), []).append(line)
    groups = [
        Group(
            heading, tuple(_row(line, sized=sized) for line in lines), reasons, failed, _memory(lines) if sized else ""
        )
        for (failed, heading, reasons), lines in members.items()
    ]
    skipped: dict[str, list[Row]] = {}
    for planned in plan.skipped:
        skipped.setdefault(planned.skipped, []).append(Row(str(planned.ref), planned.ref.kind))
    return groups + [Group(f"skipped: {reason}", tuple(rows)) for reason, rows in skipped.items()]


def heading_of(line: PlanEntry, *, named: bool) -> str:
    """Write platform and nodes: `metal-qemu-snp on snp-1, snp-2 (2 of 5 nodes)`. named: with the runtime class."""
    planned, placement = line.planned, line.placement
    what = planned.platform or "no platform"
    if named and planned.runtime_class:
        what += f" (class {planned.runtime_class})"
    if placement is None:
        if line.broken:
            return f"{what}, in error"
        open_to_all = planned.scheduled is not None and not planned.node_selector
        return f"{what} on {wanted_nodes(planned)}" + (
            ": the runtime class has no node selector" if open_to_all else ""
        )
    join = "," if placement.refused else ", one pod on each of" if line.one_a_node and placement.fitting else " on"
    return f"{what}{join} {nodes_of(placement)}"


def nodes_of(placement: Placement) -> str:
    """Write `snp-1, snp-2 (2 of 6 nodes)`, `none of 6 nodes` or `refused at admission`."""
    if placement.refused:
        return "refused at admission"
    count, fitting = counted(len(placement.fits), "node"), placement.fitting
    return f"{first_and_more(fitting)} ({len(fitting)} of {count})" if fitting else f"none of {count}"


def wanted_nodes(planned: Planned) -> str:
    """Return the nodes that a pod asks for, where none are known: `nodes with tee=snp`, `any node`."""
    labels = ", ".join(f"{key}={value}" for key, value in sorted(planned.node_selector.items()))
    if labels:
        return f"nodes with {labels}"
    return "any node"


def reasons_of(line: PlanEntry) -> tuple[str, ...]:
    """Say why the other nodes do not take the pod, the closest first: `not tdx-1: label tee is tdx, not snp`.

    Where a node takes it, only one reason for each other node. Of a DaemonSet that has a node, only those nodes for
    which there is a pod that they cannot hold; no pod is made for the others.
    """
    placement = line.placement
    if placement is None:
        return ()
    if line.one_a_node and placement.fitting:
        return _first([f"Pending on {one}" for one in placement.pending], [len(one.nodes) for one in placement.pending])
    fits = placement.fits
    if placement.fitting:
        fits = tuple(one._replace(reasons=one.reasons[:1]) for one in fits)
    refusals = grouped(fits)
    return _first([f"not {one}" for one in refusals], [len(one.nodes) for one in refusals])


def _first(reasons: list[str], counts: Iterable[int]) -> tuple[str, ...]:
    """Return the first reasons, and the number of nodes that have other reasons."""
    left = sum(list(counts)[REASONS:])
    return (*reasons[:REASONS], *([f"nor {counted(left, 'more node')}"] if left else []))


def _row(line: PlanEntry, *, sized: bool) -> Row:
    """Return the row of a workload. sized: with its memory, since the lock has sizes of some images."""
    planned = line.planned
    codes: dict[str, None] = dict.fromkeys(f"{found.severity} {found.code}" for found in line.findings)
    return Row(
        str(planned.ref),
        planned.ref.kind,
        counted(planned.vcpus, "vCPU") if planned.vcpus else "",
        memory_cell(planned) if sized else "",
        "" if line.broken else changes_of(planned),
        "" if line.broken else changes_of(planned, digest=False),
        (*([", ".join(codes)] if codes else []), *_open(planned), *planned.notes),
    )


def _memory(lines: list[PlanEntry]) -> str:
    nodes = len(lines[0].placement.fitting) if lines[0].placement is not None else 1
    found = memory_sum([line.planned for line in lines], nodes)
    return str(found) if found is not None and found.pods > 1 else ""


def _open(planned: Planned) -> list[str]:
    """Return a note on the variables of which the policy allows any value, and one on those with a form."""
    if not planned.open:
        return []
    any_value = variables_text(planned, of_controller=False)
    with_form = variables_text(planned, of_controller=True)
    notes = {
        "open variables, of which the host may choose any value": any_value,
        "variables that the controller writes, of which the host may choose any value of the form": with_form,
    }
    return [f"{what}: {text}" for what, text in notes.items() if text]
