"""The words of findings, for tests that tell the variants of a code apart: no test repeats a sentence of the table."""

from typing import Any

from krm_function.findings import row


def wording(code: str, **values: Any) -> str:
    """Return the sentence of a code such as CC0805, or the problem of a variant such as CC0702.unfilled."""
    code, _, variant = code.partition(".")
    text = row(code).variants[variant].problem if variant else row(code).sentence
    return text.format(**values)


def remedy(code: str, **values: Any) -> str:
    """Return the hint of a code, or of a variant that has its own."""
    code, _, variant = code.partition(".")
    return ((variant and row(code).variants[variant].hint) or row(code).hint).format(**values)
