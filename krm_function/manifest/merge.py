"""A new manifest out of what was rendered and the manifest that was there before.

Rule of this file: pure, and merge(merge(x)) == merge(x). Contrast's own CLI rebuilds Policies from scratch and never
refreshes reference values; here each side keeps what it owns. Sources: docs/facts/contrast-manifest.md#policy-entries,
docs/facts/contrast-manifest.md#default-values.

    Policies         by workload: the truth table is in merge_policies.py, beside its code
    ReferenceValues  by platform and product: the truth table is in merge_reference_values.py
    RTMR0            set last, for platforms where it depends on the vCPU count, from the counts rendered now; the
                     values of base that the release's table has are kept as well if base policies survive, because
                     these may belong to workloads with another vCPU count
    kept             with `keep`, the policies of base whose workload is rendered now, as they are; and its entries of
                     ReferenceValues that measure another release (previous_values.py), with the operator's settings
    newer fields     of base, which this version does not know, as they are
    owner keys       those of base and the added ones, none twice, sorted; null if there are none
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from krm_function.manifest.canonical import canonical, newer_keys
from krm_function.manifest.merge_policies import merged_policies, survivors
from krm_function.manifest.merge_reference_values import merged_reference_values
from krm_function.manifest.ordered_fields import MANIFEST, Json
from krm_function.manifest.previous_values import Divided, divided, with_kept
from krm_function.manifest.tdx import Rtmr0, rtmr0_values, with_rtmr0

NOTHING: Mapping[str, str] = MappingProxyType({})


def merge(
    base: Mapping[str, Any] | None,
    new_policies: Mapping[str, Mapping[str, Any]],
    reference_values: Mapping[str, Any] | None,
    overrides: Mapping[str, Any] | None = None,
    *,
    owner_keys: Iterable[str] = (),
    seedshare_keys: Iterable[str] = (),
    rtmr0: Rtmr0 | None = None,
    replaced: Mapping[str, str] = NOTHING,
    keep: bool = False,
) -> Json:
    """Make the manifest, canonical and complete but not validated; nothing of it is shared with the input.

    `base`: the previous manifest as `decode` gives it; `new_policies`: digest -> `policy_entry(...)` of each workload;
    `reference_values`: the release's partial {"snp": [...], "tdx": [...]} for the platforms used now; `overrides`:
    spec.manifest.referenceValues, of the same shape; keys: hex digits as from `workload_owner` and `seedshare_owner`;
    `rtmr0`: given when there are workloads of a platform whose RTMR0 depends on the vCPU count; `replaced`: the digest
    of each policy of base whose workload is rendered now -> its digest now; `keep`: both stay, and the reference
    values of base beside those of the release. Raises FieldProblem (see
    `merged_reference_values`; likewise for a base that does not fit the field tables) and UnknownVcpuCount.
    """
    old = base or {}
    canonical(old)  # raises for wrong types; what follows needs the raw one, which tells absent from zero
    before = divided(old.get("ReferenceValues"), reference_values) if keep else Divided({}, {})
    values = merged_reference_values(before.merged if keep else old.get("ReferenceValues"), reference_values, overrides)
    if rtmr0 is not None:
        kept = rtmr0_values(old.get("ReferenceValues")) if keep or survivors(old, replaced) else ()
        values = with_rtmr0(values, rtmr0, kept)
    if before.kept:
        values = with_kept(values, merged_reference_values(before.kept, None, overrides))
    return canonical(
        {key: old[key] for key in newer_keys(old, MANIFEST)}
        | {
            "Policies": merged_policies(old, new_policies, replaced, keep=keep),
            "ReferenceValues": values,
            "WorkloadOwnerPubKeys": _keys(old.get("WorkloadOwnerPubKeys"), owner_keys),
            "SeedshareOwnerPubKeys": _keys(old.get("SeedshareOwnerPubKeys"), seedshare_keys),
        }
    )


def _keys(old: Iterable[str] | None, added: Iterable[str]) -> list[str] | None:
    """Join two lists of hex digits; of two spellings of one key the older stays."""
    keys: dict[str, str] = {}
    for key in (*(old or ()), *added):
        keys.setdefault(key.casefold(), key)
    return sorted(keys.values()) or None
