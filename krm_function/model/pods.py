"""Look up containers and volumes of a pod by name, with their positions.

Rule of this file: it only reads. What a StatefulSet's claim templates add to a pod counts as its volumes.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.workload import PodContainer, Workload
from krm_function.record import NamedTuple

USER_FIELDS = ("runAsUser", "runAsGroup", "runAsNonRoot")  # who a process is: of a container, else of the pod


def indexes_named(entries: Any, name: str) -> list[int]:
    """Return the indexes of the entries of this name in a list."""
    return [index for index, entry in enumerate(maps(entries)) if entry.get("name") == name]


class MountOf(NamedTuple):
    """A mount of a volume: the container, and its position among the container's mounts."""

    container: PodContainer
    position: int
    mount: dict[str, Any]


def mounts_of(workload: Workload, volume: str) -> list[MountOf]:
    """Return the mounts of one volume, in the order in which containers start."""
    return [
        MountOf(each, index, mount)
        for each in workload.all_containers
        for index, mount in enumerate(each.mounts)
        if mount.get("name") == volume
    ]


def may_have_devices(workload: Workload) -> bool:
    """Tell whether a pod may have a block device; cheap, for any pod."""
    return any(each.container.get("volumeDevices") for each in workload.all_containers)


def claim_names(workload: Workload) -> tuple[str, ...]:
    """Return the names of a StatefulSet's volumeClaimTemplates; a claim replaces a volume of the same name."""
    return tuple(str(mapping(claim.get("metadata")).get("name")) for claim in claim_templates(workload))


def claim_templates(workload: Workload) -> list[dict[str, Any]]:
    """Return a StatefulSet's volumeClaimTemplates, positions kept; those of a custom resource, if its kind has any."""
    if workload.made_by:
        return maps(dig(workload.object, workload.made_by.claims)) if workload.made_by.claims else []
    if workload.ref.kind != "StatefulSet":
        return []
    return maps(mapping(workload.object.get("spec")).get("volumeClaimTemplates"))


def volume_sources(volume: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources of a volume; Kubernetes allows one.

    A volume without a source, or with null in its place, is an emptyDir: docs/facts/kubernetes.md#volumes.
    """
    return tuple(key for key, value in volume.items() if key != "name" and value is not None) or ("emptyDir",)


def sets_user(context: Mapping[str, Any]) -> bool:
    """Tell whether a pod's securityContext has a user, a group or runAsNonRoot: true, which all its containers get."""
    return any(context.get(key) is not None for key in ("runAsUser", "runAsGroup")) or bool(context.get("runAsNonRoot"))
