"""Make a located finding about one field of a pod spec.

Rule of this file: paths start at the root of the document, names of fields at the pod spec, as Kubernetes writes them.
"""

from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.policy.pod_metadata import PodMetadata


def problem(pod: PodMetadata, here: Path, code: str, *, of: str = "", **values: Any) -> Finding:
    """Make the finding about `here`, a path from the pod spec.

    code: CC0604 or CC0601 with a variant. of: a name of the field, in place of its path.
    """
    return finding(code, pod.ref, pod.spec_path + here, field=of or dotted(here), **values)
