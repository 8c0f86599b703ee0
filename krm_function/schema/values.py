"""The specs of values, from which tables of fields are made, and the names of types for messages."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Union

from krm_function.record import NamedTuple

# --- The specs of values, from which tables of fields are made
#
# Rule: shapes only. `check` compares values with them and config/json_schema.py prints them as JSON Schema, so the two
# cannot disagree on names, types, patterns and ranges. Only a function in a spec may refuse a value that the JSON
# Schema accepts.


Path = tuple[str | int, ...]

Problems = tuple[tuple[Path, str], ...]
"""Problems: a path inside the value, and what is wrong there (lower case, no full stop, without the value)."""


class Anything(NamedTuple):
    """A value of any type."""


class Only(NamedTuple):
    """One of a few values, of any types; () for a field that must not be set."""

    values: tuple[Any, ...] = ()


class Text(NamedTuple):
    """A string. what: for "must be {what}". pattern: must match the whole text, in syntax common to Python and ECMA.

    matches: the pattern as a function, where each render would compile a pattern for a few texts.
    """

    meaning: str = "a string"
    pattern: str = ""
    longest: int = 0  # characters, 0 for no limit
    example: str = ""
    check: Callable[[str], str] | None = None  # the problem, or ""
    empty: bool = True  # whether "" is allowed
    matches: Callable[[str], bool] | None = None


class Choice(NamedTuple):
    """One of a few strings; with `fold`, in any letter case."""

    values: tuple[str, ...]
    fold: bool = False


class Flag(NamedTuple):
    """A boolean; `danger`, if set, is the reason why it must not be true."""

    danger: str = ""


class Number(NamedTuple):
    """An integer within inclusive bounds; by default any that fits 64 bits."""

    least: int = -(2**63)
    most: int = 2**63 - 1


class Scalar(NamedTuple):
    """A value that one function checks completely, such as a quantity.

    problem: returns the problem of a value, "" for none. remedy: an imperative. json_schema: the same as JSON Schema,
    as far as possible.
    """

    problem: Callable[[Any], str]
    remedy: str
    json_schema: Mapping[str, Any]


class JsonObject(NamedTuple):
    """A map of any shape, or its JSON as a string. load: reads that, raises ValueError."""

    meaning: str
    load: Callable[[str], dict[str, Any]]
    check: Callable[[dict[str, Any]], str] | None = None  # the problem, or ""


class MapOf(NamedTuple):
    """A map with free keys. nulls: whether a null counts as an absent key. check: see Record."""

    keys: Text | Anything
    values: "Spec"
    check: Callable[[dict[str, Any]], Problems] | None = None
    nulls: bool = False


class ListOf(NamedTuple):
    """A list; length: the exact length, None for any. check: as in Record."""

    items: "Spec"
    length: int | None = None
    check: Callable[[list[Any]], Problems] | None = None


class OneOrMany(NamedTuple):
    """One entry, or a list of them."""

    items: "Spec"


class Word(NamedTuple):
    """One of a few words, or a value of another kind instead."""

    words: tuple[str, ...]
    spec: "Spec"


class OrNull(NamedTuple):
    """A value or null. In a Record, where null otherwise equals an absent field, it is then a value."""

    spec: "Spec"


class Field(NamedTuple):
    """One field of a Record. A null equals an absent field. about, default: for readers of the schema.

    marks: further properties, which the package with the table defines and reads; `check` does not.
    """

    spec: "Spec"
    about: str = ""
    required: bool = False
    default: Any = None
    marks: tuple[str, ...] = ()


class Record(NamedTuple):
    """A map of known fields. check: finds faults between fields; called only without other faults.

    closed: whether other fields are faults; else they are ignored. make: the function that `filled` calls with the
    present fields, each filled.
    """

    fields: Mapping[str, Field]
    check: Callable[[dict[str, Any]], Problems] | None = None
    closed: bool = True
    make: Callable[..., Any] | None = None

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The names of the required fields."""
        return tuple(name for name, field in self.fields.items() if field.required)


Spec = Union[  # noqa: UP007 (forward references)
    Anything, Only, Text, Choice, Flag, Number, Scalar, JsonObject, MapOf, ListOf, OneOrMany, OrNull, Record, Word
]

ANY_TEXT = Text()


def hexadecimal(size: int | None = None, *, empty: bool = False) -> Text:
    """Return hex digits for `size` bytes, None for any number from one. empty: whether "" is allowed too."""
    if size is None:
        return Text("hex digits", "(?:[0-9a-fA-F]{2})+")
    pattern = f"[0-9a-fA-F]{{{2 * size}}}"
    return Text(f"{2 * size} hex digits ({size} bytes)", f"(?:{pattern})?" if empty else pattern)


# --- Names of types for messages
#
# Rule: the words are YAML's and JSON's, never Python's.


def type_name(value: Any) -> str:
    """Name the type of a value: `string`, `fractional number`, `null`."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "fractional number"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case Mapping():
            return "map"
        case None:
            return "null"
        case _:  # such as a date from some readers of YAML
            return type(value).__name__


def a_type(name: str) -> str:
    """Name a type as the end of "must be ...": `a map`, `an integer`, `null`."""
    return name if name == "null" else f"an {name}" if name[0] in "aeiou" else f"a {name}"
