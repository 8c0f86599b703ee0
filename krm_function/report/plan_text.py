"""The plan as text: a table with one line per workload, and totals.

Rule of this file: a workload takes one line, whatever characters its name holds.
"""

from krm_function.pipeline import Planned
from krm_function.placement.place import Placement, first_and_more, grouped
from krm_function.report.open_variables import variables_text
from krm_function.report.order import on_one_line
from krm_function.report.plan import Plan, PlanEntry, changes_of, plan_totals
from krm_function.report.table import table

HEADERS = ("WORKLOAD", "KIND", "PLATFORM", "RUNTIME CLASS", "VCPUS", "NODES", "CHANGES", "NOTES")
GROUPS = 3  # groups of nodes whose reasons a line tells; the other forms tell all


def plan_text(plan: Plan) -> str:
    """The plan as a table with totals. Without nodes, their column has the node selector of the runtime class."""
    headers = tuple("NODES WITH" if name == "NODES" and plan.nodes is None else name for name in HEADERS)
    rows = [_row(line) for line in plan.lines] + [_skipped_row(planned) for planned in plan.skipped]
    if not any(row[-1] for row in rows):
        headers, rows = headers[:-1], [row[:-1] for row in rows]
    return f"{table([headers, *rows])}\n\n{open_lines(plan)}{on_one_line(plan_totals(plan))}\n"


def open_lines(plan: Plan) -> str:
    """One line for each workload with open variables, under a headline; "" if there are none."""
    opened = [line for line in plan.lines if line.planned.open]
    if not opened:
        return ""
    lines = [f"  {on_one_line(f'{line.ref}: {variables_text(line.planned)}')}\n" for line in opened]
    return f"open variables, of which the host may choose any value:\n{''.join(lines)}\n"


def _row(line: PlanEntry) -> tuple[str, ...]:
    planned = line.planned
    return (
        str(line.ref),
        line.ref.kind,
        planned.platform or "-",
        planned.runtime_class or "-",
        str(planned.vcpus or "-"),
        _required(planned) if line.placement is None else nodes_of(line.placement),
        "error" if line.broken else changes_of(planned),
        notes_of(line),
    )


def _required(planned: Planned) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(planned.node_selector.items())) or "any"


def nodes_of(placement: Placement) -> str:
    """`snp-1, snp-2 (2 of 6)`."""
    if placement.refused:
        return "refused at admission"
    count = len(placement.fits)
    fitting = placement.fitting
    return f"{first_and_more(fitting)} ({len(fitting)} of {count})" if fitting else f"none of {count}"


def notes_of(line: PlanEntry) -> str:
    """The codes of the findings, then why the other nodes do not take the pod, the closest first.

    Where a node takes it, only one reason for each other node.
    """
    parts = [", ".join(dict.fromkeys(found.code for found in line.findings))]
    verdicts = line.placement.fits if line.placement is not None else ()
    if any(not verdict.reasons for verdict in verdicts):
        verdicts = tuple(verdict._replace(reasons=verdict.reasons[:1]) for verdict in verdicts)
    refusals = grouped(verdicts)
    parts += [f"not {refusal}" for refusal in refusals[:GROUPS]]
    left = sum(len(refusal.nodes) for refusal in refusals[GROUPS:])
    return "; ".join(filter(None, [*parts, f"nor {left} more" if left else ""]))


def _skipped_row(planned: Planned) -> tuple[str, ...]:
    return (str(planned.ref), planned.ref.kind, "-", "-", "-", "-", f"skipped: {planned.skipped}", "")
