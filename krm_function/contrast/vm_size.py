"""The vCPUs and the memory of a pod's VM, and what its images take in it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from krm_function.contrast.annotations import DEFAULT_MEMORY
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.injected import STORE_DEVICE
from krm_function.contrast.measurement import sandbox_vcpu_count, vcpu_count
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.platforms import Platform
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.kubernetes.objects import dig, maps
from krm_function.kubernetes.quantity import milli, units
from krm_function.kubernetes.workload import PodContainer, PodMemory, Workload, added_init_containers, not_replaced
from krm_function.record import NamedTuple

# --- Count the vCPUs of a workload's VM from its CPU limits
#
# Rule: it only finds the limits; `contrast.measurement` adds them up. Limits count, requests never do
# (docs/facts/contrast.md#vcpus), and a limit that is no quantity is a finding, because a guess would end in a wrong
# launch digest.


CPU_LIMIT: Path = ("resources", "limits", "cpu")
CPU_REQUEST: Path = ("resources", "requests", "cpu")


def vcpus(workload: Workload) -> int | Finding:
    """Count the vCPUs of the pod's VM, at least 1; CC0408 for the first CPU limit that is no quantity. Never raises."""
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
    init += _added(workload)
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
    init += [(limit, False) for limit in _added(workload)]
    return sandbox_vcpu_count(regular, init, _milli(workload.pod_spec))


def _added(workload: Workload) -> list[int]:
    """Return the limits of init containers that a controller adds, whose entries are checked where they are read."""
    if workload.made_by is None or "initContainers" not in workload.made_by.adds:
        return []
    return [max(0, _milli(container)) for container in added_init_containers(workload)]


def requested_cpus(workload: Workload) -> int:
    """Count the whole CPUs that hold what a pod requests, as a whole or by its containers, as Kubernetes adds it up."""
    regular = peak = 0
    for container in workload.all_containers:
        request = _requested(container.container)
        stays = not container.is_init or container.container.get("restartPolicy") == "Always"
        regular += request if stays else 0
        peak = max(peak, regular if stays else regular + request) if container.is_init else peak
    return -(-max(regular, peak, _requested(workload.pod_spec)) // 1000)


def _requested(owner: dict[str, Any]) -> int:
    """Return a request in milli-CPU, the limit where there is none; 0 for no quantity, which Kubernetes refuses."""
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


# --- Tell what an image takes of a VM's memory, from the sizes of its layers
#
# A layer is pulled into the memory of the VM and unpacked there (docs/facts/contrast.md#memory), so it counts as it
# comes and as it is unpacked. Truth table, of one layer:
#
#     compressed   unpacked   counts as
#     known        known      both, exactly
#     known        -          both; unpacked about TIMES as much, at least as much
#     -            known      both; compressed about a TIMES-th, at least nothing
#     -            -          nothing is known of the image
#
# Rule: bytes in, bytes out. What is estimated says so, and no error rests on an estimate.


SIZES = ("compressedSize", "uncompressedSize")
TIMES = (12, 5)  # unpacked to compressed bytes: docs/facts/oci-registries.md#sizes


class ImageSize(NamedTuple):
    """Bytes in the memory of a VM. total: compressed and unpacked; exact: whether nothing of it is estimated.

    least: what the unpacked layers take in any case.
    """

    total: int
    least: int
    exact: bool = True


def is_sized(layers: Any) -> bool:
    """Tell whether both sizes of each layer are known. layers: of an entry of the lock, of any shape."""
    rows = maps(layers)
    return bool(rows) and all(isinstance(row.get(name), int) for row in rows for name in SIZES)


def image_size(layers: Iterable[Mapping[str, Any]]) -> ImageSize | None:
    """Add up the layers of an image as a lock names them; None if it does not say what they take."""
    total = least = 0
    exact, has_layers = True, False
    for layer in layers:
        compressed, unpacked = (layer.get(name) for name in SIZES)
        both = _both(compressed, unpacked)
        if both is None:
            return None
        has_layers = True
        exact = exact and compressed is not None and unpacked is not None
        least += both[0] if unpacked is None else unpacked
        total += sum(both)
    return ImageSize(total, least, exact) if has_layers else None


def _both(compressed: int | None, unpacked: int | None) -> tuple[int, int] | None:
    """Return both sizes of a layer, one of them estimated if need be; None if neither is known."""
    numerator, denominator = TIMES
    if compressed is None:
        return None if unpacked is None else (unpacked * denominator // numerator, unpacked)
    return compressed, compressed * numerator // denominator if unpacked is None else unpacked


# --- Work out what memory a pod's VM gets, and what its images and containers take in it. In bytes
#
#     own       the VM's own: the annotation default_memory in MiB, else the overhead of its class less what is outside
#               of the VM, else that of the platform
#     limits    of the pod as a whole if it has one, else `asked`
#     asked     the larger of: containers and native sidecars together; the other init containers together, those
#               that the controller of a custom resource adds among them
#     images    of all containers, each reference once; nothing with an image store, which is a disk
#
#     the VM gets own + limits; it needs images + asked, and with a GPU at least GPU_LEAST
#
# Rule: the sums are those of `contrast generate --calculate-pod-memory` (docs/facts/contrast.md#memory). A
# limit that is missing counts as nothing; who has none is named.


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
    """Work out the memory of a pod with all of its containers.

    overhead: of its class. size_of: tells what an image takes, by its reference; None if that is not known.
    """
    whole, asked = memory_of(workload.pod_spec, MEMORY_LIMIT), asked_memory(workload)
    unlimited = () if whole is not None else tuple(_unlimited(workload))
    set_memory = default_memory(workload)
    memory = PodMemory(
        set_memory if set_memory is not None else _own(platform, overhead),
        asked if whole is None else whole,
        asked,
        unlimited=unlimited,
        asked_by_user=any(
            _is_of_user(container) and memory_of(container.container, MEMORY_LIMIT)
            for container in workload.all_containers
        ),
        own_set=set_memory is not None,
        stored=has_image_store(workload),
        least=GPU_LEAST if wants_gpu(workload.pod_spec) else 0,
    )
    return memory if memory.stored else _with_images(memory, workload, size_of)


def asked_memory(workload: Workload) -> int:
    """Add up the memory limits of the containers."""
    containers = _containers(workload)
    regular = sum(
        memory_of(container, MEMORY_LIMIT) or 0
        for container, is_init in containers
        if _stays(container, is_init=is_init)
    )
    return max(
        regular,
        sum(
            memory_of(container, MEMORY_LIMIT) or 0
            for container, is_init in containers
            if not _stays(container, is_init=is_init)
        ),
    )


def requested_memory(workload: Workload) -> int:
    """Add up the memory that the containers request as Kubernetes does, which a pod as a whole must request as well."""
    regular = peak = 0
    for container, is_init in _containers(workload):
        request = memory_of(container, MEMORY_REQUEST)
        amount = (memory_of(container, MEMORY_LIMIT) or 0) if request is None else request
        stays = _stays(container, is_init=is_init)
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
    """Return the VM's own memory as the annotation says it; None without, or if it is no number."""
    value = workload.annotations.get(DEFAULT_MEMORY)
    text = value if isinstance(value, str) else ""
    return int(text) * MIB if re.fullmatch("[1-9][0-9]{0,8}", text) else None


def memory_of(owner: Mapping[str, Any], path: Path) -> int | None:
    """Return an amount of memory of a container or a pod; None if there is none, or it is no quantity."""
    value = dig(owner, path)
    try:
        return None if value is None else max(0, units(value))
    except ValueError:
        return None


def _containers(workload: Workload) -> list[tuple[Mapping[str, Any], bool]]:
    """Return the containers of a pod in the order in which they start, each with whether it is an init container.

    Those that the controller of a custom resource adds are the last of these, in place of one of their name.
    """
    added = added_init_containers(workload)
    init = [container.container for container in workload.all_containers if container.is_init]
    running = [container.container for container in workload.all_containers if not container.is_init]
    return [
        *((container, True) for container in (*not_replaced(init, added), *added)),
        *((container, False) for container in running),
    ]


def _stays(container: Mapping[str, Any], *, is_init: bool) -> bool:
    """Whether a container runs as long as the pod: it is regular, or a native sidecar."""
    return not is_init or container.get("restartPolicy") == "Always"


def _unlimited(workload: Workload) -> Iterator[str]:
    for container in workload.all_containers:
        if _is_of_user(container) and memory_of(container.container, MEMORY_LIMIT) is None:
            yield container.name


def _is_of_user(container: PodContainer) -> bool:
    """Whether a container stays and is none that a render adds."""
    return _stays(container.container, is_init=container.is_init) and not (
        container.is_init and container.name in CONTAINERS
    )


def _own(platform: Platform | None, overhead: Mapping[str, Any]) -> int:
    told = memory_of(dict(overhead), ("memory",))
    if told is not None and told > OUTSIDE:
        return told - OUTSIDE
    return OWN[platform is not None and platform.gpu]


def _with_images(memory: PodMemory, workload: Workload, size_of: SizeOf) -> PodMemory:
    names = dict.fromkeys(str(container.get("image")) for container, _ in _containers(workload))
    sizes = {name: size for name in names if (size := size_of(name)) is not None}
    return memory._replace(
        images=sum(size.total for size in sizes.values()),
        images_least=sum(size.least for size in sizes.values()),
        exact=all(size.exact for size in sizes.values()),
        unknown=tuple(name for name in names if name not in sizes),
        estimated=tuple(name for name, size in sizes.items() if not size.exact),
    )


def memory_text(amount: int) -> str:
    """Write an amount to be read, in two or more digits: `562Mi`, `12.3Gi`."""
    size = amount / MIB
    return f"{size:.0f}Mi" if size < 10 * 1024 else f"{size / 1024:.1f}Gi"


def memory_figure(amount: int) -> str:
    """Write an amount as a quantity that holds it, in whole MiB."""
    return f"{-(-amount // MIB)}Mi"
