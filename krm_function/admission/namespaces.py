"""Find the Namespace, ResourceQuota and LimitRange objects of an input.

Rule of this file: an object without a namespace may come into any, so it counts for every workload; and every object
counts for a workload without one.
"""

from collections.abc import Sequence
from typing import Any

from krm_function.findings import Path, Ref
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError

KINDS = ("Namespace", "ResourceQuota", "LimitRange")


class NamespaceObject(NamedTuple):
    """One of these objects. resource, root: where it stands. namespace: the one that it is about, or ""."""

    resource: Resource
    root: Path
    ref: Ref
    value: Any

    @property
    def namespace(self) -> str:
        """The namespace that it is about, "" if it names none."""
        return self.ref.name if self.ref.kind == "Namespace" else self.ref.namespace

    def concerns(self, ref: Ref) -> bool:
        """Tell whether an object of the input comes, or may come, into its namespace."""
        return not self.namespace or not ref.namespace or self.namespace == ref.namespace


def namespace_objects(resources: Sequence[Resource]) -> list[NamespaceObject]:
    """Find them; a document that cannot be read is skipped here, because the render reports it."""
    namespaced: list[NamespaceObject] = []
    for resource in resources:
        listed = resource.may_be(("List",)) and any(kind in resource.text for kind in KINDS)
        if not listed and not (resource.certain and resource.kind in KINDS):
            continue
        try:
            parsed = resource.parsed()
        except YamlError:
            continue
        for root, value in objects(parsed.value):
            ref = reference(value)
            if (ref.kind, ref.api_version) in {(kind, "v1") for kind in KINDS}:
                namespaced.append(NamespaceObject(parsed, root, ref, value))
    return namespaced
