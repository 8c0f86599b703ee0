"""Checks of a deployment as a whole: its coordinator, renamed references, webhooks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.config.references import PREVIOUS_NAMES
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.sidecar_injectors import INJECTORS, WORDS, asking, may_ask, may_select, sidecar_sets
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.image import parse_image
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.resource import Resource, objects_of
from krm_function.kubernetes.workload import POD_ROLE, Workload, workloads_of
from krm_function.text.errors import YamlError

# --- Compare the Service of the coordinator with the address that the initializers get
#
# Rule: only what the input shows counts. Where the coordinator is in it, a Service whose name ends or
# begins with the one of Contrast's release is that Service, renamed; where there is none of either name, it may be
# anywhere.
#
#     Services of the input                                      answer
#     coordinator-ready in the coordinator's namespace, or in    right, whatever others there are
#     none of its own
#     others with that name in them, or in another namespace     CC0771 at each
#     none                                                       nothing is known
#
# Source: docs/facts/contrast.md#initializer.


NAME = "coordinator-ready"  # of the Service that selects coordinators which have a manifest


def coordinator_service(resources: Iterable[Resource], coordinator: Ref | None, namespace: str) -> tuple[Finding, ...]:
    """Return CC0771 for each Service that was the coordinator's and has another name or namespace by now.

    coordinator: None if it is not in the input. namespace: in which the initializers look for it.
    """
    if coordinator is None:
        return ()
    findings: list[Finding] = []
    for item in objects_of(resources, ("Service", "List"), NAME):
        service = item.ref
        if service.api_version != "v1" or NAME not in service.name:
            continue
        if service.name == NAME and service.namespace in ("", namespace):
            return ()
        said = f"{service.name}.{service.namespace or namespace}"
        path = (*item.root, "metadata", "name")
        findings.append(item.placed(finding("CC0771", service, path, host=f"{NAME}.{namespace}", service=said)))
    return tuple(findings)


# --- Say which pod of the input is the coordinator after all, where a manifest has none: its image tells
#
# Rule: an image gives nobody the role; the label does (render/roles.py). It only says, in the place
# of CC0701, what is wrong with the pod that somebody took for the coordinator.
#
#     a pod that runs the coordinator's image        CC0741 says
#     has no class of Contrast's                     that it runs outside of a VM
#     is of another kind than StatefulSet            that it is of an older release
#     has no label                                   that it lacks the label
#     (none)                                         CC0701 stays: there is no coordinator


CODE = "CC0701"  # of the stage manifest
ENDING = "/contrast/coordinator"


def with_coordinator_named(findings: Sequence[Finding], resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return the findings, with what they say of a missing coordinator made exact."""
    said = next(map(_said, _candidates(resources)), None)
    return tuple(said if said is not None and found.code == CODE else found for found in findings)


def _candidates(resources: Iterable[Resource]) -> Iterator[Workload]:
    """Yield the pods that run the coordinator's image."""
    for resource in resources:
        if not resource.may_have_pods or ENDING not in resource.text:
            continue
        try:
            given = resource.given()
        except YamlError:
            continue  # which is an error of its own
        for _, root, ref, value in given.objects:
            yield from filter(_runs_coordinator, workloads_of(value, root, ref, given))


def _runs_coordinator(workload: Workload) -> bool:
    images = [parse_image(str(each.container.get("image") or "")) for each in workload.all_containers]
    return any(not isinstance(image, str) and image.name.endswith(ENDING) for image in images)


def _said(workload: Workload) -> Finding:
    path = workload.metadata_path
    if not is_contrast_name(workload.runtime_class):
        code, path = "CC0741.plain", workload.spec_path
    elif workload.ref.kind != "StatefulSet":
        code = "CC0741.kind"
    else:
        code = "CC0741.unlabelled"
    return workload.placed(finding(code, workload.ref, path, label=POD_ROLE, kind=workload.ref.kind))


# --- Find names in pods of custom resources that kustomize leaves behind when it renames what they are of
#
# kustomize gives objects their prefix before a function runs, and the hash of their content when it is done. It then
# puts the final names into the pods of the kinds that it knows, and into no other, unless `configurations` names the
# field. A function cannot see whether somebody did. Source: docs/facts/kustomize.md#names.
#
#     the object of that name in the input                          finding
#     had the name before a prefix, a suffix or a namespace         CC0696
#     has it still, and gets a hash                                 CC0696
#     else                                                          nothing
#
# Rule: it only reads, and only pods of custom resources in an input of kustomize.


HASH = "internal.config.kubernetes.io/needsHashSuffix"
CONFIG_MAP, SECRET = "ConfigMap", "Secret"
OF_POD: tuple[tuple[str, Path], ...] = (("ServiceAccount", ("serviceAccountName",)),)
OF_VARIABLES: tuple[tuple[str, Path], ...] = (
    (CONFIG_MAP, ("valueFrom", "configMapKeyRef", "name")),
    (SECRET, ("valueFrom", "secretKeyRef", "name")),
    (CONFIG_MAP, ("configMapRef", "name")),
    (SECRET, ("secretRef", "name")),
)
OF_VOLUMES: tuple[tuple[str, Path], ...] = (
    (CONFIG_MAP, ("configMap", "name")),
    (SECRET, ("secret", "secretName")),
    (SECRET, ("secret", "name")),  # of a projected volume
    ("PersistentVolumeClaim", ("persistentVolumeClaim", "claimName")),
)


def renamed_references(resources: Iterable[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return CC0696 for each object of which a pod has a name that is not its last one."""
    custom = [one for one in workloads if one.made_by is not None]
    renamed = _renamed(resources) if custom else frozenset()
    found: list[Finding] = []
    for workload in custom if renamed else ():
        seen = set()
        for kind, name, path in _named(workload):
            if (kind, name) in renamed and (kind, name) not in seen:
                seen.add((kind, name))
                values: dict[str, Any] = {"kind": kind, "name": name, "owner": workload.ref.kind}
                found.append(workload.placed(finding("CC0696", workload.ref, (*workload.spec_path, *path), **values)))
    return tuple(found)


def _renamed(resources: Iterable[Resource]) -> frozenset[tuple[str, str]]:
    """Return kind and name of what has another name in the end, in any namespace."""
    found = set()
    for resource in resources:
        if PREVIOUS_NAMES not in resource.text and HASH not in resource.text:
            continue
        for item in resource.objects:
            metadata = mapping(mapping(item.value).get("metadata"))
            annotations = mapping(metadata.get("annotations"))
            names = set(str(annotations.get(PREVIOUS_NAMES) or "").split(",")) - {"", metadata.get("name")}
            if HASH in annotations:
                names.add(str(metadata.get("name")))
            found |= {(item.ref.kind, name) for name in names}
    return frozenset(found)


def _named(workload: Workload) -> Iterator[tuple[str, str, Path]]:
    """Yield kind, name and place of what a pod refers to by name."""
    yield from _names(workload.pod_spec, (), OF_POD)
    for index, one in enumerate(maps(workload.pod_spec.get("imagePullSecrets"))):
        yield from _names(one, ("imagePullSecrets", index), ((SECRET, ("name",)),))
    for each in workload.all_containers:
        at = each.path[len(workload.spec_path) :]
        for field in ("env", "envFrom"):
            for index, one in enumerate(maps(each.container.get(field))):
                yield from _names(one, (*at, field, index), OF_VARIABLES)
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        yield from _names(volume, ("volumes", index), OF_VOLUMES)
        for number, source in enumerate(maps(dig(volume, ("projected", "sources")))):
            yield from _names(source, ("volumes", index, "projected", "sources", number), OF_VOLUMES)


def _names(value: Any, at: Path, fields: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str, Path]]:
    for kind, path in fields:
        name = dig(value, path)
        if isinstance(name, str) and name:
            yield kind, name, (*at, *path)


# --- Refuse a confidential pod that a known admission webhook of the cluster would change after it was sealed
#
# Rule: what asks for the change is a label, an annotation or a variable of the pod, or of a Namespace of
# the input (`contrast/sidecar_injectors.py`), or a SidecarSet of the input (`contrast/sidecar_injectors.py`). A cluster
# that changes pods without being asked is not seen here; the node refuses such a pod as well, so it is a pod that never
# starts and no opening.


UNSELECTED = "labels that the SidecarSet does not select"


def injected_afterwards(resources: Sequence[Resource], workloads: Iterable[Workload]) -> tuple[Finding, ...]:
    """Return CC0260 for each injector that would change one of these workloads, and that the pod does not forbid."""
    namespaces, workloads = _namespaces(resources), tuple(workloads)
    findings = _of_sidecar_sets(resources, workloads)
    for workload in workloads:
        pod = mapping(workload.at(workload.metadata_path))
        variables = _variables(workload)
        if not namespaces and not may_ask(pod, variables):
            continue
        own = workload.ref.namespace
        around = {own: namespaces.get(own, {})} if own or not namespaces else namespaces  # without one, it may be any
        for injector in INJECTORS:
            asked = [
                (name, said) for name, metadata in around.items() for said in asking(injector, pod, metadata, variables)
            ]
            for name, (whose, place, key) in asked[:1]:
                path = workload.spec_path if place == "variable" else workload.metadata_path
                path = (*path, f"{place}s", key) if whose == "pod" and place != "variable" else path
                by = f"the {place} {key}" + ("" if whose == "pod" else f" of namespace {name}")
                wrong = finding(
                    "CC0260", workload.ref, path, injector=injector.name, asked=by, way_out=injector.way_out
                )
                findings.append(workload.placed(wrong))
    return tuple(findings)


def _of_sidecar_sets(resources: Sequence[Resource], workloads: Iterable[Workload]) -> list[Finding]:
    """Return CC0260 for each SidecarSet of the input that selects the pods of a workload."""
    found = list(sidecar_sets(resources))
    made = []
    for workload in workloads:
        for name, spec in found:
            if may_select(spec, workload):
                path, asked = workload.metadata_path, f"SidecarSet {name}"
                wrong = finding("CC0260", workload.ref, path, injector="OpenKruise", asked=asked, way_out=UNSELECTED)
                made.append(workload.placed(wrong))
    return made


def _variables(workload: Workload) -> set[str]:
    """Return the names of the variables of the containers, if there are several; no init containers."""
    containers = workload.containers
    return {str(one.get("name")) for each in containers for one in maps(each.get("env"))} if containers[1:] else set()


def _namespaces(resources: Sequence[Resource]) -> dict[str, dict[str, Any]]:
    """Return the metadata of the Namespace objects that may ask for injection, by name."""
    likely = [one for one in resources if any(word in one.text for word in WORDS)]
    if not likely:
        return {}
    from krm_function.contrast.namespace_admission import namespace_objects

    found = namespace_objects(likely)
    return {one.ref.name: mapping(mapping(one.value).get("metadata")) for one in found if one.ref.kind == "Namespace"}
