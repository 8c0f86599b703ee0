"""Findings as text: `severity code place: sentence`, remedies indented below.

    error CC0304 shop/db spec.template.spec.nodeSelector: nodeSelector hardware=tdx contradicts …
      hint: remove the key from the pod template, …

Lower case, no full stop, one line per sentence. A place is the object and field, else the file and line.
"""

from collections.abc import Callable, Iterable

from krm_function.findings import Finding, dotted
from krm_function.findings.origin import position_text
from krm_function.report.order import on_one_line, ordered


def place_of(found: Finding) -> str:
    """Return the place of a finding: `shop/db spec.x`, `file.yaml:3:7`, or "" when it is about the whole run."""
    if found.ref is not None:
        return on_one_line(f"{found.ref} {dotted(found.path)}".strip())
    return position(found)


def position(found: Finding) -> str:
    """Write `file:line:column` as far as known, for an object of a stream with the file that it says it comes from."""
    return on_one_line(position_text(found.file, found.line, found.column, found.origin))


def _plain(text: str, style: str) -> str:  # noqa: ARG001 (as colour.Paint; that file is for terminals alone)
    return text


def render_text(
    findings: Iterable[Finding],
    *,
    infos: bool = False,
    in_pipe: bool = False,
    paint: Callable[[str, str], str] = _plain,
) -> str:
    """Write all findings as text, "" for none.

    infos: also those of severity info. in_pipe: without lines of standard input, where an object is named. paint: see
    colour.Paint.
    """
    lines: list[str] = []
    for each in ordered(findings):
        if each.severity == "info" and not infos:
            continue
        nowhere = in_pipe and each.ref is not None and not each.file
        found = each._replace(line=0, column=0) if nowhere else each
        where = place_of(found)
        head = paint(f"{found.severity} {found.code}", found.severity) + (f" {paint(where, 'place')}" if where else "")
        lines.append(f"{head}: {on_one_line(found.message)}")
        place = position(found)
        if place and place != where:
            lines.append(f"  at: {place}")
        if found.hint:
            lines.append(f"  {paint('hint:', 'hint')} {on_one_line(found.hint)}")
    return "".join(line + "\n" for line in lines)
