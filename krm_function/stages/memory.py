"""Memory: compare what a pod's VM gets with what its images take in it.

Truth table, first row that fits, where the sizes of all images are known:

    the VM gets                                              finding
    no limit of any container, or not of all                 CC0421: a warning; a LimitRange of the cluster may set one
    less than the images take unpacked                       CC0420: an error, with the figure to write
    less than the images take, compressed and unpacked       CC0421.tight
    a GPU, and less memory than the pages advise with one    CC0421.gpu

Rule of this file: nothing is compared with a size that is not known; the plan says so. The sums are in
model/pod_memory.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.api.image_lock import ImageFacts
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.model.image_sizes import image_size
from krm_function.model.lookup import dig
from krm_function.model.platforms import Platform
from krm_function.model.pod_memory import (
    GPU_LEAST,
    LIMIT,
    PodMemory,
    default_memory,
    memory_figure,
    memory_text,
    pod_memory,
)
from krm_function.model.quantity import units
from krm_function.model.runtime_annotations import DEFAULT_MEMORY
from krm_function.model.workload import Workload

Images = Mapping[str, ImageFacts]


def known_memory(
    workload: Workload, platform: Platform | None, overhead: Mapping[str, Any], images: Images
) -> PodMemory:
    """Work out the memory of a pod. overhead: of its class. images: of the lock."""
    return pod_memory(
        workload, platform, overhead, lambda name: image_size(images[name].layers) if name in images else None
    )


def memory_checks(workload: Workload, memory: PodMemory) -> tuple[Finding, ...]:
    """Say what is wrong with the memory of a pod."""
    wrong = tuple(_no_quantities(workload))
    return (*wrong, *_annotation(workload), *(() if wrong else _compared(workload, memory)))


def _compared(workload: Workload, memory: PodMemory) -> Iterator[Finding]:
    needs = memory.needs
    if needs is None or memory.stored:
        return
    at = (*workload.spec_path, "resources", "limits")
    about = "" if memory.exact else "about "
    values: dict[str, Any] = {
        "gets": memory_text(memory.gets),
        "images": about + memory_text(memory.images),
        "figure": memory_figure(needs),
    }
    tight = memory.gets < memory.images
    if not memory.limited:
        everyone = not memory.asked_by_user
        if everyone or tight:
            names = ", ".join(memory.unlimited)
            yield finding("CC0421.none" if everyone else "CC0421.some", workload.ref, at, containers=names, **values)
    elif memory.gets < memory.images_least:
        yield finding("CC0420", workload.ref, at, **{**values, "images": memory_text(memory.images_least)})
    elif tight:
        yield finding("CC0421.tight", workload.ref, at, **values)
    elif memory.gpu and memory.gets < GPU_LEAST:
        yield finding("CC0421.gpu", workload.ref, at, **values)


def _no_quantities(workload: Workload) -> Iterator[Finding]:
    """Find memory limits that are no quantities, which Kubernetes refuses."""
    owners: list[tuple[Any, Path]] = [(one.container, one.path) for one in workload.all_containers]
    for owner, path in (*owners, (workload.pod_spec, workload.spec_path)):
        value = dig(owner, LIMIT)
        try:
            negative = value is not None and units(value) < 0
        except ValueError as error:
            yield finding("CC0408.quantity", workload.ref, (*path, *LIMIT), key=dotted(LIMIT), error=str(error))
        else:
            if negative:
                yield finding("CC0408.negative", workload.ref, (*path, *LIMIT), key=dotted(LIMIT))


def _annotation(workload: Workload) -> Iterator[Finding]:
    """Find an annotation about the VM's memory that is no number of MiB."""
    if DEFAULT_MEMORY in workload.annotations and default_memory(workload) is None:
        at = (*workload.metadata_path, "annotations", DEFAULT_MEMORY)
        yield finding("CC0425", workload.ref, at, key=DEFAULT_MEMORY)
