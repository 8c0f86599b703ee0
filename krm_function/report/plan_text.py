"""The plan as text for a terminal or a log: a line per workload, in groups that the same nodes take.

    Contrast v1.25.0, runtime classes contrast-cc-<platform>-1a2b3c4d

    metal-qemu-snp on snp-1, snp-2 (2 of 3 nodes)
      shop/db   StatefulSet  3 vCPUs  1536Mi/2011Mi  +2 containers, policy 1a2b3c4d
      shop/web  Deployment   2 vCPUs  612Mi/?        +2 containers, policy 5e6f7a8b
        not tdx-1: label tee is tdx, not snp
        VMs of 4 pods: 3372Mi/?

    memory: what the VM of a pod gets / what its images and limits need; ?: the lock has no sizes of an image; ...

    2 workloads, 0 skipped, 3 nodes

Rule of this file: no line is wider than `width`, whatever the input holds, and nothing is cut off. A name that does not
fit beside its columns has lines of its own before them; a text that is wider than a line goes on in the next one.
"""

from collections.abc import Sequence

from krm_function.model.address import SHORT
from krm_function.record import NamedTuple
from krm_function.report.colour import Paint, plain
from krm_function.report.order import on_one_line
from krm_function.report.plan import Plan, common_class, plan_totals
from krm_function.report.plan_memory import memory_legend
from krm_function.report.plan_text_groups import Group, Row, groups_of

WIDTH = 80  # columns, where nothing else is known
NARROWEST = 40
KINDS = {kind: short for short, kind in SHORT.items()}

# What rows give up for a long name, one step after the other. short: kinds as kubectl abbreviates them
STEPS = ((False, True), (True, True), (True, False))  # short, with the digest of the policy


class Columns(NamedTuple):
    """The columns that all rows share. widths: in characters, 0 for one that is empty in every row."""

    widths: tuple[int, ...]
    short: bool
    digest: bool


def plan_text(plan: Plan, width: int = WIDTH, paint: Paint = plain) -> str:
    """Write the plan in lines of at most `width` characters, NARROWEST at least. paint: colours for a terminal."""
    width = max(width, NARROWEST)
    groups = groups_of(plan)
    columns = _columns([row for group in groups for row in group.rows], width)
    parts = [_head(plan, width), *(_group(group, columns, width, paint) for group in groups)]
    parts.append(_wrapped(memory_legend(line.planned for line in plan.lines), width))
    parts.append(_wrapped(plan_totals(plan), width))
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in parts if lines)


def _head(plan: Plan, width: int) -> list[str]:
    """Write what is the same for all workloads: release, runtime classes, where the nodes come from."""
    classes = common_class(plan)
    named = f"runtime {'classes' if '<' in classes else 'class'} {classes}" if classes else ""
    release = f"Contrast {plan.release}" if plan.release else ""
    head = _wrapped(", ".join(filter(None, (release, named))), width)
    return head + (_wrapped(f"nodes from {plan.source}", width) if plan.nodes else [])


def _group(group: Group, columns: Columns, width: int, paint: Paint) -> list[str]:
    """Write one group: its heading, a line per workload with its notes below, the reasons."""
    lines = [paint(line, "error" if group.failed else "heading") for line in _wrapped(group.heading, width)]
    for row in group.rows:
        lines += _row(row, columns, width)
        lines += [paint(line, _style(note)) for note in row.notes for line in _wrapped(note, width, 6)]
    below = [*group.reasons, *([group.memory] if group.memory else [])]
    return lines + [line for text in below for line in _wrapped(text, width, 4)]


def _style(note: str) -> str:
    """Return the style of a note: that of the severity with which it begins."""
    severity = note.partition(" ")[0]
    return severity if severity in {"error", "warning"} else "note"


def _row(row: Row, columns: Columns, width: int) -> list[str]:
    """Write one workload: one line where its name fits into the first column."""
    name, *others = _cells(row, columns.short, columns.digest)
    first, *widths = columns.widths
    beside = "  ".join(cell.ljust(size) for cell, size in zip(others, widths, strict=True) if size).rstrip()
    if len(name) <= first and 4 + first + len(beside) <= width:
        return [f"  {name.ljust(first)}  {beside}".rstrip()]
    indent = first + 4 if 4 + first + len(beside) <= width else 6
    return _wrapped(name, width, 2) + _wrapped(beside, width, indent)


def _cells(row: Row, short: bool, digest: bool) -> tuple[str, ...]:
    """Return the cells of a row, each on one line."""
    kind = KINDS.get(row.kind, row.kind) if short else row.kind
    return tuple(map(on_one_line, (row.name, kind, row.vcpus, row.memory, row.changes if digest else row.brief)))


def _columns(rows: Sequence[Row], width: int) -> Columns:
    """Return the first of STEPS that leaves room for every name of up to half the width, or the last."""
    columns = Columns((0, 0, 0, 0, 0), short=False, digest=True)
    for short, digest in STEPS if rows else ():
        cells = [_cells(row, short, digest) for row in rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = width - 2 - sum(2 + size for size in widths[1:] if size)
        widest = max((len(name) for name, *_ in cells if len(name) <= width // 2), default=0)
        columns = Columns((max(0, min(widest, room)), *widths[1:]), short, digest)
        if widest <= room:
            break
    return columns


def _wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Wrap a text to lines of this width, none for an empty one. indent: of the first line; others have two more."""
    from textwrap import wrap

    start = " " * indent
    return wrap(on_one_line(text), width, initial_indent=start, subsequent_indent=f"{start}  ", break_on_hyphens=False)
