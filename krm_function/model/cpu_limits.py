"""Count the vCPUs of a workload's VM from its CPU limits.

Rule of this file: it only finds the limits; `measurement.vcpu_count` adds them up. Limits count, requests never do
(docs/facts/contrast.md#vcpus), and a limit that is no quantity is a finding, because a guess would end in a wrong
launch digest.
"""

from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.measurement.vcpu_count import sandbox_vcpu_count, vcpu_count
from krm_function.model.lookup import dig
from krm_function.model.quantity import milli
from krm_function.model.workload import Workload

LIMIT: Path = ("resources", "limits", "cpu")
REQUEST: Path = ("resources", "requests", "cpu")


def vcpus(workload: Workload) -> int | Finding:
    """Count the vCPUs of the pod's VM, at least 1; CC0408 for the first CPU limit that is no quantity. Never raises."""
    regular: list[int] = []
    sidecars: list[int] = []
    init: list[int] = []
    for each in workload.all_containers:
        limit = _limit(workload, each.container, each.path)
        if isinstance(limit, Finding):
            return limit
        if not each.is_init:
            regular.append(limit)
            continue
        init.append(limit)
        if each.container.get("restartPolicy") == "Always":
            sidecars.append(limit)
    init += _added(workload)
    pod = _limit(workload, workload.pod_spec, workload.spec_path)
    return pod if isinstance(pod, Finding) else vcpu_count(regular, sidecars, init, pod)


def sandbox_vcpus(workload: Workload) -> int:
    """Count the vCPUs of a VM that follows the kubelet's description of the sandbox; of limits that `vcpus` accepts."""
    limits = [(each, _milli(each.container)) for each in workload.all_containers]
    regular = [limit for each, limit in limits if not each.is_init]
    init = [(limit, each.container.get("restartPolicy") == "Always") for each, limit in limits if each.is_init]
    init += [(limit, False) for limit in _added(workload)]
    return sandbox_vcpu_count(regular, init, _milli(workload.pod_spec))


def _added(workload: Workload) -> list[int]:
    """Return the limits of init containers that a controller adds, whose entries are checked where they are read."""
    if workload.made_by is None or "initContainers" not in workload.made_by.adds:
        return []
    from krm_function.model.added_containers import added_init_containers

    return [max(0, _milli(one)) for one in added_init_containers(workload)]


def requested_cpus(workload: Workload) -> int:
    """Count the whole CPUs that hold what a pod requests, as a whole or by its containers, as Kubernetes adds it up."""
    regular = peak = 0
    for each in workload.all_containers:
        request = _requested(each.container)
        stays = not each.is_init or each.container.get("restartPolicy") == "Always"
        regular += request if stays else 0
        peak = max(peak, regular if stays else regular + request) if each.is_init else peak
    return -(-max(regular, peak, _requested(workload.pod_spec)) // 1000)


def _requested(owner: dict[str, Any]) -> int:
    """Return a request in milli-CPU, the limit where there is none; 0 for no quantity, which Kubernetes refuses."""
    value = dig(owner, REQUEST)
    try:
        return _milli(owner) if value is None else max(0, milli(value))
    except ValueError:
        return 0


def _milli(owner: dict[str, Any]) -> int:
    value = dig(owner, LIMIT)
    return 0 if value is None else milli(value)


def _limit(workload: Workload, owner: dict[str, Any], path: Path) -> int | Finding:
    """Return the CPU limit of a container or of the pod in milli-CPU, 0 when it has none."""
    value = dig(owner, LIMIT)
    if value is None:
        return 0
    place = (workload.ref, (*path, *LIMIT))
    try:
        limit = milli(value)
    except ValueError as error:
        return finding("CC0408.quantity", *place, key=dotted(LIMIT), error=str(error))
    return limit if limit >= 0 else finding("CC0408.negative", *place, key=dotted(LIMIT))
