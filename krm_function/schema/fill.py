"""A value without faults, made to what its table stands for.

Rule of this file: whoever declares a table says by `make` what becomes of a map; nothing else is changed or added.

    Record with `make`     what that makes of the fields that are there; others, and those marked UNREAD, are dropped
    Record without         the map as it is, its fields filled
    MapOf, ListOf          a map with texts as keys, a list; the entries filled
    OneOrMany              always a list
"""

from typing import Any

from krm_function.schema.kinds import (
    Anything,
    Choice,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Record,
    Scalar,
    Spec,
    Text,
)

UNREAD = "unread"  # the mark of a field that a record does not have
_AS_IT_IS = frozenset((Anything, Choice, Flag, JsonObject, Number, Only, Scalar, Text))


def filled(spec: Spec, value: Any, **more: Any) -> Any:
    """Make the value. It shares none of its maps and lists with the one that was read, but for those of no table.

    more: what the `make` of this Record gets beside its fields.
    """
    kind = type(spec)
    if value is None or kind in _AS_IT_IS:  # None: of OrNull, or in a map that may have nulls
        return value
    if isinstance(spec, Record):
        return _record(spec, value, more)
    if isinstance(spec, MapOf):
        if type(spec.values) in _AS_IT_IS:
            return {str(key): item for key, item in value.items()}
        return {str(key): filled(spec.values, item) for key, item in value.items()}
    if isinstance(spec, ListOf):
        return list(value) if type(spec.items) in _AS_IT_IS else [filled(spec.items, item) for item in value]
    if isinstance(spec, OneOrMany):
        return filled(ListOf(spec.items), value if isinstance(value, list | tuple) else (value,))
    return filled(spec.spec, value) if isinstance(spec, OrNull) else value


def _record(spec: Record, value: Any, more: dict[str, Any]) -> Any:
    fields, made = spec.fields, {}
    for name, item in value.items():
        field = fields.get(name)
        if field is None or UNREAD in field.marks:
            if spec.make is None:
                made[name] = item
        elif type(field.spec) in _AS_IT_IS:
            if item is not None:
                made[name] = item
        elif item is not None or type(field.spec) is OrNull:
            made[name] = filled(field.spec, item)
    return made if spec.make is None else spec.make(**made, **more)
