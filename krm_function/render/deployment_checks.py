"""Checks of a deployment as a whole: its coordinator, renamed references, webhooks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.config.references import PREVIOUS_NAMES
from krm_function.contrast.injected import INITIALIZER
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.sidecar_injectors import (
    INJECTORS,
    ROLLBACK,
    WORDS,
    asking,
    asks_of,
    find_mutators,
    may_ask,
    may_change_pods,
)
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.image import parse_image
from krm_function.kubernetes.objects import dig, listed, mapping, maps, read_hook
from krm_function.kubernetes.resource import ObjectAt, Resource, objects_of
from krm_function.kubernetes.workload import POD_ROLE, Workload, workloads_of
from krm_function.text.errors import YamlError

# --- Compare the Service of the coordinator with the address that the initializers get
#
# Rule: only the input counts. If the coordinator is in it, a Service whose name begins or ends with that of Contrast's
# release is that Service, renamed; if no Service has such a name, the Service may be anywhere.
#
#     Services of the input                                      answer
#     coordinator-ready in the coordinator's namespace, or       right, whatever the others are
#     without a namespace
#     names that contain it, or another namespace                CC0771 at each
#     none                                                       no finding
#
# Source: docs/facts/contrast.md#initializer.


NAME = "coordinator-ready"  # of the Service that selects coordinators with a manifest


def check_coordinator_service(
    resources: Iterable[Resource], coordinator: Ref | None, namespace: str
) -> tuple[Finding, ...]:
    """Return CC0771 for each Service that was the coordinator's before its name or namespace changed.

    coordinator: None if it is not in the input. namespace: where the initializers look for the Service.
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
        host = f"{service.name}.{service.namespace or namespace}"
        path = (*item.root, "metadata", "name")
        findings.append(item.placed(finding("CC0771", service, path, host=f"{NAME}.{namespace}", service=host)))
    return tuple(findings)


# --- Compare the moment of a hook with that of the coordinator


def check_coordinator_time(workloads: Sequence[Workload]) -> Iterator[Finding]:
    """Yield CC0772 for each hook with an initializer that runs before the coordinator of the input is created."""
    coordinator = next((workload for workload in workloads if workload.is_chosen), None)
    for workload in workloads:
        moment = ", ".join(sorted(read_hook(workload.object).events & {"pre-install", "PreSync"}))
        if coordinator and moment and any(container.name == INITIALIZER for container in workload.all_containers):
            name = f"{coordinator.ref.kind} {coordinator.ref}"
            problem = finding("CC0772", workload.ref, workload.spec_path, moment=moment, coordinator=name)
            yield workload.placed(problem)


# --- Name the pod that was meant as the coordinator, by its image, where a manifest has none
#
# Rule: the label gives the role (render/roles.py), never the image. The image only leads to the pod that was meant, so
# that a finding in place of CC0701 can name its mistake.
#
#     a pod that runs the coordinator's image        CC0741
#     has no class of Contrast's                     that it runs outside of a VM
#     is of another kind than StatefulSet            that it is of an older release
#     has no label                                   that it lacks the label
#     (no such pod)                                  CC0701 stays: there is no coordinator


CODE = "CC0701"  # of the stage manifest
ENDING = "/contrast/coordinator"


def name_coordinator(findings: Sequence[Finding], resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Replace CC0701 by the reason why no pod counts as the coordinator, where an image shows one."""
    explanation = next(map(_explain, _find_candidates(resources)), None)
    return tuple(explanation if explanation is not None and problem.code == CODE else problem for problem in findings)


def _find_candidates(resources: Iterable[Resource]) -> Iterator[Workload]:
    for resource in resources:
        if not resource.may_have_pods or ENDING not in resource.text:
            continue
        try:
            source = resource.given()
        except YamlError:
            continue  # reported elsewhere
        for _, root, ref, value in source.objects:
            yield from filter(_runs_coordinator, workloads_of(value, root, ref, source))


def _runs_coordinator(workload: Workload) -> bool:
    images = [parse_image(str(container.container.get("image") or "")) for container in workload.all_containers]
    return any(not isinstance(image, str) and image.name.endswith(ENDING) for image in images)


def _explain(workload: Workload) -> Finding:
    path = workload.metadata_path
    if not is_contrast_name(workload.runtime_class):
        code, path = "CC0741.plain", workload.spec_path
    elif workload.ref.kind != "StatefulSet":
        code = "CC0741.kind"
    else:
        code = "CC0741.unlabelled"
    return workload.placed(finding(code, workload.ref, path, label=POD_ROLE, kind=workload.ref.kind))


# --- Find references in pods of custom resources that kustomize does not update when it renames the objects
#
# kustomize gives objects their prefix before a function runs, and the hash of their content at the end. It then writes
# the final names into the pods of the kinds that it supports, and into others only if `configurations` names the field.
# A function cannot see these `configurations`. Source: docs/facts/kustomize.md#names.
#
#     the object of that name in the input                          finding
#     had the name before a prefix, a suffix or a namespace         CC0696
#     has the name still, and gets a hash                           CC0696
#     otherwise                                                     nothing
#
# Rule: this check only reads, and only pods of custom resources in an input of kustomize.


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


def find_renamed_references(resources: Iterable[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return CC0696 for each object that a pod refers to by a name that is not its final one."""
    custom = [workload for workload in workloads if workload.made_by is not None]
    renamed = _find_renamed(resources) if custom else frozenset()
    findings: list[Finding] = []
    for workload in custom:
        seen = set()
        for kind, name, path in _list_references(workload):
            if (kind, name) in renamed and (kind, name) not in seen:
                seen.add((kind, name))
                values: dict[str, Any] = {"kind": kind, "name": name, "owner": workload.ref.kind}
                findings.append(
                    workload.placed(finding("CC0696", workload.ref, (*workload.spec_path, *path), **values))
                )
    return tuple(findings)


def _find_renamed(resources: Iterable[Resource]) -> frozenset[tuple[str, str]]:
    renamed = set()
    for resource in resources:
        if PREVIOUS_NAMES not in resource.text and HASH not in resource.text:
            continue
        for item in resource.objects:
            metadata = mapping(mapping(item.value).get("metadata"))
            annotations = mapping(metadata.get("annotations"))
            names = set(str(annotations.get(PREVIOUS_NAMES) or "").split(",")) - {"", metadata.get("name")}
            if HASH in annotations:
                names.add(str(metadata.get("name")))
            renamed |= {(item.ref.kind, name) for name in names}
    return frozenset(renamed)


def _list_references(workload: Workload) -> Iterator[tuple[str, str, Path]]:
    yield from _list_names(workload.pod_spec, (), OF_POD)
    for index, item in enumerate(maps(workload.pod_spec.get("imagePullSecrets"))):
        yield from _list_names(item, ("imagePullSecrets", index), ((SECRET, ("name",)),))
    for container in workload.all_containers:
        at = container.path[len(workload.spec_path) :]
        for field in ("env", "envFrom"):
            for index, item in enumerate(maps(container.container.get(field))):
                yield from _list_names(item, (*at, field, index), OF_VARIABLES)
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        yield from _list_names(volume, ("volumes", index), OF_VOLUMES)
        for number, source in enumerate(maps(dig(volume, ("projected", "sources")))):
            yield from _list_names(source, ("volumes", index, "projected", "sources", number), OF_VOLUMES)


def _list_names(value: Any, at: Path, fields: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str, Path]]:
    for kind, path in fields:
        name = dig(value, path)
        if isinstance(name, str) and name:
            yield kind, name, (*at, *path)


# --- Warn of a login that no VM gets


def find_pull_secrets(workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return one CC0512, at the first pod, for all that have imagePullSecrets."""
    using = [workload for workload in workloads if workload.pod_spec.get("imagePullSecrets")]
    names = listed(list(dict.fromkeys(f"{workload.ref.kind} {workload.ref}" for workload in using)))
    return tuple(
        workload.placed(finding("CC0512", workload.ref, (*workload.spec_path, "imagePullSecrets"), workloads=names))
        for workload in using[:1]
    )


# --- Refuse a confidential pod that a known admission webhook of the cluster would change after it was sealed
#
# Rule: a label, an annotation or a variable of the pod, a label or annotation of a Namespace of the input, or another
# object of the input asks for the change (`contrast/sidecar_injectors.py`). A webhook that changes pods without being
# asked cannot be seen here; the node refuses such a pod as well, so it never starts, and opens nothing.


def find_late_injections(resources: Sequence[Resource], workloads: Iterable[Workload]) -> tuple[Finding, ...]:
    """Return CC0260 for each injector that would change one of these workloads and that the pod does not forbid.

    And CC0292 for each policy and webhook of the input that may change pods.
    """
    namespaces, workloads = _index_namespaces(resources), tuple(workloads)
    findings = _check_mutators(find_mutators(resources), workloads) if workloads else []
    for workload in workloads:
        if ROLLBACK in mapping(workload.at((*workload.root, "metadata", "annotations"))):
            path = (*workload.root, "metadata", "annotations", ROLLBACK)
            findings.append(workload.placed(finding("CC0293", workload.ref, path, annotation=ROLLBACK)))
        pod = mapping(workload.at(workload.metadata_path))
        variables = _list_variables(workload)
        owner = mapping(workload.at((*workload.root, "metadata"))) if workload.template else {}
        if not namespaces and not may_ask(pod, variables) and not may_ask(owner):
            continue
        namespace = workload.ref.namespace
        # A workload without a namespace may get into any.
        around = namespaces if namespaces and not namespace else {namespace: namespaces.get(namespace, {})}
        for injector in INJECTORS:
            asked = [
                (name, key) for name, data in around.items() for key in asking(injector, pod, data, variables, owner)
            ]
            for name, (whose, place, key) in asked[:1]:
                code, place_of, way_out = "CC0260", "", injector.way_out
                path = workload.spec_path if place == "variable" else workload.metadata_path
                if whose == "namespace":
                    place_of = f" of namespace {name}"
                elif whose == "owner":
                    code, place_of = "CC0260.object", f" of the {workload.ref.kind}"
                    way_out = f"remove it from the {workload.ref.kind}"
                    path = (*workload.root, "metadata", f"{place}s", key)
                elif place != "variable":
                    path = (*path, f"{place}s", key)
                asked_by = f"the {place} {key}{place_of}"
                values: dict[str, Any] = {"injector": injector.name, "asked": asked_by, "way_out": way_out}
                findings.append(workload.placed(finding(code, workload.ref, path, **values)))
    return tuple(findings)


def _check_mutators(mutators: Sequence[ObjectAt], workloads: Iterable[Workload]) -> list[Finding]:
    findings = []
    for workload in workloads:
        for change in filter(None, (asks_of(item, workload) for item in mutators)):
            values: dict[str, Any] = {"injector": change.by, "asked": change.name, "way_out": change.way_out}
            findings.append(workload.placed(finding("CC0260.object", workload.ref, workload.metadata_path, **values)))
    changing = filter(may_change_pods, mutators)
    return findings + [
        item.placed(finding("CC0292", item.ref, (*item.root, "kind"), kind=item.ref.kind)) for item in changing
    ]


def _list_variables(workload: Workload) -> set[str]:
    """Return the names of the variables of the containers, without init containers; none for a single container."""
    containers = workload.containers
    if not containers[1:]:
        return set()
    return {str(variable.get("name")) for container in containers for variable in maps(container.get("env"))}


def _index_namespaces(resources: Sequence[Resource]) -> dict[str, dict[str, Any]]:
    """Return the metadata of the Namespace objects that may ask for injection, by name."""
    return {
        item.ref.name: mapping(mapping(item.value).get("metadata"))
        for item in objects_of(resources, ("Namespace", "List"), *WORDS)
        if item.ref[:2] == ("v1", "Namespace")
    }
