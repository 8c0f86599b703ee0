"""Find the pod specs in an object of any kind: of the eight kinds by their template, of others by their containers.

Rule of this file: whatever holds a list of containers is a pod to whoever wrote it; which controller makes pods of it
is not known. Members of a list are objects of their own, and text in a ConfigMap is no pod.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path
from krm_function.model.lookup import dig, mapping

DEEPEST = 40  # maps and lists around a pod spec; the reader of YAML allows more


def foreign_pod_specs(value: Any) -> Iterator[Path]:
    """Yield the path of each pod spec in an object of another kind: a map whose `containers` have names or images."""
    for key, part in mapping(value).items():
        if key != "items" or not isinstance(part, list):
            yield from _pod_specs(part, (str(key),))


def _pod_specs(value: Any, path: Path) -> Iterator[Path]:
    if len(path) > DEEPEST:
        return
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from _pod_specs(part, (*path, index))
    elif isinstance(value, dict):
        if _are_containers(value.get("containers")):
            yield path
            return
        for key, part in value.items():
            yield from _pod_specs(part, (*path, str(key)))


def _are_containers(value: Any) -> bool:
    entries = value if isinstance(value, list) else []
    return bool(entries) and all(
        isinstance(one, dict) and (dig(one, ("name",)) or dig(one, ("image",))) for one in entries
    )
