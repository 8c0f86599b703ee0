"""Base entries: find which entries of the base manifest are of workloads of this render, and may be replaced.

Rule of this file: what resources write about themselves, an id or a name, proves nothing. An entry is of a workload
only if its WorkloadSecretID is the one that Contrast derives of this object, or if the configuration says so.

    WorkloadSecretID of the entry        it is of
    derived of a workload of now         that workload
    under spec.manifest.sharedSecrets    the workload under it that is named as the entry, or else the only one under it
    none, as of old releases             the workload named so whose full key is under spec.manifest.policies
    any other                            none of this render: it is kept
"""

from collections.abc import Sequence

from krm_function.api.records import ManifestOptions
from krm_function.findings import Finding, Ref, finding
from krm_function.manifest.identity import BaseEntry, Identity, base_entries, object_key, quoted
from krm_function.model.workload import Workload


def owned_entries(workloads: Sequence[Identity], options: ManifestOptions) -> tuple[BaseEntry, ...]:
    """Read the entries of the base, each with the workload of this render that it is proven to be of."""
    by_derived = {one.derived: one.ref for one in workloads}
    by_key = {key: one.ref for one in workloads for key in one.keys}
    shared = {one.id: one.workloads for one in options.shared_secrets}
    named: dict[str, list[Ref]] = {}
    for one in workloads:
        if one.named:
            named.setdefault(one.ref.name, []).append(one.ref)

    def owner(entry: BaseEntry) -> Ref | None:
        if entry.secret in shared:
            keys = shared[entry.secret]
            alike = [key for key in keys if key.rpartition("/")[2].partition("#")[0] == entry.own_name]
            mine = alike or keys
            return by_key.get(mine[0]) if len(mine) == 1 else None
        if entry.secret:
            return by_derived.get(entry.secret)
        alike_named = named.get(entry.own_name, [])
        return alike_named[0] if len({ref.whole for ref in alike_named}) == 1 else None

    return tuple(entry._replace(owner=owner(entry)) for entry in base_entries(options.base))


def unproven_names(workloads: Sequence[Workload], kept: Sequence[BaseEntry]) -> tuple[Finding, ...]:
    """Return CC0724 for each workload that has the name of an entry without a WorkloadSecretID.

    Whether the entry is of this object cannot be known. kept: the entries that are of no workload of this render.
    """
    entries = {entry.own_name: entry for entry in kept if not entry.secret}
    found = []
    for one in workloads:
        if one.ref.name and one.ref.name in entries:
            setting = f"policies: {{{quoted(object_key(one.ref))}: {{}}}}"
            path = (*one.root, "metadata", "name")
            found.append(finding("CC0724.name", one.ref, path, entry=entries[one.ref.name], setting=setting))
    return tuple(found)
