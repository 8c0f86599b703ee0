"""The plan as text, grouped by the nodes that take the workloads, and as a Mermaid flowchart."""

from collections.abc import Sequence
from textwrap import wrap

from krm_function.kubernetes.address import SHORT
from krm_function.kubernetes.placement import Placement, first_and_more, grouped
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple
from krm_function.report.findings import Paint, on_one_line, plain
from krm_function.report.plan import (
    Plan,
    PlanEntry,
    Pool,
    changes_of,
    common_class,
    counted,
    memory_cell,
    memory_legend,
    memory_sum,
    plan_totals,
)
from krm_function.report.policy_text import variables_text

# --- The workloads of a plan in groups that the same nodes take, each group under one heading with its reasons
#
# Rule: workloads with the same heading and reasons are one group, so each reason appears once.


REASONS = 3  # reasons that a group shows; the other forms of the plan show all


class Row(NamedTuple):
    """One workload. changes: with the beginning of the policy's digest; brief: without. notes: lines about it only."""

    name: str
    kind: str
    vcpus: str = ""
    memory: str = ""
    changes: str = ""
    brief: str = ""
    notes: tuple[str, ...] = ()


class Group(NamedTuple):
    """Workloads under one heading. reasons: why other nodes do not take them. failed: whether one is in conflict.

    memory: of all their pods, if there are several.
    """

    heading: str
    rows: tuple[Row, ...]
    reasons: tuple[str, ...] = ()
    failed: bool = False
    memory: str = ""


def groups_of(plan: Plan) -> list[Group]:
    """Return the groups in the order of the plan, conflicts first; then the skipped workloads by reason."""
    show_class = not common_class(plan)
    sized = any(line.workload.memory and not line.workload.memory.unknown for line in plan.lines)
    members: dict[tuple[bool, str, tuple[str, ...]], list[PlanEntry]] = {}
    for line in plan.lines:
        members.setdefault((line.failed, heading_of(line, show_class=show_class), reasons_of(line)), []).append(line)
    groups = [
        Group(
            heading,
            tuple(_make_row(line, sized=sized) for line in lines),
            reasons,
            failed,
            _sum_memory(lines) if sized else "",
        )
        for (failed, heading, reasons), lines in members.items()
    ]
    skipped: dict[str, list[Row]] = {}
    for workload in plan.skipped:
        skipped.setdefault(workload.skipped, []).append(Row(str(workload.ref), workload.ref.kind))
    return groups + [Group(f"skipped: {reason}", tuple(rows)) for reason, rows in skipped.items()]


def heading_of(line: PlanEntry, *, show_class: bool) -> str:
    """Write platform and nodes: `metal-qemu-snp on snp-1, snp-2 (2 of 5 nodes)`. show_class: add the runtime class."""
    workload, placement = line.workload, line.placement
    text = workload.platform or "no platform"
    if show_class and workload.runtime_class:
        text += f" (class {workload.runtime_class})"
    if placement is None:
        if line.broken:
            return f"{text}, in error"
        open_to_all = workload.scheduled is not None and not workload.node_selector
        why = ": the runtime class has no node selector" if open_to_all else ""
        return f"{text} on {wanted_nodes(workload)}{why}"
    join = "," if placement.refused else ", one pod on each of" if line.one_a_node and placement.fitting else " on"
    return f"{text}{join} {nodes_of(placement)}"


def nodes_of(placement: Placement) -> str:
    """Write `snp-1, snp-2 (2 of 6 nodes)`, `none of 6 nodes` or `refused at admission`."""
    if placement.refused:
        return "refused at admission"
    count, fitting = counted(len(placement.fits), "node"), placement.fitting
    return f"{first_and_more(fitting)} ({len(fitting)} of {count})" if fitting else f"none of {count}"


def wanted_nodes(workload: Workload) -> str:
    """Return the nodes that a pod requires, if no nodes are known: `nodes with tee=snp`, `any node`."""
    labels = ", ".join(f"{key}={value}" for key, value in sorted(workload.node_selector.items()))
    return f"nodes with {labels}" if labels else "any node"


def reasons_of(line: PlanEntry) -> tuple[str, ...]:
    """List why the other nodes do not take the pod, the closest first: `not tdx-1: label tee is tdx, not snp`.

    If a node takes it, only one reason for each other node. For a DaemonSet that has a node, only those nodes that get
    a pod which they cannot hold; no pod is made for the others.
    """
    placement = line.placement
    if placement is None:
        return ()
    if line.one_a_node and placement.fitting:
        label, refusals = "Pending on", placement.pending
    else:
        most = 1 if placement.fitting else None
        label, refusals = "not", grouped([fit._replace(reasons=fit.reasons[:most]) for fit in placement.fits])
    more_nodes = sum(len(refusal.nodes) for refusal in refusals[REASONS:])
    reasons = [f"{label} {refusal}" for refusal in refusals[:REASONS]]
    return (*reasons, *([f"nor {counted(more_nodes, 'more node')}"] if more_nodes else []))


def _make_row(line: PlanEntry, *, sized: bool) -> Row:
    workload = line.workload
    codes: dict[str, None] = dict.fromkeys(f"{finding.severity} {finding.code}" for finding in line.findings)
    return Row(
        str(workload.ref),
        workload.ref.kind,
        counted(workload.vcpus, "vCPU") if workload.vcpus else "",
        memory_cell(workload) if sized else "",
        "" if line.broken else changes_of(workload),
        "" if line.broken else changes_of(workload, digest=False),
        (*([", ".join(codes)] if codes else []), *_note_open_variables(workload), *workload.notes),
    )


def _sum_memory(lines: list[PlanEntry]) -> str:
    nodes = len(lines[0].placement.fitting) if lines[0].placement is not None else 1
    total = memory_sum([line.workload for line in lines], nodes)
    return str(total) if total is not None and total.pods > 1 else ""


def _note_open_variables(workload: Workload) -> list[str]:
    """Return a note on the variables that may have any value by the policy, and one on those with a form."""
    titles = (
        "open variables, of which the host may choose any value",
        "variables that the controller writes, of which the host may choose any value of the form",
    )
    texts = [variables_text(workload, of_controller=of_controller) for of_controller in (False, True)]
    return [f"{title}: {text}" for title, text in zip(titles, texts, strict=True) if text]


# --- The plan as text for a terminal or a log: a line per workload, in groups that the same nodes take
#
#     Contrast v1.25.0, runtime classes contrast-cc-<platform>-1a2b3c4d
#
#     metal-qemu-snp on snp-1, snp-2 (2 of 3 nodes)
#       shop/db   StatefulSet  3 vCPUs  1536Mi/2011Mi  +2 containers, policy 1a2b3c4d
#       shop/web  Deployment   2 vCPUs  612Mi/?        +2 containers, policy 5e6f7a8b
#         not tdx-1: label tee is tdx, not snp
#         VMs of 4 pods: 3372Mi/?
#
#     memory: what the VM of a pod gets / what its images and limits need; ?: the lock has no sizes of an image; ...
#
#     2 workloads, 0 skipped, 3 nodes
#
# Rule: no line is wider than `width`, whatever the input contains, and no text is cut off. A name that does not fit
# beside its columns gets separate lines before them; a text that is wider than a line continues in the next one.


WIDTH = 80  # columns, if unknown
NARROWEST = 40
KINDS = {kind: short for short, kind in SHORT.items()}

# What rows drop for a long name, step by step. short: kinds as kubectl abbreviates them
STEPS = ((False, True), (True, True), (True, False))  # short, with the digest of the policy


class Columns(NamedTuple):
    """The columns that all rows share. widths: in characters, 0 for a column that is empty in every row."""

    widths: tuple[int, ...]
    short: bool
    digest: bool


def plan_text(plan: Plan, width: int = WIDTH, paint: Paint = plain) -> str:
    """Write the plan in lines of at most `width` characters, but at least NARROWEST. paint: colours for a terminal."""
    width = max(width, NARROWEST)
    groups = groups_of(plan)
    columns = _choose_columns([row for group in groups for row in group.rows], width)
    parts = [_write_head(plan, width), *(_write_group(group, columns, width, paint) for group in groups)]
    parts.append(_wrap_text(memory_legend(line.workload for line in plan.lines), width))
    parts.append(_wrap_text(plan_totals(plan), width))
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in parts if lines)


def _write_head(plan: Plan, width: int) -> list[str]:
    classes = common_class(plan)
    class_text = f"runtime {'classes' if '<' in classes else 'class'} {classes}" if classes else ""
    release = f"Contrast {plan.release}" if plan.release else ""
    head = _wrap_text(", ".join(filter(None, (release, class_text))), width)
    return head + (_wrap_text(f"nodes from {plan.source}", width) if plan.nodes else [])


def _write_group(group: Group, columns: Columns, width: int, paint: Paint) -> list[str]:
    """Write one group: its heading, a line per workload with its notes below, the reasons."""
    lines = [paint(line, "error" if group.failed else "heading") for line in _wrap_text(group.heading, width)]
    for row in group.rows:
        lines += _write_row(row, columns, width)
        lines += [paint(line, _choose_style(note)) for note in row.notes for line in _wrap_text(note, width, 6)]
    below = [*group.reasons, *([group.memory] if group.memory else [])]
    return lines + [line for text in below for line in _wrap_text(text, width, 4)]


def _choose_style(note: str) -> str:
    severity = note.partition(" ")[0]
    return severity if severity in {"error", "warning"} else "note"


def _write_row(row: Row, columns: Columns, width: int) -> list[str]:
    """Write one workload: one line if its name fits into the first column."""
    name, *rest = _make_cells(row, columns.short, columns.digest)
    first, *widths = columns.widths
    beside = "  ".join(cell.ljust(size) for cell, size in zip(rest, widths, strict=True) if size).rstrip()
    if len(name) <= first and 4 + first + len(beside) <= width:
        return [f"  {name.ljust(first)}  {beside}".rstrip()]
    indent = first + 4 if 4 + first + len(beside) <= width else 6
    return _wrap_text(name, width, 2) + _wrap_text(beside, width, indent)


def _make_cells(row: Row, short: bool, digest: bool) -> tuple[str, ...]:
    kind = KINDS.get(row.kind, row.kind) if short else row.kind
    return tuple(map(on_one_line, (row.name, kind, row.vcpus, row.memory, row.changes if digest else row.brief)))


def _choose_columns(rows: Sequence[Row], width: int) -> Columns:
    """Return the first of STEPS with room for every name of up to half the width, or the last step."""
    columns = Columns((0, 0, 0, 0, 0), short=False, digest=True)
    for short, digest in STEPS if rows else ():
        cells = [_make_cells(row, short, digest) for row in rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = width - 2 - sum(2 + size for size in widths[1:] if size)
        widest = max((len(name) for name, *_ in cells if len(name) <= width // 2), default=0)
        columns = Columns((max(0, min(widest, room)), *widths[1:]), short, digest)
        if widest <= room:
            break
    return columns


def _wrap_text(text: str, width: int, indent: int = 0) -> list[str]:
    """Wrap a text to lines of this width, [] for an empty text. indent: of the first line; the others have two more."""
    start = " " * indent
    return wrap(on_one_line(text), width, initial_indent=start, subsequent_indent=f"{start}  ", break_on_hyphens=False)


# --- The plan as a Mermaid flowchart, for a README or a pull request: a box for each node pool, a red edge for a
# conflict
#
# Rule: text from the input is in quoted labels, every character with a meaning in Mermaid or Markdown is an entity, and
# identifiers are numbers.


HARMLESS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ./,:=-")
CLASSES = (
    "classDef conflict fill:#fde8e8,stroke:#c81e1e,stroke-width:2px,color:#771d1d",
    "classDef node fill:#f3f4f6,stroke:#6b7280,color:#111827",
)


def plan_mermaid(plan: Plan) -> str:
    """Draw a flowchart: workloads on the left, node pools on the right, an edge to each pool that takes the pod."""
    lines = ["flowchart LR"]
    lines += [f'  w{index}["{_label_workload(line)}"]' for index, line in enumerate(plan.lines)]
    for number, pool in enumerate(plan.pools):
        lines += [f'  subgraph p{number}["{_label_pool(pool)}"]']
        lines += [f'    p{number}n{index}["{mermaid_label(name)}"]' for index, name in enumerate(pool.nodes)]
        lines += [f'    p{number}n0["any such node"]'] if not pool.nodes else []
        lines += ["  end"]
    edges = [(index, f"p{number}") for number, pool in enumerate(plan.pools) for index in pool.workloads]
    with_node = {index for index, _ in edges}
    lost = [index for index in range(len(plan.lines)) if index not in with_node]
    lines += ['  nowhere{{"no node"}}'] if lost else []
    lines += [f"  w{index} --> {pool}" for index, pool in sorted(edges)]
    lines += [f'  w{index} -- "{_label_conflict(plan.lines[index])}" --x nowhere' for index in lost]
    red = range(len(edges), len(edges) + len(lost))
    lines += [f"  linkStyle {','.join(map(str, red))} stroke:#c81e1e,stroke-width:2px"] if lost else []
    failed = [f"w{index}" for index, line in enumerate(plan.lines) if line.failed]
    lines += [f"  {text}" for text in CLASSES]
    lines += [f"  class {','.join([*failed, *(['nowhere'] if lost else [])])} conflict"] if failed or lost else []
    inner = [f"p{number}n{index}" for number, pool in enumerate(plan.pools) for index in range(len(pool.nodes) or 1)]
    lines += [f"  class {','.join(inner)} node"] if inner else []
    return "\n".join(lines) + "\n"


def _label_workload(line: PlanEntry) -> str:
    workload = line.workload
    second = ", ".join(filter(None, (workload.platform, counted(workload.vcpus, "vCPU") if workload.vcpus else "")))
    return "<br/>".join(mermaid_label(text) for text in (f"{line.ref.kind} {line.ref}", second) if text)


def _label_pool(pool: Pool) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in pool.labels.items()) or "no label that is asked for"
    taints = f"taints: {', '.join(pool.taints)}" if pool.taints else ""
    return "<br/>".join(mermaid_label(text) for text in (labels, taints, "cordoned" if pool.cordoned else "") if text)


def _label_conflict(line: PlanEntry) -> str:
    codes = dict.fromkeys(finding.code for finding in line.findings if finding.severity == "error")
    return mermaid_label(", ".join(codes) or "not placed")


def mermaid_label(text: str) -> str:
    """Write `text` as the inside of a quoted Mermaid label."""
    return "".join(char if char in HARMLESS else f"#{ord(char)};" for char in on_one_line(text))
