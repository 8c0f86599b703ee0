"""A value as a document holds it, brought to the one form that `check` knows, and checked.

Rule of this file: what YAML and JSON Schema hold for the same is made the same; what is wrong stays as it is, for the
checker to find. Nothing is filled in.

    Choice with `fold`        the spelling of the table
    Choice that has `off`     false is off: what YAML 1.1 reads where off has no quotes
    Number                    2.0 is 2
    JsonObject                the map that a string holds as JSON
    MapOf                     the key 2 is "2"
    Record                    a null is left out
"""

from collections.abc import Container
from typing import Any

from krm_function.record import NamedTuple
from krm_function.schema.check import Faults, faults
from krm_function.schema.kinds import Choice, JsonObject, ListOf, MapOf, Number, OneOrMany, Record, Spec

OFF = "off"


class Reading(NamedTuple):
    """A value in the form of its spec, if there are no faults."""

    value: Any
    faults: Faults = ()


def read_value(spec: Spec, value: Any) -> Reading:
    """Read one value. Raises nothing; the value is good only without faults."""
    made = _normal(spec, value)
    return Reading(made, faults(spec, made))


def _normal(spec: Spec, value: Any) -> Any:
    match spec:
        case Record() if isinstance(value, dict):
            fields = spec.fields
            return {
                name: _normal(fields[name].spec, item) if name in fields else item
                for name, item in value.items()
                if item is not None or name not in fields
            }
        case MapOf() if isinstance(value, dict):
            return {_key(key, value): _normal(spec.values, item) for key, item in value.items()}
        case OneOrMany() if not isinstance(value, list):
            return _normal(spec.items, value)
        case ListOf() | OneOrMany() if isinstance(value, list):
            return [_normal(spec.items, item) for item in value]
        case Choice() if value is False and OFF in spec.values:
            return OFF
        case Choice(fold=True) if isinstance(value, str):
            return next((name for name in spec.values if name.lower() == value.lower()), value)
        case Number() if isinstance(value, float) and value.is_integer():
            return int(value)
        case JsonObject() if isinstance(value, str):
            try:
                return spec.load(value)
            except (ValueError, RecursionError):
                return value
        case _:
            return value


def _key(key: Any, keys: Container[Any]) -> Any:
    """Return a key as text, unless the map has that text as a key as well: then the number is a fault."""
    text = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
    return key if text in keys else text
