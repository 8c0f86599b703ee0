"""A VOLUME of an image that no volumeMount covers, and the emptyDir that is mounted there.

containerd makes a directory of the node for each VOLUME, of this container alone, and copies the image's files into it
(docs/facts/kubernetes.md#volumes-of-images); no confidential pod may have that. An emptyDir of its own is in the VM and
is empty. Truth table:

    a VOLUME of the image of a container       is
    the mountPath of a mount, letter by letter left: that is what the policy asks for
    the same place, in another spelling        refused: two mounts at one place, of which one hides the other
    not mounted                                covered, also above or below another mount, as containerd does
"""

from collections.abc import Iterable

from krm_function.findings import Cause
from krm_function.model.draft import Draft
from krm_function.model.mount_points import mount_point
from krm_function.model.workload import PodContainer, Workload
from krm_function.record import NamedTuple

CODE = "CC0833"


class ImageVolume(NamedTuple):
    """A VOLUME to cover. field, container: of which container. path: as the image writes it. name: of the emptyDir."""

    field: str
    container: str
    path: str
    name: str


def uncovered(each: PodContainer, declared: Iterable[str]) -> tuple[str, ...]:
    """Return the VOLUMEs of an image that are no mountPath of a container, in order."""
    mounted = {mount.get("mountPath") for mount in each.mounts}
    return tuple(path for path in sorted(declared) if path not in mounted)


def refused(each: PodContainer, path: str) -> Cause | None:
    """Return why an uncovered VOLUME gets no emptyDir; None if it gets one."""
    for mount in each.mounts:
        written = str(mount.get("mountPath"))
        if mount_point(written) == mount_point(path):
            return Cause("CC0839", {"container": each.name, "place": path, "written": written})
    return None


def container_of(workload: Workload, one: ImageVolume) -> PodContainer | None:
    """Return the container of a VOLUME."""
    found = (each for each in workload.all_containers if (each.field, each.name) == (one.field, one.container))
    return next(found, None)


def cover(draft: Draft, one: ImageVolume) -> None:
    """Add the emptyDir as the last volume, and its mount as the last one of the container."""
    each = container_of(draft.workload, one)
    if each is None:
        return
    reason = f"the image of {one.container} declares VOLUME {one.path}, which would be a directory of the node"
    volumes = (*draft.workload.spec_path, "volumes")
    present = draft.workload.at(volumes) or []
    draft.put(volumes, len(present), {"name": one.name, "emptyDir": {}}, CODE, reason)
    path = (*each.path, "volumeMounts")
    draft.put(path, len(each.mounts), {"name": one.name, "mountPath": one.path}, CODE, reason)
