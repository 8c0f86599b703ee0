"""Which reference values of a base manifest measure the VMs of an earlier release, for `manifest.keep: previous`.

An entry is of the release if it has its platform and product, and the measured values are the release's. RTMR0 is no
part of that where it depends on the vCPU count: it is set for the counts that are rendered now.

    of its platform and product, base has           merged with the release    kept as it is
    an entry with the release's measured values     that one                   the others
    none                                            the first                  all of them
    (the release has no such product)               all of them, as ever       none

Rule of this file: pure; what is kept stands behind what is merged, because the first entry of a product is the one that
ID blocks are made from (stages/measure.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.merge_reference_values import Partial, entry_key, same_measurement
from krm_function.manifest.ordered_fields import ENTRIES, MEASURED
from krm_function.manifest.tdx import BY_VCPUS
from krm_function.record import NamedTuple

Values = dict[str, list[Partial]]


class Divided(NamedTuple):
    """Reference values of a base, by TEE: what a merge starts from, and what is kept beside its result."""

    merged: Values
    kept: Values


def divided(base: Partial | None, release: Partial | None) -> Divided:
    """Divide the reference values of a base by whether they measure what a release does."""
    out = Divided({}, {})
    for tee in ENTRIES:
        old: list[Partial] = [entry or {} for entry in (base or {}).get(tee) or ()]
        fresh: dict[tuple[str, str], Partial] = {entry_key(entry): entry for entry in (release or {}).get(tee) or ()}
        current = {
            key: [entry for entry in old if entry_key(entry) == key and _measures_same(entry, values, tee)]
            for key, values in fresh.items()
        }
        first = {key: next((entry for entry in old if entry_key(entry) == key), None) for key in fresh}
        for entry in old:
            key = entry_key(entry)
            of_now = current.get(key)
            if key not in fresh or any(entry is one for one in of_now or ()):
                out.merged.setdefault(tee, []).append(entry)
                continue
            if not of_now and entry is first[key]:
                out.merged.setdefault(tee, []).append(entry)
            out.kept.setdefault(tee, []).append(entry)
    return out


def with_kept(merged: Mapping[str, Sequence[Partial]], kept: Mapping[str, Sequence[Partial]]) -> dict[str, Any]:
    """Return reference values with the kept ones of each TEE behind the others."""
    return {tee: [*merged.get(tee, ()), *kept.get(tee, ())] for tee in ENTRIES if merged.get(tee) or kept.get(tee)}


def _measures_same(entry: Partial, fresh: Partial, tee: str) -> bool:
    measured = [name for name, field in ENTRIES[tee].fields.items() if MEASURED in field.marks and fresh.get(name)]
    return all(same_measurement(_without_rtmr0(name, entry), _without_rtmr0(name, fresh)) for name in measured)


def _without_rtmr0(name: str, entry: Partial) -> Any:
    """Return a measured value; of one that depends on the vCPU count, the part that does not."""
    value = entry.get(name)
    if entry.get("Platform") not in BY_VCPUS:
        return value
    if name == "Rtmr0Alternatives":
        return None
    return list(value)[1:] if name == "Rtmrs" and isinstance(value, list | tuple) else value
