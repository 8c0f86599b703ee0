"""Check each workload of rendered output: it is sealed, and neither its pod nor the manifest has changed since.

Rule of this file: it looks at rendered output alone, because kustomize can skip a function without a word
(docs/facts/kustomize.md#exec-functions). It checks what `contrast set` and `contrast verify` will check later
(docs/facts/contrast-manifest.md#set-and-verify).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.checking.drift import drift
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.input_checks.unsealed import unsealed_classes, unsealed_finding
from krm_function.manifest.identity import key_of_derived
from krm_function.model.helm_hooks import hook_of
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.platforms import Platform
from krm_function.model.pod_kinds import Kinds
from krm_function.model.runtime_class_names import (
    is_placeholder,
    parse_runtime_class,
)
from krm_function.model.sealed import SealedWorkload
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import (
    References,
    decode_toml,
    digest,
    from_annotation,
    profile_of_rules,
    read_policy_data,
    unreadable,
)
from krm_function.policy.allowed_names import allowed_names, name_difference, refused_name
from krm_function.policy.controller_pods import controller_findings, written_by_controller
from krm_function.policy.open_variables import open_findings, open_variables
from krm_function.policy.rules_mismatch import profile_of_data
from krm_function.policy.unbound_values import unbound_findings, unbound_values
from krm_function.record import NamedTuple

LONGEST_HOOK = 64  # characters of that annotation in a sentence


class Checked(NamedTuple):
    """The findings about one workload, and the digest it was sealed with ("" if it was not).

    moved: the fields that changed since; each has a finding. has_gpus: whether the policy passes any to the pod.
    allowed_names: the pattern of its name, "" if it is not known.
    """

    findings: tuple[Finding, ...] = ()
    digest: str = ""
    platform: Platform | None = None
    moved: tuple[str, ...] = ()
    has_gpus: bool = False
    allowed_names: str = ""


def check_workload(workload: Workload, references: References) -> Checked:
    """Tell whether one pod is sealed and still is what its policy describes."""
    ref, name = workload.ref, workload.runtime_class
    if is_placeholder(name):
        hook = hook_of(workload.object)
        path = (*workload.spec_path, "runtimeClassName")
        return Checked((_hooked(ref, path, name, hook) if hook else finding("CC1101", ref, path, name=name),))
    parsed = parse_runtime_class(name)
    platform = parsed if isinstance(parsed, Platform) else None
    path = (*workload.metadata_path, "annotations", INITDATA)
    value = workload.annotations.get(INITDATA)
    if not isinstance(value, str):
        return Checked((finding("CC1102", ref, path),), "", platform)
    try:
        toml = from_annotation(value)
        initdata = decode_toml(toml)
        rego = initdata.data.get("policy.rego", "")
        sealed = read_policy_data(rego)
    except ValueError as problem:
        return Checked((unreadable(workload, problem),), "", platform)
    profile = profile_of_rules(rego)
    moved = drift(workload, sealed, references, native=bool(profile))
    allowed = allowed_names(workload, sealed)
    if profile and profile is not profile_of_data(sealed):
        moved.append("policy profile, of which its rules and its data do not agree")
    opened = (
        *open_findings(workload, open_variables(sealed, workload, references)),
        *unbound_findings(workload, unbound_values(sealed)),
        *controller_findings(workload, written_by_controller(workload)),
    )
    has_gpus = any(one.get("devices") for one in maps(sealed.get("containers"))[:1])  # the sandbox has all of the pod
    difference = name_difference(refused_name(workload, allowed), allowed)
    fields = (*moved, difference) if difference else moved
    findings = (*(stale(workload, field) for field in fields), *opened)
    return Checked(findings, digest(toml), platform, tuple(moved), has_gpus, allowed)


def stale(workload: Workload, field: str) -> Finding:
    """Return the finding of one field that changed since the pod was sealed."""
    return finding("CC1103", workload.ref, workload.spec_path, field=field)


def unwatched(value: Any, root: Path, ref: Ref, kinds: Kinds) -> tuple[Finding, ...]:
    """Return findings for Contrast runtime class names in an object whose pods no render seals."""
    hook = hook_of(dig(value, root))
    asked = list(unsealed_classes(value, root, kinds))
    paths = [path for path, _ in asked]
    return tuple(
        _hooked(ref, path, name, hook)
        if hook and is_placeholder(name)
        else unsealed_finding(ref, path, name, kinds, root, paths)
        for path, name in asked
    )


def _hooked(ref: Ref, path: Path, name: str, hook: str) -> Finding:
    return finding("CC1108", ref, path, name=name, hook=hook[:LONGEST_HOOK])


def check_manifest(
    sealed: Iterable[SealedWorkload], manifest: Mapping[str, Any], elsewhere: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Find where manifest and workloads do not name exactly the same digests and roles, as `contrast set` does.

    elsewhere: digests of workloads that are rendered by themselves, or stand in a base. An entry for a workload that
    is here too is an earlier policy of it, wherever else it stands.
    Source: docs/facts/contrast-manifest.md#set-and-verify.
    """
    policies = mapping(manifest.get("Policies"))  # whether its shape is right, `validate` says
    findings: list[Finding] = []
    owners: dict[str, Ref] = {}
    once = {(one.workload.ref, one.workload.template): one for one in sealed}
    for (ref, _), one in once.items():
        sealed_as, role = one.digest, one.role
        first = owners.setdefault(sealed_as, ref)
        if not sealed_as:
            continue
        if first.whole != ref.whole:
            names = (f"{each.kind}/{each}" for each in (first, ref))
            findings.append(finding("CC0705", ref, (), first=next(names), second=next(names), digest=sealed_as))
        if sealed_as not in policies:
            findings.append(finding("CC1104", ref, (), digest=sealed_as))
        elif (found := mapping(policies[sealed_as]).get("Role") or "") != role:
            findings.append(finding("CC1110", ref, (), found=found or "none", wanted=role or "none"))
    others = sorted(set(policies) - {one.digest for one in once.values()})
    ours = {_identity(policies.get(one.digest)) for one in once.values()} - {None}
    left = set(elsewhere)
    earlier = [
        one for one in others if _identity(policies[one]) in ours and (one not in left or _is_of_one(policies[one]))
    ]
    unknown = [one for one in others if one not in left]
    if earlier:
        names_of = ", ".join(dict.fromkeys("/".join(_names(policies[one])[:1]) for one in earlier))
        findings.append(finding("CC0731", names=names_of))
        unknown = [one for one in unknown if one not in earlier]
    if unknown:
        names_of = ", ".join("/".join(_names(policies[one]) or [one[:16]]) for one in unknown)
        findings.append(finding("CC1105", names=names_of))
    return tuple(findings)


def _identity(policy: Any) -> tuple[str, str, str] | None:
    """Return name, secret and role of an entry, None for one without: then nothing says whose it is."""
    entry, names = mapping(policy), _names(policy)
    secret = entry.get("WorkloadSecretID")
    return (names[0], str(secret), str(entry.get("Role") or "")) if names and secret else None


def _is_of_one(policy: Any) -> bool:
    """Tell whether the secret of an entry names its object, so that no other workload has the same identity."""
    return bool(key_of_derived(str(mapping(policy).get("WorkloadSecretID"))))


def _names(policy: Any) -> list[str]:
    found = mapping(policy).get("SANs")
    return [str(name) for name in found] if isinstance(found, list) else []


def check_classes(workloads: Sequence[Workload], classes: Sequence[str], *, emitted: bool) -> tuple[Finding, ...]:
    """Tell whether every handler in use is among Contrast's RuntimeClass objects of the input, if a render emitted any.

    A render that emits one class emits all. Where none was emitted, a class may be in the cluster alone.
    """
    if not emitted:
        return ()
    return tuple(
        finding("CC1107", one.ref, (*one.spec_path, "runtimeClassName"), name=one.runtime_class)
        for one in workloads
        if not is_placeholder(one.runtime_class) and one.runtime_class not in classes
    )
