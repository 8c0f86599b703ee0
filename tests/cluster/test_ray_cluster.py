"""The real operator of Ray decides: the pods that it makes of a rendered RayCluster start on a node."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import KUBERAY, create, running
from tests.cluster.made_pods import (
    CREATE,
    agent_of,
    assert_denied,
    assert_starts,
    beside_the_coordinator,
    generated,
    host_of,
    made_pods,
    names,
    object_of,
)
from tests.custom_resources.objects import ray_cluster

Json = dict[str, Any]
PODS = 4
FORMS: dict[str, Json] = {
    "a command of its own": {},
    "the operator's command": {"own_command": False},
    "a version with HTTP probes": {"rayVersion": "2.53.0"},
}


@pytest.fixture(name="operator", scope="module")
def the_operator(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(KUBERAY, cluster) as made:
        yield made


def rendered(namespace: str, form: str, name: str = "llm", version: str = "v1") -> bytes:
    value = ray_cluster(name, **FORMS[form])
    value["apiVersion"] = f"ray.io/{version}"
    value["metadata"]["namespace"] = namespace
    return generated(value)


def created(cluster: ControlPlane, api: Api, namespace: str, form: str = "a command of its own") -> list[Json]:
    """The pods that the operator makes of a rendered object."""
    create(cluster, KUBERAY, object_of(rendered(namespace, form), "RayCluster"))
    return made_pods(api, namespace, PODS)


@pytest.mark.parametrize("form", FORMS)
def test_every_pod_of_the_operator_starts(operator: ControlPlane, api: Api, namespace: str, form: str) -> None:
    made = created(operator, api, namespace, form)
    assert len(made) == PODS
    for pod in made:
        host, agent = host_of(pod), agent_of(pod)
        for name in names(host):
            assert agent.allows(CREATE, host.create(name)), (pod["metadata"]["name"], name)
        ray = pod["spec"]["containers"][0]
        for probe in (ray["livenessProbe"], ray["readinessProbe"]):
            if "exec" in probe:
                assert agent.allows("ExecProcessRequest", host.execute("ray", probe["exec"]["command"]))


def test_the_pods_of_an_object_of_the_old_version_start(operator: ControlPlane, api: Api, namespace: str) -> None:
    output = rendered(namespace, "the operator's command", version="v1alpha1")
    old = KUBERAY._replace(path=KUBERAY.path.replace("/v1/", "/v1alpha1/"))
    create(operator, old, object_of(output, "RayCluster"))
    for pod in made_pods(api, namespace, PODS):
        assert_starts(pod)


@pytest.mark.parametrize("length", [40, 46, 47, 50, 53])
def test_the_pods_of_a_long_name_start(operator: ControlPlane, api: Api, namespace: str, length: int) -> None:
    """Up to the longest name that the operator takes."""
    output = rendered(namespace, "a command of its own", "n" * length)
    create(operator, KUBERAY, object_of(output, "RayCluster"))
    for pod in made_pods(api, namespace, PODS):
        assert_starts(pod)


@pytest.mark.parametrize(
    "change",
    [
        "RAY_CLOUD_INSTANCE_ID=other",
        "RAY_ADDRESS=evil.example.com:6379",
        "KUBERAY_GEN_RAY_START_CMD=evil",
        "RAY_PORT=1",
        "LD_PRELOAD=/x",
    ],
)
def test_a_single_change_of_them_is_denied(operator: ControlPlane, api: Api, namespace: str, change: str) -> None:
    for pod in created(operator, api, namespace):
        assert_denied(pod, "ray", change)


def test_what_waits_for_the_head_asks_no_other_one(operator: ControlPlane, api: Api, namespace: str) -> None:
    for pod in created(operator, api, namespace):
        if "worker" not in pod["metadata"]["name"]:
            continue
        host, agent = host_of(pod), agent_of(pod)
        assert agent.allows(CREATE, host.create("pause"))
        request = host.create("wait-gcs-ready")
        args = request["OCI"]["Process"]["Args"]
        args[-1] = args[-1].replace("llm-head-svc", "evil")
        assert not agent.allows(CREATE, request)
        assert_denied(pod, "wait-gcs-ready", "FQ_RAY_IP=evil")
        assert not agent.allows("ExecProcessRequest", host.execute("ray", ["bash", "-c", "id"]))


def test_scaled_up_and_restarted_the_new_pods_start(operator: ControlPlane, api: Api, namespace: str) -> None:
    before = {pod["metadata"]["name"] for pod in created(operator, api, namespace)}
    patch = '[{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 3}]'
    done = operator.kubectl("-n", namespace, "patch", "raycluster", "llm", "--type", "json", "-p", patch)
    assert done.returncode == 0, done.stderr
    restarted = next(name for name in before if "-worker-" in name)
    done = operator.kubectl("-n", namespace, "delete", "pod", restarted, "--now")
    assert done.returncode == 0, done.stderr
    made = made_pods(api, namespace, PODS + 1)
    assert restarted not in {pod["metadata"]["name"] for pod in made}
    new = [pod for pod in made if pod["metadata"]["name"] not in before]
    assert len(new) == 2
    for pod in new:
        assert_starts(pod)


def test_check_of_the_cluster_knows_what_the_operator_made(operator: ControlPlane, api: Api, namespace: str) -> None:
    created(operator, api, namespace)
    said = beside_the_coordinator(operator, namespace, "rayclusters", rendered(namespace, "a command of its own"))
    assert said == [], said
