"""Work out the memory of each pod of a render, check it, and calculate it where the configuration says so.

Rule of this file: it runs when everything is injected and the RuntimeClasses are known, since containers that a render
adds have images and limits as well, and the class says how large the VM is without any. No policy is about memory.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.contrast_generate import CALCULATE
from krm_function.api.records import EMPTY, Config
from krm_function.pipeline.workload import WorkloadRender
from krm_function.stages.memory import known_memory, memory_checks

STORED = "its images are in the image store, so its memory is not calculated"


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


def _overhead(one: WorkloadRender, config: Config) -> Mapping[str, Any]:
    """Return the overhead of the pod's class: of the object, else of the release."""
    if one.scheduled is not None:
        return one.scheduled.overhead
    name = one.resolved.platform.name if one.resolved.platform else ""
    released = config.release.platforms.get(name)
    return released.overhead if released else EMPTY
