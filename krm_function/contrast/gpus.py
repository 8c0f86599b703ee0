"""GPUs that a pod requests, and the meaning of their resource names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from krm_function.contrast.profiles import CONTRAST, Profile
from krm_function.findings import Cause, Path
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.quantity import units
from krm_function.record import NamedTuple

# --- Classify the name of an extended resource
#
# Truth table, first row that fits:
#
#     name                                            means              counted   example
#     one that the settings of the policy pass        a GPU of the VM    yes       nvidia.com/pgpu
#     memory, cores or priority of a GPU              a share            no        nvidia.com/gpumem, of HAMi
#     a partition, or a GPU that pods share           a part             no        nvidia.com/mig-1g.5gb
#     of a network card of nvidia.com                 no GPU             no        nvidia.com/hostdev
#     any other of nvidia.com; gpu of amd.com or      another GPU        yes       nvidia.com/gpu
#     gpu.intel.com
#     anything else                                   no GPU             no        example.com/dongle
#
# Rule: an unknown name of nvidia.com is a GPU, so that no pod is sealed without the GPU that it asks for. Nodes of a
# Contrast GPU platform offer only GPUs of the first row (docs/facts/contrast.md#gpus).


GpuName = Literal["passed", "share", "part", "other", ""]

POINTER = "/devices/vfio/nvidia/pgpu_resource_keys"
KEYS = ("devices", "vfio", "nvidia", "pgpu_resource_keys")
USUAL = "nvidia.com/pgpu"  # for any model; also the only one in Kata's own settings
PASSED: tuple[str, ...] = dict(CONTRAST.settings)[POINTER]

# texts, not compiled: most pods ask for no device, and compiling them takes a tenth of a start of Python
_SHARE = (
    r"nvidia\.com/(gpumem(-percentage)?|gpu-?memory|gpucores|priority|vgpu-?(memory|cores))"
    r"|amd\.com/gpu-?(memory|mem|cores)"
    r"|gpu\.intel\.com/(millicores|memory\.max|tiles|\w*monitoring)"
    r"|volcano\.sh/(vgpu|gpu)-(memory|memory-percentage|cores)"
    r"|aliyun\.com/gpu-(mem|core\.percentage)|tencent\.com/vcuda-(core|memory)|nos\.nebuly\.com/gpu-memory"
)
_PART = (
    r"nvidia\.com/(mig-.+|.+\.shared|mps-.+|vgpu-?number)"
    r"|amd\.com/[a-z]+_nps\d+|volcano\.sh/(vgpu|gpu)-number|aliyun\.com/gpu-count"
)
_NETWORK = r"(?i)nvidia\.com/(hostdev|mlnx|.*(rdma|sriov|roce|nic|vf)).*"
_OTHER = r"nvidia\.com/.+|amd\.com/gpu|gpu\.intel\.com/.+"
_PASSABLE = r"nvidia\.com/(pgpu|[A-Z][A-Z0-9_]*)"  # the names that the device plugin of such nodes gives to passed GPUs


class AskedGpu(NamedTuple):
    """A limit of a container that has to do with GPUs. name: of the resource; kind: a row of the table."""

    name: str
    kind: GpuName
    value: Any


def gpu_name(name: str, passed: tuple[str, ...] = PASSED) -> GpuName:
    """Return the meaning of a resource name; "" for no GPU. passed: the names that the settings of the policy pass."""
    if name in passed:
        return "passed"
    if re.fullmatch(_SHARE, name):
        return "share"
    if re.fullmatch(_PART, name):
        return "part"
    return "other" if re.fullmatch(_OTHER, name) and not re.fullmatch(_NETWORK, name) else ""


def is_passable(name: str) -> bool:
    """Tell whether nodes that pass GPUs to VMs may offer one under this name."""
    return re.fullmatch(_PASSABLE, name) is not None


def asked_gpus(container: Mapping[str, Any], passed: tuple[str, ...] = PASSED) -> Iterator[AskedGpu]:
    """Yield the limits of a container that have to do with GPUs."""
    for key, value in mapping(mapping(container.get("resources")).get("limits")).items():
        kind = gpu_name(str(key), passed) if "/" in str(key) else ""
        if kind:
            yield AskedGpu(str(key), kind, value)


def passed_names(settings: Mapping[str, Any] | None, profile: Profile | None) -> tuple[str, ...]:
    """Return the names of GPUs that a policy passes. settings: replace the profile's; of any shape."""
    keys = dig(settings or {}, KEYS)
    if isinstance(keys, list | tuple):
        return tuple(map(str, keys))
    return tuple(dict((profile or CONTRAST).settings).get(POINTER, (USUAL,)))


# --- Count the GPUs that a pod requests
#
# Rule: a GPU counts when a container's resource *limits* name one, whatever nodes offer under this name. Containers of
# all lists count. Shares and parts of GPUs do not.


COUNTED = ("passed", "other")


def gpu_count(pod_spec: dict[str, Any]) -> int:
    """Count the GPUs of the pod's VM, with the formula of its vCPUs (docs/facts/contrast.md#vcpus).

    The larger of containers plus sidecars and of all init containers. An invalid quantity counts as one GPU: the pod
    wants one, and `gpu_problems` reports the limit.
    """
    init = maps(pod_spec.get("initContainers"))
    sidecars = [container for container in init if container.get("restartPolicy") == "Always"]
    regular = maps(pod_spec.get("containers")) + sidecars
    return max(sum(map(_count_limits, regular)), sum(map(_count_limits, init)))


def wants_gpu(pod_spec: dict[str, Any]) -> bool:
    """Tell whether a container asks for a GPU, or for a part of one."""
    return any(
        gpu.kind != "share" and _count(gpu.value) > 0
        for field in ("initContainers", "containers")
        for container in maps(pod_spec.get(field))
        for gpu in asked_gpus(container)
    )


def _count_limits(container: dict[str, Any]) -> int:
    return sum(_count(gpu.value) for gpu in asked_gpus(container) if gpu.kind in COUNTED)


def _count(value: Any) -> int:
    try:
        return max(0, units(value))
    except ValueError:
        return 1


def gpu_problems(pod_spec: dict[str, Any]) -> tuple[tuple[Path, Cause], ...]:
    """Return the GPU limits that are not quantities: the path of each from the pod spec, and CC0408 with a variant."""
    problems: list[tuple[Path, Cause]] = []
    for field in ("initContainers", "containers"):
        for index, container in enumerate(maps(pod_spec.get(field))):
            for gpu in asked_gpus(container):
                cause = _find_problem(gpu.value) if gpu.kind in COUNTED else None
                if cause:
                    problems.append(((field, index, "resources", "limits", gpu.name), cause))
    return tuple(problems)


def _find_problem(value: Any) -> Cause | None:
    try:
        return Cause("CC0408.negative") if units(value) < 0 else None
    except ValueError as error:
        return Cause("CC0408.quantity", {"error": str(error)})
