"""The plan as data: one entry per workload with its placement and findings, conflicts first.

Rule of this file: it arranges the records of a render and of `placement.place` and computes nothing again. Every form
of the plan is made from this record.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Ref
from krm_function.model.lookup import mapping, maps
from krm_function.pipeline.result import Planned, Rendered
from krm_function.placement.node import Node
from krm_function.placement.place import Placement
from krm_function.record import NamedTuple
from krm_function.report.order import ordered
from krm_function.report.pools import Pool, pools

UNPLACED = "CC0311"
INJECTED = frozenset({"CC0801", "CC0802", "CC0803"})
REWRITTEN = frozenset({"CC0831", "CC0832", "CC0833", "CC0834"})  # by a rule of spec.volumes; one reason for each volume


class PlanEntry(NamedTuple):
    """One workload. placement: None when no nodes are known, or when it has no runtime class yet."""

    planned: Planned
    placement: Placement | None = None
    findings: tuple[Finding, ...] = ()  # errors and warnings about this workload, in the order of a report

    @property
    def ref(self) -> Ref:
        """Which workload."""
        return self.planned.ref

    @property
    def broken(self) -> bool:
        """Whether the render fails because of it."""
        return any(found.severity == "error" and found.code != UNPLACED for found in self.findings)

    @property
    def failed(self) -> bool:
        """Whether it is in conflict: an error of the render, or no node."""
        return any(found.severity == "error" for found in self.findings)

    @property
    def one_a_node(self) -> bool:
        """Whether it is a DaemonSet, whose pods are made for nodes and not placed on some of them."""
        return self.placement is not None and self.placement.replicas is None


class Plan(NamedTuple):
    """The plan of a render.

    findings: those about no workload of the plan. source: where the nodes come from. release: the version of the
    Contrast release, "" if it is not known.
    """

    lines: tuple[PlanEntry, ...]
    skipped: tuple[Planned, ...]
    pools: tuple[Pool, ...] = ()
    findings: tuple[Finding, ...] = ()
    nodes: tuple[Node, ...] | None = None
    source: str = ""
    failed: bool = False  # the render itself: nothing would be written
    release: str = ""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Every error and warning, errors first."""
        return tuple(ordered([*self.findings, *(found for line in self.lines for found in line.findings)]))

    @property
    def unplaced(self) -> int:
        """How many workloads fit no node."""
        return sum(any(found.code == UNPLACED for found in line.findings) for line in self.lines)


def make_plan(
    rendered: Rendered,
    nodes: Sequence[Node] | None = None,
    placements: Mapping[int, Placement] | None = None,
    more: Sequence[Finding] = (),
    source: str = "",
) -> Plan:
    """Make the plan of a render.

    nodes: None when none are known. placements: by position in `rendered.plan`. more: findings of placing the pods.
    """
    findings = [found for found in ordered([*rendered.findings, *more]) if found.severity != "info"]
    lines: list[PlanEntry] = []
    for index, planned in enumerate(rendered.plan):
        if not planned.skipped:
            mine = tuple(found for found in findings if found.ref == planned.ref)
            lines.append(PlanEntry(planned, (placements or {}).get(index), mine))
    lines.sort(key=lambda line: not line.failed)
    of_lines = {line.ref for line in lines}
    return Plan(
        tuple(lines),
        tuple(planned for planned in rendered.plan if planned.skipped),
        pools([(line.planned, line.placement, line.failed) for line in lines], nodes),
        tuple(found for found in findings if found.ref not in of_lines),
        None if nodes is None else tuple(nodes),
        source,
        rendered.failed,
        rendered.release,
    )


def common_class(plan: Plan) -> str:
    """Return the pattern of all runtime classes, as `contrast-cc-<platform>-1a2b3c4d`; "" if there is not one."""
    classes = {(line.planned.platform, line.planned.runtime_class) for line in plan.lines if line.planned.platform}
    patterns = {name.replace(f"-{platform}-", "-<platform>-") for platform, name in classes}
    if len(patterns) != 1:
        return ""
    return next(iter(classes))[1] if len(classes) == 1 else patterns.pop()


def changes_of(planned: Planned, *, digest: bool = True) -> str:
    """Write `+2 containers as user 0:0, policy 1a2b3c4d`; as whom they run stands there if the pod sets another user.

    digest: with the beginning of the policy's digest.
    """
    injected = [edit for edit in planned.edits if edit.code in INJECTED]
    containers = len({edit.code for edit in injected})
    users = dict.fromkeys(user for edit in injected for user in _stated_users(edit.after))
    own = f" as user {' and '.join(users)}" if users else ""
    parts = [f"+{counted(containers, 'container')}{own}"] if containers else []
    volumes = len({edit.reason for edit in planned.edits if edit.code in REWRITTEN})
    parts += [f"{counted(volumes, 'volume')} rewritten"] if volumes else []
    parts += ["annotations moved"] if any(edit.code == "CC0290" for edit in planned.edits) else []
    parts += ["memory"] if any(edit.code == "CC0422" for edit in planned.edits) else []
    parts += ["vCPUs raised"] if any(edit.code == "CC0417" for edit in planned.edits) else []
    parts += ["GPU renamed"] if any(edit.code == "CC0412" for edit in planned.edits) else []
    images = len([edit for edit in planned.edits if edit.code == "CC0506"])
    parts += [counted(images, "image")] if images else []
    parts += [f"policy {planned.digest[:8]}"] if planned.digest and digest else []
    return ", ".join(parts) or ("policy" if planned.digest else "no changes")


def _stated_users(after: Any) -> list[str]:
    """Return the users, `uid:gid`, that inserted containers state; the list is inserted whole where there was none."""
    contexts = [mapping(entry.get("securityContext")) for entry in maps(after if isinstance(after, list) else [after])]
    return [f"{one['runAsUser']}:{one['runAsGroup']}" for one in contexts if {"runAsUser", "runAsGroup"} <= one.keys()]


def counted(number: int, noun: str) -> str:
    """Write `1 node`, `2 nodes`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def plan_totals(plan: Plan) -> str:
    """Sum the plan up in one sentence."""
    parts = [counted(len(plan.lines), "workload"), f"{len(plan.skipped)} skipped"]
    if plan.nodes is not None:
        parts.append(counted(len(plan.nodes), "node"))
    if plan.unplaced:
        parts.append(f"{plan.unplaced} without a node that fits")
    if plan.failed:
        errors = sum(found.severity == "error" and found.code != UNPLACED for found in plan.problems)
        parts.append(f"{counted(errors, 'error')}: nothing would be written")
    return ", ".join(parts)
