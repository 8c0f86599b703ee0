"""Refuse a confidential pod that a known admission webhook of the cluster would change after it was sealed.

Rule of this file: what asks for the change is a label, an annotation or a variable of the pod, or of a Namespace of the
input (`model/sidecar_injectors.py`), or a SidecarSet of the input (`model/sidecar_sets.py`). A cluster that changes
pods without being asked is not seen here; the node refuses such a pod as well, so it is a pod that never starts and no
opening.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import mapping, maps
from krm_function.model.resource import Resource
from krm_function.model.sidecar_injectors import INJECTORS, WORDS, asking, may_ask
from krm_function.model.workload import Workload

SIDECAR_SET = "SidecarSet"
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
    likely = [one for one in resources if SIDECAR_SET in one.text]
    if not likely:
        return []
    from krm_function.model.sidecar_sets import may_select, sidecar_sets

    found = list(sidecar_sets(likely))
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
    from krm_function.admission.namespaces import namespace_objects

    found = namespace_objects(likely)
    return {one.ref.name: mapping(mapping(one.value).get("metadata")) for one in found if one.ref.kind == "Namespace"}
