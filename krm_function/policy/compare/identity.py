"""Compare what the manifests of two outputs give to a workload: its role, the names of its certificate, its secret.

Rule of this file: what another workload has as well, a name or a secret, counts as weaker, and so do a new role and a
new name. Where one of the outputs has no manifest, both are judged by their pods alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from krm_function.findings import Ref
from krm_function.manifest.identity import base_entries, key_of_derived, object_key
from krm_function.manifest.merge_policies import secret_id
from krm_function.model.workload import INITDATA, POD_ROLE, PREFIX, Workload
from krm_function.policy.compare.difference import DIFFERENT, STRONGER, WEAKER, Difference
from krm_function.policy.initdata import digest, from_annotation
from krm_function.record import NamedTuple


class Given(NamedTuple):
    """What a manifest gives to one workload."""

    role: str = ""
    names: frozenset[str] = frozenset()
    secret: str = ""


class GivenAway(NamedTuple):
    """What is given to whom in one output: by the key of a workload, or by what the manifest says of one elsewhere."""

    by_key: Mapping[str, Given]

    def others(self, key: str, given: Given) -> tuple[frozenset[str], frozenset[str]]:
        """Return who else has the secret of a workload, and who else has one of its names."""
        secrets, names = self._holders
        alike = {other for name in given.names for other in names.get(name, ())}
        return frozenset(secrets.get(given.secret, set()) - {key}), frozenset(alike - {key})

    @cached_property
    def _holders(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The keys by secret and by name."""
        secrets: dict[str, set[str]] = {}
        names: dict[str, set[str]] = {}
        for key, given in self.by_key.items():
            if given.secret:
                secrets.setdefault(given.secret, set()).add(key)
            for name in given.names:
                names.setdefault(name, set()).add(key)
        return secrets, names


def given_away(workloads: Iterable[Workload], manifest: Mapping[str, Any] | None) -> GivenAway:
    """Read what an output gives away. manifest: decoded; None to read the pods alone."""
    entries = {entry.digest: entry for entry in base_entries(manifest)}
    found = {}
    for workload in workloads:
        entry = entries.pop(_digest(workload), None)
        if entry is None:
            chosen = workload.annotations.get(PREFIX + "workload-secret-id")
            secret = chosen if isinstance(chosen, str) and chosen else secret_id(*workload.ref[:4])
            given = Given(str(workload.labels.get(POD_ROLE) or ""), frozenset((workload.ref.name,)), secret)
        else:
            given = Given(entry.role, frozenset(entry.names), entry.secret)
        found[object_key(workload.ref)] = given
    for entry in entries.values():
        key = key_of_derived(entry.secret) or entry.own_name or entry.digest
        found.setdefault(key, Given(entry.role, frozenset(entry.names), entry.secret))
    return GivenAway(found)


def compare_identity(ref: Ref, old: GivenAway, new: GivenAway) -> Iterator[Difference]:
    """Yield the differences of one workload that the new output has; of a new one what it takes of others."""
    key = object_key(ref)
    after = new.by_key[key]
    before = old.by_key.get(key)
    shared, named = new.others(key, after)
    had, had_named = old.others(key, before) if before else (frozenset(), frozenset())
    if after.role != (before.role if before else ""):
        if before and before.role:
            yield Difference("", "role", "removed", before.role, STRONGER, "it has one right less")
        if after.role:
            yield Difference("", "role", "added", after.role, WEAKER, "it gives out certificates and secrets")
    for name in sorted(before.names - after.names if before else ()):
        yield Difference("", "name", "removed", name, STRONGER, "its certificate has one name less")
    for name in sorted(after.names - before.names if before else ()):
        yield Difference("", "name", "added", name, WEAKER, "clients take it for one more service")
    for other in sorted(named - had_named):
        yield Difference("", "name", "added", other, WEAKER, "clients may take one for the other")
    owner = key_of_derived(after.secret)
    foreign = {owner} if owner and owner != key else set()
    if before and before.secret != after.secret and not (shared or foreign):
        why = "what the old secret has encrypted cannot be opened"
        yield Difference("", "workload secret", "changed", f"{before.secret} -> {after.secret}", DIFFERENT, why)
    if before is None or before.secret != after.secret or shared - had:
        for other in sorted((shared | foreign) - (had if before and before.secret == after.secret else set())):
            yield Difference("", "workload secret", "added", other, WEAKER, "both can open what either has encrypted")


def _digest(workload: Workload) -> str:
    """Return the digest of a workload's initdata, "" if it has none that can be read."""
    try:
        return digest(from_annotation(str(workload.annotations.get(INITDATA, ""))))
    except ValueError:
        return ""
