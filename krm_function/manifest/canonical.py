"""The one form of a manifest: every field present, in order, null where Go has nil.

Rule of this file: canonical(canonical(m)) == canonical(m); what does not fit the field tables raises.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.manifest.fields import MANIFEST
from krm_function.manifest.problem import FieldProblem, Problem, step, suggestion
from krm_function.manifest.shapes import Items, Json, Record, Shape, Table, mismatch, well_formed, zero


def canonical(manifest: Mapping[str, Any]) -> Json:
    """Bring a manifest to the form that `encode` writes; the result shares no mutable part with the input.

    Absent and null fields get Go's zero value, fields stand in the order of Contrast's structs
    (docs/facts/contrast-manifest.md#manifest), policies are sorted by digest, and empty fields that Contrast omits
    are gone. Values are kept as they are: this is no validation. Raises
    FieldProblem for a value of the wrong type and for an unknown field.
    """
    result: Json = canonical_value(dict(manifest), MANIFEST)
    return result


def canonical_value(value: Any, shape: Shape, path: str = "") -> Any:
    """Do what `canonical` does, for a part of a manifest; `path` is where it stands, for the messages."""
    if value is None:
        return zero(shape)
    wrong = mismatch(value, shape)
    if wrong:
        raise FieldProblem(Problem(path, wrong))
    match shape:
        case Record():
            return _record(value, shape, path)
        case Table():
            for key in value:
                if not isinstance(key, str) or not well_formed(key):
                    raise FieldProblem(Problem(path, "has a key that is no valid string"))
            return {key: canonical_value(value[key], shape.of, step(path, key)) for key in sorted(value)}
        case Items():
            if shape.length is not None and len(value) != shape.length:
                raise FieldProblem(Problem(path, f"must have exactly {shape.length} entries, not {len(value)}"))
            return [canonical_value(item, shape.of, step(path, index)) for index, item in enumerate(value)]
        case _:
            return value


def _record(value: Json, shape: Record, path: str) -> Json:
    """Order and complete one object."""
    names = shape.names()
    for key in value:
        if key not in names:
            raise FieldProblem(unknown_field(key, names, path))
    result: Json = {}
    for field in shape.fields:
        part = canonical_value(value.get(field.name), field.shape, step(path, field.name))
        if part or not field.omit_empty:
            result[field.name] = part
    return result


def unknown_field(key: Any, names: tuple[str, ...], path: str) -> Problem:
    """Describe a field that the manifest does not have."""
    name = key if isinstance(key, str) else repr(key)
    return Problem(step(path, name), f"unknown field{suggestion(name, names)}")
