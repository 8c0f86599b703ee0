"""A cpu limit of the pod as a whole, to give its VM more vCPUs than its containers ask for."""

import re
from collections.abc import Iterator
from typing import Literal

from krm_function.adapt.choices import RuleChoice, write_amount
from krm_function.contrast.gpus import gpu_count
from krm_function.contrast.measurement import vcpus_text
from krm_function.contrast.vm_size import requested_cpus, vcpus
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import Draft, Workload

# Truth table, of a pod's spec.resources.limits:
#
#     it has                             becomes
#     nothing, or no cpu                 the limit
#     cpu                                the limit, which is more
#     anything else, such as memory      as it was


CODE = "CC0417"


def write_cpu(draft: Draft, figure: str, reason: str) -> None:
    """Write a figure, of whole CPUs, as the limit of the pod."""
    write_amount(draft, ("limits",), "cpu", figure, CODE, reason)


def written_cpu(workload: Workload) -> str:
    """Return the limit that a rule, or a person in the same form, has written into a pod; "" for none."""
    figure = dig(workload.pod_spec, ("resources", "limits", "cpu"))
    return figure if isinstance(figure, str) and re.fullmatch("[1-9][0-9]{0,2}", figure) else ""


# --- Give a pod's VM a least number of vCPUs, by a cpu limit of the pod as a whole
#
#     the VM has                                   the pod's cpu limit
#     as many as the rule wants, or more           stays
#     fewer                                        one less than the rule wants; as many as the pod requests, if that is
#                                                  more, since Kubernetes refuses a limit below the requests
#
# Rule: it only ever raises. contrast/vm_size.py turns limits into vCPUs.


def least_vcpus(workload: Workload, minimum: int | Literal["gpus"]) -> tuple[Edit, ...]:
    """Raise the cpu limit of a pod. minimum: vCPUs, or as many as the pod has GPUs.

    Nothing for a pod whose types or limits are wrong: their checks report it.
    """
    if type_findings(workload):
        return ()
    count = vcpus(workload)
    least = gpu_count(workload.pod_spec) if minimum == "gpus" else minimum
    if not isinstance(count, int) or count >= least:
        return ()
    draft = Draft(workload)
    requirement = f"the pod has {least} GPUs" if minimum == "gpus" else f"vcpus.minimum is {least}"
    figure = str(max(least - 1, requested_cpus(workload)))
    write_cpu(draft, figure, f"the VM would have {vcpus_text(count)}, and {requirement}")
    return tuple(draft.edits)


def vcpu_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield the rule for a pod with more GPUs than vCPUs."""
    if least_vcpus(workload, "gpus"):
        consequence = (
            "each pod with more GPUs than vCPUs is limited to cpu of its own, which Kubernetes may take for its request"
        )
        yield RuleChoice("leastVCPUs", "gpus", consequence)
