"""Labels of other nodes in nodeSelector: `plan` names those that contradict the class."""

from typing import Any

import pytest

from krm_function.contrast.node_labels import foreign_labels
from krm_function.contrast.platforms import PLATFORMS
from krm_function.kubernetes.nodes import Node
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.workload import workloads_of
from tests.world import an_object, pod_spec

SNP, GPU = PLATFORMS["metal-qemu-snp"], PLATFORMS["metal-qemu-snp-gpu"]


def said(key: str, value: Any, platform: Any = SNP, nodes: Any = None) -> list[str]:
    value_of = an_object(spec=pod_spec(nodeSelector={key: value}))
    (subject,) = workloads_of(value_of, (), reference(value_of))
    return [found.message for found in foreign_labels(subject, platform, nodes)]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("cloud.google.com/gke-accelerator", "nvidia-l4", "GKE"),
        ("eks.amazonaws.com/nodegroup", "gpus", "EKS"),
        ("karpenter.k8s.aws/instance-gpu-name", "h100", "EKS"),
        ("k8s.amazonaws.com/accelerator", "nvidia-tesla-v100", "EKS"),
        ("kubernetes.azure.com/agentpool", "gpu", "AKS"),
        ("agentpool", "gpu", "AKS"),
        ("node.kubernetes.io/instance-type", "p5.48xlarge", "EKS"),
        ("node.kubernetes.io/instance-type", "Standard_NC40ads_H100_v5", "AKS"),
        ("beta.kubernetes.io/instance-type", "a3-highgpu-8g", "GKE"),
        ("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3", "pass them to VMs"),
        ("nvidia.com/cuda.driver.major", "550", "pass them to VMs"),
    ],
)
def test_a_label_that_no_node_of_the_platform_has(key: str, value: str, words: str) -> None:
    (message,) = said(key, value, GPU)
    assert f"{key}={value}" in message
    assert words in message
    assert len(said(key, value)) == 1
    assert said(key, value, GPU, [Node("one", labels={key: value})]) == [], "a node says that it is wrong"
    assert len(said(key, value, GPU, [Node("one", labels={key: "other"})])) == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("node.kubernetes.io/instance-type", "k3s"),
        ("kubernetes.io/arch", "amd64"),
        ("nvidia.com/gpu.present", "true"),
        ("nvidia.com/gpu.workload.config", "vm-passthrough"),
        ("amd.feature.node.kubernetes.io/snp", "true"),
        ("pool", "gpu"),
    ],
)
def test_a_label_that_such_a_node_may_have(key: str, value: str) -> None:
    assert said(key, value) == said(key, value, GPU) == []


def test_a_gpu_of_containers_on_a_platform_without_any() -> None:
    (message,) = said("nvidia.com/gpu.product", "NVIDIA-L4")
    assert "have none" in message
