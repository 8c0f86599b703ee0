"""The memory of a pod as a whole: of its images and the limits of its containers."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.adapt.choices import RuleChoice, write_amount
from krm_function.config.generate import CALCULATE
from krm_function.contrast.vm_size import MIB, memory_figure, memory_text, requested_memory
from krm_function.findings import Finding, finding
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import Draft, PodMemory, Workload

# --- The memory of a pod as a whole, written into spec.resources
#
# Truth table, of a pod's spec.resources:
#
#     it has                             becomes
#     nothing                            requests and limits of memory
#     memory, in one of them or both     the calculated one in both
#     anything else, such as cpu         as it was
#
# Rule: Contrast's own calculation replaces the whole of spec.resources, and so loses a limit of cpu.


CODE = "CC0422"
FIELDS = ("requests", "limits")


def write_memory(draft: Draft, figure: str, reason: str) -> None:
    """Write a figure, of whole MiB, as request and limit of the pod."""
    write_amount(draft, FIELDS, "memory", figure, CODE, reason)


def written_memory(workload: Workload) -> str:
    """Return the amount that a rule, or a person in the same form, has written into a pod; "" for none."""
    figure, limit = (dig(workload.pod_spec, ("resources", field, "memory")) for field in FIELDS)
    is_written = isinstance(figure, str) and figure == limit and re.fullmatch("[1-9][0-9]{0,11}Mi", figure)
    return figure if is_written else ""


# --- Calculate memory: the pod as a whole gets the memory of its images and of the limits of its containers
#
# Rule: the figure is Contrast's own, to the MiB, or there is none; no part is estimated. contrast/vm_size.py has its
# parts.


def calculate(workload: Workload, memory: PodMemory) -> Outcome:
    """Write the memory of a pod as a whole: of its images and the limits of its containers.

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


# --- Offer the rule for a pod whose VM gets too little


CONSEQUENCE = (
    "each pod as a whole requests, and is limited to, the memory of its images and of the limits of its containers; a "
    "container without a limit counts as nothing, Kubernetes has to be 1.34, and the lock reads each layer for its size"
)


def memory_choices(workload: Workload, memory: PodMemory, problems: Iterable[Finding]) -> Iterator[RuleChoice]:
    """Yield the rule, unless Kubernetes would refuse the result. problems: of the memory of this workload."""
    lacks = any(problem.code in ("CC0420", "CC0421") for problem in problems)
    if lacks and requested_memory(workload) <= (memory.images + memory.asked) // MIB * MIB:
        yield RuleChoice("memory", CALCULATE, CONSEQUENCE)
