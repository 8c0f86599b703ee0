"""The explanation of a code, as text for a terminal and as JSON: what docs/reference/findings.md has as a page."""

from textwrap import wrap
from typing import Any

from krm_function.findings.documentation import documentation_url
from krm_function.findings.explanation import Explanation

INDENT = "  "


def explanation_text(about: Explanation, width: int) -> str:
    """Write the explanation in lines of at most `width` columns. Examples keep their lines."""
    parts = [_wrapped(f"{about.code} {about.severity}: {about.sentence}", width), _wrapped(about.meaning, width)]
    title = f"Example ({about.case}):" if about.case else "Example:"
    parts.append("\n".join((_wrapped(title, width), *(f"{INDENT}{line}" for line in about.example))))
    if about.variants:
        head = ["The problem is one of:"] if "{problem}" in about.sentence else []
        lines = [line for variant in about.variants for line in _variant(variant.problem, variant.remedy, width)]
        parts.append("\n".join((*head, *lines)))
    if about.remedy:
        parts.append(_wrapped(f"Remedy: {about.remedy}", width))
    if url := documentation_url(about.code):
        parts.append(url)
    return "\n\n".join(parts) + "\n"


def explanation_data(about: Explanation) -> dict[str, Any]:
    """Return the explanation as plain data, version 1; absent parts are left out."""
    data: dict[str, Any] = {
        "version": 1,
        "code": about.code,
        "severity": about.severity,
        "sentence": about.sentence,
        "meaning": about.meaning,
        "case": about.case,
        "example": "\n".join(about.example),
        "variants": [
            {"problem": one.problem} | ({"remedy": one.remedy} if one.remedy else {}) for one in about.variants
        ],
        "remedy": about.remedy,
        "documentation": documentation_url(about.code),
    }
    return {name: value for name, value in data.items() if value}


def _variant(problem: str, remedy: str, width: int) -> list[str]:
    lines = wrap(problem, width, initial_indent="- ", subsequent_indent=INDENT, break_on_hyphens=False)
    if remedy:
        deeper = INDENT * 2
        lines += wrap(
            f"remedy: {remedy}", width, initial_indent=INDENT, subsequent_indent=deeper, break_on_hyphens=False
        )
    return lines


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))
