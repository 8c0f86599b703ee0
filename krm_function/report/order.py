"""The order of findings: errors first, then by place; the same in every format.

kpt shows a report on one line, older ones the first four of its lines, so the decisive one must be the first.
Source: docs/facts/krm-functions.md#results.
"""

from collections.abc import Iterable

from krm_function.findings import Finding, dotted
from krm_function.krm.result import visible

RANK = {"error": 0, "warning": 1, "info": 2}


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings into this order, each once."""
    return sorted(set(findings), key=_key)


def _key(found: Finding) -> tuple[int, str, int, str, str, str, str]:
    ref = f"{found.ref.kind}/{found.ref}" if found.ref else ""
    return (RANK[found.severity], found.file, found.line, found.code, ref, dotted(found.path), found.message)


def on_one_line(text: str) -> str:
    """Put `text` on one line and make control, format and separator characters visible: names come from the input."""
    if text.isprintable():
        return text
    return visible(text.replace("\n", " "))
