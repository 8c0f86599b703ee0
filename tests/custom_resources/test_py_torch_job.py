"""PyTorchJob: the variables that the training operator writes are in the policy, and what is not derived is refused."""

from typing import Any

import pytest

from tests.custom_resources.objects import data_of, pod_name, py_torch_job, rendered, variables

Json = dict[str, Any]
ELASTIC: dict[str, tuple[Json, dict[str, str]]] = {
    "nothing": ({}, {"PET_RDZV_ENDPOINT": "llm-worker-0:23456", "PET_NNODES": "3:3"}),
    "a host": ({"rdzvHost": "etcd.shop"}, {"PET_RDZV_ENDPOINT": "etcd.shop:23456"}),
    "a port": ({"rdzvPort": 29400}, {"PET_RDZV_ENDPOINT": "llm-worker-0:29400"}),
    "both": ({"rdzvHost": "etcd.shop", "rdzvPort": 2379}, {"PET_RDZV_ENDPOINT": "etcd.shop:2379"}),
    "the fewest": ({"minReplicas": 2}, {"PET_NNODES": "2:2"}),
    "the most": ({"maxReplicas": 4}, {"PET_NNODES": "4:4"}),
    "a range": ({"minReplicas": 2, "maxReplicas": 4}, {"PET_NNODES": "2:4"}),
    "the rest": (
        {"rdzvBackend": "etcd", "rdzvId": "run7", "maxRestarts": 9, "standalone": True},
        {"PET_RDZV_BACKEND": "etcd", "PET_RDZV_ID": "run7", "PET_MAX_RESTARTS": "9", "PET_STANDALONE": ""},
    ),
}


def of_operator(value: Json, part: str) -> dict[str, str]:
    """The variables of the container, without those that every container has."""
    found = variables(data_of(rendered(value).ok(), f"PyTorchJob/shop/llm#{part}"), "pytorch")
    return {
        name: text for name, text in found.items() if name.startswith(("PET_", "MASTER_", "PYTHON", "RANK", "WORLD"))
    }


def test_a_master_alone() -> None:
    found = of_operator(py_torch_job(roles=("Master",)), "master")
    assert found == {
        "PYTHONUNBUFFERED": "1",
        "MASTER_PORT": "23456",
        "PET_MASTER_PORT": "23456",
        "MASTER_ADDR": "llm-master-0",
        "PET_MASTER_ADDR": "llm-master-0",
        "WORLD_SIZE": "1",
        "RANK": "0",
        "PET_NODE_RANK": "0",
        "PET_NPROC_PER_NODE": "auto",
        "PET_NNODES": "1",
    }


@pytest.mark.parametrize(("given", "size"), [("auto", "1"), ("gpu", "1"), ("8", "8")])
def test_the_world_is_as_large_as_the_processes_of_a_node(given: str, size: str) -> None:
    found = of_operator(py_torch_job(roles=("Master",), nprocPerNode=given), "master")
    assert (found["WORLD_SIZE"], found["PET_NPROC_PER_NODE"]) == (size, given)


@pytest.mark.parametrize("name", ["pytorchjob-port", "http"])
def test_the_port_is_that_of_the_name_in_the_container_of_the_name(name: str) -> None:
    value = py_torch_job(roles=("Master",))
    containers = value["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    containers[0]["ports"] = [{"name": "metrics", "containerPort": 9090}, {"name": name, "containerPort": 29500}]
    assert of_operator(value, "master")["MASTER_PORT"] == ("29500" if name == "pytorchjob-port" else "23456")


def test_workers_that_are_no_elastic_ones() -> None:
    found = of_operator(py_torch_job(), "worker")
    assert found == {"PYTHONUNBUFFERED": "1", "PET_NPROC_PER_NODE": "auto", "PET_NNODES": "3"}


@pytest.mark.slow
@pytest.mark.parametrize("what", ELASTIC)
def test_elastic_workers(what: str) -> None:
    policy, wanted = ELASTIC[what]
    found = of_operator(py_torch_job(elasticPolicy=policy), "worker")
    assert {name: found.get(name) for name in wanted} == wanted
    assert found.keys() - wanted.keys() <= {
        *("PYTHONUNBUFFERED", "PET_NPROC_PER_NODE", "PET_NNODES", "PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND")
    }


@pytest.mark.parametrize(("role", "name"), [("Master", "^llm-master-0$"), ("Worker", "^llm-worker-[0-9]{1,10}$")])
def test_the_names_of_pods(role: str, name: str) -> None:
    output = rendered(py_torch_job(roles=(role,))).ok()
    assert pod_name(data_of(output, f"PyTorchJob/shop/llm#{role.lower()}")) == name


@pytest.mark.parametrize(
    ("roles", "spec", "said"),
    [
        (("Master", "Worker"), {}, "adds an init container to workers"),
        (("Master",), {"elasticPolicy": {}}, "elasticPolicy applies to workers"),
        (("Worker",), {"elasticPolicy": {"nProcPerNode": 2}}, "nProcPerNode is deprecated"),
        (("Worker",), {"elasticPolicy": {"rdzvConf": [{"key": "a", "value": "b"}]}}, "joins the entries"),
    ],
)
def test_what_is_not_derived_is_refused(roles: tuple[str, ...], spec: Json, said: str) -> None:
    made = rendered(py_torch_job(roles=roles, **spec))
    assert (made.code, made.out) == (1, b"")
    assert "CC0694" in made.err
    assert said in made.err


def test_two_masters_are_refused() -> None:
    value = py_torch_job(roles=("Master",))
    value["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
    made = rendered(value)
    assert made.code == 1
    assert "the operator creates only one master" in made.err
