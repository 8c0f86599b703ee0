"""Say why a pod does not start: the stages of its start in their order, and the first that has something to say.

    stage                        looked at                                        findings
    the pod is made              events and conditions of its controllers         CC1160
    a node takes it              condition PodScheduled, events                   CC1161, CC1162
    its VM and containers start  container statuses, events, policy, Services     CC1163 to CC1168
    the coordinator knows it     the initializer's status, manifests              CC1167
    its programs run             container statuses                               CC1169

Rule of this file: a later stage is asked only where the earlier ones have nothing to say, because its words are then
older ones.
"""

from krm_function.diagnosis.evidence import Evidence, is_ready
from krm_function.diagnosis.initializer import initializer
from krm_function.diagnosis.policy import Sealed, denials, differences, sealed_policy, services, vm_differences
from krm_function.diagnosis.statuses import (
    admission,
    containers,
    created,
    images,
    own_process,
    refused_by_node,
    scheduling,
)
from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping
from krm_function.model.platforms import Platform
from krm_function.model.runtime_class_names import parse_runtime_class
from krm_function.model.workload import INITDATA


def why(evidence: Evidence) -> list[Finding]:
    """Return the causes, or one finding of severity info for a pod that runs."""
    if evidence.pod is None:
        return admission(evidence) or scheduling(evidence) or created(evidence) or [_unknown(evidence)]
    if is_ready(evidence.pod):
        return [finding("CC1171", evidence.ref, ("status",), state=state_of(evidence))]
    sealed = sealed_policy(evidence)
    return (
        refused_by_node(evidence)
        or scheduling(evidence)
        or images(evidence)
        or denials(evidence, sealed)
        or _started(evidence, sealed)
        or initializer(evidence, sealed)
        or own_process(evidence)
        or _suspects(evidence, sealed)
        or plain(evidence)
        or [_unknown(evidence)]
    )


def _started(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return why the VM did not come up, with what of the pod explains it."""
    causes = created(evidence)
    if sealed and any(one.code == "CC1166" for one in causes):
        return [*causes, *vm_differences(evidence, sealed)]
    return causes


def _suspects(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return what will keep the pod from starting though nothing has said so yet; not of one whose containers run."""
    if sealed is None or any(one.state == "running" or one.restarts for one in containers(evidence.pod)):
        return []
    return [*differences(evidence, sealed), *services(evidence, sealed), *vm_differences(evidence, sealed)]


def plain(evidence: Evidence) -> list[Finding]:
    """Return CC1173 for a pod that is not confidential, or not sealed: no other cause is Contrast's."""
    name = str(dig(evidence.pod, ("spec", "runtimeClassName")) or "")
    if not isinstance(parse_runtime_class(name), Platform):
        return [finding("CC1173.no-class", evidence.ref, ("spec", "runtimeClassName"))]
    if not dig(evidence.pod, ("metadata", "annotations", INITDATA)):
        return [finding("CC1173.no-policy", evidence.ref, ("metadata", "annotations", INITDATA), name=name)]
    return []


def _unknown(evidence: Evidence) -> Finding:
    return finding("CC1170", evidence.ref, ("status",), state=state_of(evidence))


def state_of(evidence: Evidence) -> str:
    """Describe the pod in the words of its status."""
    if evidence.pod is None:
        return "there is no pod" if not evidence.pod_events else "the pod is gone"
    phase = str(mapping(evidence.pod.get("status")).get("phase") or "no phase")
    waiting = [
        f"{one.name} {one.reason or one.state or 'waiting'}" for one in containers(evidence.pod) if not one.ready
    ]
    return f"{phase}{', ' if waiting else ''}{', '.join(waiting)}"
