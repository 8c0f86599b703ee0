"""The real controller of agents' Sandboxes decides: the one pod of each starts on a node, and no changed one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import SANDBOX, create, running
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


@pytest.fixture(name="controller", scope="module")
def the_controller(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(SANDBOX, cluster) as made:
        yield made


def sandbox(namespace: str, name: str = "agent") -> bytes:
    """The output that has a Sandbox, whose program knows its name and the label that the controller writes."""
    fields = {"NAME": "metadata.name", "HASH": "metadata.labels['agents.x-k8s.io/sandbox-name-hash']"}
    env = [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()]
    value = {
        "apiVersion": "agents.x-k8s.io/v1alpha1",
        "kind": "Sandbox",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podTemplate": template("agent", env=env)},
    }
    return generated(value)


def created(cluster: ControlPlane, api: Api, namespace: str, name: str = "agent") -> Json:
    output = sandbox(namespace, name)
    create(cluster, SANDBOX, object_of(output, "Sandbox"))
    (pod,) = made_pods(api, namespace, 1)
    return pod


def test_the_pod_of_the_controller_starts(controller: ControlPlane, api: Api, namespace: str) -> None:
    pod = created(controller, api, namespace)
    assert_starts(pod)
    assert beside_the_coordinator(controller, namespace, "sandboxes", sandbox(namespace)) == []


@pytest.mark.parametrize("length", [58, 63])
def test_the_pod_of_a_long_name_starts(controller: ControlPlane, api: Api, namespace: str, length: int) -> None:
    assert_starts(created(controller, api, namespace, "n" * length))


@pytest.mark.parametrize("change", ["NAME=other", "HASH=../x", "LD_PRELOAD=/x"])
def test_a_single_change_of_it_is_denied(controller: ControlPlane, api: Api, namespace: str, change: str) -> None:
    pod = created(controller, api, namespace)
    assert_denied(pod, "agent", change)
