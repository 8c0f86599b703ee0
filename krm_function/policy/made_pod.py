"""The pod that the node will see, and the names that a policy allows it."""

import re
from typing import Any

from krm_function.findings import Finding
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.pod_names import sample_names
from krm_function.kubernetes.workload import Workload
from krm_function.policy.pod_metadata import PodMetadata, pod_metadata

# --- Read the pod that the node will see: a workload and the additions of a custom
# resource's controller
#
# Rule: generator and comparison both call this, so that they see the same pod.


def made_pod(workload: Workload) -> tuple[PodMetadata, list[Finding]]:
    """Read a workload, except for its pod spec, which `coverage_findings` checks."""
    pod, findings = pod_metadata(workload)
    if workload.made_by is None:
        return pod, findings
    from krm_function.policy.controllers import pod_of_controller

    pod, problems = pod_of_controller(pod, workload, workload.made_by)
    return pod, findings + problems


# --- The name of a pod against the pattern of names in its policy
#
# A policy of genpolicy, or of contrast-krm before 0.2, has a pattern that cuts no name, so it refuses the pods of a
# workload with a long name. Only patterns that a generator makes of the workload are tried on a name: a policy of
# unknown origin may have a regex that takes forever.


SANDBOX_NAME = "io.kubernetes.cri.sandbox-name"


def name_patterns(pod: PodMetadata) -> set[str]:
    """Return the patterns that policies of a workload may have for the names of its pods."""
    return {f"^{pattern}$" for pattern in (pod.name_pattern, *pod.other_names) if pattern}


def allowed_names(workload: Workload, sealed: Any) -> str:
    """Return the pattern of names in policy data, "" if no generator makes it of the workload."""
    entries = maps(mapping(sealed).get("containers"))
    patterns = {str(dig(entry, ("OCI", "Annotations", SANDBOX_NAME))) for entry in entries}
    return patterns.pop() if len(patterns) == 1 and patterns <= name_patterns(made_pod(workload)[0]) else ""


def refused_name(workload: Workload, allowed: str) -> str:
    """Return a name that a pod of the workload may get and that a pattern refuses, or ""."""
    names = [name for form in made_pod(workload)[0].names for name in sample_names(form)]
    return next((name for name in names if allowed and not re.fullmatch(allowed, name)), "")


def name_difference(name: str, allowed: str) -> str:
    """Return how the name of a pod differs from the pattern of its policy; "" if it does not, or one is unknown."""
    differs = name and allowed and not re.fullmatch(allowed, name)
    return f"metadata.name, {name} in place of {allowed}" if differs else ""
