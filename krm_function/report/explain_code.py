"""The explanation of a code, as text for a terminal and as JSON, like the page docs/reference/findings.md.

Rule of this file: the findings of the user's own report come first, then the problems that these or the user's words
name, or all problems.
"""

import re
from collections.abc import Sequence
from textwrap import TextWrapper, wrap
from typing import Any

from krm_function.findings import Row, Variant, documentation_url
from krm_function.report.findings import Reported

INDENT = "  "
PLACEHOLDER = re.compile(r"\{\w+\}")
IN_BRACES = "Words in braces stand for names and values of the case."


def fitting(about: Row, reported: Sequence[Reported], words: Sequence[str]) -> Row:
    """Return the explanation with only the problems that a report has and that contain all words.

    A code without variants keeps everything.
    """
    lower_case = [word.lower() for word in words]
    chosen = {
        name: variant
        for name, variant in about.variants.items()
        if all(word in " ".join(variant).lower() for word in lower_case)
        and (not reported or any(_is_from_variant(about, variant, entry) for entry in reported))
    }
    return about._replace(variants=chosen) if about.variants else about


def _is_from_variant(about: Row, variant: Variant, reported: Reported) -> bool:
    """Tell whether a sentence of a report comes from a variant with some values; never if it passes words on."""
    sentence = about.sentence.replace("{problem}", variant.problem)
    pattern = "(.+)".join(map(re.escape, PLACEHOLDER.split(sentence)))
    short = "(.+)".join(map(re.escape, PLACEHOLDER.split(variant.problem)))  # the text form omits the field
    return any(
        re.fullmatch(form, reported.sentence) is not None for form in (pattern, short) if re.search(r"\w\w", form)
    )


def explanation_text(about: Row, width: int, reported: Sequence[Reported] = ()) -> str:
    """Write the explanation in lines of at most `width` columns. Examples keep their lines.

    reported: the findings of the user's report with this code.
    """
    parts = [_wrap_text(f"{about.code} {about.severity}: {about.sentence}", width)]
    if reported:
        lines = ["In the report, once:" if len(reported) == 1 else f"In the report, {len(reported)} times:"]
        for entry in reported:
            sentence = f"{entry.place}: {entry.sentence}" if entry.place else entry.sentence
            lines += _write_variant(sentence, entry.hint, width, breaking=False)
        parts.append("\n".join(lines))
    parts.append(_wrap_text(about.meaning, width))
    if not reported:
        title = f"Example ({about.case}):" if about.case else "Example:"
        parts.append("\n".join((_wrap_text(title, width), *(f"{INDENT}{line}" for line in about.example))))
    if about.variants:
        head = ["The problem is one of:"] if "{problem}" in about.sentence else []
        lines = [line for variant in about.variants.values() for line in _write_variant(*variant, width)]
        parts.append("\n".join((*head, *lines)))
    if about.remedy:
        parts.append(_wrap_text(f"Remedy: {about.remedy}", width))
    if PLACEHOLDER.search("".join(parts)):
        parts.append(_wrap_text(IN_BRACES, width))
    if url := documentation_url(about.code):
        parts.append(url)
    return "\n\n".join(parts) + "\n"


def explanation_data(about: Row, reported: Sequence[Reported] = ()) -> dict[str, Any]:
    """Return the explanation as plain data, version 1, without absent parts. reported: as for the text."""
    data: dict[str, Any] = {
        "version": 1,
        "code": about.code,
        "severity": about.severity,
        "sentence": about.sentence,
        "reported": [entry._asdict() for entry in reported],
        "meaning": about.meaning,
        "case": about.case,
        "example": "\n".join(about.example),
        "variants": [
            {"problem": problem} | ({"remedy": hint} if hint else {}) for problem, hint in about.variants.values()
        ],
        "remedy": about.remedy,
        "documentation": documentation_url(about.code),
    }
    return {name: value for name, value in data.items() if value}


def _write_variant(problem: str, remedy: str, width: int, *, breaking: bool = True) -> list[str]:
    """Write a problem with its remedy. breaking: split words longer than a line, except in a report."""
    wrapper = TextWrapper(width, "- ", INDENT, break_long_words=breaking, break_on_hyphens=False)
    lines = wrapper.wrap(problem)
    wrapper.initial_indent, wrapper.subsequent_indent = INDENT, INDENT * 2
    return lines + (wrapper.wrap(f"remedy: {remedy}") if remedy else [])


def _wrap_text(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))
