"""One row of the table of findings, and a cause: a variant of a row with its values, found before its place is known.

Rule of this file: records only; the sentences are in the tables beside it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from krm_function.record import NamedTuple

Severity = Literal["error", "warning", "info"]

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Row(NamedTuple):
    """What a code means.

    severity: whether it forbids an output. sentence: lower case, no full stop; `{placeholders}` are filled by
    `finding`. hint: what to do, as an imperative; may use the same placeholders.

    variants: by name, what the placeholder `{problem}` may stand for, or that and a hint in the place of `{remedy}`.
    Code names a variant as `CC0604.missing`. A row that has `{problem}` and no variants passes on the words of a
    parser, of a validator or of another program; a variant does so with the placeholder `{error}`.
    """

    severity: Severity
    sentence: str
    hint: str = ""
    variants: Mapping[str, str | tuple[str, str]] = NOTHING


class Cause(NamedTuple):
    """What is wrong with a value, from code that does not know where the value stands.

    code: of a row and its variant, as `finding` takes it. values: for the placeholders of both.
    """

    code: str
    values: Mapping[str, Any] = NOTHING
