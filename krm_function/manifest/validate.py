"""Whether a manifest is one that Contrast's set, verify and sign accept.

Rule of this file: all problems at once, in the order of the fields; any input gives Problems, never an exception. The
rules are Contrast's (docs/facts/contrast-manifest.md#manifest-rules), stricter where an accepted value could only
mislead: digests in upper case, which match no workload; platforms that are unknown or not confidential; a guest policy
that permits debugging.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.manifest.canonical import unknown_field
from krm_function.manifest.fields import COORDINATOR, MANIFEST, REFERENCE_VALUES
from krm_function.manifest.keys import seedshare_problem, workload_problem
from krm_function.manifest.problem import Problem, short, step, suggestion
from krm_function.manifest.shapes import (
    Flag,
    Hex,
    Items,
    Number,
    PublicKey,
    Record,
    Shape,
    Table,
    Text,
    mismatch,
    well_formed,
    zero,
)
from krm_function.measurement import is_hex

NO_COORDINATOR = Problem("Policies", f"expected at least 1 policy with role '{COORDINATOR}'")
NO_REFERENCE_VALUES = Problem("ReferenceValues", "at least one snp or tdx entry is needed")


def validate(manifest: Any) -> tuple[Problem, ...]:
    """Find everything wrong with a manifest (as `decode` or `merge` give it); () means that Contrast accepts it.

    Problems with `missing` set are the two values that only a platform operator knows, MinimumTCB.* and MrSeam, left
    empty: Contrast tolerates exactly these in a manifest it has just made. The problems NO_COORDINATOR and
    NO_REFERENCE_VALUES come last and are about the manifest as a whole.
    """
    value = dict(manifest) if isinstance(manifest, Mapping) else manifest
    problems = list(_walk(value, MANIFEST, "", partial=False))
    policies = _objects(value, "Policies")
    if not any(isinstance(entry, Mapping) and entry.get("Role") == COORDINATOR for entry in policies.values()):
        problems.append(NO_COORDINATOR)
    references = _objects(value, "ReferenceValues")
    if not references.get("snp") and not references.get("tdx"):
        problems.append(NO_REFERENCE_VALUES)
    return tuple(problems)


def validate_partial(reference_values: Any, path: str = "") -> tuple[Problem, ...]:
    """Find everything wrong with partial reference values, {"snp": [...], "tdx": [...]}: a release's or an operator's.

    What is given must be right; what is absent, null or an empty string is not asked for.
    """
    return tuple(_walk(reference_values, REFERENCE_VALUES, path, partial=True))


def unfilled(problems: tuple[Problem, ...]) -> dict[str, tuple[str, ...]]:
    """Group the `missing` problems: {"snp[0]": ("MinimumTCB.BootloaderVersion", ...), "tdx[0]": ("MrSeam",)}."""
    result: dict[str, tuple[str, ...]] = {}
    for found in problems:
        if found.missing:
            entry, _, field = found.field.removeprefix("ReferenceValues.").partition(".")
            result[entry] = (*result.get(entry, ()), field)
    return result


def _walk(value: Any, shape: Shape, path: str, *, partial: bool) -> Iterator[Problem]:
    """Check one value and all below it."""
    if value is None or (partial and value == ""):
        if partial:
            return
        value = zero(shape)
    wrong = "" if value is None else mismatch(value, shape)
    if wrong:
        yield Problem(path, wrong)
        return
    match shape:
        case Record():
            names = shape.names()
            yield from (unknown_field(key, names, path) for key in value if key not in names)
            for field in shape.fields:
                yield from _walk(value.get(field.name), field.shape, step(path, field.name), partial=partial)
        case Table():
            for key, part in (value or {}).items():
                yield from _digest(key, path)
                yield from _walk(part, shape.of, step(path, str(key)), partial=partial)
        case Items():
            items = value or ()
            if shape.length is not None and len(items) != shape.length:
                yield Problem(path, f"must have exactly {shape.length} entries, not {len(items)}")
            entries = partial and isinstance(shape.of, Record)
            for index, item in enumerate(items):
                if entries and item is None:
                    yield Problem(step(path, index), "must be an object, not null")
                yield from _walk(item, shape.of, step(path, index), partial=entries)
        case _:
            yield from _leaf(value, shape, path)


def _leaf(value: Any, shape: Text | Hex | PublicKey | Number | Flag, path: str) -> Iterator[Problem]:
    """Check one string, number or boolean of the right type."""
    match shape:
        case Text() if shape.choices and value not in shape.choices:
            yield Problem(path, _not_a_choice(value, shape.choices))
        case Hex() if not value and shape.operator:
            yield Problem(path, "not filled in", missing=True)
        case Hex() if not is_hex(value, shape.size) and not (shape.optional and not value):
            yield Problem(path, f"must be {_digits(shape.size)}")
        case Number() if value is None:
            yield Problem(path, "not filled in", missing=True)
        case Number() if not 0 <= value <= shape.limit:
            yield Problem(path, f"must be between 0 and {shape.limit}")
        case Flag() if value and shape.danger:
            yield Problem(path, f"must be false: {shape.danger}")
        case PublicKey():
            wrong = workload_problem(value) if shape.kind == "ecdsa" else seedshare_problem(value)
            if wrong:
                yield Problem(path, wrong)
        case _:
            pass


def _digest(key: Any, path: str) -> Iterator[Problem]:
    """Check one key of Policies: the SHA-256 of an initdata document."""
    if not isinstance(key, str) or not well_formed(key):
        yield Problem(path, "has a key that is no valid string")
    elif not is_hex(key, 32):
        yield Problem(step(path, key), "the key must be a digest: 64 hex digits")
    elif key != key.lower():
        yield Problem(step(path, key), "the key matches no workload, since digests are compared in lower case")


def _digits(size: int | None) -> str:
    return "hex digits" if size is None else f"{2 * size} hex digits ({size} bytes)"


def _not_a_choice(value: str, choices: tuple[str, ...]) -> str:
    """Say what the value could have been."""
    if "insecure" in value.casefold():
        return "insecure platforms are not supported"
    known = " or ".join(choice or "empty" for choice in choices)
    return f"must be {known}, not {short(value) or 'empty'}{suggestion(value, choices)}"


def _objects(value: Any, name: str) -> Mapping[Any, Any]:
    """Get an object out of an object, empty if either is something else."""
    part = value.get(name) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
