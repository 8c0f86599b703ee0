"""Find the objects that controllers made of workloads of the same input, as `kubectl get all -o yaml` prints them.

Rule of this file: anybody can write an ownerReference, so one counts only if its owner (kind, name, uid) is in the
input and has the same sealed policy and the same runtime class, as has that one's owner, up to an object that no
controller owns. `generate` and its likes ask `controller_of` alone: they refuse an owned object and never skip it.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from krm_function.findings import Path
from krm_function.model.kinds import KINDS
from krm_function.model.objects import reference
from krm_function.model.workload import INITDATA, dig, mapping, maps
from krm_function.record import NamedTuple

OWNERS = "ownerReferences"  # without this word in a text, YAML escapes aside, no object of it is owned
Place = tuple[int, Path]  # position of a resource, path to an object of its document

NO_COPIES: Mapping[Place, Any] = MappingProxyType({})


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


def copies(objects: Iterable[tuple[int, Path, Any]]) -> Mapping[Place, Any]:
    """Return for the place of each copy the workload it was made of. objects: as they stand, policies included."""
    owned: dict[Place, Any] = {}
    known: dict[Controller, Any] = {}
    for index, root, value in objects:
        ref = reference(value)
        if ref.kind not in KINDS or ref.api_version != KINDS[ref.kind][0]:
            continue
        uid = dig(value, ("metadata", "uid"))
        if isinstance(uid, str) and uid:
            known[Controller(ref.namespace, ref.kind, ref.name, uid)] = value
        if controller_of(value) is not None:
            owned[index, root] = value
    found = {place: _origin(value, known) for place, value in owned.items()}
    return {place: origin for place, origin in found.items() if origin is not None}


def _origin(value: Any, known: Mapping[Controller, Any]) -> Any:
    """Follow the controllers of an object to the one that none owns; None if they do not all have its policy."""
    sealed = _sealed(value)
    if sealed is None:
        return None
    for _ in range(len(known)):  # a circle has no end
        owner = controller_of(value)
        if owner is None:
            return value
        value = known.get(owner)
        if value is None or _sealed(value) != sealed:
            return None
    return None if controller_of(value) else value


def _sealed(value: Any) -> tuple[str, str] | None:
    """Return the runtime class and the initdata of an object's pods, None without them."""
    template = KINDS[reference(value).kind][1]
    name = dig(value, (*template, "spec", "runtimeClassName"))
    initdata = dig(value, (*template, "metadata", "annotations", INITDATA))
    return (name, initdata) if isinstance(name, str) and isinstance(initdata, str) and initdata else None
