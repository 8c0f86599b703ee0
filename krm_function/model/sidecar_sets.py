"""The SidecarSets of OpenKruise in an input: which pods their webhook puts containers into.

Rule of this file: one that may select a pod counts, whatever it adds; a selector of namespaces may select any. An empty
selector selects none, and a paused set adds nothing. Source: docs/facts/controllers.md#openkruise.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.model.label_selectors import selects
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.yamltext import YamlError

KIND = "SidecarSet"
GROUP = "apps.kruise.io/"


def sidecar_sets(resources: Iterable[Resource]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and spec of each that is not paused; a document that cannot be read is the render's to report."""
    for resource in resources:
        try:
            found = list(objects(resource.value))
        except YamlError:
            continue
        for _, value in found:
            ref, spec = reference(value), mapping(mapping(value).get("spec"))
            paused = dig(spec, ("injectionStrategy", "paused")) is True
            if ref.kind == KIND and ref.api_version.startswith(GROUP) and not paused:
                yield ref.name, spec


def may_select(spec: Mapping[str, Any], workload: Workload) -> bool:
    """Tell whether a SidecarSet of this spec may select the pods of a workload."""
    namespace, own = spec.get("namespace"), workload.ref.namespace
    selector = mapping(spec.get("selector"))
    return (
        any(selector.values()) and (not namespace or not own or namespace == own) and selects(selector, workload.labels)
    )
