"""Names of types for messages.

Rule of this file: the words are those of YAML and JSON, never Python's.
"""

from collections.abc import Mapping
from typing import Any


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
        case _:  # such as a date, which some readers of YAML make
            return type(value).__name__


def a_type(name: str) -> str:
    """Name a type as the end of "must be ...": `a map`, `an integer`, `null`."""
    return name if name == "null" else f"an {name}" if name[0] in "aeiou" else f"a {name}"
