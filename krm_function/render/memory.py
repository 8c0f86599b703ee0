"""Compute the memory of each pod of a render, check it, and write it if the configuration asks for that."""

from collections.abc import Iterator
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import CALCULATE
from krm_function.contrast.annotations import DEFAULT_MEMORY
from krm_function.contrast.platforms import PLATFORMS
from krm_function.contrast.vm_size import MEMORY_LIMIT as LIMIT
from krm_function.contrast.vm_size import (
    ImageSize,
    default_memory,
    image_size,
    memory_figure,
    memory_text,
    pod_memory,
)
from krm_function.findings import Finding, dotted, finding
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.quantity import equal, units
from krm_function.kubernetes.workload import PodMemory, Workload
from krm_function.render.stages import add_findings, apply_outcome, is_unreadable
from krm_function.schema.table import EMPTY

# --- Memory: compare the memory of a pod's VM with the space that its images take in it
#
# Truth table, first row that fits, if the sizes of all images are known:
#
#   the VM gets                                              finding
#   no limit of any container, or not of all                 CC0421: a warning; a LimitRange of the cluster may set one
#   less than the images take unpacked                       CC0420: an error, with the figure to write
#   less than the images take, compressed and unpacked       CC0421.tight
#   a GPU, and less memory than the pages advise with one    CC0421.gpu
#
# Rule: without a known size there is no comparison, which the plan notes. contrast/vm_size.py computes the sums.


def check_memory(workload: Workload, memory: PodMemory) -> tuple[Finding, ...]:
    """Return the findings about the memory of a pod."""
    problems = tuple(_check_quantities(workload))
    further = () if problems else (*_compare(workload, memory), *_list_lower_requests(workload))
    return (*problems, *_check_annotation(workload), *further)


def _compare(workload: Workload, memory: PodMemory) -> Iterator[Finding]:
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
    elif memory.gets < memory.least:
        yield finding("CC0421.gpu", workload.ref, at, **values)


def _list_lower_requests(workload: Workload) -> Iterator[Finding]:
    """Yield an info on each container whose memory request is not its limit (docs/facts/contrast.md#memory)."""
    for container in workload.all_containers:
        at = ("resources", "requests", "memory")
        request, limit = dig(container.container, at), dig(container.container, LIMIT)
        if None not in (request, limit) and not equal(request, limit):
            values = {"container": container.name, "request": request, "limit": limit}
            yield finding("CC0426", workload.ref, (*container.path, *at), **values)


def _check_quantities(workload: Workload) -> Iterator[Finding]:
    """Find memory limits that are not quantities, which Kubernetes refuses."""
    containers = ((container.container, container.path) for container in workload.all_containers)
    for owner, path in (*containers, (workload.pod_spec, workload.spec_path)):
        value = dig(owner, LIMIT)
        try:
            negative = value is not None and units(value) < 0
        except ValueError as error:
            yield finding("CC0408.quantity", workload.ref, (*path, *LIMIT), key=dotted(LIMIT), error=str(error))
        else:
            if negative:
                yield finding("CC0408.negative", workload.ref, (*path, *LIMIT), key=dotted(LIMIT))


def _check_annotation(workload: Workload) -> Iterator[Finding]:
    """Find an annotation about the VM's memory that is not a number of MiB."""
    if DEFAULT_MEMORY in workload.annotations and default_memory(workload) is None:
        at = (*workload.metadata_path, "annotations", DEFAULT_MEMORY)
        yield finding("CC0425", workload.ref, at, key=DEFAULT_MEMORY)


# --- Compute the memory of each pod of a render, check it, and write it if the configuration asks for that
#
# Rule: this stage runs when everything is injected and the RuntimeClasses are complete: added containers have images
# and limits as well, and the class has the size of a VM without limits. No policy depends on memory.


STORED = "its images are in the image store, so its memory is not calculated"


def add_memory(workload: Workload, config: Config) -> Workload:
    """Check the memory of a pod, or write it if the configuration asks for that."""
    if is_unreadable(workload):
        return workload
    memory = _compute_memory(workload, config)
    if config.generate.memory == CALCULATE:
        from krm_function.adapt.pod_memory import calculate

        calculated = calculate(workload, memory)
        workload = apply_outcome(workload, calculated)
        if calculated.edits:
            memory = _compute_memory(workload, config)
        if memory.stored:
            workload = workload._replace(notes=(*workload.notes, STORED))
    return add_findings(workload, check_memory(workload, memory))._replace(memory=memory)


def _compute_memory(workload: Workload, config: Config) -> PodMemory:
    """Compute the memory of a pod; the overhead of its class is from the object or else from the release."""
    runtime_class = workload.scheduled or config.release.platforms.get(workload.platform)
    overhead, images = runtime_class.overhead if runtime_class else EMPTY, config.images or EMPTY

    def size(name: str) -> ImageSize | None:
        return image_size(images[name].layers) if name in images else None

    return pod_memory(workload, PLATFORMS.get(workload.platform), overhead, size)
