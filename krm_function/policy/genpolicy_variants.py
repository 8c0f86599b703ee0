"""Compare policy data of genpolicy with those of the native generator where the two write the same pod differently.

Rule of this file: both sides are normalised first, so that what a generator ignores is not compared, and everything
else is.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import maps
from krm_function.policy.pod_metadata import PodMetadata

Json = dict[str, Any]
Mount = tuple[str, ...]  # destination, type, options, and more

CLAIMS = frozenset(("persistentVolumeClaim", "azureFile", "ephemeral"))
_PRIVATE = {"rslave": "rprivate", "rshared": "rprivate"}


def mounted_volume_kinds(pod: PodMetadata, container: Json) -> dict[str, str]:
    """Map the mountPath of each volumeMount of a container to the kind of its volume."""
    kinds = dict.fromkeys(pod.claim_templates, "persistentVolumeClaim")
    for volume in maps(pod.spec.get("volumes")):
        source = next((key for key, value in volume.items() if key != "name" and value is not None), "emptyDir")
        kinds.setdefault(volume["name"], source)
    return {entry["mountPath"]: kinds.get(entry["name"], "") for entry in maps(container.get("volumeMounts"))}


def effective_variables(made: set[str], other: set[str]) -> set[str]:
    """Return genpolicy's variables without those that a later one of the same name replaces."""
    names = {entry.partition("=")[0] for entry in made}
    return {entry for entry in other if entry in made or entry.partition("=")[0] not in names}


def equivalent_mounts(made: list[Mount], other: list[Mount], where: Mapping[str, str], *, propagates: bool) -> bool:
    """Tell whether genpolicy's mounts are equivalent to the native ones.

    where: as `mounted_volume_kinds` returns it. propagates: whether mountPropagation of an emptyDir is honoured. At the
    mountPaths of the pod genpolicy may have further mounts: volumes not covered here, and the runtime's own mount.
    """
    again, found = ([_normalized(one, where, propagates=propagates) for one in side] for side in (made, other))
    elsewhere = [sorted(one for one in side if one[0] not in where) for side in (again, found)]
    return elsewhere[0] == elsewhere[1] and set(again) <= set(found)


def _normalized(mount: Mount, where: Mapping[str, str], *, propagates: bool) -> Mount:
    """Normalise a mount to the options that both generators write.

    volume of the pod                                what genpolicy writes, regardless of the pod
    emptyDir                                         rprivate; Contrast's: as in the pod spec
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
