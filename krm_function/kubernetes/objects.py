"""Find the objects of a document, their identity and their controllers."""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.findings import Path, Ref
from krm_function.krm.group_version import plain_api_version
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.record import NamedTuple

# --- Find the objects of a document, the members of lists among them, and their identity
#
# Rule: a document may have any shape, so nothing here raises.


def _text(source: dict[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def reference(value: Any) -> Ref:
    """Return the object's identity, "" for each missing part; generateName is used where there is no name.

    Its apiVersion is in the ordinary spelling, `v1` for `/v1`, so that all who compare it read what Kubernetes reads.
    """
    root = mapping(value)
    metadata = mapping(root.get("metadata"))
    name = _text(metadata, "name") or _text(metadata, "generateName")
    return Ref(plain_api_version(_text(root, "apiVersion")), _text(root, "kind"), _text(metadata, "namespace"), name)


def objects(document: Any, root: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every object of a document with its path: the members of lists, recursively, and whatever is no list.

    kubectl takes any object with a list of `items` for a list, even a ConfigMap; other tools still read the ConfigMap.
    So both the members and the object are yielded, unless its kind ends with `List`.
    """
    value = dig(document, root)
    members = mapping(value).get("items")
    if isinstance(members, list):
        for index in range(len(members)):
            yield from objects(document, (*root, "items", index))
        if _text(value, "kind").endswith("List"):
            return
    yield root, value


# --- The controller that owns an object, as the object's ownerReferences name it
#
# Rule: anybody can write an ownerReference, so it is a claim; `render/copies.py` decides when it counts.


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


# --- Name several objects in one sentence: the first ones, and how many more there are


LIMIT = 5


def listed(names: Sequence[str]) -> str:
    """Write `Deployment/a, Deployment/b and 3 more`: at most five names."""
    rest = len(names) - LIMIT
    return ", ".join(names[:LIMIT]) + (f" and {rest} more" if rest > 0 else "")


# --- Find the pod specs in an object of an unknown kind
#
# Rule: a map with a list of containers is a pod. An object that makes pods without showing any cannot be recognized.
# Members of a list are objects of their own; ConfigMap and Secret hold text, and a CustomResourceDefinition schemas.


WITHOUT_PODS = frozenset(("ConfigMap", "Secret", "CustomResourceDefinition", "RuntimeClass"))
FIELDS = ("containers", "initContainers")
DEEPEST = 100  # maps and lists around a pod spec, as the reader of YAML allows


def pod_specs(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each map that lists containers, the outermost ones. path: that of `value`."""
    if len(path) > DEEPEST:
        return
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from pod_specs(part, (*path, index))
    elif isinstance(value, dict):
        if any(_lists_containers(value.get(field)) for field in FIELDS):
            yield path
            return
        for key, part in value.items():
            if path or key != "items":
                yield from pod_specs(part, (*path, str(key)))


def _lists_containers(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
