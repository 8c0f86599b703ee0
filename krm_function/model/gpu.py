"""Count the NVIDIA GPUs that a pod requests.

Rule of this file: a GPU counts when a container's resource *limits* name an `nvidia.com/` resource. Which keys
exactly Contrast counts is not known (docs/facts/contrast.md#gpus), so every key of that domain counts. Containers of
all lists count.
"""

from typing import Any

from krm_function.findings import Cause, Path
from krm_function.model.lookup import mapping, maps
from krm_function.model.quantity import units
from krm_function.record import NamedTuple

DOMAIN = "nvidia.com/"


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


def _limits(container: dict[str, Any]) -> int:
    limits = mapping(mapping(container.get("resources")).get("limits"))
    return sum(_count(value) for key, value in limits.items() if str(key).startswith(DOMAIN))


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
            limits = mapping(mapping(container.get("resources")).get("limits"))
            for key in limits:
                cause = _problem(limits[key]) if str(key).startswith(DOMAIN) else None
                if cause:
                    problems.append(GpuProblem((field, index, "resources", "limits", key), cause))
    return tuple(problems)


def _problem(value: Any) -> Cause | None:
    try:
        return Cause("CC0408.negative") if units(value) < 0 else None
    except ValueError as error:
        return Cause("CC0408.quantity", {"error": str(error)})
