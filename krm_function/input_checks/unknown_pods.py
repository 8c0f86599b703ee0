"""Unknown pods: find the objects whose pods no render seals and that have a pod template all the same.

Rule of this file: of a custom resource nothing is known but what stands there, so a map with a list of containers is
taken for a pod. What makes pods without showing any, no reader of the input can know. ConfigMap and Secret hold text,
and a CustomResourceDefinition holds schemas.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.findings import Finding, Path, Ref
from krm_function.model.finding_position import yaml_finding
from krm_function.model.kinds import KINDS
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError

WITHOUT_PODS = frozenset(("ConfigMap", "Secret", "CustomResourceDefinition", "RuntimeClass"))
FIELDS = ("containers", "initContainers")


class UnknownPods(NamedTuple):
    """An object of a kind that no render edits. has_pods: whether a pod template is seen in it."""

    resource: Resource
    root: Path
    ref: Ref
    has_pods: bool


def unknown_pods(resources: Iterable[Resource]) -> Iterator[UnknownPods | Finding]:
    """Yield the objects of other kinds than the eight; a finding for a document that cannot be read."""
    for resource in resources:
        if resource.state == "added" or (resource.certain and resource.kind in (*KINDS, *WITHOUT_PODS)):
            continue
        try:
            read = resource.parsed()
        except YamlError as problem:
            yield yaml_finding(problem, resource)
            continue
        for root, value in objects(read.value):
            ref = reference(value)
            if ref.kind not in KINDS and ref.kind not in WITHOUT_PODS:
                yield UnknownPods(read, root, ref, _has_pods(value))


def _has_pods(value: Any) -> bool:
    """Tell whether containers are listed anywhere in an object; members of a list are objects of their own."""
    if isinstance(value, list):
        return any(map(_has_pods, value))
    if not isinstance(value, dict):
        return False
    listed = [value[key] for key in FIELDS if isinstance(value.get(key), list)]
    if any(isinstance(one, dict) for containers in listed for one in containers):
        return True
    return any(_has_pods(part) for key, part in value.items() if key != "items")
