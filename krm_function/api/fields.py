"""What a field of a configuration document may hold: the specs that the tables of the three kinds are made of.

Rule of this file: shapes only. `read` reads documents by them, `schema` prints them as JSON Schema, so the two cannot
disagree on names, types, patterns and ranges. Only a `check` may refuse what the schema accepts.
"""

from collections.abc import Callable, Mapping
from typing import Any, Union

from krm_function.findings import Path
from krm_function.record import NamedTuple

Checked = tuple[tuple[Path, str], ...]
"""Problems: a path inside the value, and what is wrong there (lower case, no full stop, without the value)."""


class Text(NamedTuple):
    """A string. what: for "must be {what}". pattern: matched whole, in syntax that Python and ECMA share."""

    what: str = "a string"
    pattern: str = ""
    longest: int = 0  # characters, 0 for no limit
    example: str = ""
    check: Callable[[str], str] | None = None  # the problem, or ""


class Choice(NamedTuple):
    """One of a few strings; with `fold` in any letter case, read as the spelling given here."""

    values: tuple[str, ...]
    fold: bool = False


class Flag(NamedTuple):
    """A boolean; `danger`, if set, says why it must not be true."""

    danger: str = ""


class Number(NamedTuple):
    """An integer within bounds, both inclusive."""

    least: int = 0
    most: int = 2**63 - 1


class Amount(NamedTuple):
    """A Kubernetes quantity, not negative: a string or a number. Kept as written."""


class Tree(NamedTuple):
    """A map of any shape, or its JSON as a string. load: reads that string, raises ValueError. check: as in Text."""

    what: str
    load: Callable[[str], dict[str, Any]]
    check: Callable[[dict[str, Any]], str] | None = None


class MapOf(NamedTuple):
    """A map with free keys."""

    keys: Text
    values: "Spec"
    check: Callable[[dict[str, Any]], Checked] | None = None


class ListOf(NamedTuple):
    """A list; length: exactly that many, None for any number."""

    items: "Spec"
    length: int | None = None
    check: Callable[[list[Any]], Checked] | None = None


class OneOrMany(NamedTuple):
    """One entry, or a list of them; read as a list."""

    items: "Spec"


class Field(NamedTuple):
    """One field of a record. A null is the same as leaving the field out. about: for the schema's readers."""

    spec: "Spec"
    about: str = ""
    required: bool = False
    default: Any = None  # for the schema's readers; the records in kinds.py hold the same


class Record(NamedTuple):
    """A map of known fields. check: what no single field can tell. closed: other fields are faults, else ignored."""

    fields: Mapping[str, Field]
    check: Callable[[dict[str, Any]], Checked] | None = None
    closed: bool = True


Spec = Union[  # noqa: UP007 (forward references)
    Text, Choice, Flag, Number, Amount, Tree, MapOf, ListOf, OneOrMany, Record
]
