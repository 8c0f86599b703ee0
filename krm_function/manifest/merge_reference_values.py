"""Reference values: what the release measures, what the operator fills in, and what an older manifest holds already.

Rule of this file: entries are told apart by (Platform, ProductName). The policy stage needs the result before there is
a manifest, because the SNP guest policy is in it.

    | in base | in release | entry                                                                               |
    |---------|------------|-------------------------------------------------------------------------------------|
    | yes     | yes        | measured fields of the release, all else of base; each of several base entries      |
    | yes     | no         | of base                                                                             |
    | no      | yes        | of the release, if base has no entry of that Platform; else none: a product that    |
    |         |            | the operator removed stays removed                                                  |

    In each entry a field is the last one given of: default, release, base, operator's setting; for a measured
    field: default, base, operator's setting, release. "Given" is neither null nor empty text, so a value that is not
    filled in yet hides nothing. A setting that contradicts a measured field of the release is an error. Order: base,
    then new platforms in alphabetical order. Measured: TrustedMeasurement, APEIP, MrTd, Rtmrs, Rtmr0Alternatives.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.canonical import canonical_value
from krm_function.manifest.default import complete_entry
from krm_function.manifest.ordered_fields import ENTRIES, MEASURED, REFERENCE_VALUES, Json
from krm_function.manifest.problem import FieldProblem, ManifestProblem
from krm_function.manifest.validate import validate_partial
from krm_function.schema.kinds import Record

Partial = Mapping[str, Any]
_SELECTORS = ("Platform", "ProductName")


def check_release(values: Any) -> tuple[ManifestProblem, ...]:
    """Find what is wrong with a release's partial reference values; each entry must say what it is for, once."""
    return validate_partial(values) or tuple(
        problem for tee in ENTRIES for problem in check_selectors(tee, (values or {}).get(tee) or ())
    )


def check_selectors(tee: str, entries: Sequence[Partial]) -> tuple[ManifestProblem, ...]:
    """Find entries of one TEE, right in themselves, that do not say what they are for, or the same as one before."""
    problems = []
    seen = set()
    for index, entry in enumerate(entries):
        problems += [
            ManifestProblem((tee, index, name), "is needed") for name in _selectors(ENTRIES[tee]) if not entry.get(name)
        ]
        if entry_key(entry) in seen:
            problems.append(
                ManifestProblem((tee, index), f"is the second entry for {' '.join(entry_key(entry)).strip()}")
            )
        seen.add(entry_key(entry))
    return tuple(problems)


def check_overrides(values: Any) -> tuple[ManifestProblem, ...]:
    """Find what is wrong with an operator's settings: partial entries, a single one without the list around it."""
    return validate_partial(_as_lists(values))


def merged_reference_values(base: Partial | None, release: Partial | None, overrides: Partial | None) -> Json:
    """Make complete reference values, {"snp": [...], "tdx": [...]}, either absent when empty.

    `base`: those of a previous manifest; `release`: partial entries of the platforms used now; `overrides`: what the
    operator sets, each entry applying to all entries with its Platform and ProductName, or to any if it names none.
    Raises FieldProblem for what `check_release` and `check_overrides` find, for a base that does not fit the field
    tables, and for a measured value in `overrides` that contradicts the release.
    """
    canonical_value(base, REFERENCE_VALUES, ("ReferenceValues",))  # raises for a base of the wrong types
    for problem in (*check_release(release), *check_overrides(overrides)):
        raise FieldProblem(problem)
    settings = _as_lists(overrides) or {}
    result: Json = {}
    for tee in ENTRIES:
        old = [entry or {} for entry in (base or {}).get(tee) or ()]
        fresh = {entry_key(entry): entry for entry in (release or {}).get(tee) or ()}
        known = {platform for platform, _ in map(entry_key, old)}
        added = sorted((entry for key, entry in fresh.items() if key[0] not in known), key=_platform)
        entries = [
            *(_entry(entry, fresh.get(entry_key(entry)), settings.get(tee) or (), tee) for entry in old),
            *(_entry({}, entry, settings.get(tee) or (), tee) for entry in added),
        ]
        if entries:
            result[tee] = entries
    return result


def _entry(old: Partial, fresh: Partial | None, settings: Sequence[Partial], tee: str) -> Json:
    """Make one complete entry out of its sources, either of `old` and `fresh` possibly missing."""
    key = entry_key(fresh or old)
    chosen = [(index, setting) for index, setting in enumerate(settings) if _applies(setting, key)]
    if fresh is None and not chosen:
        untouched: Json = canonical_value(old, ENTRIES[tee])
        return untouched
    fields = ENTRIES[tee].fields.items()
    measured = {name: value for name, field in fields if MEASURED in field.marks and (value := (fresh or {}).get(name))}
    for index, setting in chosen:
        for name, value in measured.items():
            if setting.get(name) and not same_measurement(setting[name], value):
                raise FieldProblem(
                    ManifestProblem((tee, index, name), "contradicts the release, which measures this value")
                )
    if "Rtmrs" in measured:
        old = {name: value for name, value in old.items() if name != "Rtmr0Alternatives"}
    return complete_entry(tee, [fresh or {}, old, *(setting for _, setting in chosen), measured])


def _applies(setting: Partial, key: tuple[str, str]) -> bool:
    """Tell whether a setting is meant for the entries of `key`."""
    return all(not wanted or wanted == actual for wanted, actual in zip(entry_key(setting), key, strict=True))


def same_measurement(one: Any, two: Any) -> bool:
    """Tell whether two measured values are equal, hex digits in any case."""
    if isinstance(one, str) and isinstance(two, str):
        return one.casefold() == two.casefold()
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(same_measurement, one, two))
    return bool(one == two)


def _as_lists(values: Any) -> Any:
    """Put a list around a lone entry of `snp` or `tdx`."""
    if not isinstance(values, Mapping):
        return values
    return {key: [part] if isinstance(part, Mapping) else part for key, part in values.items()}


def entry_key(entry: Partial) -> tuple[str, str]:
    """Tell what an entry is for."""
    platform, product = (entry.get(name) or "" for name in _SELECTORS)
    return platform, product


def _platform(entry: Partial) -> str:
    """Give the first half of the key, to sort by."""
    return entry_key(entry)[0]


def _selectors(spec: Record) -> list[str]:
    """List the selectors that entries of a TEE have."""
    return [name for name in _SELECTORS if name in spec.fields]
