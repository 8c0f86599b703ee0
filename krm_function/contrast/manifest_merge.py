"""A new manifest from the rendered workloads and the previous manifest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.contrast.manifest import (
    BY_VCPUS,
    ENTRIES,
    MANIFEST,
    MEASURED,
    POLICY,
    REFERENCE_VALUES,
    FieldProblem,
    Json,
    ManifestError,
    ManifestProblem,
    Rtmr0,
    canonical,
    canonical_value,
    complete_entry,
    decode,
    newer_keys,
    rtmr0_values,
    validate_partial,
    with_rtmr0,
)
from krm_function.kubernetes.objects import mapping
from krm_function.schema.table import EMPTY
from krm_function.text.changes import same

# --- Reference values from the release's measurements, the operator's settings, and an older manifest
#
# Rule: entries are told apart by (Platform, ProductName). The policy stage needs the result before there is a manifest,
# because the SNP guest policy is in it.
#
#     | in base | in release | entry                                                                               |
#     |---------|------------|-------------------------------------------------------------------------------------|
#     | yes     | yes        | measured fields of the release, all else of base; each of several base entries      |
#     | yes     | no         | of base                                                                             |
#     | no      | yes        | of the release, if base has no entry of that Platform; else none: a product that    |
#     |         |            | the operator removed stays removed                                                  |
#
#     In each entry a field is the last one set of: default, release, base, operator's setting; for a measured
#     field: default, base, operator's setting, release. Null and empty text count as not set, so a value that is not
#     filled in yet hides nothing. A setting that contradicts a measured field of the release is an error. Order: base,
#     then new platforms in alphabetical order. Measured: TrustedMeasurement, APEIP, MrTd, Rtmrs, Rtmr0Alternatives.


Partial = Mapping[str, Any]
_SELECTORS = ("Platform", "ProductName")


def check_release(values: Any) -> tuple[ManifestProblem, ...]:
    """Return the problems of a release's partial reference values; each entry must have its own selectors."""
    return validate_partial(values) or tuple(
        problem for tee in ENTRIES for problem in check_selectors(tee, (values or {}).get(tee) or ())
    )


def check_selectors(tee: str, entries: Sequence[Partial]) -> tuple[ManifestProblem, ...]:
    """Return the problems of entries of one TEE that lack a selector, or repeat the selectors of an earlier one."""
    problems = []
    seen = set()
    for index, entry in enumerate(entries):
        needed = [name for name in _SELECTORS if name in ENTRIES[tee].fields]
        problems += [ManifestProblem((tee, index, name), "is needed") for name in needed if not entry.get(name)]
        key = entry_key(entry)
        if key in seen:
            problems.append(ManifestProblem((tee, index), f"is the second entry for {' '.join(key).strip()}"))
        seen.add(key)
    return tuple(problems)


def check_overrides(values: Any) -> tuple[ManifestProblem, ...]:
    """Return the problems of an operator's settings: partial entries, a single one without the list around it."""
    return validate_partial(_wrap_in_lists(values))


def merged_reference_values(base: Partial | None, release: Partial | None, overrides: Partial | None) -> Json:
    """Make complete reference values, {"snp": [...], "tdx": [...]}, either absent when empty.

    `base`: of a previous manifest; `release`: partial entries of the platforms used now; `overrides`: the
    operator's settings, each entry applying to all entries with its Platform and ProductName, or to any if it names
    none. Raises FieldProblem for problems that `check_release` and `check_overrides` find, for a base that does not fit
    the field tables, and for a measured value in `overrides` that contradicts the release.
    """
    canonical_value(base, REFERENCE_VALUES, ("ReferenceValues",))  # raises for a base of the wrong types
    for problem in (*check_release(release), *check_overrides(overrides)):
        raise FieldProblem(problem)
    settings = _wrap_in_lists(overrides) or {}
    result: Json = {}
    for tee in ENTRIES:
        old = [entry or {} for entry in (base or {}).get(tee) or ()]
        fresh = {entry_key(entry): entry for entry in (release or {}).get(tee) or ()}
        known_platforms = {platform for platform, _ in map(entry_key, old)}
        new = [entry for key, entry in fresh.items() if key[0] not in known_platforms]
        added = sorted(new, key=lambda entry: entry_key(entry)[0])
        entries = [
            *(_make_entry(entry, fresh.get(entry_key(entry)), settings.get(tee) or (), tee) for entry in old),
            *(_make_entry({}, entry, settings.get(tee) or (), tee) for entry in added),
        ]
        if entries:
            result[tee] = entries
    return result


def _make_entry(old: Partial, fresh: Partial | None, settings: Sequence[Partial], tee: str) -> Json:
    """Make one complete entry from its sources; `old` or `fresh` may be missing."""
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
                contradiction = "contradicts the release, which measures this value"
                raise FieldProblem(ManifestProblem((tee, index, name), contradiction))
    if "Rtmrs" in measured:
        old = {name: value for name, value in old.items() if name != "Rtmr0Alternatives"}
    return complete_entry(tee, [fresh or {}, old, *(setting for _, setting in chosen), measured])


def _applies(setting: Partial, key: tuple[str, str]) -> bool:
    return all(not expected or expected == actual for expected, actual in zip(entry_key(setting), key, strict=True))


def same_measurement(first: Any, second: Any) -> bool:
    """Tell whether two measured values are equal, hex digits in any case."""
    if isinstance(first, str) and isinstance(second, str):
        return first.casefold() == second.casefold()
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_measurement, first, second))
    return bool(first == second)


def _wrap_in_lists(values: Any) -> Any:
    """Put a list around a lone entry of `snp` or `tdx`."""
    if not isinstance(values, Mapping):
        return values
    return {key: [part] if isinstance(part, Mapping) else part for key, part in values.items()}


def entry_key(entry: Partial) -> tuple[str, str]:
    """Return the selectors of an entry: platform and product."""
    platform, product = (entry.get(name) or "" for name in _SELECTORS)
    return platform, product


# --- Entries of the manifest's Policies: the workload of a digest, and the older entries that a merge keeps
#
# Rule: an entry names its workload in SANs[0] and holds no empty field. Source:
# docs/facts/contrast-manifest.md#policy-entries.
#
# In a merge the caller states which base entries (of the previous manifest) belong to workloads rendered now: resources
# write ids and names, so that nothing in two entries proves it (render/roles.py).
#
#     | base entry is of      | its digest is    | result                                                             |
#     |-----------------------|------------------|--------------------------------------------------------------------|
#     | a workload of now     | any              | gone; its SANs follow the generated ones in the new entry, but "*" |
#     | the same, with `keep` | no digest of now | kept as it is, and its SANs as above                               |
#     | another workload      | no digest of now | kept as it is                                                      |
#     | another workload      | a digest of now  | the caller has refused it                                          |
#
#     Releases before September 2026 generated "*", so it is not a choice of the user; to have it, configure it. If
#     base names the workload under its new digest already, SANs of that one entry count; else of all its entries.


def secret_id(api_version: str, kind: str, namespace: str, name: str) -> str:
    """Derive the WorkloadSecretID of a workload that sets none: `apps/v1/StatefulSet/default/mysql`.

    The core group is spelled `core`, an absent ("") namespace `default`.
    """
    group_version = api_version if "/" in api_version else f"core/{api_version}"
    return f"{group_version}/{kind}/{namespace or 'default'}/{name}"


def policy_entry(name: str, secret_id: str, role: str = "", sans: Iterable[str] | None = None) -> Json:
    """Make the entry of a workload: SANs are its `name`, then the extra `sans` in their order, none twice.

    `role` is "" or "coordinator"; WorkloadSecretID and Role are left out when empty.
    """
    entry: Json = {"SANs": union([name], sans or ())}
    if secret_id:
        entry["WorkloadSecretID"] = secret_id
    if role:
        entry["Role"] = role
    return entry


def union(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Join two lists, each value at its first place only."""
    return list(dict.fromkeys((*first, *second)))


def survivors(base: Mapping[str, Any] | None, replaced: Iterable[str]) -> tuple[str, ...]:
    """List the digests of a previous manifest that belong to no workload rendered now, ascending."""
    return tuple(sorted(set((base or {}).get("Policies") or {}) - set(replaced)))


def merged_policies(
    base: Mapping[str, Any] | None,
    new_policies: Mapping[str, Mapping[str, Any]],
    replaced: Mapping[str, str],
    *,
    keep: bool = False,
) -> Json:
    """Join the policies of a previous manifest with those rendered now, by the truth table above.

    Fields of a newer manifest go from an old entry into the new one of its workload.

    replaced: the digest of each old entry whose workload is rendered now, and the digest that it has now. keep: they
    stay beside the new ones.
    """
    old = (base or {}).get("Policies") or {}
    result: Json = {digest: old[digest] for digest in survivors(base, () if keep else replaced)}
    for digest, new in new_policies.items():
        mine = [old_digest for old_digest in sorted(replaced) if replaced[old_digest] == digest]
        counting = [old.get(old_digest) or {} for old_digest in (mine if digest not in mine else [digest])]
        old_sans = [_read_sans(entry) for entry in counting]
        newer = {key: entry[key] for entry in counting for key in newer_keys(entry, POLICY)}
        extra = [san for sans in old_sans for san in sans if san != "*"]
        result[digest] = {**newer, **new, "SANs": union(_read_sans(new), extra)}
    return dict(sorted(result.items()))


def _read_sans(policy: Mapping[str, Any] | None) -> list[str]:
    return list((policy or {}).get("SANs") or ())


# --- Which reference values of a base manifest measure the VMs of an earlier release, for `manifest.keep: previous`
#
# An entry is of the release if it has its platform and product, and the release's measured values. RTMR0 does not count
# where it depends on the vCPU count: it is set for the counts that are rendered now.
#
#     of its platform and product, base has           merged with the release    kept as it is
#     an entry with the release's measured values     that one                   the others
#     none                                            the first                  all of them
#     (the release has no such product)               all of them, as ever       none
#
# Rule: pure; kept entries follow the merged ones, because ID blocks are made from the first entry of a product
# (render/stages.py).


Values = dict[str, list[Partial]]


def divided(base: Partial | None, release: Partial | None) -> tuple[Values, Values]:
    """Divide the reference values of a base by whether they measure what a release does.

    Returns the entries to merge, and the entries to keep beside the result, by TEE.
    """
    merged: Values = {}
    beside: Values = {}
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
            if key not in fresh or any(entry is current_entry for current_entry in of_now or ()):
                merged.setdefault(tee, []).append(entry)
                continue
            if not of_now and entry is first[key]:
                merged.setdefault(tee, []).append(entry)
            beside.setdefault(tee, []).append(entry)
    return merged, beside


def with_kept(merged: Mapping[str, Sequence[Partial]], beside: Mapping[str, Sequence[Partial]]) -> dict[str, Any]:
    """Return reference values with those `beside` after the merged ones of each TEE."""
    return {tee: [*merged.get(tee, ()), *beside.get(tee, ())] for tee in ENTRIES if merged.get(tee) or beside.get(tee)}


def _measures_same(entry: Partial, fresh: Partial, tee: str) -> bool:
    measured = [name for name, field in ENTRIES[tee].fields.items() if MEASURED in field.marks and fresh.get(name)]
    return all(same_measurement(_cut_rtmr0(name, entry), _cut_rtmr0(name, fresh)) for name in measured)


def _cut_rtmr0(name: str, entry: Partial) -> Any:
    """Return a measured value, without the part that depends on the vCPU count."""
    value = entry.get(name)
    if entry.get("Platform") not in BY_VCPUS:
        return value
    if name == "Rtmr0Alternatives":
        return None
    return list(value)[1:] if name == "Rtmrs" and isinstance(value, list | tuple) else value


# --- Choose among the manifests of several releases that share a coordinator
#
# Rule: a manifest with another as its base may add policies and change nothing else. If one of them has another owner
# key, reference value or formatting, there are two manifests.


def last_of(texts: Sequence[bytes]) -> bytes | None:
    """Return the manifest that has the policies of all the others and equals them otherwise; None if none does.

    This holds for several releases that each have the previous manifest as `manifest.base`.
    """
    if len(set(texts)) < 2:
        return texts[0] if texts else None
    try:
        decoded = {text: decode(text) for text in texts}
    except ManifestError:
        return None
    last = max(texts, key=lambda text: len(mapping(decoded[text].get("Policies"))))
    return last if all(_extends(decoded[last], decoded[text]) for text in decoded if text != last) else None


def _extends(last: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    """Tell whether two manifests differ only in policies that the last one adds, at least one."""
    ours, theirs = (mapping(manifest.get("Policies")) for manifest in (last, first))
    policies = {digest: value for digest, value in ours.items() if digest in theirs}
    return len(ours) > len(theirs) and same({**last, "Policies": policies}, {**first, "Policies": theirs})


# --- A new manifest from the rendered workloads and the previous manifest
#
# Rule: pure, and merge(merge(x)) == merge(x). Contrast's own CLI rebuilds Policies from scratch and never refreshes
# reference values; here each side keeps what it owns. Sources: docs/facts/contrast-manifest.md#policy-entries,
# docs/facts/contrast-manifest.md#default-values.
#
#     Policies         by workload: the truth table is above
#     ReferenceValues  by platform and product: the truth table is above
#     RTMR0            set last, for platforms where it depends on the vCPU count, from the counts rendered now; the
#                      values of base that the release's table has are kept as well if base policies survive, because
#                      these may belong to workloads with another vCPU count
#     kept             with `keep`, the policies of base whose workload is rendered now, as they are; and its entries of
#                      ReferenceValues that measure another release, with the operator's settings
#     newer fields     of base, which this version does not know, as they are
#     owner keys       of base and the added ones, none twice, sorted; null if there are none


def merge(
    base: Mapping[str, Any] | None,
    new_policies: Mapping[str, Mapping[str, Any]],
    reference_values: Mapping[str, Any] | None,
    overrides: Mapping[str, Any] | None = None,
    *,
    owner_keys: Iterable[str] = (),
    seedshare_keys: Iterable[str] = (),
    rtmr0: Rtmr0 | None = None,
    replaced: Mapping[str, str] = EMPTY,
    keep: bool = False,
) -> Json:
    """Make the manifest, canonical and complete but not validated; it shares nothing with the input.

    `base`: the previous manifest as `decode` gives it; `new_policies`: digest -> `policy_entry(...)` of each workload;
    `reference_values`: the release's partial {"snp": [...], "tdx": [...]} for the platforms used now; `overrides`:
    spec.manifest.referenceValues, of the same shape; keys: hex digits as from `workload_owner` and `seedshare_owner`;
    `rtmr0`: given when there are workloads of a platform whose RTMR0 depends on the vCPU count; `replaced`: the digest
    of each policy of base whose workload is rendered now -> its digest now; `keep`: both stay, and the reference values
    of base beside those of the release. Raises FieldProblem (see `merged_reference_values`; likewise for a base that
    does not fit the field tables) and UnknownVcpuCount.
    """
    old = base or {}
    canonical(old)  # raises for wrong types; the next steps need the raw one, which tells absent from zero
    start, beside = divided(old.get("ReferenceValues"), reference_values) if keep else (old.get("ReferenceValues"), {})
    values = merged_reference_values(start, reference_values, overrides)
    if rtmr0 is not None:
        earlier = rtmr0_values(old.get("ReferenceValues")) if keep or survivors(old, replaced) else ()
        values = with_rtmr0(values, rtmr0, earlier)
    if beside:
        values = with_kept(values, merged_reference_values(beside, None, overrides))
    return canonical(
        {key: old[key] for key in newer_keys(old, MANIFEST)}
        | {
            "Policies": merged_policies(old, new_policies, replaced, keep=keep),
            "ReferenceValues": values,
            "WorkloadOwnerPubKeys": _join_keys(old.get("WorkloadOwnerPubKeys"), owner_keys),
            "SeedshareOwnerPubKeys": _join_keys(old.get("SeedshareOwnerPubKeys"), seedshare_keys),
        }
    )


def _join_keys(old: Iterable[str] | None, added: Iterable[str]) -> list[str] | None:
    """Join two lists of hex digits; of two spellings of one key the older stays."""
    keys: dict[str, str] = {}
    for key in (*(old or ()), *added):
        keys.setdefault(key.casefold(), key)
    return sorted(keys.values()) or None
