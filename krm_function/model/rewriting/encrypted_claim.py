"""A claim that a pod mounts as a file system, and the encrypted volume that it becomes.

The initializer opens the claim as a block device and shows its files through an emptyDir: Contrast's annotation
secure-pv, of which a pod has one (docs/facts/contrast.md#initializer, step 1). Truth table, first row that fits:

    a claim of the pod                                             is
    the device of the annotation secure-pv already                 left
    of a pod without initializer, or that is the coordinator       refused: nobody opens it
    of a pod whose secure-pv names another device                  refused: a pod has one
    in volumeDevices of a container                                refused: it is a block device in use
    mounted by subPath or subPathExpr                              refused: it is mounted as a whole
    mounted with mountPropagation Bidirectional                    refused: no emptyDir hands mounts on
    of a volume with readOnly: true                                refused: it is formatted the first time
    of a pod that runs several times at once, no claim template    refused: two VMs would write one file system
    any other                                                      encrypted
"""

from krm_function.findings import Cause, Path
from krm_function.model.draft import Draft
from krm_function.model.injected.initializer import SECURE_PV, asks_for_initializer, read_secure_pv
from krm_function.model.lookup import mapping, maps
from krm_function.model.pods import claim_names, claim_templates, indexes_named, mounts_of, volume_sources
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple

CODE = "CC0832"
CLAIM = "persistentVolumeClaim"
CLAIM_VERSION = "v1"
MODE: Path = ("spec", "volumeMode")  # of a claim object, and of a claim template
BLOCK = "Block"
FILE_SYSTEMS = (None, "", "Filesystem")  # what volumeMode says of a file system; docs/facts/kubernetes.md#claims
PROPAGATION = "HostToContainer"  # how a container sees what the initializer mounts
NUMBERS = ("replicas", "parallelism")  # how often a pod runs at once; a Job has the second


class EncryptedClaim(NamedTuple):
    """A claim to encrypt. device: the name that it has among the pod's volumes. share: the emptyDir that shows it."""

    device: str
    share: str


def claim_of(workload: Workload, volume: str) -> str | None:
    """Return the name of the claim that a volume of a pod stands for; "" for a claim template, None for no claim."""
    if volume in claim_names(workload):
        return ""
    for index in indexes_named(workload.pod_spec.get("volumes"), volume):
        one = maps(workload.pod_spec.get("volumes"))[index]
        if volume_sources(one) == (CLAIM,):
            return str(mapping(one.get(CLAIM)).get("claimName") or "")
    return None


def claim_volumes(workload: Workload) -> tuple[str, ...]:
    """Return the names of the volumes of a pod that stand for claims; those of claim templates first."""
    volumes = [str(volume.get("name")) for volume in maps(workload.pod_spec.get("volumes"))]
    named = dict.fromkeys((*claim_names(workload), *volumes))
    return tuple(name for name in named if claim_of(workload, name) is not None)


def is_device(workload: Workload, volume: str) -> bool:
    """Tell whether a volume is the device of the annotation secure-pv."""
    secure_pv = read_secure_pv(workload.annotations)
    return secure_pv is not None and secure_pv.device == volume


def devices(workload: Workload) -> frozenset[str]:
    """Return the names of the volumes that containers of a pod have as block devices."""
    return frozenset(
        str(device.get("name"))
        for each in workload.all_containers
        for device in maps(each.container.get("volumeDevices"))
    )


def refused(workload: Workload, device: str) -> Cause | None:
    """Return why a claim that is not the device of secure-pv yet is not encrypted; None if it is."""
    if workload.is_coordinator or not asks_for_initializer(workload.annotations):
        return Cause("CC0837.initializer")
    if secure_pv := workload.annotations.get(SECURE_PV):
        known = read_secure_pv({SECURE_PV: secure_pv})
        return Cause("CC0837.one", {"other": known.device if known else "another volume"})
    if device in devices(workload):
        return Cause("CC0837.device")
    for one in mounts_of(workload, device):
        if part := one.mount.get("subPath") or one.mount.get("subPathExpr"):
            return Cause("CC0837.part", {"container": one.container.name, "place": part})
        if one.mount.get("mountPropagation") not in (None, "", "None", PROPAGATION):
            return Cause("CC0837.propagation", {"container": one.container.name})
    if device in claim_names(workload):
        return None
    index = indexes_named(workload.pod_spec.get("volumes"), device)[0]
    if mapping(maps(workload.pod_spec.get("volumes"))[index].get(CLAIM)).get("readOnly"):
        return Cause("CC0837.read-only")
    if runs := _at_once(workload):
        return Cause("CC0837.several", {"runs": runs})
    return None


def _at_once(workload: Workload) -> str:
    """Return what says that a pod runs several times at once, "" if nothing does."""
    if workload.ref.kind == "DaemonSet":
        return "a DaemonSet has a pod on each node"
    job = workload.ref.kind == "CronJob"
    spec = mapping(workload.at((*workload.root, "spec", "jobTemplate", "spec") if job else (*workload.root, "spec")))
    for field in NUMBERS:
        number = spec.get(field)
        if workload.template and isinstance(number, int) and number > 1:
            return f"{field} is {number}"
    return ""


def encrypt(draft: Draft, one: EncryptedClaim) -> None:
    """Name the device in the annotation, mount what the initializer shows in place of it, make its template Block."""
    reason = f"claim {one.device} becomes an encrypted volume, which the initializer opens"
    draft.add(draft.workload.annotate([(SECURE_PV, f"{one.device}:{one.share}", reason)], CODE))
    for each in mounts_of(draft.workload, one.device):
        path = (*each.container.path, "volumeMounts", each.position)
        draft.edit("set", (*path, "name"), one.share, CODE, reason)
        if each.mount.get("mountPropagation") != PROPAGATION:
            draft.edit("set", (*path, "mountPropagation"), PROPAGATION, CODE, reason)
    for index, template in enumerate(claim_templates(draft.workload)):
        spec = template.get("spec")
        named = mapping(template.get("metadata")).get("name") == one.device
        if named and isinstance(spec, dict) and spec.get("volumeMode") in FILE_SYSTEMS:
            path = (*draft.workload.root, "spec", "volumeClaimTemplates", index, *MODE)
            draft.edit("set", path, BLOCK, CODE, reason)
