"""Find what workloads of rendered output share in their manifest: the role of coordinator, names, secrets.

Rule of this file: without the configuration nobody knows whether it is meant, so it is said as a warning. With it, the
second render decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.manifest.identity import Names, base_entries, key_of_derived, object_key
from krm_function.manifest.ordered_fields import COORDINATOR
from krm_function.manifest.problem import short
from krm_function.model.listed_names import listed
from krm_function.model.sealed import SealedWorkload


def shared_identities(sealed: Sequence[SealedWorkload], manifest: Mapping[str, Any] | None) -> Iterator[Finding]:
    """Yield CC0726 for each role, name and secret that several entries of the manifest have."""
    keys = {one.digest: object_key(one.workload.ref.whole) for one in sealed if one.digest}
    coordinators: list[str] = []
    secrets: dict[str, list[str]] = {}
    names = Names()
    entries = base_entries(manifest)
    for entry in entries:
        holder = keys.get(entry.digest) or key_of_derived(entry.secret) or entry.own_name
        if entry.role == COORDINATOR:
            coordinators.append(holder)
        if entry.secret and not (entry.digest in keys and holder in secrets.get(entry.secret, ())):
            secrets.setdefault(entry.secret, []).append(holder)  # the pods of one object share theirs
        for name in entry.names:
            names.add(name, keys.get(entry.digest, entry.digest))
    if len(coordinators) > 1:
        yield finding("CC0726.role", names=listed(coordinators))
    for secret, holders in secrets.items():
        if len(holders) > 1:
            yield finding("CC0726.secret", names=listed(holders), id=short(secret))
    told: set[frozenset[str]] = set()
    for name in dict.fromkeys(name for entry in entries for name in entry.names):
        alike = frozenset(names.holders(name))
        if len(alike) > 1 and alike not in told:
            told.add(alike)
            yield finding("CC0726.name", name=short(name), names=len(alike))
