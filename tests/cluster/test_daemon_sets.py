"""The DaemonSet controller makes pods for the nodes that placement names, and those run that it says."""

from random import Random

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.nodes import Node, read_nodes
from krm_function.kubernetes.placement import place
from krm_function.kubernetes.runtime_classes import RuntimeClass, parse_runtime_class_object
from krm_function.kubernetes.workload import workloads_of
from tests.cluster.api import Api, Json, until
from tests.cluster.conftest import Sizes
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.random_objects import node, pod_spec, runtime_class

NODES = 12


@pytest.mark.parametrize("scheduling", [False, True])
def test_random_daemon_sets(api: Api, namespace: str, sizes: Sizes, scheduling: bool) -> None:
    """scheduling: whether the class has a selector and tolerations."""
    random = sizes.random(f"daemon sets {scheduling}")
    made_for, running = 0, 0
    world = [node(random, f"ds-{scheduling}-{number}".lower()) for number in range(NODES)]
    with made_up_nodes(api, world) as stored:
        nodes = read_nodes({"kind": "NodeList", "items": stored})[0]
        for number in range(sizes(8, 50)):
            name = f"agent-{number}-{scheduling}".lower()
            cls = runtime_class(random, name, scheduling=scheduling)
            api.create(cls).ok()
            value = _daemon_set(random, name, namespace)
            parsed = parse_runtime_class_object(cls).runtime_class
            selector = value["spec"]["template"]["spec"]["nodeSelector"]
            selector |= {key: wanted for key, wanted in parsed.node_selector.items() if key in selector}  # no conflict
            api.create(value).ok()
            made, runs = _placed(api, name, namespace)
            api.delete("DaemonSet", name, namespace).ok()
            until("the end of the pods", lambda: not api.items("Pod", namespace))
            api.delete("RuntimeClass", name)
            assert (made, runs) == _expected(value, parsed, nodes), (value, cls)
            made_for, running = made_for + len(made), running + len(runs)
    assert running < made_for  # some wait for ever
    assert running


def _daemon_set(random: Random, name: str, namespace: str) -> Json:
    labels = {"app": name}
    spec = {"nodeSelector": {}, **pod_spec(random, name)}
    template = {"metadata": {"labels": labels}, "spec": spec}
    metadata = {"name": name, "namespace": namespace}
    head: Json = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata}
    return head | {"spec": {"selector": {"matchLabels": labels}, "template": template}}


def _expected(value: Json, cls: RuntimeClass, nodes: tuple[Node, ...]) -> tuple[set[str], set[str]]:
    """The nodes for which placement expects a pod, and those of them that run it."""
    workload = workloads_of(value, (), Ref("apps/v1", "DaemonSet", value["metadata"]["namespace"], cls.name))[0]
    placement = place(workload, cls, nodes)[0]
    waiting = {name for refusal in placement.pending for name in refusal.nodes}
    return {*placement.fitting, *waiting}, set(placement.fitting)


def _placed(api: Api, name: str, namespace: str) -> tuple[set[str], set[str]]:
    """The nodes for which the controller made a pod, and those that have one, once everything is decided."""

    def decided() -> tuple[set[str], set[str]] | None:
        status = api.get("DaemonSet", name, namespace).ok().get("status", {})
        pods = api.items("Pod", namespace)
        if status.get("observedGeneration") != 1 or status.get("desiredNumberScheduled", -1) != len(pods):
            return None
        if not all(pod["spec"].get("nodeName") or _refused(pod) for pod in pods):
            return None
        runs = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        return {_target(pod) for pod in pods}, runs

    found: tuple[set[str], set[str]] = until(f"the pods of {name}", decided)
    return found


def _refused(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(one["type"] == "PodScheduled" and one["status"] == "False" for one in conditions)


def _target(pod: Json) -> str:
    """The node that the controller made a pod for: it says so in the pod's affinity."""
    affinity = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (name,) = {field["values"][0] for term in affinity["nodeSelectorTerms"] for field in term["matchFields"]}
    return str(name)
