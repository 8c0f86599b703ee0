"""A located finding about one field of a pod spec.

Rule of this file: a path starts at the root of the document, the field's name at the pod spec, as Kubernetes writes it.
"""

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.policy.pod_metadata import PodMetadata


def problem(pod: PodMetadata, here: Path, what: str, remedy: str, *, of: str = "") -> Finding:
    """CC0604: `here` (from the pod spec) is `what`; of: what to call it instead of its path."""
    return finding("CC0604", pod.ref, pod.spec_path + here, field=of or dotted(here), problem=what, remedy=remedy)


def uncovered(pod: PodMetadata, here: Path, detail: str = "") -> Finding:
    """CC0601: nothing is generated for `here` yet."""
    return finding("CC0601", pod.ref, pod.spec_path + here, field=f"{dotted(here)}{detail}")
