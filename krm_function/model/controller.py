"""The controller that owns an object, as the object's ownerReferences name it.

Rule of this file: anybody can write an ownerReference, so it is a claim; `input_checks/copies.py` says when it counts.
"""

from typing import Any

from krm_function.model.lookup import mapping, maps
from krm_function.model.objects import reference
from krm_function.record import NamedTuple

OWNERS = "ownerReferences"  # without this word in a text, YAML escapes aside, no object of it is owned


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
