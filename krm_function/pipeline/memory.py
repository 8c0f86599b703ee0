"""Work out the memory of each pod of a render, check it, and calculate it where the configuration says so.

Rule of this file: it runs when everything is injected and the RuntimeClasses are known, since containers that a render
adds have images and limits as well, and the class says how large the VM is without any. No policy is about memory.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.api.contrast_generate import CALCULATE
from krm_function.api.records import EMPTY, Config
from krm_function.model.pod_memory import MIB, PodMemory, requested_memory
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload
from krm_function.pipeline.workload import WorkloadRender
from krm_function.stages.memory import known_memory, memory_checks

STORED = "its images are in the image store, so its memory is not calculated"

CONSEQUENCE = (
    "each pod as a whole requests, and is limited to, the memory of its images and of the limits of its containers; a "
    "container without a limit counts as nothing, Kubernetes has to be 1.34, and the lock reads each layer for its size"
)


def with_memory(one: WorkloadRender, config: Config) -> WorkloadRender:
    """Check the memory of one pod, or write it."""
    if one.unreadable:
        return one
    platform, images, overhead = one.resolved.platform, config.images or EMPTY, _overhead(one, config)
    memory = known_memory(one.workload, platform, overhead, images)
    if config.generate.memory == CALCULATE:
        from krm_function.stages.calculate_memory import calculate

        edits, findings = calculate(one.workload, memory)
        one = one.plus(edits, findings)
        if edits:
            memory = known_memory(one.workload, platform, overhead, images)
        if memory.stored:
            one = one._replace(notes=(*one.notes, STORED))
    return one.said(memory_checks(one.workload, memory))._replace(memory=memory)


def memory_choices(workload: Workload, memory: PodMemory) -> Iterator[RuleChoice]:
    """Yield the rule for a pod whose VM gets too little, unless Kubernetes would refuse what it makes."""
    wants = any(found.code in ("CC0420", "CC0421") for found in memory_checks(workload, memory))
    if wants and requested_memory(workload) <= (memory.images + memory.asked) // MIB * MIB:
        yield RuleChoice("memory", CALCULATE, CONSEQUENCE)


def _overhead(one: WorkloadRender, config: Config) -> Mapping[str, Any]:
    """Return the overhead of the pod's class: of the object, else of the release."""
    if one.scheduled is not None:
        return one.scheduled.overhead
    name = one.resolved.platform.name if one.resolved.platform else ""
    released = config.release.platforms.get(name)
    return released.overhead if released else EMPTY
