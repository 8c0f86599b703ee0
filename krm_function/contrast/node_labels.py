"""Node labels in a pod's nodeSelector that contradict its class: no node of the platform has them.

Truth table, first row that fits (docs/facts/kubernetes.md#labels-of-other-nodes has who sets them):

    a node of the plan's nodes has the label    nothing to report
    the label is of a cloud's nodes             CC0325.cloud
    the label is of a GPU that containers get   CC0325.containers, on a platform with GPUs; else CC0325.none
    any other                                   nothing to report

Rule of this file: only the pod's own nodeSelector, and labels that are certain; a user's own label may be on any node.

"""

import re
from collections.abc import Iterator, Sequence

from krm_function.contrast.platforms import Platform
from krm_function.findings import Finding, finding
from krm_function.kubernetes.nodes import Node
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.workload import Workload

CLOUDS = {
    "GKE": re.compile(r"cloud\.google\.com/.+"),
    "EKS": re.compile(r"(eks\.amazonaws\.com|k8s\.amazonaws\.com|karpenter\.k8s\.aws)/.+"),
    "AKS": re.compile(r"kubernetes\.azure\.com/.+|agentpool"),
}
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
# The meaning of such a label on nodes of EKS, AKS and GKE; elsewhere it may mean anything.
TYPES = {
    "EKS": re.compile(r"[a-z][a-z0-9-]*\.([0-9]*xlarge|metal[a-z0-9-]*|nano|micro|small|medium|large)"),
    "AKS": re.compile(r"(Standard|Basic)_[A-Za-z0-9_]+"),
    "GKE": re.compile(r"[a-z][0-9][a-z]?-[a-z]+-[0-9a-z-]+"),
}
# Set by GPU feature discovery, which asks the driver of the node.
OF_DRIVER = re.compile(
    r"nvidia\.com/(gpu\.(product|memory|family|count|replicas|machine|mode|compute\..+)|cuda\..+|mig.*)"
)


def foreign_labels(workload: Workload, platform: Platform, nodes: Sequence[Node] | None) -> Iterator[Finding]:
    """Yield a finding for each contradiction in the nodeSelector of a pod. nodes: None if none are known."""
    for key, value in mapping(workload.pod_spec.get("nodeSelector")).items():
        label = f"{key}={value}"
        code, owner = _classify(str(key), str(value), platform)
        if not code or any(node.labels.get(key) == value for node in nodes or ()):
            continue
        at = (*workload.spec_path, "nodeSelector", key)
        yield finding(code, workload.ref, at, label=label, owner=owner, platform=platform.name)


def _classify(key: str, value: str, platform: Platform) -> tuple[str, str]:
    """Return code and cloud; "" for a label that any node may have."""
    if OF_DRIVER.fullmatch(key):
        return "CC0325.containers" if platform.gpu else "CC0325.none", ""
    cloud = next((name for name, pattern in CLOUDS.items() if pattern.fullmatch(key)), "")
    if not cloud and key in INSTANCE_TYPES:
        cloud = next((name for name, pattern in TYPES.items() if pattern.fullmatch(value)), "")
    return ("CC0325.cloud" if cloud else ""), cloud
