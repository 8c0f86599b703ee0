"""The one form of a manifest: every field present, in order, null where Go has nil.

Rule of this file: canonical(canonical(m)) == canonical(m); what does not fit the types of the field tables raises. A
JSON null stands for the zero value everywhere, as it does when Go's encoding/json reads one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.manifest.ordered_fields import MANIFEST, OMIT_EMPTY, OPERATOR, Json
from krm_function.manifest.problem import FieldProblem, ManifestProblem, meant, problem_of
from krm_function.schema.check import unknown_fields, wrong_type
from krm_function.schema.kinds import Choice, Field, Flag, ListOf, MapOf, Number, Path, Record, Spec, Text

NEWER = "[A-Z][A-Za-z0-9]{2,63}"  # as Contrast names its fields


def canonical(manifest: Mapping[str, Any]) -> Json:
    """Bring a manifest to the form that `encode` writes; the result shares no mutable part with the input.

    Absent and null fields get Go's zero value, fields stand in the order of Contrast's structs
    (docs/facts/contrast-manifest.md#manifest), policies are sorted by digest, and empty fields that Contrast omits
    are gone. In each object the fields of a newer manifest stand behind the known ones, sorted. Values are kept as they
    are: this is no validation. Raises FieldProblem for a value of the wrong type and for another unknown field.
    """
    result: Json = canonical_value(manifest, MANIFEST)
    return result


def is_newer(name: Any, spec: Record) -> bool:
    """Tell whether a field is of no known release: no misspelling, no older name, and known nowhere in a manifest."""
    newer = isinstance(name, str) and re.fullmatch(NEWER, name) is not None and name not in _names(MANIFEST)
    return newer and not meant(name, spec.fields)


def _names(spec: Spec) -> Iterator[str]:
    """Yield the names of all fields, at any depth."""
    match spec:
        case Record():
            for name, field in spec.fields.items():
                yield name
                yield from _names(field.spec)
        case MapOf():
            yield from _names(spec.values)
        case ListOf():
            yield from _names(spec.items)
        case _:
            return


def newer_keys(value: Any, spec: Record) -> list[str]:
    """Return the fields of one object that are of a newer manifest, sorted.

    They are not dropped, since what a newer Contrast asks for in them would be lost without a word.
    """
    if not isinstance(value, Mapping) or value.keys() <= spec.fields.keys():
        return []
    return sorted(key for key in value if is_newer(key, spec))


def copied_fields(value: Mapping[str, Any], names: Sequence[str]) -> Json:
    """Copy some fields of an object; the copy shares no mutable part with it."""
    if not names:
        return {}
    from copy import deepcopy  # few manifests have fields that need it, and it imports more than the rest of this file

    return {name: deepcopy(value[name]) for name in names}


def newer_fields(value: Any, spec: Spec = MANIFEST, path: Path = ()) -> list[str]:
    """Return the fields of a newer manifest at any depth, each as people write its path, those of an object sorted."""
    match spec:
        case Record() if isinstance(value, Mapping):
            own = [ManifestProblem((*path, key), "").field for key in newer_keys(value, spec)]
            below = ((name, field.spec) for name, field in spec.fields.items() if name in value)
            return [*own, *(one for name, part in below for one in newer_fields(value[name], part, (*path, name)))]
        case MapOf() if isinstance(value, Mapping):
            return [one for key, part in value.items() for one in newer_fields(part, spec.values, (*path, key))]
        case ListOf() if isinstance(value, list | tuple):
            return [one for at, part in enumerate(value) for one in newer_fields(part, spec.items, (*path, at))]
        case _:
            return []


def canonical_value(value: Any, spec: Spec, path: Path = (), *, strict: bool = True) -> Any:
    """Do what `canonical` does, for a part of a manifest. path: where it stands, for the messages.

    strict: whether to raise; else what does not fit stays as it is, for `validate` to report.
    """
    if value is None:
        return zero(spec)
    fault = wrong_type(spec, value)
    if fault and strict:
        raise FieldProblem(problem_of(fault.below(*path)))
    if fault and not (isinstance(spec, ListOf) and isinstance(value, list | tuple)):
        return value
    match spec:
        case Record():
            return _record(value, spec, path, strict=strict)
        case MapOf():
            for key in value if strict else ():
                fault = wrong_type(spec.keys, key)
                if fault:
                    raise FieldProblem(ManifestProblem((*path, str(key)), f"the key {fault.problem}"))
            keys = sorted(value) if strict else value
            return {key: canonical_value(value[key], spec.values, (*path, key), strict=strict) for key in keys}
        case ListOf():
            return [
                canonical_value(item, spec.items, (*path, index), strict=strict) for index, item in enumerate(value)
            ]
        case _:
            return value


def _record(value: Mapping[str, Any], spec: Record, path: Path, *, strict: bool) -> Json:
    """Order and complete one object."""
    unknown = unknown_fields(spec, value)
    newer = newer_keys(value, spec) if unknown else []
    wrong = [fault for fault in unknown if fault.path[0] not in newer]
    if wrong and strict:
        raise FieldProblem(problem_of(wrong[0].below(*path)))
    result: Json = {key: part for key, part in value.items() if key not in (*spec.fields, *newer)} if wrong else {}
    for name, field in spec.fields.items():
        part = value.get(name)
        part = zero_of(field) if part is None else canonical_value(part, field.spec, (*path, name), strict=strict)
        empty = not part and (part is None or wrong_type(field.spec, part) is None)  # {} is no empty string
        if not empty or OMIT_EMPTY not in field.marks:
            result[name] = part
    return result | copied_fields(value, newer)


def zero_of(field: Field) -> Any:
    """Give the zero value of a field: null for a number that only the operator knows, since Go has a pointer there."""
    return None if OPERATOR in field.marks and isinstance(field.spec, Number) else zero(field.spec)


def zero(spec: Spec) -> Any:
    """Give Go's zero value: what an absent field or a null reads as. A Record comes complete, in field order."""
    match spec:
        case Text() | Choice():
            return ""
        case Number():
            return 0
        case Flag():
            return False
        case ListOf():
            return None if spec.length is None else [zero(spec.items)] * spec.length
        case Record():
            return {name: zero_of(field) for name, field in spec.fields.items() if OMIT_EMPTY not in field.marks}
        case _:
            return None
