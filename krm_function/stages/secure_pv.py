"""Secure PV: a claim that the configuration names becomes an encrypted volume of the pod.

Rule of this file: which claims, the name of the volume that shows one, and the claim objects of the input that become
block devices with it. What of a pod forbids it, and what the pod becomes, is in model/rewriting/encrypted_claim.py.
What of a claim forbids it:

    a claim object of the input                              is
    that an access mode lets several nodes use at once       refused: two VMs would write one file system
    that another pod of the input uses as well               refused: the same
    whose spec is no map                                     left: CC0830
    of volumeMode Block already                              left as it is
    any other                                                made Block
    not in the input                                         a warning: it has to be Block
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from krm_function.api.records import Generate
from krm_function.findings import Cause, Finding, Path, Ref, finding
from krm_function.model.claim_objects import ClaimObject, claims_of
from krm_function.model.draft import Draft
from krm_function.model.edits import Edit, Outcome
from krm_function.model.glob_pattern import fits
from krm_function.model.listed_names import listed
from krm_function.model.lookup import mapping
from krm_function.model.pods import claim_names, indexes_named
from krm_function.model.rewriting.encrypted_claim import (
    BLOCK,
    FILE_SYSTEMS,
    MODE,
    EncryptedClaim,
    claim_of,
    claim_volumes,
    encrypt,
    is_device,
    refused,
)
from krm_function.model.rewriting.volume_names import free_name, taken_names
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.yamltext.comparison import ABSENT

SHARE = "share"  # what the name of the emptyDir ends with
BY_SEVERAL = ("ReadWriteMany", "ReadOnlyMany")
ONE_POD = "ReadWriteOncePod"


class Pods(NamedTuple):
    """What is known of the claims of an input. claims: its objects. users: which pods name a claim: (namespace, name).

    namespace: of objects that name none, "" for any.
    """

    claims: Sequence[ClaimObject]
    users: Sequence[tuple[Ref, str]]
    namespace: str = ""


class Encrypted(NamedTuple):
    """The outcome for one workload. blocks: claim objects that become block devices. notes: sentences for the plan."""

    outcome: Outcome = Outcome()
    blocks: tuple[ClaimObject, ...] = ()
    notes: tuple[str, ...] = ()


def named_claims(workload: Workload, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the volumes of a workload that stand for a claim which a pattern names: by volume or by claim."""
    return tuple(
        volume
        for volume in claim_volumes(workload)
        if any(fits(pattern, name) for pattern in patterns for name in {volume, claim_of(workload, volume) or volume})
    )


def secure_pv(workload: Workload, patterns: Sequence[str], pods: Pods, *, initializer: bool) -> Encrypted:
    """Encrypt the claim of one workload that the patterns name. initializer: whether the configuration injects one."""
    named = named_claims(workload, patterns)
    wanted = [volume for volume in named if not is_device(workload, volume)]
    if not wanted:
        return Encrypted()
    if len(named) > 1:
        several = Cause("CC0837.claims", {"names": listed(named)})
        return Encrypted(Outcome(findings=tuple(_finding(workload, volume, several) for volume in named)))
    device = wanted[0]
    claims = claims_of(workload, device, pods.claims, pods.namespace)
    cause = refused(workload, device) if initializer else Cause("CC0837.initializer")
    if cause is None:
        cause = _refused_claims(workload, device, claims, pods)
    if cause is not None:
        return Encrypted(Outcome(findings=(_finding(workload, device, cause),)))
    draft = Draft(workload)
    encrypt(draft, EncryptedClaim(device, free_name(device, SHARE, taken_names(workload))))
    blocks = tuple(one for one in claims if _is_file_system(one))
    warnings = tuple(_warnings(workload, device, claims))
    note = f"claim {device} is encrypted from now on: one that holds files has to be made anew as a block device"
    return Encrypted(Outcome(tuple(draft.edits), warnings), blocks, (note,))


def made_block(claim: ClaimObject) -> Edit:
    """Make the edit that makes a claim object a block device."""
    before = mapping(mapping(claim.value).get("spec")).get("volumeMode", ABSENT)
    reason = f"claim {claim.ref.name} becomes an encrypted volume, which the VM opens as a block device"
    return Edit("set", (*claim.root, *MODE), before, BLOCK, "CC0835", reason)


def idle_claims(workloads: Sequence[Workload], generate: Generate) -> Iterator[Finding]:
    """Yield CC0840 for each name of the configuration that no pod has a claim of."""
    for index, pattern in enumerate(generate.volumes.secure_claims):
        if not any(named_claims(one, (pattern,)) for one in workloads):
            path: Path = ("spec", "volumes", "securePV", "claims", index)
            yield finding("CC0840.claim", generate.ref, path, index=index, name=pattern)


def secure_pv_choices(workload: Workload, pods: Pods) -> Iterator[RuleChoice]:
    """Yield what the rule would do for each claim of a workload."""
    for volume in claim_volumes(workload):
        name = claim_of(workload, volume) or volume
        encrypted = secure_pv(workload, (name,), pods, initializer=True)
        if encrypted.outcome.edits:
            lost = "it starts empty, and an existing claim has to be made anew as volumeMode Block"
            yield RuleChoice("securePV", name, f"claim {name} becomes an encrypted volume: {lost}")


def _finding(workload: Workload, volume: str, cause: Cause) -> Finding:
    return finding(cause.code, workload.ref, _path(workload, volume), volume=volume, **cause.values)


def _path(workload: Workload, volume: str) -> Path:
    if volume in claim_names(workload):
        return (*workload.root, "spec", "volumeClaimTemplates", claim_names(workload).index(volume))
    return (*workload.spec_path, "volumes", indexes_named(workload.pod_spec.get("volumes"), volume)[0])


def _refused_claims(workload: Workload, device: str, claims: Sequence[ClaimObject], pods: Pods) -> Cause | None:
    """Return what of the claims that a volume stands for forbids to encrypt them."""
    for claim in claims:
        for mode in _access_modes(claim):
            if mode in BY_SEVERAL:
                return Cause("CC0837.access", {"claim": claim.ref.name, "mode": mode})
    names = {claim_of(workload, device) or "", *(claim.ref.name for claim in claims)}
    users = _other_users(workload, names, pods)
    return Cause("CC0837.shared", {"users": listed(users)}) if users else None


def _other_users(workload: Workload, claims: Container[str], pods: Pods) -> list[str]:
    own = workload.ref._replace(namespace=workload.ref.namespace or pods.namespace)
    users = [(ref._replace(namespace=ref.namespace or pods.namespace), name) for ref, name in pods.users]
    return [
        f"{ref.kind}/{ref.name}"
        for ref, name in users
        if name in claims and ref != own and ("" in (own.namespace, ref.namespace) or own.namespace == ref.namespace)
    ]


def _is_file_system(claim: ClaimObject) -> bool:
    spec = mapping(claim.value).get("spec")
    return isinstance(spec, dict) and spec.get("volumeMode") in FILE_SYSTEMS


def _warnings(workload: Workload, device: str, claims: Sequence[ClaimObject]) -> Iterator[Finding]:
    name, path = claim_of(workload, device), _path(workload, device)
    if name and not claims:
        yield finding("CC0842", workload.ref, path, volume=device, claim=name)
    alone = claims and all(_access_modes(claim) == [ONE_POD] for claim in claims)
    if name and not alone and (cause := _overlap(workload)):
        yield finding(cause, workload.ref, path, volume=device, claim=name)
    group = mapping(workload.pod_spec.get("securityContext")).get("fsGroup")
    if group:
        yield finding("CC0844", workload.ref, path, volume=device, group=group)


def _overlap(workload: Workload) -> str:
    """Return the code of CC0843 if a second pod may start before the first one has ended, else ""."""
    spec = mapping(workload.object.get("spec"))
    match workload.ref.kind:
        case "Deployment" if mapping(spec.get("strategy")).get("type") != "Recreate":
            return "CC0843.rolling"
        case "CronJob" if spec.get("concurrencyPolicy") != "Forbid":
            return "CC0843.schedule"
        case _:
            return ""


def _access_modes(claim: ClaimObject) -> list[Any]:
    modes = mapping(mapping(claim.value).get("spec")).get("accessModes")
    return modes if isinstance(modes, list) else []
