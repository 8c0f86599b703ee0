"""The real controller of JobSets decides: the pods that the Job controller makes of its Jobs start on a node."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.custom_controllers import JOB_SET, create, running
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
LABELS = "jobset.sigs.k8s.io/"


@pytest.fixture(name="controller", scope="module")
def the_controller(cluster: ControlPlane) -> Iterator[ControlPlane]:
    with running(JOB_SET, cluster) as made:
        yield made


def variable(name: str, key: str, what: str = "labels") -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.{what}['{key}']"}}}


def replicated(name: str, **job: Any) -> Json:
    """A replicatedJob whose container has what the controller writes into labels and annotations."""
    env = [
        variable("JOBSET", f"{LABELS}jobset-name"),
        variable("ROLE", f"{LABELS}replicatedjob-name", "annotations"),
        variable("REPLICAS", f"{LABELS}replicatedjob-replicas"),
        variable("NUMBER", f"{LABELS}job-index"),
        variable("ALL_NUMBER", f"{LABELS}job-global-index", "annotations"),
        variable("ALL", f"{LABELS}global-replicas"),
        variable("TRY", f"{LABELS}restart-attempt"),
        variable("KEY", f"{LABELS}job-key"),
        variable("UID", f"{LABELS}jobset-uid"),
    ]
    pod = template(name, env=env)
    pod["spec"]["restartPolicy"] = "Never"
    spec = {"parallelism": 2, "completions": 2, "backoffLimit": 0, **job, "template": pod}
    return {"name": name, "replicas": 2, "template": {"spec": spec}}


def job_set(namespace: str, name: str = "train", **job: Any) -> bytes:
    """The output that has a JobSet with two replicatedJobs of two Jobs of two pods."""
    value = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicatedJobs": [replicated("driver", **job), replicated("worker", **job)]},
    }
    return generated(value)


def created(cluster: ControlPlane, api: Api, namespace: str, **job: Any) -> list[Json]:
    """The pods that the controller and its Jobs make of it."""
    output = job_set(namespace, **job)
    create(cluster, JOB_SET, object_of(output, "JobSet"))
    return made_pods(api, namespace, 8)


@pytest.mark.parametrize("job", [{}, {"completionMode": "NonIndexed"}], ids=["Indexed", "NonIndexed"])
def test_every_pod_of_the_controller_starts(controller: ControlPlane, api: Api, namespace: str, job: Json) -> None:
    made = created(controller, api, namespace, **job)
    assert len(made) == 8
    for pod in made:
        assert_starts(pod)


@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
@pytest.mark.parametrize("length", [40, 43, 46])
def test_the_pods_of_a_long_name_start(
    controller: ControlPlane, api: Api, namespace: str, length: int, mode: str
) -> None:
    """Of Jobs with names of up to 55 characters: the webhook of JobSet refuses names of pods that would be cut."""
    output = job_set(namespace, "n" * length, completionMode=mode)
    create(controller, JOB_SET, object_of(output, "JobSet"))
    for pod in made_pods(api, namespace, 8):
        assert_starts(pod)


@pytest.mark.parametrize("change", ["JOBSET=evil", "ROLE=evil", "REPLICAS=99", "NUMBER=x", "KEY=../x", "LD_PRELOAD=/x"])
def test_a_single_change_of_them_is_denied(controller: ControlPlane, api: Api, namespace: str, change: str) -> None:
    for pod in created(controller, api, namespace)[:2]:
        assert_denied(pod, pod["spec"]["containers"][0]["name"], change)


def test_check_of_the_cluster_knows_what_the_controller_made(
    controller: ControlPlane, api: Api, namespace: str
) -> None:
    created(controller, api, namespace)
    said = beside_the_coordinator(controller, namespace, "jobsets", job_set(namespace))
    assert said == [], said


def test_check_of_the_cluster_knows_the_index_of_a_pod_of_a_job(
    controller: ControlPlane, api: Api, namespace: str
) -> None:
    """Kubernetes' own controller writes it into an annotation, whoever made the Job."""
    pod = template("batch", env=[variable("INDEX", "batch.kubernetes.io/job-completion-index", "annotations")])
    pod["spec"]["restartPolicy"] = "Never"
    value = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "batch", "namespace": namespace},
        "spec": {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": pod},
    }
    output = generated(value)
    job = object_of(output, "Job")
    create(controller, JOB_SET._replace(path="/apis/batch/v1/namespaces/{}/jobs"), job)
    made_pods(api, namespace, 2)
    said = beside_the_coordinator(controller, namespace, "jobs", output)
    assert said == [], said
