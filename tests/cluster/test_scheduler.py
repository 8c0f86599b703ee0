"""The scheduler binds a pod to an empty node exactly where placement says that the node takes it."""

import time
from random import Random

from krm_function.kubernetes.nodes import Node, read_nodes
from krm_function.kubernetes.placement import Fit, demand, fits
from krm_function.kubernetes.runtime_classes import RuntimeClass, parse_runtime_class_object
from tests.cluster.api import Api, Json, until
from tests.cluster.conftest import Sizes
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.random_objects import node, pod_spec, runtime_class

NODES = 20
LATER = 20  # seconds


def test_random_pods_on_random_nodes(api: Api, namespace: str, sizes: Sizes) -> None:
    """Each pod is made once for each node, tied to it by one more label in its selector."""
    random = sizes.random("scheduler")
    decisions = [
        bound for world in range(sizes(4, 10)) for bound in _world(api, namespace, random, world, sizes(10, 25))
    ]
    assert len(decisions) == sizes(4 * 10, 10 * 25) * NODES
    assert len(decisions) / 20 < decisions.count(True) < len(decisions) / 2


def _world(api: Api, namespace: str, random: Random, world: int, waves: int) -> list[bool]:
    """Compare the decisions about some pods on the same nodes, one pod after the other; whether each was bound."""
    made = []
    with made_up_nodes(api, [node(random, f"world-{world}-{number}") for number in range(NODES)]) as stored:
        nodes = read_nodes({"kind": "NodeList", "items": stored})[0]
        for wave in range(waves):
            cls = runtime_class(random, f"wave-{world}-{wave}")
            name = cls["metadata"]["name"]
            api.create(cls).ok()
            spec = pod_spec(random, name)
            agreed = cls.get("scheduling", {}).get("nodeSelector", {})  # a conflict is admission's
            spec["nodeSelector"] = {**spec.get("nodeSelector", {}), **agreed}
            planned = _fits(spec, parse_runtime_class_object(cls).runtime_class, nodes)
            decided = _decisions(api, namespace, spec, nodes, {one.node for one in planned if not one.reasons})
            for one in planned:
                bound, why = decided[one.node]
                assert bound == (not one.reasons), (why, one, spec, cls)
                made.append(bound)
            api.delete("RuntimeClass", name)
    return made


def _fits(spec: Json, cls: RuntimeClass, nodes: tuple[Node, ...]) -> list[Fit]:
    return [fits(demand("Pod", spec, cls), one) for one in nodes]


def _decisions(
    api: Api, namespace: str, spec: Json, nodes: tuple[Node, ...], planned: set[str]
) -> dict[str, tuple[bool, str]]:
    """For each node whether the scheduler bound the pod that may only go there, and why not.

    planned: nodes whose pod is waited for. The scheduler hears of the end of an earlier pod later than the API server,
    refuses the new one because of it, and tries again.
    """
    for one in nodes:
        selector = {**spec.get("nodeSelector", {}), "kubernetes.io/hostname": one.name}
        metadata = {"name": one.name, "namespace": namespace}
        value = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec, "nodeSelector": selector}}
        api.create(value).ok()
    until("the scheduler", lambda: _decided(api.items("Pod", namespace)))
    end = time.monotonic() + LATER
    while (pods := _all_bound(api.items("Pod", namespace), planned)) is None and time.monotonic() < end:
        time.sleep(0.2)
    pods = pods or api.items("Pod", namespace)
    api.delete_all("Pod", namespace).ok()
    until("the end of the pods", lambda: not api.items("Pod", namespace))
    return {pod["metadata"]["name"]: (bool(pod["spec"].get("nodeName")), _reason(pod)) for pod in pods}


def _all_bound(pods: list[Json], planned: set[str]) -> list[Json] | None:
    """The pods, once each that is waited for has a node."""
    bound = {pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")}
    return pods if planned <= bound else None


def _decided(pods: list[Json]) -> list[Json] | None:
    """The pods, once each has a node or a refusal."""
    return pods if all(pod["spec"].get("nodeName") or _reason(pod) for pod in pods) else None


def _reason(pod: Json) -> str:
    """Why the scheduler has not bound a pod, or ""."""
    return next(
        (
            str(one.get("message", "refused"))
            for one in pod["status"].get("conditions", ())
            if one["type"] == "PodScheduled" and one["status"] == "False"
        ),
        "",
    )
