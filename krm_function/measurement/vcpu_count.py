"""Count the virtual CPUs of a pod's VM.

Rule of this file: whole milli-CPU in, a count out; only limits count, requests never do. Sources:
docs/facts/contrast.md#vcpus, docs/facts/kubernetes.md#sandbox-size.
"""

from collections.abc import Iterable

MAX_VCPUS = 220  # the most that Contrast tries when it verifies a launch digest, and the end of its RTMR0 table


def vcpu_count(containers: Iterable[int], sidecars: Iterable[int], init: Iterable[int], pod: int) -> int:
    """Count the vCPUs of a pod from its CPU limits, all in milli-CPU.

    `containers`: one limit for each regular container (0 when absent); `sidecars`: for each init container with
    restartPolicy Always; `init`: for every init container, the sidecars among them; `pod`: the pod-level limit.
    The result is at least 1 (no limits) and is not capped: comparing it with MAX_VCPUS is the caller's part.
    Raises ValueError for a negative limit, which Kubernetes would refuse.
    """
    limits = [list(containers), list(sidecars), list(init), [pod]]
    if any(limit < 0 for group in limits for limit in group):
        raise ValueError("a CPU limit is negative")
    regular, side, first, whole = (sum(group) for group in limits)
    milli = max(regular + side, first, whole)
    return -(-milli // 1000) + 1


def vcpus_text(count: int) -> str:
    """Write a count with its unit: `1 vCPU`, `2 vCPUs`."""
    return f"{count} vCPU{'' if count == 1 else 's'}"


def sandbox_vcpu_count(containers: Iterable[int], init: Iterable[tuple[int, bool]], pod: int) -> int:
    """Count the vCPUs of a VM that is sized as the kubelet describes the sandbox: one more than its CPU limit.

    All in milli-CPU. `init`: in their order, each with whether it is a sidecar; `pod`: 0 when absent. The largest init
    container counts, with the sidecars before it, and a pod-level limit takes the place of everything else.
    """
    side = peak = 0
    for limit, is_sidecar in init:
        side += limit if is_sidecar else 0
        peak = max(peak, side if is_sidecar else side + limit)
    milli = pod or max(sum(containers) + side, peak)
    return -(-milli // 1000) + 1
