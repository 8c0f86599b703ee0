"""Find the objects of a document, the members of lists among them, and their identity.

Rule of this file: a document may have any shape, so nothing here raises.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path, Ref
from krm_function.krm.group_version import plain_api_version
from krm_function.model.lookup import dig, mapping
from krm_function.model.workload import EMITTED


def _text(source: dict[str, Any], key: str) -> str:
    found = source.get(key)
    return found if isinstance(found, str) else ""


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


def emitted_objects(document: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the objects that a render added: the document itself, or members of a List where a host has put them."""
    for root, value in objects(document):
        if dig(value, ("metadata", "annotations", EMITTED)) is not None:
            yield root, value
