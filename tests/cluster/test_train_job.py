"""A TrainJob is refused with a way out that is one: the JobSet that the trainer makes is sealed, and its pods start."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api, until
from tests.cluster.conftest import add_namespace
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import JOB_SET, TRAINER, create, running
from tests.cluster.made_pods import (
    assert_denied,
    assert_starts,
    beside_the_coordinator,
    generated,
    made_pods,
    object_of,
)
from tests.custom_resources.objects import OPTIONS, stream, template
from tests.hosts.running import called

Json = dict[str, Any]
RUNTIME = {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "torch"}
NODES = 2


@pytest.fixture(name="trainer", scope="module")
def the_trainer(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(JOB_SET, cluster), running(TRAINER, cluster) as made:
        yield made


def objects(namespace: str) -> tuple[Json, Json]:
    """A runtime for torchrun, and a job of it that waits."""
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    node = {"name": "node", "template": {"metadata": step, "spec": {"template": {"spec": template("node")["spec"]}}}}
    policy = {"numNodes": 1, "torch": {"numProcPerNode": "auto"}}
    made_of = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": [node]}}}
    asked = {"runtimeRef": RUNTIME, "suspend": True, "trainer": {"numNodes": NODES, "numProcPerNode": 4}}
    return (
        {**head, "kind": "TrainingRuntime", "metadata": {"name": "torch", "namespace": namespace}, "spec": made_of},
        {**head, "kind": "TrainJob", "metadata": {"name": "llm", "namespace": namespace}, "spec": asked},
    )


def job_set(cluster: ControlPlane, namespace: str) -> Json:
    """What the JobSet says that the trainer makes of them; it is made in another namespace, which goes with it."""
    elsewhere = f"{namespace}-elsewhere"
    add_namespace(cluster.api, elsewhere)
    runtime, job = objects(elsewhere)
    path = TRAINER.path.replace("trainjobs", "trainingruntimes")
    create(cluster, TRAINER._replace(path=path), runtime)
    create(cluster, TRAINER, job)
    where = f"{JOB_SET.path.format(elsewhere)}/llm"
    found: Json = until("the JobSet of the trainer", lambda: _found(cluster.api, where))
    cluster.api.delete("Namespace", elsewhere).ok()
    return {
        **{key: found[key] for key in ("apiVersion", "kind")},
        "metadata": {"name": "llm", "namespace": namespace},
        "spec": {**found["spec"], "suspend": False},
    }


def _found(api: Api, path: str) -> Json | None:
    answer = api("GET", path)
    return answer.value if answer.code == 200 else None


def test_the_job_set_of_the_trainer_is_sealed_and_its_pods_start(
    trainer: ControlPlane, api: Api, namespace: str
) -> None:
    output = generated(job_set(trainer, namespace))
    create(trainer, JOB_SET, object_of(output, "JobSet"))
    made = made_pods(api, namespace, NODES)
    assert len(made) == NODES
    for pod in made:
        env = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0]["env"]}
        assert (env["PET_NNODES"], env["PET_NPROC_PER_NODE"]) == (str(NODES), "4")
        assert_starts(pod)
        for change in ("PET_NNODES=9", "PET_MASTER_ADDR=evil", "PET_NODE_RANK=x", "LD_PRELOAD=/x"):
            assert_denied(pod, "node", change)
    said = beside_the_coordinator(trainer, namespace, "jobsets", output)
    assert said == [], said


def test_the_runtime_that_has_its_pods_is_refused_with_that_way_out() -> None:
    made = called("generate", "-", *OPTIONS, stdin=stream(*objects("shop")).encode())
    assert (made.code, made.out) == (1, b"")
    assert "the JobSet that the trainer creates" in made.err
