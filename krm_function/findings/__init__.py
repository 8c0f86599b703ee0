"""The table of everything contrast-krm can report about an input: the sentence, hint and meaning of each code.

Rule of this package: every sentence and hint about a user's input is written in a table here, except for the words of
parsers, validators and other programs, which `{problem}` or `{error}` passes on. Code raises a code, with a variant if
its row has some, and the values of the placeholders; severity, wording and remedy come from the table. A value is never
a Secret's data, an env value or an annotation longer than 64 characters.

The sources are cc01_input.yaml and the files of the other areas. `make docs` compiles them into table.txt, which this
module reads: a line for each code, parsed only if the code is raised.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from krm_function.krm.result import dotted as dotted
from krm_function.record import NamedTuple

Severity = Literal["error", "warning", "info"]
Path = tuple[str | int, ...]

NOTHING: Mapping[str, Any] = MappingProxyType({})
LONGEST = 1000  # characters of a value in a sentence
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.txt")

# The address of the folder docs/ of this version, without a slash at the end: the only address of the documentation in
# the program. The release workflow writes it (tools/stamp.py), so no build names an unpublished page.
DOCUMENTATION = ""
PAGE = "reference/findings.md"

REF_NAMES = ("apiVersion", "kind", "namespace", "name", "template")  # of the parts of a Ref, in reports


class Ref(NamedTuple):
    """The identity of an object: apiVersion, kind, namespace ("" when absent) and name, as in the document.

    For an object of the input, the apiVersion is in its ordinary spelling (krm/group_version.py). part: one of its pod
    templates, "" for the object as a whole and for kinds with one template.
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
        """The object as a whole, without the pod template."""
        return self._replace(part="") if self.part else self


class Origin(NamedTuple):
    """The file that an object of a stream claims as its origin, by annotations or comments: printed, never opened.

    path: relative, with slashes. position: of the document in the file, from 0; None: unknown.
    """

    path: str
    position: int | None = None

    def __str__(self) -> str:
        """Write `shop/web.yaml`, or `shop/web.yaml, document 3` for any document but the first."""
        return f"{self.path}, document {self.position + 1}" if self.position else self.path

    @property
    def inside(self) -> bool:
        """Whether the path stays below the directory that it is relative to, so that other programs may resolve it."""
        return ".." not in self.path.split("/")


def position_text(file: str, line: int = 0, column: int = 0, origin: Origin | None = None) -> str:
    """Write `file:line:column` as far as known, `<stdin>:line:column` for a stream; "" if unknown.

    With an origin: `shop/web.yaml (<stdin>:12:3)`, since line and column count in the stream.
    """
    if not file and not line:
        return str(origin) if origin else ""
    numbers = [str(number) for number in (line, column) if number]
    place = ":".join((file or "<stdin>", *numbers))
    return f"{origin} ({place})" if origin else place


class Finding(NamedTuple):
    """One report about one place of the input. Lines and columns count from 1; 0 means unknown.

    origin: for an object of a stream (file is "" then), the file that it claims as its origin; line and column count in
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


class Cause(NamedTuple):
    """A variant of a row with its values, from code that does not have the place of the wrong value.

    code: of a row and its variant, as `finding` takes it. values: for the placeholders of both.
    """

    code: str
    values: Mapping[str, Any] = NOTHING


def finding(
    code: str, ref: Ref | None = None, path: Path = (), *, line: int = 0, column: int = 0, file: str = "", **values: Any
) -> Finding:
    """Make the Finding of a code such as `CC0502`, or of a code and a variant of its row such as `CC0604.missing`.

    values: for the placeholders of its sentence and hint. Raises KeyError for an unknown code or variant and for a
    missing value: a bug in this program, caught by the tests of the table.
    """
    code, _, variant_name = code.partition(".")
    entry = row(code)
    values = {name: _cut(value) for name, value in values.items()}
    hint = entry.hint
    if variant_name:
        variant = entry.variants[variant_name]
        values["problem"] = _cut(variant.problem.format(**values))
        hint = variant.hint or hint
    message, hint = entry.sentence.format(**values), hint.format(**values)
    return Finding(code, entry.severity, message, hint, ref, path, line, column, file)


def _cut(value: Any) -> Any:
    text = str(value)
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else value


def has_errors(findings: "tuple[Finding, ...] | list[Finding]") -> bool:
    """Tell whether any finding forbids an output."""
    return any(raised.severity == "error" for raised in findings)


# --- The table


class Variant(NamedTuple):
    """A text for the placeholder `{problem}`, and a hint that replaces the row's, "" to keep that."""

    problem: str
    hint: str = ""


class Row(NamedTuple):
    """The meaning of a code. Sentences and hints have `{placeholders}`, which `finding` fills.

    severity: whether it forbids an output. sentence: lower case, no full stop. hint: the remedy, as an imperative; ""
    for an info, and if each variant has its own.

    variants: by name, as in `CC0604.missing`. A row with `{problem}` but no variants passes on the words of a parser, a
    validator or another program; a variant does so with the placeholder `{error}`.

    meaning: a paragraph for `explain`. example: lines as in a report. case: what is wrong in the example, "" if the
    values show it.
    """

    code: str
    severity: Severity
    sentence: str
    hint: str
    variants: Mapping[str, Variant]
    meaning: str
    case: str
    example: tuple[str, ...]

    @property
    def remedy(self) -> str:
        """The hint, "" if it depends on the input."""
        return "" if self.hint == "{remedy}" and self.variants else self.hint


@cache
def row(code: str) -> Row:
    """Return the row of a code without a variant. Raises KeyError."""
    severity, sentence, hint, variants, meaning, case, example = json.loads(table()[code])
    variants = {name: Variant(*parts) for name, parts in variants.items()}
    return Row(code, severity, sentence, hint, variants, meaning, case, tuple(example))


def is_code(text: str) -> bool:
    """Tell whether a text is a code of the table."""
    return text in table()


def every_row() -> dict[str, Row]:
    """Return all rows, in the order of their codes."""
    return {code: row(code) for code in table()}


@cache
def table() -> dict[str, str]:
    """Return the fields of each row as JSON, by its code."""
    with open(TABLE, encoding="utf-8") as file:
        return {line[:6]: line[7:] for line in file}


# --- Where a code is explained: in the published documentation if this build knows its address, else by a command


def documentation_url(code: str) -> str:
    """Return the address of a code's section, "" in a build without an address."""
    return f"{DOCUMENTATION}/{PAGE}#{code.lower()}" if DOCUMENTATION else ""


def documentation_of(code: str) -> str:
    """Return the address of a code's section, or the command that prints the same."""
    return documentation_url(code) or f"contrast-krm explain {code}"


def documentation_of_all(codes: list[str]) -> str:
    """Return where several codes are explained: as `documentation_of` for one, else with the codes."""
    if len(codes) == 1:
        return documentation_of(codes[0])
    place = f"{DOCUMENTATION}/{PAGE}" if DOCUMENTATION else "contrast-krm explain CODE"
    return f"{place} ({', '.join(codes)})"
