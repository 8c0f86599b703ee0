"""Everything contrast-krm can say about an input, as one table.

Rule of this package: a sentence or a hint that a user reads about their input is written in a table here and nowhere
else, but for the words of parsers, validators and other programs, which `{problem}` or `{error}` passes on. Code raises
a code, with a variant if its row has some, and the values of the placeholders; severity, wording and
remedy come from the table. A value is never a Secret's data, an env value or an annotation longer than 64 characters.

Each table is a file, loaded when the first of its codes is raised: a render loads three of them, not all.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from krm_function.findings.origin import Origin
from krm_function.findings.row import NOTHING, Cause, Row, Severity
from krm_function.krm.result import dotted
from krm_function.record import NamedTuple

__all__ = [
    "NOTHING",
    "REF_NAMES",
    "Cause",
    "Finding",
    "Origin",
    "Path",
    "Ref",
    "Row",
    "Severity",
    "dotted",
    "every_row",
    "finding",
    "has_errors",
    "is_code",
    "row",
]

Path = tuple[str | int, ...]

AREAS = tuple(f"CC{number:02}" for number in range(1, 14))
LONGEST = 1000  # characters of a value in a sentence


REF_NAMES = ("apiVersion", "kind", "namespace", "name", "template")  # of the parts of a Ref, in reports


class Ref(NamedTuple):
    """Which object: apiVersion, kind, namespace ("" when absent) and name, as the document says them.

    Of an object of the input, the apiVersion is in its ordinary spelling (krm/group_version.py). part: which of its
    pod templates, "" for the object as a whole and for kinds with one template.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    part: str = ""

    def __str__(self) -> str:
        """Write `namespace/name`, the bare name, or `(unnamed Deployment)`; with `#part` if it has one."""
        name = self.name or f"(unnamed {self.kind})"
        name = f"{name}#{self.part}" if self.part else name
        return f"{self.namespace}/{name}" if self.namespace else name

    @property
    def whole(self) -> "Ref":
        """The object as a whole, whichever of its pod templates this is."""
        return self._replace(part="") if self.part else self


class Finding(NamedTuple):
    """One thing to say about one place of the input. Lines and columns count from 1; 0 means unknown.

    origin: for an object of a stream (file is "" then), the file that it says it comes from; line and column count in
    the stream.
    """

    code: str
    severity: Severity
    message: str
    hint: str
    ref: Ref | None = None
    path: Path = ()
    line: int = 0
    column: int = 0
    file: str = ""
    origin: Origin | None = None


def finding(
    code: str, ref: Ref | None = None, path: Path = (), *, line: int = 0, column: int = 0, file: str = "", **values: Any
) -> Finding:
    """Make the Finding of a code such as `CC0502`, or of a code and a variant of its row such as `CC0604.missing`.

    values: for the placeholders of its sentence and hint. Raises KeyError for an unknown code or variant and for a
    missing value: a bug in this program, caught by the tests of the table.
    """
    code, _, variant = code.partition(".")
    kind = row(code)
    values = {name: _cut(value) for name, value in values.items()}
    hint = kind.hint
    if variant:
        said = kind.variants[variant]
        problem, hint = (said, hint) if isinstance(said, str) else said
        values["problem"] = _cut(problem.format(**values))
    message, hint = kind.sentence.format(**values), hint.format(**values)
    return Finding(code, kind.severity, message, hint, ref, path, line, column, file)


def _cut(value: Any) -> Any:
    """Cut a long value to its beginning."""
    text = str(value)
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else value


def has_errors(findings: "tuple[Finding, ...] | list[Finding]") -> bool:
    """Tell whether any finding forbids an output."""
    return any(found.severity == "error" for found in findings)


@cache
def row(code: str) -> Row:
    """Return the row of a code without a variant. Raises KeyError."""
    return _table(code[:4])[code]


def is_code(text: str) -> bool:
    """Tell whether a text is a code of the table."""
    return text[:4] in AREAS and text in _table(text[:4])


def every_row() -> dict[str, Row]:
    """Return all rows, in the order of their areas."""
    return {code: kind for area in AREAS for code, kind in _table(area).items()}


def _table(area: str) -> Mapping[str, Row]:  # noqa: C901 (one import for each area)
    """Return the rows whose codes begin with `area`, such as CC01. Raises KeyError."""
    match area:
        case "CC01":
            from krm_function.findings.cc01_input import ROWS
        case "CC02":
            from krm_function.findings.cc02_select import ROWS
        case "CC03":
            from krm_function.findings.cc03_schedule import ROWS
        case "CC04":
            from krm_function.findings.cc04_resolve import ROWS
        case "CC05":
            from krm_function.findings.cc05_images import ROWS
        case "CC06":
            from krm_function.findings.cc06_policy import ROWS
        case "CC07":
            from krm_function.findings.cc07_manifest import ROWS
        case "CC08":
            from krm_function.findings.cc08_inject import ROWS
        case "CC09":
            from krm_function.findings.cc09_configuration import ROWS
        case "CC10":
            from krm_function.findings.cc10_environment import ROWS
        case "CC11":
            from krm_function.findings.cc11_check import ROWS
        case "CC12":
            from krm_function.findings.cc12_lock import ROWS
        case "CC13":
            from krm_function.findings.cc13_release import ROWS
        case _:
            raise KeyError(area)
    return ROWS
