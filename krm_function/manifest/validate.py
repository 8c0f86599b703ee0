"""Whether a manifest is one that Contrast's set, verify and sign accept.

Rule of this file: all problems at once, in the order of the fields; any input gives Problems, never an exception. The
rules are Contrast's (docs/facts/contrast-manifest.md#manifest-rules), stricter where an accepted value could only
mislead: digests in upper case, which match no workload; platforms that are unknown or not confidential; a guest policy
that permits debugging.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.manifest.canonical import canonical_value, is_newer, zero_of
from krm_function.manifest.ordered_fields import COORDINATOR, MANIFEST, OPERATOR, REFERENCE_VALUES
from krm_function.manifest.problem import ManifestProblem, problem_of
from krm_function.schema.check import faults
from krm_function.schema.kinds import ListOf, Path, Record, Spec

NO_COORDINATOR = ManifestProblem(("Policies",), f"expected at least 1 policy with role '{COORDINATOR}'")
NO_REFERENCE_VALUES = ManifestProblem(("ReferenceValues",), "at least one snp or tdx entry is needed")


def validate(manifest: Any) -> tuple[ManifestProblem, ...]:
    """Find everything wrong with a manifest (as `decode` or `merge` give it); () means that Contrast accepts it.

    Fields of a newer manifest (`is_newer`) are no problem. Problems with `missing` set follow those of wrong
    values; they are the two values that only a platform operator knows, MinimumTCB.* and MrSeam, left empty: Contrast
    tolerates exactly these in a manifest it has just made. The
    problems NO_COORDINATOR and NO_REFERENCE_VALUES come last and are about the manifest as a whole.
    """
    value = canonical_value(manifest, MANIFEST, strict=False)
    problems = [*_wrong(value, MANIFEST, newer=True), *_unfilled(value, MANIFEST, ())]
    policies = _objects(value, "Policies")
    if not any(isinstance(entry, Mapping) and entry.get("Role") == COORDINATOR for entry in policies.values()):
        problems.append(NO_COORDINATOR)
    references = _objects(value, "ReferenceValues")
    if not references.get("snp") and not references.get("tdx"):
        problems.append(NO_REFERENCE_VALUES)
    return tuple(problems)


def validate_partial(reference_values: Any) -> tuple[ManifestProblem, ...]:
    """Find everything wrong with partial reference values, {"snp": [...], "tdx": [...]}: a release's or an operator's.

    What is given must be right; a field that is absent, null or an empty string is not checked.
    """
    return tuple(_wrong(_given(reference_values), REFERENCE_VALUES))


def unfilled(problems: tuple[ManifestProblem, ...]) -> dict[str, tuple[str, ...]]:
    """Group the `missing` problems: {"snp[0]": ("MinimumTCB.BootloaderVersion", ...), "tdx[0]": ("MrSeam",)}."""
    result: dict[str, tuple[str, ...]] = {}
    for found in problems:
        if found.missing:
            entry, _, field = found.field.removeprefix("ReferenceValues.").partition(".")
            result[entry] = (*result.get(entry, ()), field)
    return result


def _wrong(value: Any, spec: Spec, *, newer: bool = False) -> Iterator[ManifestProblem]:
    """Yield what is wrong by the tables; null means nothing here. newer: fields of a newer manifest are right."""
    for fault in faults(spec, value) if value is not None else ():
        unknown = fault.spec if newer and fault.kind == "unknown" else None
        if not (isinstance(unknown, Record) and is_newer(fault.path[-1], unknown)):
            yield problem_of(fault, _at(value, fault.path))


def _at(value: Any, path: Path) -> Any:
    """Return the value at a path that a fault has, None for a field that is not there."""
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        else:
            value = value[part] if isinstance(part, int) and isinstance(value, list) else None
    return value


def _unfilled(value: Any, spec: Spec, path: Path) -> Iterator[ManifestProblem]:
    """Yield the fields that only the operator knows and that are still empty."""
    if isinstance(spec, Record) and isinstance(value, Mapping):
        for name, field in spec.fields.items():
            part = value.get(name)
            if OPERATOR in field.marks and (part is None or part == zero_of(field)):
                yield ManifestProblem((*path, name), "not filled in", missing=True)
            yield from _unfilled(part, field.spec, (*path, name))
    elif isinstance(spec, ListOf) and isinstance(value, list):
        for index, part in enumerate(value):
            yield from _unfilled(part, spec.items, (*path, index))


def _given(value: Any) -> Any:
    """Drop null and empty fields of a partial value, at any depth."""
    if isinstance(value, Mapping):
        return {key: _given(part) for key, part in value.items() if part is not None and part != ""}
    return [_given(part) for part in value] if isinstance(value, list | tuple) else value


def _objects(value: Any, name: str) -> Mapping[Any, Any]:
    """Get an object out of an object, empty if either is something else."""
    part = value.get(name) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
