"""Give a pod's VM a least number of vCPUs, by a cpu limit of the pod as a whole.

    the VM has                                   the pod's cpu limit
    as many as the rule wants, or more           stays
    fewer                                        one less than the rule wants; as many as the pod requests, if that is
                                                 more, since Kubernetes refuses a limit below the requests

Rule of this file: it only ever raises. How limits become vCPUs is in model/cpu_limits.py.
"""

from collections.abc import Iterator
from typing import Literal

from krm_function.measurement.vcpu_count import vcpus_text
from krm_function.model.cpu_limits import requested_cpus, vcpus
from krm_function.model.draft import Draft
from krm_function.model.edits import Edit
from krm_function.model.gpu import gpu_count
from krm_function.model.pod_types import type_findings
from krm_function.model.rewriting.least_cpu import write_cpu
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload


def least_vcpus(workload: Workload, minimum: int | Literal["gpus"]) -> tuple[Edit, ...]:
    """Raise the cpu limit of a pod. minimum: vCPUs, or as many as the pod has GPUs.

    Nothing for a pod whose types or limits are wrong: what checks it says so.
    """
    if type_findings(workload):
        return ()
    count = vcpus(workload)
    least = gpu_count(workload.pod_spec) if minimum == "gpus" else minimum
    if not isinstance(count, int) or count >= least:
        return ()
    draft = Draft(workload)
    wanted = f"the pod has {least} GPUs" if minimum == "gpus" else f"vcpus.minimum is {least}"
    figure = str(max(least - 1, requested_cpus(workload)))
    write_cpu(draft, figure, f"the VM would have {vcpus_text(count)}, and {wanted}")
    return tuple(draft.edits)


def vcpu_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield the rule for a pod with more GPUs than vCPUs."""
    if least_vcpus(workload, "gpus"):
        said = (
            "each pod with more GPUs than vCPUs is limited to cpu of its own, which Kubernetes may take for its request"
        )
        yield RuleChoice("leastVCPUs", "gpus", said)
