"""The limits of an input's namespaces: Pod Security, quotas, limit ranges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_function.contrast.owned import is_injected
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.kinds import LIMITING
from krm_function.kubernetes.objects import dig, listed, mapping, maps
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.quantity import nano
from krm_function.kubernetes.resource import ObjectAt, Resource, objects_of
from krm_function.kubernetes.workload import Workload
from krm_function.text.changes import Change, apply

# --- Find the Namespace, ResourceQuota and LimitRange objects of an input
#
# Rule: an object without a namespace may be applied to any, so it counts for every workload; and every object counts
# for a workload without one.


def namespace_objects(resources: Sequence[Resource]) -> list[ObjectAt]:
    """Return them, without unreadable documents, which the render reports."""
    return [item for item in objects_of(resources, (*LIMITING, "List"), *LIMITING) if item.ref.api_version == "v1"]


def _namespace_of(limit: ObjectAt) -> str:
    """Return the namespace that an object is about, "" if it names none."""
    return limit.ref.name if limit.ref.kind == "Namespace" else limit.ref.namespace


def _concerns(limit: ObjectAt, ref: Ref) -> bool:
    """Tell whether an object of the input is, or may be, in the namespace of another one."""
    namespace = _namespace_of(limit)
    return not namespace or not ref.namespace or namespace == ref.namespace


# --- Pod Security Standards: the controls that a container breaks at the levels baseline and restricted
#
# Rule: one table has the controls of containers; the other controls (host namespaces, hostPath, sysctls) concern only
# the user's own fields. They are from the latest standard. Older versions ask for less, but each of them forbids
# privileged containers and NET_ADMIN. Source: docs/facts/kubernetes.md#pod-security.
#
#     level        control                       a container must
#     baseline     Capabilities                  add only the default ones of container runtimes
#     baseline     Host Ports                    use none
#     baseline     Host Probes / Lifecycle Hooks name no host
#     baseline     AppArmor, Seccomp             not be Unconfined
#     baseline     SELinux                       have one of four types, no user, no role
#     baseline     /proc Mount Type              have the default one
#     restricted   all of baseline, and
#     restricted   Privilege Escalation          set allowPrivilegeEscalation: false
#     restricted   Running as Non-root           set runAsNonRoot: true, or the pod does
#     restricted   Running as Non-root user      not set runAsUser: 0
#     restricted   Seccomp                       set RuntimeDefault or Localhost, or the pod does
#     restricted   Capabilities                  drop ALL, and add NET_BIND_SERVICE only


Level = Literal["baseline", "restricted"]
LABEL = "pod-security.kubernetes.io/enforce"

CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
SELINUX_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"))
CONFINED = frozenset(("RuntimeDefault", "Localhost"))
HANDLERS = (
    *(("livenessProbe",), ("readinessProbe",), ("startupProbe",)),
    *(("lifecycle", "postStart"), ("lifecycle", "preStop")),
)


def level_of(namespace: Any) -> Level | None:
    """Return the level that a Namespace object enforces; None for `privileged` and without a level."""
    level: Level | None = dig(namespace, ("metadata", "labels", LABEL))
    return level if level in ("baseline", "restricted") else None


def violations(container: Mapping[str, Any], pod_spec: Mapping[str, Any], level: Level) -> list[str]:
    """Return what a container has though the level forbids it, or lacks though it asks for it; [] if admitted."""
    security, pod = (mapping(source.get("securityContext")) for source in (container, pod_spec))
    refused = [*_check_baseline(container, security)]
    if level == "restricted":
        refused += [violation for violation in _check_restricted(security, pod) if violation not in refused]
    return refused


def _check_baseline(container: Mapping[str, Any], security: Mapping[str, Any]) -> Iterator[str]:
    if security.get("privileged") is True:
        yield "privileged: true"
    for name in _capabilities(security, "add"):
        if name not in CAPABILITIES:
            yield f"capability {name}"
    for port in maps(container.get("ports")):
        if port.get("hostPort"):
            yield f"hostPort {port['hostPort']}"
    for path in HANDLERS:
        handler = mapping(dig(dict(container), path))
        if any(mapping(handler.get(kind)).get("host") for kind in ("httpGet", "tcpSocket")):
            yield f"a host in {'.'.join(path)}"
    for field in ("appArmorProfile", "seccompProfile"):
        kind = mapping(security.get(field)).get("type")
        if kind is not None and kind not in CONFINED:
            yield f"{field}.type {kind}"
    linux = mapping(security.get("seLinuxOptions"))
    if (linux.get("type") or "") not in SELINUX_TYPES or linux.get("user") or linux.get("role"):
        yield "seLinuxOptions"
    if (security.get("procMount") or "Default") != "Default":
        yield f"procMount {security['procMount']}"


def _check_restricted(security: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    if security.get("allowPrivilegeEscalation") is not False:
        yield "no allowPrivilegeEscalation: false"
    non_root = security.get("runAsNonRoot")
    if (pod.get("runAsNonRoot") if non_root is None else non_root) is not True:
        yield "no runAsNonRoot: true"
    if security.get("runAsUser") == 0:
        yield "runAsUser 0"
    profiles = [mapping(source.get("seccompProfile")).get("type") for source in (security, pod)]
    if (profiles[1] if profiles[0] is None else profiles[0]) not in CONFINED:
        yield "no seccompProfile"
    if "ALL" not in _capabilities(security, "drop"):
        yield "capabilities that do not drop ALL"
    for name in _capabilities(security, "add"):
        if name != "NET_BIND_SERVICE":
            yield f"capability {name}"


def _capabilities(security: Mapping[str, Any], field: str) -> list[str]:
    names = mapping(security.get("capabilities")).get(field)
    return [str(name) for name in names] if isinstance(names, list) else []


# --- Limit ranges: the resources that the API server gives to containers, and those that it refuses
#
# Rule: amounts are compared in nano units; resources are cpu and memory; only items of type Container count, with their
# defaults, minimum and maximum (no ratios). Source: docs/facts/kubernetes.md#quotas-and-limit-ranges.
#
#     a container without     gets, first that is set
#     a limit                 default, max
#     a request               its own limit, defaultRequest, default, max, min


COMPUTE = ("cpu", "memory")
Amounts = dict[str, Any]  # resource -> quantity as written


def container_items(limit_range: Any) -> list[dict[str, Any]]:
    """Return the items of a LimitRange that hold for each container."""
    return [item for item in maps(dig(limit_range, ("spec", "limits"))) if item.get("type") == "Container"]


def admitted_resources(container: Mapping[str, Any], limit_ranges: Sequence[Any]) -> tuple[Amounts, Amounts]:
    """Return the requests and limits of a container after admission.

    Of several ranges the first one counts, of several items in one range the last one.
    """
    resources = mapping(container.get("resources"))
    limits = _compute(resources.get("limits"))
    requests = limits | _compute(resources.get("requests"))
    for limit_range in limit_ranges:
        default: Amounts = {}
        defaults: Amounts = {}
        for item in container_items(limit_range):
            of_item = _compute(item.get("max")) | _compute(item.get("default"))
            default |= of_item
            defaults |= _compute(item.get("min")) | of_item | _compute(item.get("defaultRequest"))
        limits = default | limits
        requests = defaults | requests
    return requests, limits


def with_default_limits(workload: Workload, limit_range: Any) -> Workload:
    """Return the workload with the CPU limits that the API server gives to its containers."""
    changes: list[Change] = []
    for container in workload.all_containers:
        resources = mapping(container.container.get("resources"))
        _, limits = admitted_resources(container.container, [limit_range])
        if "cpu" in limits:
            changed = {**resources, "limits": {**mapping(resources.get("limits")), "cpu": limits["cpu"]}}
            changes.append(Change((*container.path[len(workload.root) :], "resources"), "set", changed))
    return workload._replace(object=apply(workload.object, changes)) if changes else workload


def refused_amounts(container: Mapping[str, Any], limit_ranges: Sequence[Any], limit_range: Any) -> Iterator[str]:
    """Yield the amounts of a container that are outside the minimum and maximum of one of the ranges."""
    requests, limits = admitted_resources(container, limit_ranges)
    for item in container_items(limit_range):
        for resource in COMPUTE:
            for bound, sign in (("min", -1), ("max", 1)):
                edge = _compute(item.get(bound)).get(resource)
                values = [side.get(resource) for side in (requests, limits)]
                refused = [value for value in values if None not in (edge, value) and _exceeds(value, edge, sign)]
                if refused:
                    yield f"{resource} {refused[0]}, {bound} {edge}"


def _exceeds(value: Any, edge: Any, sign: int) -> bool:
    """Tell whether a quantity is beyond an edge; an invalid quantity has its own finding."""
    try:
        return sign * nano(value) > sign * nano(edge)
    except ValueError:
        return False


def _compute(amounts: Any) -> Amounts:
    return {name: value for name, value in mapping(amounts).items() if name in COMPUTE and value is not None}


# --- Resource quotas: the fields that a quota on cpu or memory requires of every container of a pod
#
# Rule: only the fields that each container must set; only the cluster has the used amounts. Source:
# docs/facts/kubernetes.md#quotas-and-limit-ranges.
#
#     the quota has          every container must have, after the defaults of limit ranges
#     cpu, requests.cpu      a request of cpu
#     limits.cpu             a limit of cpu
#     memory, ...            the same of memory
#     a scope                only pods of that scope
#     any                    nothing, if the pod itself has resources (Kubernetes 1.34)


def wanted_of_containers(quota: Any) -> list[str]:
    """Return the fields that a quota requires of each container, as `requests.cpu`, in a fixed order."""
    hard = mapping(dig(quota, ("spec", "hard")))
    return [
        f"{side}.{resource}"
        for side in ("requests", "limits")
        for resource in COMPUTE
        if f"{side}.{resource}" in hard or (side == "requests" and resource in hard)
    ]


def missing(container: Mapping[str, Any], counted: Sequence[str], limit_ranges: Sequence[Any]) -> list[str]:
    """Return the required fields that a container does not set."""
    requests, limits = admitted_resources(container, limit_ranges)
    sides = {"requests": requests, "limits": limits}
    return [name for name in counted if name.partition(".")[2] not in sides[name.partition(".")[0]]]


def applies(quota: Any, pod_spec: Mapping[str, Any]) -> bool:
    """Tell whether a quota requires a field of a pod's containers. An unknown scope counts as the pod's."""
    resources = mapping(pod_spec.get("resources"))
    if any(name in mapping(resources.get(side)) for side in ("requests", "limits") for name in COMPUTE):
        return False
    spec = mapping(mapping(quota).get("spec"))
    scopes = spec.get("scopes")
    scopes_asked: list[tuple[str, str, tuple[str, ...]]]
    scopes_asked = [(str(scope), "Exists", ()) for scope in scopes] if isinstance(scopes, list) else []
    for expression in maps(mapping(spec.get("scopeSelector")).get("matchExpressions")):
        values = expression.get("values")
        listed = tuple(map(str, values)) if isinstance(values, list) else ()
        scopes_asked.append((str(expression.get("scopeName")), str(expression.get("operator")), listed))
    return all(_is_in_scope(pod_spec, *expression) for expression in scopes_asked)


def _is_in_scope(pod_spec: Mapping[str, Any], scope: str, operator: str, values: tuple[str, ...]) -> bool:
    match scope:
        case "Terminating":
            return pod_spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return pod_spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return False  # injected containers ask for memory
        case "PriorityClass":
            name = pod_spec.get("priorityClassName") or ""
            match operator:
                case "In":
                    return name in values
                case "NotIn":
                    return name not in values
                case "DoesNotExist":
                    return not name
                case _:
                    return bool(name)
        case _:
            return True


# --- Report which injected containers a namespace of the input refuses, and which VMs it changes after measurement
#
# Rule: one finding for each object that refuses, with its workloads. All are warnings: the input does not show which
# admission plugins the cluster has, nor whom they exempt.
#
#     object          breaks                                                                        finding
#     Namespace       a pod whose injected containers break the enforced level                      CC0315
#     ResourceQuota   a pod whose injected containers lack a request or limit that it asks for      CC0316
#     LimitRange      the measurement: its default CPU limits make the VM another size              CC0317
#     LimitRange      a pod whose injected containers are outside of its minimum and maximum        CC0318


LIMITS = {"limits.cpu": "CC0316.limits-cpu", "limits.memory": "CC0316.limits-memory"}


def refusals(resources: Sequence[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return the warnings about all namespaces of an input. workloads: the Contrast workloads as they are applied."""
    limiting = namespace_objects(resources)
    if not limiting:
        return ()
    sound = [workload for workload in workloads if not type_findings(workload)]  # the others have errors of their own
    ranges = [limit for limit in limiting if limit.ref.kind == "LimitRange"]
    findings: list[Finding] = []
    for limit in limiting:
        concerned = [workload for workload in sound if _concerns(limit, workload.ref)]
        match limit.ref.kind:
            case "Namespace":
                refused = _check_pod_security(limit, concerned)
            case "ResourceQuota":
                refused = _check_quota(limit, concerned, ranges)
            case _:
                refused = _check_limit_range(limit, concerned, ranges)
        findings += map(limit.placed, refused)
    return tuple(findings)


def _check_pod_security(limit: ObjectAt, workloads: Sequence[Workload]) -> Iterator[Finding]:
    level = level_of(limit.value)
    if level is None:
        return
    refused, reasons = _collect_refused(
        workloads, lambda workload, container: violations(container, workload.pod_spec, level)
    )
    if refused:
        path: Path = (*limit.root, "metadata", "labels", LABEL)
        classes = ", ".join(dict.fromkeys(workload.runtime_class for workload in refused))
        yield finding("CC0315", limit.ref, path, level=level, classes=classes, **_describe(refused, reasons))


def _check_quota(limit: ObjectAt, workloads: Sequence[Workload], ranges: Sequence[ObjectAt]) -> Iterator[Finding]:
    counted = wanted_of_containers(limit.value)

    def lacking(workload: Workload, container: dict[str, Any]) -> list[str]:
        defaults = [
            limit_range.value
            for limit_range in ranges
            if _concerns(limit_range, workload.ref) and _concerns(limit_range, limit.ref)
        ]
        return missing(container, counted, defaults) if applies(limit.value, workload.pod_spec) else []

    refused, reasons = _collect_refused(workloads, lacking)
    if refused:
        names = list(dict.fromkeys(name for lacks in reasons.values() for name in lacks))
        limits = [name for name in names if name.startswith("limits.")]
        code = LIMITS[min(limits)] if limits else "CC0316.requests"
        resources = " and ".join(name.partition(".")[2] for name in names)
        values = {"name": limit.ref.name, "resources": resources, **_describe(refused, reasons)}
        yield finding(code, limit.ref, (*limit.root, "spec", "hard"), **values)


def _check_limit_range(limit: ObjectAt, workloads: Sequence[Workload], ranges: Sequence[ObjectAt]) -> Iterator[Finding]:
    path = (*limit.root, "spec", "limits")
    counts = [(workload, vcpus(workload), vcpus(with_default_limits(workload, limit.value))) for workload in workloads]
    differing = [
        f"{_format_address(workload)} ({own_count} becomes {default_count})"
        for workload, own_count, default_count in counts
        if isinstance(own_count, int) and isinstance(default_count, int) and own_count != default_count
    ]
    if differing:
        yield finding("CC0317", limit.ref, path, name=limit.ref.name, names=listed(differing))

    def outside(workload: Workload, container: dict[str, Any]) -> Iterable[str]:
        defaults = [limit_range.value for limit_range in ranges if _concerns(limit_range, workload.ref)]
        return refused_amounts(container, defaults, limit.value)

    refused, reasons = _collect_refused(workloads, outside)
    if refused:
        yield finding("CC0318", limit.ref, path, name=limit.ref.name, **_describe(refused, reasons))


def _collect_refused(
    workloads: Sequence[Workload], reasons_of: Callable[[Workload, dict[str, Any]], Iterable[str]]
) -> tuple[list[Workload], dict[str, list[str]]]:
    """Return the workloads whose injected containers are refused, and the reasons by name of the container."""
    refused: list[Workload] = []
    reasons: dict[str, list[str]] = {}
    for workload in workloads:
        injected = filter(is_injected, workload.all_containers)
        refused_containers = [
            (container.name, reason) for container in injected for reason in reasons_of(workload, container.container)
        ]
        for name, reason in refused_containers:
            if reason not in reasons.setdefault(name, []):
                reasons[name].append(reason)
        if refused_containers:
            refused.append(workload)
    return refused, reasons


def _describe(workloads: Sequence[Workload], reasons: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Write `Deployment/web and 3 more`, and `contrast-initializer (NET_ADMIN); contrast-service-mesh (...)`."""
    text = "; ".join(f"{name} ({', '.join(of_container)})" for name, of_container in reasons.items())
    return {"names": listed([_format_address(workload) for workload in workloads]), "reasons": text}


def _format_address(workload: Workload) -> str:
    return f"{workload.ref.kind}/{workload.ref.name}"
