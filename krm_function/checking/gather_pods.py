"""Gather the pods of rendered output, and check each: sealed, still what was sealed, admitted by the cluster.

Rule of this file: a pod is checked by itself and against the manifest, without any configuration.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.checking.pod_as_created import in_its_owner
from krm_function.checking.seal_checks import Checked, check_workload, stale, unwatched
from krm_function.findings import Finding, Ref, finding
from krm_function.input_checks.unsealed import misplaced
from krm_function.model.cpu_limits import vcpus
from krm_function.model.gpu_names import PASSED, asked_gpus
from krm_function.model.lookup import mapping, maps
from krm_function.model.objects import objects, reference
from krm_function.model.platforms import Platform
from krm_function.model.pod_kinds import SHIPPED
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import ID_BLOCKS, INITDATA, Workload, workloads_of
from krm_function.policy import References
from krm_function.policy.allowed_names import name_difference
from krm_function.record import NamedTuple
from krm_function.stages.daemon_sets import unscheduled_daemon_set
from krm_function.stages.gpu_checks import gpu_checks
from krm_function.stages.host_mounts import host_mounts
from krm_function.stages.measure import id_blocks, measure
from krm_function.stages.pod_checks import check_rendered as admissible
from krm_function.stages.schedule import schedule
from krm_function.stages.select import select

NODE_NAME = "CC0310"  # a warning about nodeName, which the scheduler writes into what a controller made


class Pod(NamedTuple):
    """One workload, and what was read back from its policy."""

    workload: Workload
    checked: Checked
    vcpus: int  # 0: unknown
    made_of: Ref | None = None  # of a copy that a controller made: the workload
    is_earlier: bool = False  # a copy of an earlier template


class PodsOf(NamedTuple):
    """The Contrast workloads of a resource, its plain pods, and findings of what asks for Contrast in vain."""

    pods: list[Pod]
    plain: list[Ref]
    findings: list[Finding]


def pods_of(resource: Resource, references: References) -> PodsOf:
    """Return the pods of a resource.

    What controllers made and runs no pod any more is not checked. What is of an earlier template is checked by its own
    policy alone: this render and its manifest do not know it.
    """
    chosen = select(resource.value, resource)
    findings = list(chosen.findings)
    for root, value in objects(resource.value):
        asked = (
            *unwatched(resource.value, root, reference(value), resource.kinds),
            *misplaced(resource.value, root, kinds=resource.kinds),
        )
        findings += map(resource.placed, asked)
    pods = []
    for workload in chosen.workloads:
        count = vcpus(workload)
        copy = resource.copies.get(workload.root)
        made_of = reference(copy.origin) if copy else None
        if copy and made_of and copy.retired in ("spec", "status"):
            code = "CC1119.retired" if copy.retired == "spec" else "CC1122"
            findings.append(workload.placed(finding(code, workload.ref, kind=made_of.kind, name=made_of.name)))
            continue
        is_earlier = copy is not None and copy.retired == "earlier"
        known = References() if is_earlier else references  # its ConfigMaps may have been others
        checked = _check_copy(workload, copy.origin, known) if copy else check_workload(workload, known)
        pods.append(Pod(workload, checked, count if isinstance(count, int) else 0, made_of, is_earlier))
    plain = [one.ref for one in chosen.skipped if not one.owned]
    return PodsOf(pods, plain, findings)


def _check_copy(copy: Workload, origin: Any, references: References) -> Checked:
    """Check the pod of a copy as a pod of what it was made of, whose name and kind its policy has."""
    value: Any = copy.at(copy.template_path)
    template = {key: value.get(key) for key in ("metadata", "spec")}
    ref = reference(origin)
    kinds = copy.resource.kinds if copy.resource else SHIPPED
    made_of = workloads_of(origin, (), ref, kinds=kinds)  # of those, the copy is of the one with its policy
    policy, names = copy.annotations.get(INITDATA), _names(copy)
    alike = [one for one in made_of if _names(one) == names]  # of an earlier template none has it
    mine = next((one for one in made_of if one.annotations.get(INITDATA) == policy), (alike or made_of)[0])
    checked = check_workload(in_its_owner(template, mine), references)
    difference = name_difference(copy.ref.name, checked.allowed_names) if copy.ref.kind == "Pod" else ""
    if difference:
        checked = checked._replace(findings=(*checked.findings, stale(copy, difference)))
    findings = [found._replace(ref=copy.ref, path=copy.spec_path) for found in checked.findings]
    return checked._replace(findings=tuple(findings))


def _names(workload: Workload) -> list[str]:
    return [each.name for each in workload.all_containers]


def check_pod(pod: Pod, runtime_class: RuntimeClass | None, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Tell whether the cluster admits one pod, and whether its VM is the one that was measured."""
    workload, platform = pod.workload, pod.checked.platform
    if platform is None or pod.is_earlier:
        return []  # a placeholder is left, which is an error already; or it is admitted, and known to another manifest
    mounts = [found for found in host_mounts(workload) if found.severity == "error"]  # of the rest a render has told
    findings = [*admissible(workload), *mounts, *schedule(workload, runtime_class).findings]
    findings += unscheduled_daemon_set(workload, runtime_class)
    gpus = gpu_checks(workload, platform, _passed(pod), explicit=False)
    findings += [found for found in gpus if found.severity == "error"]
    if pod.made_of:
        findings = [found for found in findings if found.code != NODE_NAME]
    if manifest is None or not pod.checked.digest or not pod.vcpus:
        return findings
    values = mapping(manifest.get("ReferenceValues"))
    if not any(one.get("Platform") in (platform.marker, "", None) for one in maps(values.get(platform.tee))):
        return [*findings, finding("CC0709", workload.ref, workload.spec_path, platform=platform.name)]
    measured = measure(workload, id_blocks(platform, pod.vcpus, values.get("snp") or ()))
    if measured.edits:
        findings.append(stale(workload, _measured_field(workload, platform)))
    return [*findings, *measured.findings]


def _passed(pod: Pod) -> tuple[str, ...]:
    """Return the names of GPUs that a policy passes: the usual ones; if it passes any, also those of the pod.

    By which names they were counted is in the settings of the render, and not in the policy.
    """
    asked = (one for each in pod.workload.all_containers for one in asked_gpus(each.container))
    return (*PASSED, *(one.name for one in asked if one.what == "other")) if pod.checked.has_gpus else PASSED


def _measured_field(workload: Workload, platform: Platform) -> str:
    """Name the field that makes an ID block wrong, as far as it shows."""
    if platform.tee != "snp":
        return f"runtimeClassName (it has the ID block of another platform than {platform.name})"
    if not any(key.startswith(ID_BLOCKS[0]) for key in workload.annotations):
        return "the ID block is missing"
    return "the vCPU count (cpu limits) or the ID block"
