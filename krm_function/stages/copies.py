"""Find the objects that controllers made of workloads of the same input, as `kubectl get all -o yaml` prints them.

Rule of this file: anybody can write an ownerReference, so one counts only if its owner (kind, name, uid) is in the
input, with the same sealed policy and the same runtime class. The same is asked of the owner's own owner, and so on, up
to an object that no controller owns. `generate` asks `controller_of` alone: it refuses an owned object and skips none.

What runs no pod may have another policy: an upgrade leaves objects of the render before it behind, a repair those that
somebody had changed. A status is proven by the cluster alone and anybody can write one into a file, so what has ended
by its status is checked as a copy if it has the same policy, and a warning in `check` if it has another, CC1122.

    object        runs no pod if                             known by
    ReplicaSet    its spec.replicas is 0                     spec
    Job           it has the condition Complete or Failed    status
    Pod           its phase is Succeeded or Failed           status
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from krm_function.findings import Path
from krm_function.model.kinds import KINDS
from krm_function.model.objects import reference
from krm_function.model.workload import INITDATA, dig, mapping, maps
from krm_function.record import NamedTuple

OWNERS = "ownerReferences"  # without this word in a text, YAML escapes aside, no object of it is owned
Place = tuple[int, Path]  # position of a resource, path to an object of its document


ENDED = ("Succeeded", "Failed")  # phases of a Pod
OVER = ("Complete", "Failed")  # conditions of a Job


Retired = Literal["", "spec", "status"]  # what says that an object runs no pod; "" if nothing does


class Copy(NamedTuple):
    """What a controller made. origin: the workload that it was made of. retired: runs no pod, and is not checked."""

    origin: Any
    retired: Retired = ""


NO_COPIES: Mapping[Place, Copy] = MappingProxyType({})


class Controller(NamedTuple):
    """The controller that owns an object, as its ownerReference names it."""

    namespace: str
    kind: str
    name: str
    uid: str


def controller_of(value: Any) -> Controller | None:
    """Return the owner of an object that has `controller: true`, None without one."""
    metadata = mapping(mapping(value).get("metadata"))
    for owner in maps(metadata.get(OWNERS)):
        if owner.get("controller") is True:
            kind, name, uid = (str(owner.get(key) or "") for key in ("kind", "name", "uid"))
            return Controller(reference(value).namespace, kind, name, uid)
    return None


def copies(objects: Iterable[tuple[int, Path, Any]]) -> Mapping[Place, Copy]:
    """Return the copies by their places. objects: as they stand, policies included."""
    every = [(index, root, value) for index, root, value in objects if _is_workload(value)]
    known = known_controllers(value for _, _, value in every)
    owned = {(index, root): value for index, root, value in every if controller_of(value) is not None}
    found = {place: _copy(value, known) for place, value in owned.items()}
    return {place: one for place, one in found.items() if one is not None}


def known_controllers(values: Iterable[Any]) -> Mapping[Controller, Any]:
    """Return the workloads among some objects that have a uid, as an ownerReference would name them."""
    known: dict[Controller, Any] = {}
    for value in values:
        ref, uid = reference(value), dig(value, ("metadata", "uid"))
        if _is_workload(value) and isinstance(uid, str) and uid:
            known[Controller(ref.namespace, ref.kind, ref.name, uid)] = value
    return known


def controllers(value: Any, known: Mapping[Controller, Any]) -> list[Any] | None:
    """Return the controllers of an object, up to the one that none owns; None if one is not known."""
    found: list[Any] = []
    while (owner := controller_of(value)) is not None:
        value = known.get(owner)
        if value is None or len(found) >= len(known):  # a circle has no end
            return None
        found.append(value)
    return found


def _is_workload(value: Any) -> bool:
    ref = reference(value)
    return ref.kind in KINDS and ref.api_version == KINDS[ref.kind][0]


def _copy(value: Any, known: Mapping[Controller, Any]) -> Copy | None:
    """Return what an owned object was made of; None if its controllers are not all known, or have another policy."""
    owners, sealed = controllers(value, known), _sealed(value)
    if not owners:
        return None
    retired = _retired(value)
    if retired != "spec" and sealed is not None and all(_sealed(owner) == sealed for owner in owners):
        return Copy(owners[-1])
    return Copy(owners[-1], retired) if retired else None


def _retired(value: Any) -> Retired:
    """Return what says that an object has ended, or makes no pods."""
    match reference(value).kind:
        case "ReplicaSet":
            replicas = dig(value, ("spec", "replicas"))
            return "spec" if replicas == 0 and replicas is not False else ""
        case "Job":
            conditions = maps(dig(value, ("status", "conditions")))
            over = any(one.get("type") in OVER and one.get("status") == "True" for one in conditions)
            return "status" if over else ""
        case "Pod":
            return "status" if dig(value, ("status", "phase")) in ENDED else ""
        case _:
            return ""


def _sealed(value: Any) -> tuple[str, str] | None:
    """Return the runtime class and the initdata of an object's pods, None without them."""
    template = KINDS[reference(value).kind][1]
    name = dig(value, (*template, "spec", "runtimeClassName"))
    initdata = dig(value, (*template, "metadata", "annotations", INITDATA))
    return (name, initdata) if isinstance(name, str) and isinstance(initdata, str) and initdata else None
