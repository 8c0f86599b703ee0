"""A value without faults, made to what its table stands for.

Rule of this file: whoever declares a table says by `make` what becomes of a map; nothing else is changed or added.

    Record with `make`     what that makes of the fields that are there; other fields are dropped
    Record without         the map as it is, its fields filled
    MapOf, ListOf          a map with texts as keys, a list; the entries filled
    OneOrMany              always a list
"""

from typing import Any

from krm_function.schema.kinds import ListOf, MapOf, OneOrMany, OrNull, Record, Spec


def filled(spec: Spec, value: Any, **more: Any) -> Any:
    """Make the value. It shares none of its maps and lists with the one that was read, but for those of no table.

    more: what the `make` of this Record gets beside its fields.
    """
    if value is None:  # of OrNull, or in a map that may have nulls
        return None
    if isinstance(spec, Record):
        return _record(spec, value, more)
    if isinstance(spec, OrNull):
        return filled(spec.spec, value)
    if isinstance(spec, MapOf):
        return {str(key): filled(spec.values, item) for key, item in value.items()}
    if isinstance(spec, ListOf):
        return [filled(spec.items, item) for item in value]
    if isinstance(spec, OneOrMany):
        return [filled(spec.items, item) for item in (value if isinstance(value, list | tuple) else (value,))]
    return value


def _record(spec: Record, value: Any, more: dict[str, Any]) -> Any:
    fields = spec.fields
    if spec.make is None:
        return {name: filled(fields[name].spec, item) if name in fields else item for name, item in value.items()}
    there = {
        name: filled(fields[name].spec, item)
        for name, item in value.items()
        if name in fields and (item is not None or isinstance(fields[name].spec, OrNull))
    }
    return spec.make(**there, **more)
