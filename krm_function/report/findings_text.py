"""Findings as text: `severity code place: sentence`, remedies indented below.

    error CC0304 shop/db spec.template.spec.nodeSelector: nodeSelector hardware=tdx contradicts …
      hint: remove the key from the pod template, …

    error CC0504 shop/db spec.template.spec and 2 more: image … is not in the ImageLock
      also: shop/web spec.template.spec (web.yaml:24:5)

Lower case, no full stop, one line per sentence. A place is the object and field, else the file and line. What is the
same at several places is told once, and the places after the fifth are counted.
"""

from collections.abc import Callable, Iterable, Iterator

from krm_function.findings import Finding, dotted
from krm_function.findings.origin import position_text
from krm_function.report.groups import Group, grouped, sentence
from krm_function.report.order import on_one_line

NAMED = 5  # places of one cause that are named where not all are asked for


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
    whole: bool = False,
    paint: Callable[[str, str], str] = _plain,
) -> str:
    """Write all findings as text, "" for none.

    infos: also those of severity info. whole: name every place of a cause. paint: see colour.Paint.
    """
    told = (found for found in findings if infos or found.severity != "info")
    return "".join(line + "\n" for group in grouped(told) for line in _lines(group, paint, whole=whole))


def _lines(group: Group, paint: Callable[[str, str], str], *, whole: bool) -> Iterator[str]:
    """Yield the lines of a cause: its first place with the sentence, the other places, the remedy."""
    found, others = group
    where, place = place_of(found), position(found)
    more = f" and {len(others)} more" if others else ""
    head = paint(f"{found.severity} {found.code}", found.severity) + (f" {paint(where, 'place')}" if where else "")
    yield f"{head}{more}: {sentence(found)}"
    if place and place != where:
        yield f"  at: {place}"
    named = others if whole or len(others) < NAMED else others[: NAMED - 1]
    for other in named:
        yield f"  also: {_whole_place(other)}"
    if len(others) > len(named):
        yield f"  also: {len(others) - len(named)} more, which -v names"
    if found.hint:
        yield f"  {paint('hint:', 'hint')} {on_one_line(found.hint)}"


def _whole_place(found: Finding) -> str:
    """Write object, field and position on one line."""
    where, place = place_of(found), position(found)
    return f"{where} ({place})" if place and place != where else where
