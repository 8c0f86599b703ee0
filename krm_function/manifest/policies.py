"""Entries of the manifest's Policies: which workload a digest stands for.

Rule of this file: an entry names its workload in SANs[0] and holds no empty field.
Source: docs/facts/contrast-manifest.md#policy-entries.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.manifest.shapes import Json


def secret_id(api_version: str, kind: str, namespace: str, name: str) -> str:
    """Derive the WorkloadSecretID of a workload that sets none: `apps/v1/StatefulSet/default/mysql`.

    The core group is spelled `core`, an absent ("") namespace `default`.
    """
    group_version = api_version if "/" in api_version else f"core/{api_version}"
    return f"{group_version}/{kind}/{namespace or 'default'}/{name}"


def entry(name: str, secret_id: str, role: str = "", sans: Iterable[str] | None = None) -> Json:
    """Make the entry of a workload: SANs are its `name`, then the extra `sans` in their order, none twice.

    `role` is "" or "coordinator"; WorkloadSecretID and Role are left out when empty.
    """
    made: Json = {"SANs": union([name], sans or ())}
    if secret_id:
        made["WorkloadSecretID"] = secret_id
    if role:
        made["Role"] = role
    return made


def union(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Join two lists, each value at its first place only."""
    return list(dict.fromkeys((*first, *second)))


def survivors(base: Mapping[str, Any] | None, new_policies: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """List the digests of a previous manifest that belong to no workload rendered now, ascending."""
    old = (base or {}).get("Policies") or {}
    return tuple(sorted(set(old) - set(new_policies) - set(_replaced(old, new_policies))))


def merged_policies(base: Mapping[str, Any] | None, new_policies: Mapping[str, Mapping[str, Any]]) -> Json:
    """Join the policies of a previous manifest with those rendered now; the truth table is in merge.py."""
    old = (base or {}).get("Policies") or {}
    kept: dict[tuple[str, str], list[str]] = {}  # by WorkloadSecretID, alone and with the workload's name
    for digest in _replaced(old, new_policies):
        sans = _sans(old[digest])
        for key in ((_id(old[digest]), ""), (_id(old[digest]), "".join(sans[:1]))):
            kept[key] = union(kept.get(key, ()), (san for san in sans if san != "*"))
    sharing: dict[str, int] = {}
    for new in new_policies.values():
        sharing[_id(new)] = sharing.get(_id(new), 0) + 1
    result: Json = {digest: old[digest] for digest in survivors(base, new_policies)}
    for digest, new in new_policies.items():
        name = "".join(_sans(new)[:1])
        same = old.get(digest)
        if same and (_id(same) == _id(new) if _id(same) else _sans(same)[:1] == [name]):
            extra = [san for san in _sans(same) if san != "*"]
        else:
            mine = (_id(new), name if sharing[_id(new)] > 1 else "") if _id(new) else ("", name)
            extra = union(kept.get(mine, ()), kept.get(("", name), ()))
        result[digest] = {**new, "SANs": union(_sans(new), extra)}
    return dict(sorted(result.items()))


def _replaced(old: Mapping[str, Any], new_policies: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """List the old digests whose workload is rendered now, ascending."""
    ids = {_id(new) for new in new_policies.values()} - {""}
    names = {name for new in new_policies.values() for name in _sans(new)[:1]}
    return [
        digest
        for digest in sorted(old)
        if (_id(old[digest]) in ids if _id(old[digest]) else not names.isdisjoint(_sans(old[digest])[:1]))
    ]


def _id(policy: Mapping[str, Any] | None) -> str:
    """WorkloadSecretID, or "" if there is none."""
    return (policy or {}).get("WorkloadSecretID") or ""


def _sans(policy: Mapping[str, Any] | None) -> list[str]:
    """SANs, or [] if there are none."""
    return list((policy or {}).get("SANs") or ())
