"""The labels and annotations of a guard, and the namespaces of an input that ask for confidential pods only.

Rule of this file: names that an API server asks about by the policies of the command `guard`. A render owns none of
them and never reads one: what a guard refuses protects from mistakes, not from the host.
"""

from collections.abc import Iterable

from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.resource import Resource, objects_of

DOMAIN = "guard.contrast-krm.dev"
LABEL, CONFIDENTIAL = f"{DOMAIN}/pods", "confidential"  # of a namespace
PLAIN = f"{DOMAIN}/plain"  # the annotation of an exception, on a pod; its value is the reason


def guarded_namespaces(resources: Iterable[Resource]) -> tuple[str, ...]:
    """Return the names of an input's namespaces with the label; unreadable documents are reported elsewhere."""
    names = {
        item.ref.name
        for item in objects_of(resources, ("Namespace", "List"), LABEL)
        if item.ref.api_version == "v1" and dig(item.value, ("metadata", "labels", LABEL)) == CONFIDENTIAL
    }
    return tuple(sorted(names))
