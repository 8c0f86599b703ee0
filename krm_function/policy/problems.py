"""A located finding about one field of a pod spec.

Rule of this file: a path starts at the root of the document, the field's name at the pod spec, as Kubernetes writes it.
"""

from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.policy.pod_metadata import PodMetadata


def problem(pod: PodMetadata, here: Path, code: str, *, of: str = "", **values: Any) -> Finding:
    """The finding about `here`, a path from the pod spec.

    code: CC0604 or CC0601 with a variant. of: what to call the field instead of its path.
    """
    return finding(code, pod.ref, pod.spec_path + here, field=of or dotted(here), **values)
