"""The vCPUs and the memory of a pod's VM, and the share of its images."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from krm_function.contrast.annotations import DEFAULT_MEMORY
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.injected import STORE_DEVICE
from krm_function.contrast.measurement import sandbox_vcpu_count, vcpu_count
from krm_function.contrast.owned import is_injected
from krm_function.contrast.platforms import Platform
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.kubernetes.objects import dig, maps
from krm_function.kubernetes.quantity import milli, units
from krm_function.kubernetes.workload import PodContainer, PodMemory, Workload, added_init_containers, not_replaced
from krm_function.record import NamedTuple

# --- Count the vCPUs of a workload's VM from its CPU limits
#
# Rule: it only finds the limits; `contrast.measurement` adds them up. Limits count, requests never do
# (docs/facts/contrast.md#vcpus). An invalid quantity is a finding, because a guess would give a wrong launch digest.


CPU_LIMIT: Path = ("resources", "limits", "cpu")
CPU_REQUEST: Path = ("resources", "requests", "cpu")


def vcpus(workload: Workload) -> int | Finding:
    """Count the vCPUs of the pod's VM, at least 1; CC0408 for the first invalid CPU limit. Never raises."""
    regular: list[int] = []
    sidecars: list[int] = []
    init: list[int] = []
    for container in workload.all_containers:
        limit = _limit(workload, container.container, container.path)
        if isinstance(limit, Finding):
            return limit
        if not container.is_init:
            regular.append(limit)
            continue
        init.append(limit)
        if container.container.get("restartPolicy") == "Always":
            sidecars.append(limit)
    init += _added_limits(workload)
    pod = _limit(workload, workload.pod_spec, workload.spec_path)
    return pod if isinstance(pod, Finding) else vcpu_count(regular, sidecars, init, pod)


def sandbox_vcpus(workload: Workload) -> int:
    """Count the vCPUs of a VM that follows the kubelet's description of the sandbox; of limits that `vcpus` accepts."""
    limits = [(container, _milli(container.container)) for container in workload.all_containers]
    regular = [limit for container, limit in limits if not container.is_init]
    init = [
        (limit, container.container.get("restartPolicy") == "Always")
        for container, limit in limits
        if container.is_init
    ]
    init += [(limit, False) for limit in _added_limits(workload)]
    return sandbox_vcpu_count(regular, init, _milli(workload.pod_spec))


def _added_limits(workload: Workload) -> list[int]:
    """Return the limits of init containers that a controller adds, whose entries are checked elsewhere."""
    if workload.made_by is None or "initContainers" not in workload.made_by.adds:
        return []
    return [max(0, _milli(container)) for container in added_init_containers(workload)]


def requested_cpus(workload: Workload) -> int:
    """Return the whole CPUs that cover a pod's requests, its own or its containers', added up as by Kubernetes."""
    regular = peak = 0
    for container in workload.all_containers:
        request = _request_of(container.container)
        stays = not container.is_init or container.container.get("restartPolicy") == "Always"
        regular += request if stays else 0
        peak = max(peak, regular if stays else regular + request) if container.is_init else peak
    return -(-max(regular, peak, _request_of(workload.pod_spec)) // 1000)


def _request_of(owner: dict[str, Any]) -> int:
    """Return a request in milli-CPU, or else the limit; 0 for an invalid quantity, which Kubernetes refuses."""
    value = dig(owner, CPU_REQUEST)
    try:
        return _milli(owner) if value is None else max(0, milli(value))
    except ValueError:
        return 0


def _milli(owner: dict[str, Any]) -> int:
    value = dig(owner, CPU_LIMIT)
    return 0 if value is None else milli(value)


def _limit(workload: Workload, owner: dict[str, Any], path: Path) -> int | Finding:
    """Return the CPU limit of a container or of the pod in milli-CPU, 0 when it has none."""
    value = dig(owner, CPU_LIMIT)
    if value is None:
        return 0
    place = (workload.ref, (*path, *CPU_LIMIT))
    try:
        limit = milli(value)
    except ValueError as error:
        return finding("CC0408.quantity", *place, key=dotted(CPU_LIMIT), error=str(error))
    return limit if limit >= 0 else finding("CC0408.negative", *place, key=dotted(CPU_LIMIT))


# --- Compute an image's share of a VM's memory, from the sizes of its layers
#
# A layer is pulled into the memory of the VM and unpacked there (docs/facts/contrast.md#memory), so both its compressed
# and its unpacked form count. Truth table, of one layer:
#
#     compressed   unpacked   counts as
#     known        known      both, exactly
#     known        -          both; unpacked about TIMES as much, at least as much
#     -            known      both; compressed about a TIMES-th, at least nothing
#     -            -          nothing is known of the image
#
# Rule: bytes in, bytes out. Estimates are marked, and no error rests on an estimate.


SIZES = ("compressedSize", "uncompressedSize")
TIMES = (12, 5)  # unpacked to compressed bytes: docs/facts/oci-registries.md#sizes


class ImageSize(NamedTuple):
    """Bytes in the memory of a VM. total: compressed and unpacked; exact: whether no part is estimated.

    least: the minimum that the unpacked layers take.
    """

    total: int
    least: int
    exact: bool = True


def is_sized(layers: Any) -> bool:
    """Tell whether both sizes of each layer are known. layers: of an entry of the lock, of any shape."""
    rows = maps(layers)
    return bool(rows) and all(isinstance(row.get(name), int) for row in rows for name in SIZES)


def image_size(layers: Iterable[Mapping[str, Any]]) -> ImageSize | None:
    """Add up the layers of an image in a lock; None if it has no sizes."""
    total = least = 0
    exact, has_layers = True, False
    for layer in layers:
        compressed, unpacked = (layer.get(name) for name in SIZES)
        both = _complete_sizes(compressed, unpacked)
        if both is None:
            return None
        has_layers = True
        exact = exact and compressed is not None and unpacked is not None
        least += both[0] if unpacked is None else unpacked
        total += sum(both)
    return ImageSize(total, least, exact) if has_layers else None


def _complete_sizes(compressed: int | None, unpacked: int | None) -> tuple[int, int] | None:
    """Return both sizes of a layer, one of them estimated if need be; None if neither is known."""
    numerator, denominator = TIMES
    if compressed is None:
        return None if unpacked is None else (unpacked * denominator // numerator, unpacked)
    return compressed, compressed * numerator // denominator if unpacked is None else unpacked


# --- Compute the memory of a pod's VM, and the shares of its images and containers. In bytes
#
#     own       the VM's own: the annotation default_memory in MiB, else the overhead of its class less the part outside
#               of the VM, else that of the platform
#     limits    of the pod as a whole if it has one, else `asked`
#     asked     the larger of: containers and native sidecars together; the other init containers together, with those
#               that the controller of a custom resource adds
#     images    of all containers, each reference once; nothing with an image store, which is a disk
#
#     the VM gets own + limits; it needs images + asked, and with a GPU at least GPU_LEAST
#
# Rule: the sums are those of `contrast generate --calculate-pod-memory` (docs/facts/contrast.md#memory). A missing
# limit counts as nothing, and its container is named.


MIB = 1 << 20
OUTSIDE = 170 * MIB  # of a class's overhead: docs/facts/contrast.md#runtime-file
OWN = {False: 512 * MIB, True: 1024 * MIB}  # by whether the platform has GPUs: docs/facts/contrast.md#platforms
GPU_LEAST = 8 * 10**9
MEMORY_LIMIT: Path = ("resources", "limits", "memory")
MEMORY_REQUEST: Path = ("resources", "requests", "memory")


SizeOf = Callable[[str], ImageSize | None]


def pod_memory(
    workload: Workload, platform: Platform | None, overhead: Mapping[str, Any], size_of: SizeOf
) -> PodMemory:
    """Compute the memory of a pod with all of its containers.

    overhead: of its class. size_of: returns the size of an image by its reference, None if unknown.
    """
    whole, asked = memory_of(workload.pod_spec, MEMORY_LIMIT), asked_memory(workload)
    of_user = [container for container in workload.all_containers if _is_of_user(container)]
    limits = [(container.name, memory_of(container.container, MEMORY_LIMIT)) for container in of_user]
    set_memory = default_memory(workload)
    memory = PodMemory(
        set_memory if set_memory is not None else _own_memory(platform, overhead),
        asked if whole is None else whole,
        asked,
        unlimited=tuple(name for name, limit in limits if limit is None) if whole is None else (),
        asked_by_user=any(limit for _, limit in limits),
        own_set=set_memory is not None,
        stored=has_image_store(workload),
        least=GPU_LEAST if wants_gpu(workload.pod_spec) else 0,
    )
    return memory if memory.stored else _add_images(memory, workload, size_of)


def asked_memory(workload: Workload) -> int:
    """Add up the memory limits of the containers."""
    sums = {True: 0, False: 0}  # by whether a container keeps running
    for container, is_init in _order_containers(workload):
        sums[_keeps_running(container, is_init=is_init)] += memory_of(container, MEMORY_LIMIT) or 0
    return max(sums.values())


def requested_memory(workload: Workload) -> int:
    """Add up the containers' memory requests as Kubernetes does; a pod as a whole must request at least as much."""
    regular = peak = 0
    for container, is_init in _order_containers(workload):
        request = memory_of(container, MEMORY_REQUEST)
        amount = (memory_of(container, MEMORY_LIMIT) or 0) if request is None else request
        stays = _keeps_running(container, is_init=is_init)
        regular += amount if stays else 0
        peak = max(peak, regular if stays else regular + amount) if is_init else peak
    return max(regular, peak)


def has_image_store(workload: Workload) -> bool:
    """Tell whether images are pulled to a block device of the pod, and not into the memory of its VM."""
    return any(
        device.get("devicePath") == STORE_DEVICE
        for container in workload.all_containers
        for device in maps(container.container.get("volumeDevices"))
    )


def default_memory(workload: Workload) -> int | None:
    """Return the VM's own memory from the annotation; None without one, or if it is not a number."""
    value = workload.annotations.get(DEFAULT_MEMORY)
    text = value if isinstance(value, str) else ""
    return int(text) * MIB if re.fullmatch("[1-9][0-9]{0,8}", text) else None


def memory_of(owner: Mapping[str, Any], path: Path) -> int | None:
    """Return an amount of memory of a container or a pod; None if it is absent or not a quantity."""
    value = dig(owner, path)
    try:
        return None if value is None else max(0, units(value))
    except ValueError:
        return None


def _order_containers(workload: Workload) -> list[tuple[Mapping[str, Any], bool]]:
    """Return the containers of a pod in the order of their start, each with whether it is an init container.

    Init containers that the controller of a custom resource adds come last among these, in place of one of their name.
    """
    added = added_init_containers(workload)
    init = [container.container for container in workload.all_containers if container.is_init]
    running = [container.container for container in workload.all_containers if not container.is_init]
    return [
        *((container, True) for container in (*not_replaced(init, added), *added)),
        *((container, False) for container in running),
    ]


def _keeps_running(container: Mapping[str, Any], *, is_init: bool) -> bool:
    """Tell whether a container runs as long as the pod: it is regular, or a native sidecar."""
    return not is_init or container.get("restartPolicy") == "Always"


def _is_of_user(container: PodContainer) -> bool:
    """Tell whether a container stays and is not added by a render."""
    return _keeps_running(container.container, is_init=container.is_init) and not is_injected(container)


def _own_memory(platform: Platform | None, overhead: Mapping[str, Any]) -> int:
    told = memory_of(dict(overhead), ("memory",))
    if told is not None and told > OUTSIDE:
        return told - OUTSIDE
    return OWN[platform is not None and platform.gpu]


def _add_images(memory: PodMemory, workload: Workload, size_of: SizeOf) -> PodMemory:
    names = dict.fromkeys(str(container.get("image")) for container, _ in _order_containers(workload))
    sizes = {name: size for name in names if (size := size_of(name)) is not None}
    return memory._replace(
        images=sum(size.total for size in sizes.values()),
        images_least=sum(size.least for size in sizes.values()),
        exact=all(size.exact for size in sizes.values()),
        unknown=tuple(name for name in names if name not in sizes),
        estimated=tuple(name for name, size in sizes.items() if not size.exact),
    )


def memory_text(amount: int) -> str:
    """Write an amount for people, in two or more digits: `562Mi`, `12.3Gi`."""
    size = amount / MIB
    return f"{size:.0f}Mi" if size < 10 * 1024 else f"{size / 1024:.1f}Gi"


def memory_figure(amount: int) -> str:
    """Write an amount as a quantity that holds it, in whole MiB."""
    return f"{-(-amount // MIB)}Mi"
