"""The annotations of a pod by which the runtime of a node is told how to start it, and the few that a pod may have.

Rule of this file: what is not in ALLOWED is refused, whatever it means: a kernel, a parameter or an agent's option of
the input would make another VM than the one that the release measured.
Source: docs/facts/contrast.md#annotations-of-kata.
"""

from krm_function.model.workload import ID_BLOCKS, INITDATA

KATA = "io.katacontainers."
HYPERVISOR = f"{KATA}config.hypervisor."
HANDLER = "io.containerd.cri.runtime-handler"  # https://github.com/containerd/containerd/blob/v2.0.0/docs/cri/config.md
DEFAULT_MEMORY = f"{HYPERVISOR}default_memory"  # in MiB
ALLOWED = frozenset((INITDATA, DEFAULT_MEMORY))  # the first is checked by what makes policies
_CODES = {
    f"{HYPERVISOR}default_vcpus": "CC0230.vcpus",
    f"{KATA}config.agent.policy": "CC0230.policy",
    HANDLER: "CC0230.handler",
}


def refusal(key: str) -> str:
    """Return CC0230, with a variant for some, for a key that no pod may have; "" for one that it may have."""
    folded = key.lower()
    if folded != HANDLER and not folded.startswith(KATA):
        return ""
    if key in ALLOWED or key.startswith(tuple(f"{one}_" for one in ID_BLOCKS)):
        return ""
    return _CODES.get(folded, "CC0230")
