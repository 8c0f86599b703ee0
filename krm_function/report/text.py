"""Findings as lines for people: `severity code place: sentence`, remedies indented below.

    error CC0304 shop/db spec.template.spec.nodeSelector: nodeSelector hardware=tdx contradicts …
      hint: remove the key from the pod template, …

Lower case, no full stop, one line a sentence. A place is the object and field, else the file and line.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, dotted
from krm_function.report.order import escape, ordered


def place(found: Finding) -> str:
    """Where: `shop/db spec.x`, `file.yaml:3:7`, or "" when the finding is about the whole run."""
    if found.ref is not None:
        return escape(f"{found.ref} {dotted(found.path)}".strip())
    return position(found)


def position(found: Finding) -> str:
    """`file:line:column` as far as known."""
    if not found.file and not found.line:
        return ""
    parts = [found.file or "<stdin>"] + [str(number) for number in (found.line, found.column) if number]
    return escape(":".join(parts))


def render_text(findings: Iterable[Finding], *, infos: bool = False) -> str:
    """All findings as text, "" for none. infos: also those that only tell what was done."""
    lines: list[str] = []
    for found in ordered(findings):
        if found.severity == "info" and not infos:
            continue
        where = place(found)
        head = f"{found.severity} {found.code}" + (f" {where}" if where else "")
        lines.append(f"{head}: {escape(found.message)}")
        at = position(found)
        if at and at != where:
            lines.append(f"  at: {at}")
        if found.hint:
            lines.append(f"  hint: {escape(found.hint)}")
    return "".join(line + "\n" for line in lines)
