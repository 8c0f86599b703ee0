"""What a value of the manifest may look like: the handful of shapes that its field tables are made of.

Rule of this file: shapes know types and Go's zero values, not names. A JSON null stands for the zero value everywhere,
as it does when Go's encoding/json reads one.
"""

from collections.abc import Mapping
from typing import Any, Union

from krm_function.record import NamedTuple


class Text(NamedTuple):
    """A string; `choices`, if any, are all it may be."""

    choices: tuple[str, ...] = ()


class Hex(NamedTuple):
    """A string of hex digits for `size` bytes (None: any number)."""

    size: int | None = None
    optional: bool = False  # may be empty
    operator: bool = False  # empty means: not yet filled in by the platform operator


class PublicKey(NamedTuple):
    """A string of hex digits: `ecdsa` in PKIX DER or `rsa` in PKCS#1 DER."""

    kind: str


class Number(NamedTuple):
    """An integer between 0 and `limit`."""

    limit: int
    operator: bool = False  # null, its zero value, means: not yet filled in by the platform operator


class Flag(NamedTuple):
    """A boolean; `danger`, if set, says why it must not be true."""

    danger: str = ""


class Items(NamedTuple):
    """A list; with `length` exactly that many (an array in Go), else any number or null."""

    of: "Shape"
    length: int | None = None


class Field(NamedTuple):
    """One field of a Record, as its JSON names it."""

    name: str
    shape: "Shape"
    default: Any = None  # what a new entry gets if that is not the zero value
    omit_empty: bool = False
    measured: bool = False  # a fact of the release, not for people to edit


class Record(NamedTuple):
    """A JSON object of known fields, in the order of the struct that Contrast encodes."""

    fields: tuple[Field, ...]

    def names(self) -> tuple[str, ...]:
        """List the names of the fields."""
        return tuple(field.name for field in self.fields)


class Table(NamedTuple):
    """A JSON object with free keys."""

    of: "Shape"


Shape = Union[Text, Hex, PublicKey, Number, Flag, Items, Record, Table]  # noqa: UP007 (forward references)

Json = dict[str, Any]
"""A JSON object as Python has it."""


def zero(shape: Shape) -> Any:
    """Give Go's zero value: what an absent field or a null reads as. A Record comes complete, in field order."""
    match shape:
        case Text() | Hex() | PublicKey():
            return ""
        case Number():
            return None if shape.operator else 0
        case Flag():
            return False
        case Items():
            return None if shape.length is None else [zero(shape.of)] * shape.length
        case Record():
            return {field.name: zero(field.shape) for field in shape.fields if not field.omit_empty}
        case Table():
            return None


def mismatch(value: Any, shape: Shape) -> str:
    """Say how the type of `value`, not null, differs from the shape's: `must be a string, not a number`, or nothing."""
    expected = _expected(value, shape)
    if expected:
        return f"must be {expected}, not {_kind(value)}"
    if isinstance(value, str) and not well_formed(value):
        return "must be valid Unicode"
    return ""


def _expected(value: Any, shape: Shape) -> str:
    """Name the type that the value should have and has not, or nothing."""
    match shape:
        case Text() | Hex() | PublicKey():
            return "" if isinstance(value, str) else "a string"
        case Number():
            return "" if type(value) is int else "an integer"
        case Flag():
            return "" if isinstance(value, bool) else "true or false"
        case Items():
            return "" if isinstance(value, list | tuple) else "a list"
        case Record() | Table():
            return "" if isinstance(value, Mapping) else "an object"


def well_formed(text: str) -> bool:
    """Whether the text can be written as UTF-8, i.e. has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: Any) -> str:
    """Name a value's type in JSON's terms."""
    match value:
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a fractional number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case None:
            return "null"
        case _:
            return f"a {type(value).__name__}"
