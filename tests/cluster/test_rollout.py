"""The real controller of Argo Rollouts decides: the pods of its ReplicaSets start on a node, of each version."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import ROLLOUTS, create, running
from tests.cluster.made_pods import (
    assert_denied,
    assert_starts,
    beside_the_coordinator,
    generated,
    made_pods,
    object_of,
)
from tests.custom_resources.objects import template

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
HASH = "rollouts-pod-template-hash"
STRATEGIES: dict[str, Json] = {
    "canary": {"canary": {"steps": [{"setWeight": 50}, {"pause": {}}]}},
    "blueGreen": {"blueGreen": {"activeService": "web", "autoPromotionEnabled": False}},
}


@pytest.fixture(name="controller", scope="module")
def the_controller(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(ROLLOUTS, cluster) as made:
        yield made


def rollout(namespace: str, strategy: str, *arguments: str, name: str = "web") -> bytes:
    """The output that has a Rollout of two pods, whose program knows the hash of its template."""
    field = {"fieldRef": {"fieldPath": f"metadata.labels['{HASH}']"}}
    pod = template("web", args=["serve", *arguments], env=[{"name": "HASH", "valueFrom": field}])
    value = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": pod["metadata"]["labels"]},
            "strategy": STRATEGIES[strategy],
            "template": pod,
        },
    }
    return generated(value)


def created(cluster: ControlPlane, api: Api, namespace: str, strategy: str, name: str = "web") -> list[Json]:
    """The pods that the controller and its ReplicaSet make of it."""
    service = {"ports": [{"port": 80}], "selector": {"app": "web"}}
    metadata = {"name": "web", "namespace": namespace}
    api.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service}).ok()
    create(cluster, ROLLOUTS, object_of(rollout(namespace, strategy, name=name), "Rollout"))
    return made_pods(api, namespace, 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_pod_of_every_version_starts(controller: ControlPlane, api: Api, namespace: str, strategy: str) -> None:
    """The second version runs beside the first one, each by its own policy; that is a rollout and no drift."""
    first = created(controller, api, namespace, strategy)
    assert (
        beside_the_coordinator(controller, namespace, "rollouts.argoproj.io,replicasets", rollout(namespace, strategy))
        == []
    )
    # without nodes none gets ready, and a second version waits for that
    for pod in first:
        name = pod["metadata"]["name"]
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        api("PATCH", f"/api/v1/namespaces/{namespace}/pods/{name}/status", {"status": status}, MERGE).ok()
    output = rollout(namespace, strategy, "--fast")
    changed = {"spec": {"template": object_of(output, "Rollout")["spec"]["template"]}}
    path = f"{ROLLOUTS.path.format(namespace)}/web"
    api("PATCH", path, changed, MERGE).ok()
    hashes = {pod["metadata"]["labels"][HASH] for pod in first}

    def second() -> list[Json]:
        return [one for one in api.items("Pod", namespace) if one["metadata"]["labels"][HASH] not in hashes]

    until("pods of the second version", lambda: bool(second()), 60)
    for pod in (*first, *second()):
        assert_starts(pod)
    assert beside_the_coordinator(controller, namespace, "rollouts.argoproj.io,replicasets", output) == []


@pytest.mark.parametrize("length", [46, 47, 48, 57, 58, 63])
def test_the_pods_of_a_long_name_start(controller: ControlPlane, api: Api, namespace: str, length: int) -> None:
    for pod in created(controller, api, namespace, "canary", "n" * length):
        assert len(pod["metadata"]["name"]) <= 63
        assert_starts(pod)


@pytest.mark.parametrize("change", ["HASH=../x", "HASH=UPPER", "LD_PRELOAD=/x"])
def test_a_single_change_of_them_is_denied(controller: ControlPlane, api: Api, namespace: str, change: str) -> None:
    (pod, *_) = created(controller, api, namespace, "canary")
    assert_denied(pod, "web", change)
