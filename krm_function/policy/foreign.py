"""What policy data of genpolicy say in another way than ours, though the pod is the same.

Rule of this file: both sides are brought to the same words, so that what a generator does not look at is not compared,
and everything else is.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.workload import maps
from krm_function.policy.pod_metadata import PodMetadata

Json = dict[str, Any]
Mount = tuple[str, ...]  # destination, type, options, and more

CLAIMS = frozenset(("persistentVolumeClaim", "azureFile", "ephemeral"))
_PRIVATE = {"rslave": "rprivate", "rshared": "rprivate"}


def mounted_volume_kinds(pod: PodMetadata, container: Json) -> dict[str, str]:
    """Where a container mounts volumes of the pod: mountPath -> kind of the volume."""
    kinds = dict.fromkeys(pod.claim_templates, "persistentVolumeClaim")
    for volume in maps(pod.spec.get("volumes")):
        source = next((key for key, value in volume.items() if key != "name" and value is not None), "emptyDir")
        kinds.setdefault(volume["name"], source)
    return {entry["mountPath"]: kinds.get(entry["name"], "") for entry in maps(container.get("volumeMounts"))}


def effective_variables(made: set[str], theirs: set[str]) -> set[str]:
    """Their variables without those that a later one of the same name replaces, which genpolicy allows as well."""
    names = {entry.partition("=")[0] for entry in made}
    return {entry for entry in theirs if entry in made or entry.partition("=")[0] not in names}


def equivalent_mounts(made: list[Mount], theirs: list[Mount], where: Mapping[str, str], *, propagates: bool) -> bool:
    """Whether their mounts are ours. where: as `places`; propagates: whether they heed mountPropagation of an emptyDir.

    Where the pod mounts something they may cover a volume that we do not, and allow the runtime's own mount as well.
    """
    again, found = ([_normalized(one, where, propagates=propagates) for one in side] for side in (made, theirs))
    elsewhere = [sorted(one for one in side if one[0] not in where) for side in (again, found)]
    return elsewhere[0] == elsewhere[1] and set(again) <= set(found)


def _normalized(mount: Mount, where: Mapping[str, str], *, propagates: bool) -> Mount:
    """A mount in words that both generators have.

    volume of the pod                                what genpolicy writes, whatever the pod asks for
    emptyDir                                         rprivate; Contrast's: as the pod asks for
    persistentVolumeClaim, azureFile, ephemeral      rprivate, rw
    hostPath                                         rprivate for rslave
    all others                                       rprivate
    """
    kind = where.get(mount[0], "")
    words: dict[str, str] = {}
    if kind in CLAIMS:
        words = {**_PRIVATE, "ro": "rw"}
    elif kind == "hostPath":
        words = {"rslave": "rprivate"}
    elif kind and not (kind == "emptyDir" and propagates):
        words = _PRIVATE
    return tuple(words.get(part, part) for part in mount)
