"""Compare the Service of the coordinator with the address that the initializers get.

Rule of this file: only what the input shows counts. Where the coordinator is in it, a Service whose name ends or begins
with the one of Contrast's release is that Service, renamed; where there is none of either name, it may be anywhere.

    Services of the input                                      answer
    coordinator-ready in the coordinator's namespace, or in    right, whatever others there are
    none of its own
    others with that name in them, or in another namespace     CC0771 at each
    none                                                       nothing is known

Source: docs/facts/contrast.md#initializer.
"""

from collections.abc import Iterable, Iterator

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.yamltext import YamlError

NAME = "coordinator-ready"  # of the Service that selects coordinators which have a manifest
KINDS = ("Service", "List")


def coordinator_service(resources: Iterable[Resource], coordinator: Ref | None, namespace: str) -> tuple[Finding, ...]:
    """Return CC0771 for each Service that was the coordinator's and has another name or namespace by now.

    coordinator: None if it is not in the input. namespace: in which the initializers look for it.
    """
    if coordinator is None:
        return ()
    findings: list[Finding] = []
    for resource, root, service in _services(resources):
        if service.name == NAME and service.namespace in ("", namespace):
            return ()
        said = f"{service.name}.{service.namespace or namespace}"
        wrong = finding("CC0771", service, (*root, "metadata", "name"), host=f"{NAME}.{namespace}", service=said)
        findings += resource.all_placed((wrong,))
    return tuple(findings)


def _services(resources: Iterable[Resource]) -> Iterator[tuple[Resource, Path, Ref]]:
    """Yield the Services whose name has that of the coordinator's in it; what cannot be read is reported elsewhere."""
    for resource in resources:
        if NAME not in resource.text or not resource.may_be(KINDS):
            continue
        try:
            document = resource.value
        except YamlError:
            continue
        for root, value in objects(document):
            ref = reference(value)
            if ref.kind == "Service" and ref.api_version == "v1" and NAME in ref.name:
                yield resource, root, ref
