"""Turn a claim that a pod mounts as a file system into an encrypted volume."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.adapt.choices import RuleChoice, free_name, source_of, taken_names, volume_finding, volume_path
from krm_function.config.generate import Generate
from krm_function.config.image_lock import ImageFacts
from krm_function.contrast.injected import (
    SECURE_PV,
    STATE,
    VOLUME_OWNER,
    asks_for_initializer,
    memory_resources,
    read_secure_pv,
)
from krm_function.contrast.owned import CLAIM_KIND, is_injected
from krm_function.findings import Cause, Finding, Path, Ref, finding
from krm_function.kubernetes.objects import dig, fits, listed, mapping, maps
from krm_function.kubernetes.resource import Edit, ObjectAt, Outcome, Resource, objects_of
from krm_function.kubernetes.workload import (
    Draft,
    PodContainer,
    Workload,
    claim_names,
    claim_templates,
    may_have_devices,
    mounts_of,
    volume_sources,
    workloads_of,
)
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT

# The initializer opens the claim as a block device and shows its files through an emptyDir: Contrast's annotation
# secure-pv, which a pod has once (docs/facts/contrast.md#initializer, step 1). Truth table, first row that fits:
#
#     a claim of the pod                                             is
#     the device of the annotation secure-pv already                 left
#     of a pod without initializer, or that is the coordinator       refused: no initializer opens it
#     of a pod whose secure-pv names another device                  refused: a pod has one
#     in volumeDevices of a container                                refused: it is a block device in use
#     mounted by subPath or subPathExpr                              refused: it is mounted as a whole
#     mounted with mountPropagation Bidirectional                    refused: no emptyDir hands mounts on
#     of a volume with readOnly: true                                refused: it is formatted the first time
#     of a pod that runs several times at once, no claim template    refused: two VMs would write one file system
#     any other                                                      encrypted


CODE = "CC0832"
CLAIM = "persistentVolumeClaim"
CLAIM_VERSION = "v1"
MODE: Path = ("spec", "volumeMode")  # of a claim object, and of a claim template
BLOCK = "Block"
FILE_SYSTEMS = (None, "", "Filesystem")  # the volumeMode of a file system; docs/facts/kubernetes.md#claims
PROPAGATION = "HostToContainer"  # how a container sees the initializer's mounts
OWNER_MEMORY = "32Mi"
NUMBERS = ("replicas", "parallelism")  # how often a pod runs at once; a Job has the second


class EncryptedClaim(NamedTuple):
    """A claim to encrypt. device: its name among the pod's volumes. share: the emptyDir that shows it.

    owner_image: of the init container that gives the volume to the pod's fsGroup, "" for none.
    """

    device: str
    share: str
    owner_image: str = ""


def claim_volumes(workload: Workload) -> dict[str, str]:
    """Return the volumes of a pod that are claims: volume -> name of the claim, "" for a template; templates first."""
    claims = dict.fromkeys(claim_names(workload), "")
    for volume in maps(workload.pod_spec.get("volumes")):
        if volume_sources(volume) == (CLAIM,):
            claims.setdefault(str(volume.get("name")), str(mapping(volume.get(CLAIM)).get("claimName") or ""))
    return claims


def devices(workload: Workload) -> frozenset[str]:
    """Return the names of the volumes that a pod's own containers have as block devices."""
    return frozenset(
        str(device.get("name"))
        for container in workload.all_containers
        if not is_injected(container)
        for device in maps(container.container.get("volumeDevices"))
    )


def refused(workload: Workload, device: str) -> Cause | None:
    """Return why a claim that is not the device of secure-pv yet is not encrypted; None if it is."""
    if workload.is_coordinator or not asks_for_initializer(workload.annotations):
        return Cause("CC0837.initializer")
    if workload.annotations.get(SECURE_PV):
        present = read_secure_pv(workload.annotations)
        return Cause("CC0837.one", {"other": present.device if present else "another volume"})
    for mount in mounts_of(workload, device):
        if part := mount.mount.get("subPath") or mount.mount.get("subPathExpr"):
            return Cause("CC0837.part", {"container": mount.container.name, "place": part})
    return _find_misuse(workload, device, device)


def _find_misuse(workload: Workload, device: str, shown: str) -> Cause | None:
    """Return why a pod cannot have a device as an encrypted volume. shown: the volume that containers mount."""
    if device in devices(workload):
        return Cause("CC0837.device")
    for mount in mounts_of(workload, shown):
        if is_injected(mount.container):
            continue
        if mount.mount.get("mountPropagation") not in (None, "", "None", PROPAGATION):
            return Cause("CC0837.propagation", {"container": mount.container.name})
    if device in claim_names(workload):
        return None
    if source_of(workload, device, CLAIM).get("readOnly"):
        return Cause("CC0837.read-only")
    if runs := _find_parallel_field(workload):
        return Cause("CC0837.several", {"runs": runs})
    return None


def _find_parallel_field(workload: Workload) -> str:
    """Return the field that makes a pod run several times at once, "" if none does."""
    if workload.ref.kind == "DaemonSet":
        return "a DaemonSet has a pod on each node"
    job = workload.ref.kind == "CronJob"
    spec = mapping(workload.at((*workload.root, "spec", "jobTemplate", "spec") if job else (*workload.root, "spec")))
    for field in NUMBERS:
        number = spec.get(field)
        if workload.template and isinstance(number, int) and number > 1:
            return f"{field} is {number}"
    return ""


def encrypt(draft: Draft, claim: EncryptedClaim) -> None:
    """Name the device in the annotation, mount the shown files in place of it, make its template Block."""
    reason = f"claim {claim.device} becomes an encrypted volume, which the initializer opens"
    draft.add(draft.workload.annotate([(SECURE_PV, f"{claim.device}:{claim.share}", reason)], CODE))
    for mount in mounts_of(draft.workload, claim.device):
        path = (*mount.container.path, "volumeMounts", mount.position)
        draft.edit("set", (*path, "name"), claim.share, CODE, reason)
        if mount.mount.get("mountPropagation") != PROPAGATION:
            draft.edit("set", (*path, "mountPropagation"), PROPAGATION, CODE, reason)
    for index, template in enumerate(claim_templates(draft.workload)):
        spec = template.get("spec")
        is_device_template = mapping(template.get("metadata")).get("name") == claim.device
        if is_device_template and isinstance(spec, dict) and spec.get("volumeMode") in FILE_SYSTEMS:
            path = (*draft.workload.root, "spec", "volumeClaimTemplates", index, *MODE)
            draft.edit("set", path, BLOCK, CODE, reason)
    group = _fs_group(draft.workload)
    if claim.owner_image and group is not None:
        reason = f"gives the encrypted volume {claim.device} to fsGroup {group}, which does not apply to it"
        owner = _make_owner(claim.owner_image, claim.share, group)
        draft.put((*draft.workload.spec_path, "initContainers"), 0, owner, CODE, reason)


def _make_owner(image: str, share: str, group: int) -> dict[str, Any]:
    """Make the init container that does what the kubelet does with fsGroup, for the new and empty file system."""
    return {
        "name": VOLUME_OWNER,
        "image": image,
        "command": ["/bin/sh", "-c", f"chgrp {group} {STATE} && chmod g+rwxs {STATE}"],
        "volumeMounts": [{"name": share, "mountPath": STATE, "mountPropagation": PROPAGATION}],
        "securityContext": {
            "runAsUser": 0,
            "runAsGroup": 0,
            "runAsNonRoot": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "FOWNER"]},  # another user may own it since a restart
        },
        "resources": memory_resources(OWNER_MEMORY),
    }


def _fs_group(workload: Workload) -> int | None:
    group: int | None = mapping(workload.pod_spec.get("securityContext")).get("fsGroup")
    return group


# --- PersistentVolumeClaims of an input, and which of them a volume of a pod refers to
#
# Rule: a claim is found by its name, as the kubelet finds it (docs/facts/kubernetes.md#claims). An absent namespace may
# be any.


def claim_objects(resources: Iterable[Resource]) -> list[ObjectAt]:
    """Return the claims of an input, without unreadable documents, which are reported elsewhere."""
    applied = (resource for resource in resources if resource.state != "added")
    return [item for item in objects_of(applied, (CLAIM_KIND, "List")) if item.ref.api_version == CLAIM_VERSION]


def claims_of(workload: Workload, volume: str, claims: Sequence[ObjectAt], namespace: str = "") -> list[ObjectAt]:
    """Return the claims of the input that a volume refers to. namespace: of objects that name none, "" for any.

    A StatefulSet makes of the template T the claims T-NAME-0, T-NAME-1 and so on, and takes existing ones.
    """
    name = claim_volumes(workload).get(volume)
    if name is None:
        return []
    ordinal = re.compile(f"{re.escape(f'{volume}-{workload.ref.name}-')}[0-9]+")
    own_namespace = workload.ref.namespace or namespace
    return [
        claim
        for claim in claims
        if (claim.ref.name == name if name else ordinal.fullmatch(claim.ref.name) is not None)
        and ("" in (own_namespace, place := claim.ref.namespace or namespace) or own_namespace == place)
    ]


def device_volumes(workload: Workload) -> tuple[str, ...]:
    """Return the names of the claims that a pod's own containers have as devices, and that of secure-pv."""
    secure_pv = read_secure_pv(workload.annotations)
    names = {*devices(workload), *((secure_pv.device,) if secure_pv else ())}
    return tuple(sorted(names & claim_volumes(workload).keys()))


# --- Find claims of the input that a pod uses as a block device, and that are file systems
#
# Rule: the kubelet compares the two and never starts such a pod (docs/facts/kubernetes.md#claims), so it is an error
# for every claim in the input, whatever rules are on.


def claim_findings(resources: Sequence[Resource], workloads: Sequence[Workload]) -> list[Finding]:
    """Return CC0830 and CC0837 for all workloads of rendered output, with their places."""
    if not any(map(may_have_devices, workloads)):
        return []
    pods = find_claims(resources)
    return [
        workload.placed(problem)
        for workload in workloads
        for problem in (*claim_modes(workload, pods.claims), *find_unsound(workload, pods))
    ]


def claim_modes(workload: Workload, claims: Sequence[ObjectAt], namespace: str = "") -> Iterator[Finding]:
    """Yield CC0830 for each such claim of one workload. namespace: of objects that name none, "" for any."""
    for volume in device_volumes(workload):
        for claim in claims_of(workload, volume, claims, namespace):
            if dig(claim.value, MODE) != BLOCK:
                yield volume_finding(workload, volume, Cause("CC0830"), claim=claim.ref.name)


# --- Secure PV: a claim that the configuration names becomes an encrypted volume of the pod
#
# Rule: it chooses the claims, the name of the volume that shows one, and the claim objects of the input that become
# block devices with it. The table above has what the pod forbids. The claim itself forbids it as follows; but for the
# mode, this holds for a pod whose annotation its author has written as well:
#
#     a claim object of the input                              is
#     that an access mode lets several nodes use at once       refused: two VMs would write one file system
#     that another pod of the input uses as well               refused: the same
#     whose spec is not a map                                  left: CC0830
#     of volumeMode Block already                              left as it is
#     any other                                                made Block
#     not in the input                                         a warning: it has to be Block


SHARE = "share"  # the suffix of the emptyDir's name
BY_SEVERAL = ("ReadWriteMany", "ReadOnlyMany")
ONE_POD = "ReadWriteOncePod"
UNWRITABLE = "CC0844"  # the program cannot write to the volume


class Pods(NamedTuple):
    """The claims of an input. claims: its objects. users: the pods that name a claim: (namespace, name).

    namespace: of objects that name none, "" for any. images: facts by reference. owner_image: of the configuration.
    """

    claims: Sequence[ObjectAt]
    users: Sequence[tuple[Ref, str]]
    namespace: str = ""
    images: Mapping[str, ImageFacts] = EMPTY
    owner_image: str = ""


class Encrypted(NamedTuple):
    """The outcome for one workload. blocks: claim objects that become block devices. notes: sentences for the plan."""

    outcome: Outcome = Outcome()
    blocks: tuple[ObjectAt, ...] = ()
    notes: tuple[str, ...] = ()


def find_claims(resources: Sequence[Resource], namespace: str = "") -> Pods:
    """Return the claims of an input, and the pods that name one."""
    users: list[tuple[Ref, str]] = []
    for resource in resources:
        if resource.document is None or resource.state == "added":
            continue
        for _, root, ref, value in resource.objects:
            for workload in workloads_of(value, root, ref):
                names = (
                    mapping(volume.get(CLAIM)).get("claimName") for volume in maps(workload.pod_spec.get("volumes"))
                )
                users += ((workload.ref, str(name)) for name in names if name)
    return Pods(claim_objects(resources), users, namespace)


def find_unsound(workload: Workload, pods: Pods) -> tuple[Finding, ...]:
    """Return what is wrong with the encrypted volume of a pod whose annotation its author has written."""
    annotation = read_secure_pv(workload.annotations)
    volumes = [volume.get("name") for volume in maps(workload.pod_spec.get("volumes"))]
    if annotation is None or annotation.device not in (*claim_names(workload), *volumes):
        return ()
    claims = claims_of(workload, annotation.device, pods.claims, pods.namespace)
    cause = _find_misuse(workload, *annotation) or _refuse_claims(workload, annotation.device, claims, pods)
    if cause is None:
        return tuple(_find_warnings(workload, EncryptedClaim(*annotation), claims, pods.images))
    return (volume_finding(workload, annotation.device, cause),)


def named_claims(workload: Workload, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the volumes of a workload whose claim a pattern names: by volume or by claim."""
    return tuple(
        volume
        for volume, claim in claim_volumes(workload).items()
        if any(fits(pattern, name) for pattern in patterns for name in (volume, claim or volume))
    )


def secure_pv(workload: Workload, patterns: Sequence[str], pods: Pods, *, initializer: bool) -> Encrypted:
    """Encrypt the claim of one workload that the patterns name. initializer: whether the configuration injects one."""
    claims_named = named_claims(workload, patterns)
    present = read_secure_pv(workload.annotations)
    to_encrypt = [volume for volume in claims_named if present is None or present.device != volume]
    if not to_encrypt:
        return Encrypted()
    if len(claims_named) > 1:
        several = Cause("CC0837.claims", {"names": listed(claims_named)})
        return Encrypted(Outcome(findings=tuple(volume_finding(workload, volume, several) for volume in claims_named)))
    device = to_encrypt[0]
    claims = claims_of(workload, device, pods.claims, pods.namespace)
    cause = refused(workload, device) if initializer else Cause("CC0837.initializer")
    cause = cause or _refuse_claims(workload, device, claims, pods)
    if cause is not None:
        return Encrypted(Outcome(findings=(volume_finding(workload, device, cause),)))
    draft = Draft(workload)
    encrypted = EncryptedClaim(device, free_name(device, SHARE, taken_names(workload)), pods.owner_image)
    encrypt(draft, encrypted)
    blocks = tuple(claim for claim in claims if _is_file_system(claim))
    warnings = tuple(_find_warnings(draft.workload, encrypted, claims, pods.images))
    note = f"claim {device} is encrypted from now on: one that holds files has to be made anew as a block device"
    return Encrypted(Outcome(tuple(draft.edits), warnings), blocks, (note,))


def made_block(claim: ObjectAt) -> Edit:
    """Return the edit that makes a claim object a block device."""
    old = mapping(mapping(claim.value).get("spec")).get("volumeMode", ABSENT)
    reason = f"claim {claim.ref.name} becomes an encrypted volume, which the VM opens as a block device"
    return Edit("set", (*claim.root, *MODE), old, BLOCK, "CC0835", reason)


def idle_claims(workloads: Sequence[Workload], generate: Generate) -> Iterator[Finding]:
    """Yield CC0840 for each name of the configuration that matches no pod's claim."""
    for index, pattern in enumerate(generate.volumes.secure_claims):
        if not any(named_claims(workload, (pattern,)) for workload in workloads):
            path: Path = ("spec", "volumes", "securePV", "claims", index)
            yield finding("CC0840.claim", generate.ref, path, index=index, name=pattern)


def mounted_claims(workload: Workload) -> dict[str, str]:
    """Return the claims that the containers of a pod mount: volume -> name of the claim or of its template."""
    return {volume: claim or volume for volume, claim in claim_volumes(workload).items() if mounts_of(workload, volume)}


def find_forbidden(workload: Workload, forbidden: Mapping[str, Ref]) -> Iterator[Finding]:
    """Yield why a claim is not offered although its pod could write to it. forbidden: names, with another pod's ref."""
    for volume, name in mounted_claims(workload).items():
        if name in forbidden and forbidden[name] != workload.ref:
            user = f"{forbidden[name].kind}/{forbidden[name].name}"
            yield volume_finding(workload, volume, Cause("CC0837.name", {"user": user}))


def secure_pv_choices(workload: Workload, pods: Pods) -> Iterator[RuleChoice]:
    """Yield the rule for the claim of a workload; without a consequence if its program could not write to the volume.

    Each name of such a claim then stays out of the configuration, since it would select the claim.
    """
    claims = mounted_claims(workload)
    names = tuple(claims.values())
    outcome = secure_pv(workload, names, pods, initializer=True).outcome
    if not outcome.edits:
        return
    if any(warning.code == UNWRITABLE for warning in outcome.findings):
        yield from (RuleChoice("securePV", {"claims": [name]}, "") for name in (*names, *claims))
        return
    value: dict[str, Any] = {"claims": [names[0]]}
    note = "it starts empty, and an existing claim has to be made anew as volumeMode Block"
    if pods.owner_image and (group := _fs_group(workload)) is not None:
        value |= {"owner": "fsGroup", "image": pods.owner_image}
        note += f"; an init container of {pods.owner_image} runs as root and gives the volume to fsGroup {group}"
    yield RuleChoice("securePV", value, f"claim {names[0]} becomes an encrypted volume: {note}")


def _refuse_claims(workload: Workload, device: str, claims: Sequence[ObjectAt], pods: Pods) -> Cause | None:
    """Return why the claims of a volume cannot be encrypted; None if they can."""
    modes = [(claim.ref.name, mode) for claim in claims for mode in _access_modes(claim) if mode in BY_SEVERAL]
    if modes:
        return Cause("CC0837.access", {"claim": modes[0][0], "mode": modes[0][1]})
    names = {claim_volumes(workload).get(device, ""), *(claim.ref.name for claim in claims)}
    users = _find_other_users(workload, names, pods)
    return Cause("CC0837.shared", {"users": listed(users)}) if users else None


def _find_other_users(workload: Workload, claims: Container[str], pods: Pods) -> list[str]:
    own_ref = workload.ref._replace(namespace=workload.ref.namespace or pods.namespace)
    users = [(ref._replace(namespace=ref.namespace or pods.namespace), name) for ref, name in pods.users]
    return [
        f"{ref.kind}/{ref.name}"
        for ref, name in users
        if name in claims
        and ref != own_ref
        and ("" in (own_ref.namespace, ref.namespace) or own_ref.namespace == ref.namespace)
    ]


def _is_file_system(claim: ObjectAt) -> bool:
    spec = mapping(claim.value).get("spec")
    return isinstance(spec, dict) and spec.get("volumeMode") in FILE_SYSTEMS


def _find_warnings(
    workload: Workload, encrypted: EncryptedClaim, claims: Sequence[ObjectAt], images: Mapping[str, ImageFacts]
) -> Iterator[Finding]:
    """Yield the warnings about a pod that has the encrypted volume already."""
    device = encrypted.device
    name, path = claim_volumes(workload).get(device), volume_path(workload, device)
    if name and not claims:
        yield finding("CC0842", workload.ref, path, volume=device, claim=name)
    alone = claims and all(_access_modes(claim) == [ONE_POD] for claim in claims)
    if name and not alone and (cause := _find_overlap(workload)):
        yield finding(cause, workload.ref, path, volume=device, claim=name)
    group = _fs_group(workload)
    if group is not None and not _may_write(workload, encrypted.share, images):
        yield finding(UNWRITABLE, workload.ref, path, volume=device, group=group)


def _may_write(workload: Workload, volume: str, images: Mapping[str, ImageFacts]) -> bool:
    """Tell whether all containers may write to a volume of root; an init container of root may give it to others."""
    containers = [mount.container for mount in mounts_of(workload, volume) if not mount.mount.get("readOnly")]
    users = [(container.is_init, _runs_as_root(container, workload, images)) for container in containers]
    return (True, True) in users or all(root for _, root in users)


def _runs_as_root(container: PodContainer, workload: Workload, images: Mapping[str, ImageFacts]) -> bool:
    contexts = [mapping(owner.get("securityContext")) for owner in (container.container, workload.pod_spec)]
    user = next((context["runAsUser"] for context in contexts if context.get("runAsUser") is not None), None)
    if user is not None:
        return bool(user == 0)
    facts = images.get(str(container.container.get("image")))
    return facts is not None and str(facts.config.get("User") or "0").partition(":")[0] in ("", "0", "root")


def _find_overlap(workload: Workload) -> str:
    """Return the code of CC0843 if a second pod may start before the first one has ended, else ""."""
    spec = mapping(workload.object.get("spec"))
    match workload.ref.kind:
        case "Deployment" if mapping(spec.get("strategy")).get("type") != "Recreate":
            return "CC0843.rolling"
        case "CronJob" if spec.get("concurrencyPolicy") != "Forbid":
            return "CC0843.schedule"
        case _:
            return ""


def _access_modes(claim: ObjectAt) -> list[Any]:
    modes = mapping(mapping(claim.value).get("spec")).get("accessModes")
    return modes if isinstance(modes, list) else []
