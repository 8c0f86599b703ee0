"""Count the GPUs that a pod requests.

Rule of this file: a GPU counts when a container's resource *limits* name one, whatever nodes offer under this name
(model/gpu_names.py). Containers of all lists count. Shares and parts of GPUs are no number of GPUs.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.findings import Cause, Path
from krm_function.model.gpu_names import asked_gpus
from krm_function.model.lookup import maps
from krm_function.model.quantity import units
from krm_function.record import NamedTuple

COUNTED = ("passed", "other")


class GpuProblem(NamedTuple):
    """A GPU limit that is no quantity. path: from the pod spec; cause: CC0408 with a variant."""

    path: Path
    cause: Cause


def gpu_count(pod_spec: dict[str, Any]) -> int:
    """Count the GPUs of the pod's VM, with the formula of its vCPUs (docs/facts/contrast.md#vcpus).

    The larger of containers plus sidecars and of all init containers. A limit that is no quantity counts as one GPU:
    the pod wants one, and `gpu_problems` reports the limit.
    """
    init = maps(pod_spec.get("initContainers"))
    sidecars = [container for container in init if container.get("restartPolicy") == "Always"]
    regular = maps(pod_spec.get("containers")) + sidecars
    return max(sum(map(_limits, regular)), sum(map(_limits, init)))


def wants_gpu(pod_spec: dict[str, Any]) -> bool:
    """Tell whether a container asks for a GPU, or for a part of one."""
    return any(
        one.what != "share" and _count(one.value) > 0
        for field in ("initContainers", "containers")
        for container in maps(pod_spec.get(field))
        for one in asked_gpus(container)
    )


def asks_for_gpu(container: Mapping[str, Any]) -> bool:
    """Tell whether one container asks for a GPU, or for a part of one."""
    return wants_gpu({"containers": [container]})


def _limits(container: dict[str, Any]) -> int:
    return sum(_count(one.value) for one in asked_gpus(container) if one.what in COUNTED)


def _count(value: Any) -> int:
    try:
        return max(0, units(value))
    except ValueError:
        return 1


def gpu_problems(pod_spec: dict[str, Any]) -> tuple[GpuProblem, ...]:
    """Find the GPU limits that cannot be counted."""
    problems: list[GpuProblem] = []
    for field in ("initContainers", "containers"):
        for index, container in enumerate(maps(pod_spec.get(field))):
            for one in asked_gpus(container):
                cause = _problem(one.value) if one.what in COUNTED else None
                if cause:
                    problems.append(GpuProblem((field, index, "resources", "limits", one.name), cause))
    return tuple(problems)


def _problem(value: Any) -> Cause | None:
    try:
        return Cause("CC0408.negative") if units(value) < 0 else None
    except ValueError as error:
        return Cause("CC0408.quantity", {"error": str(error)})
