"""What the plan says of memory: of one workload, and of the workloads that a node pool takes.

    2560Mi/23.0Gi   the VM gets 2560Mi; images and limits need 23.0Gi
    2560Mi/?        the lock has no sizes of an image, so nothing is compared

Rule of this file: it reads what the render has worked out (model/pod_memory.py) and adds it up. A pod of a DaemonSet is
counted once for each node of the pool.
"""

from collections.abc import Iterable
from typing import Any

from krm_function.model.pod_memory import PodMemory, memory_text
from krm_function.pipeline.result import Planned
from krm_function.placement.place import replicas_of
from krm_function.record import NamedTuple

LEGEND = "memory: what the VM of a pod gets / what its images and limits need"
UNKNOWN = "?: the lock has no sizes of an image (contrast-krm lock --sizes)"
NOTHING = "memory not compared: the lock has no sizes (contrast-krm lock --sizes)"


class MemorySum(NamedTuple):
    """What the VMs of some pods get in all, and need; needs: None if it is not known of one."""

    pods: int
    gets: int
    needs: int | None

    def __str__(self) -> str:
        """Write `VMs of 3 pods: 12.3Gi/14.0Gi`."""
        pods = f"{self.pods} pod{'' if self.pods == 1 else 's'}"
        return f"VMs of {pods}: {_pair(self.gets, self.needs)}"


def memory_cell(planned: Planned) -> str:
    """Write what the VM of a workload gets and needs; "" if that was not worked out."""
    memory = planned.memory
    return "" if memory is None else _pair(memory.gets, memory.needs)


def memory_legend(plan: Iterable[Planned]) -> str:
    """Explain the cells of a plan, or say that there are none; "" without workloads whose memory was worked out."""
    known = [one.memory for one in plan if one.memory is not None]
    if not known:
        return ""
    if all(one.unknown for one in known):
        return NOTHING
    return f"{LEGEND}; {UNKNOWN}" if any(one.unknown for one in known) else LEGEND


def memory_sum(workloads: Iterable[Planned], nodes: int = 1) -> MemorySum | None:
    """Add up the memory of all pods of some workloads. nodes: of their pool. None if nothing is known."""
    counted = [(one.memory, _pods(one, nodes)) for one in workloads if one.memory is not None]
    if not counted:
        return None
    known = [None if memory.needs is None else memory.needs * pods for memory, pods in counted]
    needs = None if None in known else sum(one for one in known if one is not None)
    return MemorySum(sum(pods for _, pods in counted), sum(memory.gets * pods for memory, pods in counted), needs)


def memory_sentence(memory: PodMemory) -> str:
    """Say what a VM gets and needs, and what was not compared."""
    own, limits = memory_text(memory.own), memory_text(memory.limits)
    gets = f"the VM gets {memory_text(memory.gets)}: {own} of its own and {limits} of limits"
    if memory.stored:
        return f"{gets}; its images are in the image store"
    if memory.unknown:
        return (
            f"{gets}; not compared with its images, since the lock has no sizes of {len(memory.unknown)} of them "
            "(contrast-krm lock --sizes)"
        )
    about = "" if memory.exact else "about "
    parts = f"{about}{memory_text(memory.images)} of images and {memory_text(memory.asked)} of limits"
    gpu = ", with a GPU 8 GB at least" if memory.gpu else ""
    return f"{gets}; it needs {about}{memory_text(memory.needs or 0)}: {parts}{gpu}"


def memory_data(planned: Planned) -> dict[str, Any] | None:
    """Return the memory of one pod for JSON, in bytes; needs: null if it is not known."""
    memory = planned.memory
    if memory is None:
        return None
    return {
        "gets": memory.gets,
        "needs": memory.needs,
        "images": None if memory.unknown else memory.images,
        "limits": memory.asked,
        "estimated": not memory.exact,
        "unknownImages": list(memory.unknown),
        "imageStore": memory.stored,
    }


def _pods(planned: Planned, nodes: int) -> int:
    replicas = replicas_of(planned.workload) if planned.workload is not None else 1
    return nodes if replicas is None else replicas


def _pair(gets: int, needs: int | None) -> str:
    return f"{memory_text(gets)}/{'?' if needs is None else memory_text(needs)}"
