"""A cache in a directory of the node, and the emptyDir that takes its place.

Truth table, first row that fits:

    a hostPath volume of the pod                            becomes an emptyDir
    that no container mounts                                no: it is left as it is
    of a type other than DirectoryOrCreate and none         refused: the pod needs what is there
    that every container mounts readOnly                    refused: nothing would ever be in it
    any other                                               yes: what is missing there is made anew
"""

from krm_function.findings import Cause
from krm_function.model.draft import Draft
from krm_function.model.lookup import mapping, maps
from krm_function.model.pods import claim_names, indexes_named, mounts_of, volume_sources
from krm_function.model.workload import Workload
from krm_function.yamltext.comparison import ABSENT

CODE = "CC0834"
HOST_PATH = "hostPath"
MADE_ON_DEMAND = (None, "", "DirectoryOrCreate")


def host_paths(workload: Workload) -> dict[str, str]:
    """Return the hostPath volumes of a pod that a container mounts: name -> path."""
    return {
        name: str(mapping(volume.get(HOST_PATH)).get("path") or "")
        for volume in maps(workload.pod_spec.get("volumes"))
        if volume_sources(volume) == (HOST_PATH,)
        and (name := str(volume.get("name"))) not in claim_names(workload)
        and mounts_of(workload, name)
    }


def refused(workload: Workload, volume: str) -> Cause | None:
    """Return why a hostPath volume that is mounted does not become an emptyDir; None if it does."""
    volumes = maps(workload.pod_spec.get("volumes"))
    kind = mapping(volumes[indexes_named(volumes, volume)[0]].get(HOST_PATH)).get("type")
    if kind not in MADE_ON_DEMAND:
        return Cause("CC0838.type", {"type": kind})
    if all(one.mount.get("readOnly") for one in mounts_of(workload, volume)):
        return Cause("CC0838.read-only")
    return None


def replace(draft: Draft, volume: str) -> None:
    """Write an emptyDir in the place of the hostPath."""
    found = indexes_named(draft.workload.pod_spec.get("volumes"), volume)[0]
    path = (*draft.workload.spec_path, "volumes", found)
    reason = f"cache {volume} is made anew in each pod, in place of a directory of the node"
    draft.edit("set", (*path, "emptyDir"), {}, CODE, reason)
    draft.edit("remove", (*path, HOST_PATH), ABSENT, CODE, reason)
