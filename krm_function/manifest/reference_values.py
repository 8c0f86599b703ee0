"""Reference values: what the release measures, what the operator fills in, and what an older manifest holds already.

Rule of this file: entries are told apart by (Platform, ProductName); the rules of precedence are the truth table of
merge.py. The policy stage needs the result before there is a manifest, because the SNP guest policy is in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.canonical import canonical_value
from krm_function.manifest.default import layered
from krm_function.manifest.fields import REFERENCE_VALUES, SNP, TDX
from krm_function.manifest.problem import FieldProblem, Problem, step
from krm_function.manifest.shapes import Json, Record
from krm_function.manifest.validate import validate_partial

Partial = Mapping[str, Any]
_TEES = {"snp": SNP, "tdx": TDX}
_SELECTORS = ("Platform", "ProductName")


def find(reference_values: Partial, tee: str, platform: str, product: str = "") -> Partial | None:
    """Get the first entry of `snp` or `tdx` for a platform (and product), the one that counts.

    Source: docs/facts/contrast-manifest.md#id-block.
    """
    for entry in reference_values.get(tee) or ():
        if _key(entry) == (platform, product):
            found: Partial = entry
            return found
    return None


def check_release(values: Any, path: str = "") -> tuple[Problem, ...]:
    """Find what is wrong with a release's partial reference values; each entry must say what it is for, once."""
    problems = list(validate_partial(values, path))
    if problems:
        return tuple(problems)
    for tee, shape in _TEES.items():
        seen = set()
        for index, entry in enumerate((values or {}).get(tee) or ()):
            here = step(step(path, tee), index)
            problems += [Problem(step(here, name), "is needed") for name in _selectors(shape) if not entry.get(name)]
            if _key(entry) in seen:
                problems.append(Problem(here, f"is the second entry for {' '.join(_key(entry)).strip()}"))
            seen.add(_key(entry))
    return tuple(problems)


def check_overrides(values: Any, path: str = "") -> tuple[Problem, ...]:
    """Find what is wrong with an operator's settings: partial entries, a single one without the list around it."""
    return validate_partial(_as_lists(values), path)


def merged_reference_values(base: Partial | None, release: Partial | None, overrides: Partial | None) -> Json:
    """Make complete reference values, {"snp": [...], "tdx": [...]}, either absent when empty.

    `base`: those of a previous manifest; `release`: partial entries of the platforms used now; `overrides`: what the
    operator sets, each entry applying to all entries with its Platform and ProductName, or to any if it names none.
    Raises FieldProblem for what `check_release` and `check_overrides` find, for a base that does not fit the field
    tables, and for a measured value in `overrides` that contradicts the release.
    """
    canonical_value(base, REFERENCE_VALUES, "ReferenceValues")  # raises for a base of the wrong types
    for problem in (*check_release(release), *check_overrides(overrides)):
        raise FieldProblem(problem)
    settings = _as_lists(overrides) or {}
    result: Json = {}
    for tee, shape in _TEES.items():
        old = [entry or {} for entry in (base or {}).get(tee) or ()]
        fresh = {_key(entry): entry for entry in (release or {}).get(tee) or ()}
        known = {platform for platform, _ in map(_key, old)}
        added = sorted((entry for key, entry in fresh.items() if key[0] not in known), key=_platform)
        entries = [
            *(_entry(shape, entry, fresh.get(_key(entry)), settings.get(tee) or (), tee) for entry in old),
            *(_entry(shape, {}, entry, settings.get(tee) or (), tee) for entry in added),
        ]
        if entries:
            result[tee] = entries
    return result


def _entry(shape: Record, old: Partial, fresh: Partial | None, settings: Sequence[Partial], tee: str) -> Json:
    """Make one complete entry out of its sources, either of `old` and `fresh` possibly missing."""
    key = _key(fresh or old)
    chosen = [(index, setting) for index, setting in enumerate(settings) if _applies(setting, key)]
    if fresh is None and not chosen:
        untouched: Json = canonical_value(old, shape)
        return untouched
    measured = {field.name: (fresh or {}).get(field.name) for field in shape.fields if field.measured}
    measured = {name: value for name, value in measured.items() if value}
    for index, setting in chosen:
        for name, value in measured.items():
            if setting.get(name) and not _same(setting[name], value):
                here = step(step(step("", tee), index), name)
                raise FieldProblem(Problem(here, "contradicts the release, which measures this value"))
    if "Rtmrs" in measured:
        old = {name: value for name, value in old.items() if name != "Rtmr0Alternatives"}
    return layered(shape, [fresh or {}, old, *(setting for _, setting in chosen), measured])


def _applies(setting: Partial, key: tuple[str, str]) -> bool:
    """Whether a setting is meant for the entries of `key`."""
    return all(not said or said == is_ for said, is_ in zip(_key(setting), key, strict=True))


def _same(one: Any, two: Any) -> bool:
    """Compare measured values, hex digits in any case."""
    if isinstance(one, str) and isinstance(two, str):
        return one.casefold() == two.casefold()
    return len(one) == len(two) and all(_same(left, right) for left, right in zip(one, two, strict=True))


def _as_lists(values: Any) -> Any:
    """Put a list around a lone entry of `snp` or `tdx`."""
    if not isinstance(values, Mapping):
        return values
    return {key: [part] if isinstance(part, Mapping) else part for key, part in values.items()}


def _key(entry: Partial) -> tuple[str, str]:
    """Tell what an entry is for."""
    platform, product = (entry.get(name) or "" for name in _SELECTORS)
    return platform, product


def _platform(entry: Partial) -> str:
    """Give the first half of the key, to sort by."""
    return _key(entry)[0]


def _selectors(shape: Record) -> list[str]:
    """List the selectors that entries of a shape have."""
    return [name for name in _SELECTORS if name in shape.names()]
