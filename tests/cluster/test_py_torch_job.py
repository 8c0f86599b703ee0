"""The training operator's real controller decides: the pods that it makes of a rendered PyTorchJob start on a node."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import TRAINING, create, running
from tests.cluster.made_pods import (
    assert_denied,
    assert_starts,
    beside_the_coordinator,
    generated,
    made_pods,
    object_of,
)
from tests.custom_resources.objects import py_torch_job

Json = dict[str, Any]
JOB = "training.kubeflow.org/"
LABELS = ("job-name", "operator-name", "replica-type", "replica-index")
PORT = [{"name": "pytorchjob-port", "containerPort": 29500}]
# roles, the rest of the spec, ports of the container, the number of pods
FORMS: dict[str, tuple[str, Json, list[Json], int]] = {
    "a master": ("Master", {}, [], 1),
    "a master of eight processes and a port": ("Master", {"nprocPerNode": "8"}, PORT, 1),
    "workers": ("Worker", {"nprocPerNode": "gpu"}, [], 3),
    "elastic workers": ("Worker", {"elasticPolicy": {}}, [], 3),
    "elastic workers of a range and a port": (
        "Worker",
        {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}},
        PORT,
        3,
    ),
    "elastic workers that say all": (
        "Worker",
        {
            "elasticPolicy": {
                "rdzvHost": "etcd",
                "rdzvPort": 2379,
                "rdzvBackend": "etcd",
                "rdzvId": "run7",
                "maxReplicas": 3,
                "maxRestarts": 9,
                "standalone": True,
            }
        },
        [],
        3,
    ),
}


@pytest.fixture(name="operator", scope="module")
def the_operator(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(TRAINING, cluster) as made:
        yield made


def rendered(namespace: str, form: str, name: str = "llm") -> bytes:
    """A job whose program knows its name and what the operator labels it with."""
    role, spec, ports, _ = FORMS[form]
    value = py_torch_job(name, roles=(role,), **spec)
    value["metadata"]["namespace"] = namespace
    fields = ["metadata.name", *(f"metadata.labels['{JOB}{name}']" for name in LABELS)]
    (container,) = value["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"]
    container["env"] = [
        {"name": f"V{at}", "valueFrom": {"fieldRef": {"fieldPath": path}}} for at, path in enumerate(fields)
    ]
    container["args"] = ["$(PET_NNODES)", "$(V0)"]
    container["ports"] = ports
    return generated(value)


def created(cluster: ControlPlane, api: Api, namespace: str, form: str) -> list[Json]:
    """The pods that the operator makes of it."""
    create(cluster, TRAINING, object_of(rendered(namespace, form), "PyTorchJob"))
    return made_pods(api, namespace, FORMS[form][3])


@pytest.mark.parametrize("form", FORMS)
def test_every_pod_of_the_operator_starts(operator: ControlPlane, api: Api, namespace: str, form: str) -> None:
    made = created(operator, api, namespace, form)
    assert len(made) == FORMS[form][3]
    for pod in made:
        assert_starts(pod)
    said = beside_the_coordinator(operator, namespace, "pytorchjobs", rendered(namespace, form))
    assert said == [], said


@pytest.mark.parametrize("length", [54, 55, 60, 63])
@pytest.mark.parametrize("form", ["a master", "workers"])
def test_the_pods_of_a_long_name_start(
    operator: ControlPlane, api: Api, namespace: str, form: str, length: int
) -> None:
    create(operator, TRAINING, object_of(rendered(namespace, form, "n" * length), "PyTorchJob"))
    for pod in made_pods(api, namespace, FORMS[form][3]):
        assert_starts(pod)


@pytest.mark.parametrize("form", ["a master", "elastic workers"])
def test_a_single_change_of_them_is_denied(operator: ControlPlane, api: Api, namespace: str, form: str) -> None:
    changes = ["PET_NNODES=9", "PET_NPROC_PER_NODE=1", "V1=evil", "V4=x", "LD_PRELOAD=/x", "PYTHONPATH=/x"]
    own = ["MASTER_ADDR=evil", "RANK=1"] if form == "a master" else ["PET_RDZV_ENDPOINT=evil:1", "PET_RDZV_ID=1"]
    pod = created(operator, api, namespace, form)[-1]
    for change in (*changes, *own):
        assert_denied(pod, "pytorch", change)


def test_scaled_up_and_made_again_the_new_pods_start(operator: ControlPlane, api: Api, namespace: str) -> None:
    before = created(operator, api, namespace, "elastic workers of a range and a port")
    patch = '[{"op": "replace", "path": "/spec/pytorchReplicaSpecs/Worker/replicas", "value": 4}]'
    done = operator.kubectl("-n", namespace, "patch", "pytorchjob", "llm", "--type", "json", "-p", patch)
    assert done.returncode == 0, done.stderr
    done = operator.kubectl("-n", namespace, "delete", "pod", "llm-worker-1", "--now")
    assert done.returncode == 0, done.stderr
    made = made_pods(api, namespace, 4)
    old = {pod["metadata"]["uid"] for pod in before}
    new = [pod for pod in made if pod["metadata"]["uid"] not in old]
    assert {pod["metadata"]["name"] for pod in new} == {"llm-worker-1", "llm-worker-3"}
    for pod in new:
        assert_starts(pod)
