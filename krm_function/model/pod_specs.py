"""Find the pod specs in an object of a kind of which nothing is known but what stands in it.

Rule of this file: whatever holds a list of containers is a pod to whoever wrote it. What makes pods without showing
any, no reader of the input can know. Members of a list are objects of their own; ConfigMap and Secret hold text, and a
CustomResourceDefinition holds schemas.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path

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
