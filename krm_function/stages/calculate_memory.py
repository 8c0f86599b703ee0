"""Calculate memory: the pod as a whole gets that of its images and of the limits of its containers.

Rule of this file: the figure is Contrast's own, to the MiB, or there is none; nothing of it is estimated. What it is
made of is in model/pod_memory.py, and how it is written in model/rewriting/calculated_memory.py.
"""

from typing import Any

from krm_function.findings import finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.pod_memory import MIB, PodMemory, memory_figure, memory_text, requested_memory
from krm_function.model.rewriting.calculated_memory import write_memory
from krm_function.model.workload import Workload


def calculate(workload: Workload, memory: PodMemory) -> Outcome:
    """Write the memory of a pod as a whole: that of its images and the limits of its containers.

    Nothing with an image store, as in Contrast. CC0423 for each image whose size is not known exactly, CC0424 if
    Kubernetes would refuse the result.
    """
    if memory.stored:
        return Outcome()
    unsized = (*memory.unknown, *memory.estimated)
    if unsized:
        at = (*workload.spec_path, "resources")
        return Outcome(findings=tuple(finding("CC0423", workload.ref, at, image=image) for image in unsized))
    amount = (memory.images + memory.asked) // MIB
    requested = requested_memory(workload)
    if requested > amount * MIB:
        values: dict[str, Any] = {"requested": memory_figure(requested), "calculated": f"{amount}Mi"}
        at = (*workload.spec_path, "resources")
        return Outcome(findings=(finding("CC0424", workload.ref, at, **values),))
    draft = Draft(workload)
    parts = f"{memory_text(memory.images)} of images and {memory_text(memory.asked)} of limits of containers"
    write_memory(draft, f"{amount}Mi", f"the VM has {parts} in its memory")
    return Outcome(tuple(draft.edits))
