"""The labels and annotations of a guard, and the namespaces of an input that ask for confidential pods only.

Rule of this file: names that an API server asks about by the policies of the command `guard`. A render owns none of
them and never reads one: what a guard refuses protects from mistakes, not from the host.
"""

from collections.abc import Iterable

from krm_function.kubernetes.lookup import dig
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.resource import Resource
from krm_function.text.errors import YamlError
from krm_function.text.parse import read_value

DOMAIN = "guard.contrast-krm.dev"
LABEL, CONFIDENTIAL = f"{DOMAIN}/pods", "confidential"  # of a namespace
PLAIN = f"{DOMAIN}/plain"  # the annotation of an exception, on a pod; its value is the reason


def guarded_namespaces(resources: Iterable[Resource]) -> tuple[str, ...]:
    """Return the names of the namespaces of an input that have the label; what cannot be read is found elsewhere."""
    names: set[str] = set()
    for resource in resources:
        if LABEL not in resource.text or not resource.may_be(("Namespace", "List")):
            continue
        try:
            value = read_value(resource.text) if resource.document is None else resource.value
        except YamlError:
            continue
        for _, each in objects(value):
            ref = reference(each)
            if (ref.api_version, ref.kind) == ("v1", "Namespace"):
                label = dig(each, ("metadata", "labels", LABEL))
                names.update([ref.name] if label == CONFIDENTIAL else [])
    return tuple(sorted(names))
