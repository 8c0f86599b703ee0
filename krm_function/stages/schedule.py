"""Schedule: check each pod against the RuntimeClass that it names.

Rule of this file: no pod is edited here. What Kubernetes' admission would refuse when it merges the class into the pod
is an error now, all conflicts at once. The scheduling is written into RuntimeClass objects (runtime_classes.py) and,
for DaemonSets alone, into the pod template (daemon_sets.py).
"""

from collections.abc import Mapping
from typing import Any

from krm_function.findings import finding
from krm_function.model.edits import Outcome
from krm_function.model.lookup import dig
from krm_function.model.runtime_class_admission import merge_node_selector, overhead_agrees
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import Workload


def schedule(workload: Workload, runtime_class: RuntimeClass | None) -> Outcome:
    """Report where one pod will run and what its admission would refuse; nothing if its class is not known (None)."""
    if runtime_class is None:
        return Outcome()
    spec, path = workload.pod_spec, workload.spec_path
    name = runtime_class.name
    merged = merge_node_selector(spec, runtime_class)
    findings = [
        finding("CC0304", workload.ref, (*path, "nodeSelector", key), key=key, pod=pod, wanted=wanted, name=name)
        for key, pod, wanted in merged.conflicts
    ]
    excluded = _excluded(spec, runtime_class)
    if excluded:
        at = (*path, "affinity", "nodeAffinity")
        selector = _listed(runtime_class.node_selector)
        findings.append(finding("CC0323", workload.ref, at, wanted=excluded, selector=selector, name=name))
    if not overhead_agrees(spec, runtime_class):
        findings.append(finding("CC0305", workload.ref, (*path, "overhead"), name=name))
    if spec.get("nodeName"):
        findings.append(finding("CC0310", workload.ref, (*path, "nodeName"), node=spec["nodeName"]))
    if merged.node_selector and not merged.conflicts and not excluded:
        findings.append(finding("CC0301", workload.ref, path, selector=_listed(merged.node_selector)))
    return Outcome(findings=tuple(findings))


def _listed(selector: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))


def _excluded(spec: Mapping[str, Any], runtime_class: RuntimeClass) -> str:
    """Return what the required node affinity of a pod wants that no node of its class has; "" if it may be had."""
    if not runtime_class.node_selector or not dig(spec, ("affinity", "nodeAffinity")):
        return ""
    from krm_function.model.node_affinity import required_terms, ruled_out

    return ruled_out(required_terms(spec), runtime_class.node_selector)
