"""Report what a namespace of the input refuses in injected containers, or changes in the VM that was measured.

Rule of this file: one finding for each object that refuses, with the workloads that it is about. All are warnings: the
input does not show which admission plugins the cluster has, nor whom they exempt.

    object          breaks                                                                        finding
    Namespace       a pod whose injected containers break the enforced level                      CC0315
    ResourceQuota   a pod whose injected containers lack a request or limit that it asks for      CC0316
    LimitRange      the measurement: its default CPU limits make the VM another size              CC0317
    LimitRange      a pod whose injected containers are outside of its minimum and maximum        CC0318
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from krm_function.admission.limit_ranges import refused_amounts, with_default_limits
from krm_function.admission.namespaces import NamespaceObject, namespace_objects
from krm_function.admission.pod_security import LABEL, level_of, violations
from krm_function.admission.quotas import applies, missing, wanted_of_containers
from krm_function.findings import Finding, Path, finding
from krm_function.model.cpu_limits import vcpus
from krm_function.model.listed_names import listed
from krm_function.model.owned import CONTAINERS
from krm_function.model.pod_types import type_findings
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple

LIMITS = {"limits.cpu": "CC0316.limits-cpu", "limits.memory": "CC0316.limits-memory"}


class Refused(NamedTuple):
    """Workloads whose pods are refused, and why: by name of the injected container."""

    workloads: list[Workload]
    reasons: dict[str, list[str]]

    @property
    def names(self) -> str:
        """`Deployment/web, Job/report and 3 more`."""
        return listed([_address(workload) for workload in self.workloads])

    @property
    def text(self) -> str:
        """`contrast-initializer (capability NET_ADMIN); contrast-service-mesh (privileged: true)`."""
        return "; ".join(f"{name} ({', '.join(reasons)})" for name, reasons in self.reasons.items())


def refusals(resources: Sequence[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return the warnings about all namespaces of an input. workloads: the Contrast workloads as they are applied."""
    limiting = namespace_objects(resources)
    if not limiting:
        return ()
    sound = [workload for workload in workloads if not type_findings(workload)]  # the others have errors of their own
    ranges = [limit for limit in limiting if limit.ref.kind == "LimitRange"]
    findings: list[Finding] = []
    for limit in limiting:
        concerned = [workload for workload in sound if limit.concerns(workload.ref)]
        match limit.ref.kind:
            case "Namespace":
                refused = _pod_security(limit, concerned)
            case "ResourceQuota":
                refused = _quota(limit, concerned, ranges)
            case _:
                refused = _limit_range(limit, concerned, ranges)
        findings += map(limit.resource.placed, refused)
    return tuple(findings)


def _pod_security(limit: NamespaceObject, workloads: Sequence[Workload]) -> Iterator[Finding]:
    level = level_of(limit.value)
    if level is None:
        return
    refused = _refused(workloads, lambda workload, container: violations(container, workload.pod_spec, level))
    if refused.workloads:
        path: Path = (*limit.root, "metadata", "labels", LABEL)
        classes = ", ".join(dict.fromkeys(workload.runtime_class for workload in refused.workloads))
        values: dict[str, Any] = {"names": refused.names, "reasons": refused.text, "classes": classes}
        yield finding("CC0315", limit.ref, path, level=level, **values)


def _quota(
    limit: NamespaceObject, workloads: Sequence[Workload], ranges: Sequence[NamespaceObject]
) -> Iterator[Finding]:
    counted = wanted_of_containers(limit.value)

    def lacking(workload: Workload, container: dict[str, Any]) -> list[str]:
        defaults = [each.value for each in ranges if each.concerns(workload.ref) and each.concerns(limit.ref)]
        return missing(container, counted, defaults) if applies(limit.value, workload.pod_spec) else []

    refused = _refused(workloads, lacking)
    if refused.workloads:
        names = list(dict.fromkeys(name for reasons in refused.reasons.values() for name in reasons))
        limits = [name for name in names if name.startswith("limits.")]
        code = LIMITS[min(limits)] if limits else "CC0316.requests"
        resources = " and ".join(name.partition(".")[2] for name in names)
        values: dict[str, Any] = {"names": refused.names, "reasons": refused.text, "resources": resources}
        yield finding(code, limit.ref, (*limit.root, "spec", "hard"), name=limit.ref.name, **values)


def _limit_range(
    limit: NamespaceObject, workloads: Sequence[Workload], ranges: Sequence[NamespaceObject]
) -> Iterator[Finding]:
    path = (*limit.root, "spec", "limits")
    counts = [(workload, vcpus(workload), vcpus(with_default_limits(workload, limit.value))) for workload in workloads]
    other = [
        f"{_address(workload)} ({before} becomes {after})"
        for workload, before, after in counts
        if isinstance(before, int) and isinstance(after, int) and before != after
    ]
    if other:
        yield finding("CC0317", limit.ref, path, name=limit.ref.name, names=listed(other))

    def outside(workload: Workload, container: dict[str, Any]) -> Iterable[str]:
        defaults = [each.value for each in ranges if each.concerns(workload.ref)]
        return refused_amounts(container, defaults, limit.value)

    refused = _refused(workloads, outside)
    if refused.workloads:
        yield finding("CC0318", limit.ref, path, name=limit.ref.name, names=refused.names, reasons=refused.text)


def _refused(workloads: Sequence[Workload], reasons_of: Callable[[Workload, dict[str, Any]], Iterable[str]]) -> Refused:
    """Ask about each injected container of each workload, as it is in the final pod."""
    refused = Refused([], {})
    for workload in workloads:
        injected = [each for each in workload.all_containers if each.is_init and each.name in CONTAINERS]
        refused_containers = [
            (each.name, reason) for each in injected for reason in reasons_of(workload, each.container)
        ]
        for name, reason in refused_containers:
            if reason not in (reasons := refused.reasons.setdefault(name, [])):
                reasons.append(reason)
        if refused_containers:
            refused.workloads.append(workload)
    return refused


def _address(workload: Workload) -> str:
    return f"{workload.ref.kind}/{workload.ref.name}"
