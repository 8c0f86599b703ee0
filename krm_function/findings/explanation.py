"""What a code means: its row of the tables, with a paragraph and an example.

Rule of this file: sentences and remedies come from the tables; paragraphs and examples from explanations.json, which
`python -m tools.make_docs` writes out of tools/meanings.yaml and the cases of tests/failures, as it writes
docs/reference/findings.md. Only `explain CODE`, SARIF and that page load it.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from krm_function.findings import Severity, row
from krm_function.record import NamedTuple

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explanations.json")

PASSED_ON = "{remedy}"  # a remedy that depends on the input


class Variant(NamedTuple):
    """What {problem} of a sentence may be. remedy: "" if it is the one of the row, or depends on the input."""

    problem: str
    remedy: str = ""


class Explanation(NamedTuple):
    """All about a code. Sentences have {placeholders}.

    case: what is wrong in the example, "" if the example is made of values. example: lines as `print_findings` prints
    them. remedy: "" for an info, and where each variant has its own.
    """

    code: str
    severity: Severity
    sentence: str
    meaning: str
    case: str
    example: tuple[str, ...]
    variants: tuple[Variant, ...]
    remedy: str


def explanation(code: str, known: Mapping[str, Any] | None = None) -> Explanation:
    """Return the explanation of a code. known: as the file has it, by default the file. Raises KeyError."""
    kind, about = row(code), (_file() if known is None else known)[code]
    variants = tuple(map(_variant, kind.variants.values()))
    remedy = "" if kind.hint == PASSED_ON and variants else kind.hint
    sentence = " ".join(kind.sentence.split())
    example = tuple(about["example"])
    return Explanation(code, kind.severity, sentence, about["meaning"], about["case"], example, variants, remedy)


def _variant(said: str | tuple[str, str]) -> Variant:
    problem, remedy = (said, "") if isinstance(said, str) else said
    return Variant(problem, "" if remedy == PASSED_ON else remedy)


@cache
def _file() -> Mapping[str, Any]:
    with open(FILE, encoding="utf-8") as file:
        known: dict[str, Any] = json.load(file)
    return known
