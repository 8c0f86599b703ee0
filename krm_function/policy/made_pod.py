"""Read the pod that the node will see: what a workload says of it, and what the controller of a custom resource adds.

Rule of this file: whoever generates a policy or compares one asks here, so that both see the same pod.
"""

from krm_function.findings import Finding
from krm_function.model.workload import Workload
from krm_function.policy.pod_metadata import PodMetadata, pod_metadata


def made_pod(workload: Workload) -> tuple[PodMetadata, list[Finding]]:
    """Read a workload, except for its pod spec, which `field_coverage.coverage_findings` checks."""
    pod, findings = pod_metadata(workload)
    if workload.made_by is None:
        return pod, findings
    from krm_function.policy.controller_pods import pod_of_controller

    pod, problems = pod_of_controller(pod, workload, workload.made_by)
    return pod, findings + problems
