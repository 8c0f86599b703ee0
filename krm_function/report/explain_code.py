"""The explanation of a code, as text for a terminal and as JSON: what docs/reference/findings.md has as a page.

Rule of this file: what the user's own report says stands first, then the problems that it or the user's words name;
without either all of them.
"""

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from krm_function.findings.documentation import documentation_url
from krm_function.findings.explanation import Explanation, Variant
from krm_function.report.findings import Reported

INDENT = "  "
PLACEHOLDER = re.compile(r"\{\w+\}")
IN_BRACES = "Words in braces stand for names and values of the case."


def fitting(about: Explanation, reported: Sequence[Reported], words: Sequence[str]) -> Explanation:
    """Return the explanation with the problems alone that a report has, and that have all words.

    Of a code without variants nothing goes.
    """
    wanted = [word.lower() for word in words]
    chosen = tuple(
        variant
        for variant in about.variants
        if all(word in " ".join(variant).lower() for word in wanted)
        and (not reported or any(_says(about, variant, one) for one in reported))
    )
    return about._replace(variants=chosen) if about.variants else about


def _says(about: Explanation, variant: Variant, reported: Reported) -> bool:
    """Tell whether a sentence of a report is that of a variant with some values; one that passes words on never is."""
    sentence = about.sentence.replace("{problem}", variant.problem)
    pattern = "(.+)".join(map(re.escape, PLACEHOLDER.split(sentence)))
    short = "(.+)".join(map(re.escape, PLACEHOLDER.split(variant.problem)))  # the text form leaves the field out
    return any(
        re.fullmatch(each, reported.sentence) is not None for each in (pattern, short) if re.search(r"\w\w", each)
    )


def explanation_text(about: Explanation, width: int, reported: Sequence[Reported] = ()) -> str:
    """Write the explanation in lines of at most `width` columns. Examples keep their lines.

    reported: what the user's report has of the code.
    """
    parts = [_wrapped(f"{about.code} {about.severity}: {about.sentence}", width)]
    if reported:
        lines = [line for one in reported for line in _variant(_told(one), one.hint, width, breaking=False)]
        parts.append("\n".join((f"In the report, {_times(reported)}:", *lines)))
    parts.append(_wrapped(about.meaning, width))
    if not reported:
        title = f"Example ({about.case}):" if about.case else "Example:"
        parts.append("\n".join((_wrapped(title, width), *(f"{INDENT}{line}" for line in about.example))))
    if about.variants:
        head = ["The problem is one of:"] if "{problem}" in about.sentence else []
        lines = [line for variant in about.variants for line in _variant(variant.problem, variant.remedy, width)]
        parts.append("\n".join((*head, *lines)))
    if about.remedy:
        parts.append(_wrapped(f"Remedy: {about.remedy}", width))
    if PLACEHOLDER.search("".join(parts)):
        parts.append(_wrapped(IN_BRACES, width))
    if url := documentation_url(about.code):
        parts.append(url)
    return "\n\n".join(parts) + "\n"


def _told(one: Reported) -> str:
    return f"{one.place}: {one.sentence}" if one.place else one.sentence


def _times(reported: Sequence[Reported]) -> str:
    return "once" if len(reported) == 1 else f"{len(reported)} times"


def explanation_data(about: Explanation, reported: Sequence[Reported] = ()) -> dict[str, Any]:
    """Return the explanation as plain data, version 1; absent parts are left out. reported: as for the text."""
    data: dict[str, Any] = {
        "version": 1,
        "code": about.code,
        "severity": about.severity,
        "sentence": about.sentence,
        "reported": [one._asdict() for one in reported],
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


def _variant(problem: str, remedy: str, width: int, *, breaking: bool = True) -> list[str]:
    """Write a problem with its remedy. breaking: words longer than a line; those of a report are to be copied."""
    indents = [("- ", INDENT, problem)] + ([(INDENT, INDENT * 2, f"remedy: {remedy}")] if remedy else [])
    return [
        line
        for first, others, text in indents
        for line in wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=others,
            break_long_words=breaking,
            break_on_hyphens=False,
        )
    ]


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))
