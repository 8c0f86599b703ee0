"""What a controller made is compared with its object: variables by value or form, memory with all containers."""

import copy
from typing import Any

import pytest

from krm_function.check.running_pods import judge_pod
from krm_function.config.references import References
from krm_function.contrast.vm_size import MIB, asked_memory, requested_memory
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.workload import Workload, workloads_of
from tests.custom_resources.objects import Json, leader_worker_set, ray_cluster, rendered
from tests.hosts.documents import load

ADDED = {"LWS_LEADER_ADDRESS": "vllm-0.vllm.shop", "LWS_GROUP_SIZE": "3", "LWS_WORKER_INDEX": "1"}


def workload(value: Json, part: str) -> Workload:
    (found,) = (one for one in workloads_of(value, (), reference(value)) if one.ref.part == part)
    return found


@pytest.fixture(name="worker", scope="module")
def the_worker() -> Workload:
    """The workload of the workers of a rendered LeaderWorkerSet."""
    output = rendered(leader_worker_set()).ok()
    return workload(next(one for one in load(output) if one["kind"] == "LeaderWorkerSet"), "worker")


def made(one: Workload, env: dict[str, Any], container: str = "") -> Json:
    """The pod that the controller makes of a template. env: what it writes, into one container or all."""
    spec = copy.deepcopy(one.pod_spec)
    for each in (*spec["initContainers"], *spec["containers"]):
        values = env if container in ("", each["name"]) else ADDED
        before = [one if isinstance(one, dict) else {"name": name, "value": one} for name, one in values.items()]
        each["env"] = [*before, *each.get("env", ())]
    labels = {
        "leaderworkerset.sigs.k8s.io/name": "vllm",
        "leaderworkerset.sigs.k8s.io/group-index": "0",
        "leaderworkerset.sigs.k8s.io/worker-index": "1",
    }
    metadata = copy.deepcopy(one.pod_metadata)
    metadata = {**metadata, "labels": {**metadata["labels"], **labels}, "name": "vllm-0-1", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def judged(one: Workload, env: dict[str, Any], container: str = "") -> tuple[str, ...]:
    return judge_pod(made(one, env, container), one, References()).fields


def test_what_the_controller_writes_is_no_difference(worker: Workload) -> None:
    assert judged(worker, ADDED) == ()
    assert judged(worker, {**ADDED, "LWS_LEADER_ADDRESS": "vllm-17.vllm.shop", "LWS_WORKER_INDEX": "2"}) == ()


def test_a_variable_that_an_older_controller_does_not_write_is_none(worker: Workload) -> None:
    assert judged(worker, {}) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LWS_GROUP_SIZE", "4"),
        ("LWS_GROUP_SIZE", ""),
        ("LWS_LEADER_ADDRESS", "evil.example.com"),
        ("LWS_LEADER_ADDRESS", "vllm-0.vllm.shop.evil.example.com"),
        ("LWS_LEADER_ADDRESS", "other-0.vllm.shop"),
        ("LWS_WORKER_INDEX", "1; evil"),
        ("LWS_WORKER_INDEX", {"name": "LWS_WORKER_INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}),
    ],
)
@pytest.mark.parametrize("container", ["worker", "contrast-initializer"])
def test_another_value_is_named_without_it(worker: Workload, name: str, value: Any, container: str) -> None:
    fields = judged(worker, {**ADDED, name: value}, container)
    assert fields == (f"{container}: variable {name}",)


RAY_ADDED = {"FQ_RAY_IP": "llm-head-svc.shop.svc.cluster.local", "RAY_PORT": "6379"}


def test_what_a_template_has_itself_is_its_own() -> None:
    """RAY_PORT is for templates without one; FQ_RAY_IP comes behind the template's, and counts."""
    from krm_function.policy.controllers import moved_variables

    value = ray_cluster()
    container = value["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "RAY_PORT", "value": "7000"}, {"name": "FQ_RAY_IP", "value": "mine"}]
    one = workload(value, "worker-cpu")
    pod = {"metadata": {}, "spec": copy.deepcopy(one.pod_spec)}
    last = {"name": "FQ_RAY_IP", "value": RAY_ADDED["FQ_RAY_IP"]}
    pod["spec"]["containers"][0]["env"].append(last)
    assert list(moved_variables(pod, one)) == []
    last["value"] = "evil"
    assert list(moved_variables(pod, one)) == ["ray: variable FQ_RAY_IP"]
    address = {"name": "RAY_ADDRESS", "value": f"{RAY_ADDED['FQ_RAY_IP']}:6379"}  # the entry says $(FQ_RAY_IP)
    pod["spec"]["containers"][0]["env"] = [address]
    assert list(moved_variables(pod, one)) == []
    address["value"] = "evil:6379"
    assert list(moved_variables(pod, one)) == ["ray: variable RAY_ADDRESS"]
    name = {"name": "RAY_CLOUD_INSTANCE_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    pod["spec"]["containers"][0]["env"] = [name]
    assert list(moved_variables(pod, one)) == []
    name["valueFrom"] = {"fieldRef": {"fieldPath": "metadata.uid"}}
    assert list(moved_variables(pod, one)) == ["ray: variable RAY_CLOUD_INSTANCE_ID"]


def memory(limits: list[str], starting: list[str] = []) -> Workload:  # noqa: B006 (not changed)
    """The first worker of a RayCluster, with containers of these limits."""
    value = ray_cluster()
    pod = value["spec"]["workerGroupSpecs"][0]["template"]["spec"]
    first = pod["containers"][0]
    for field, amounts in (("containers", limits), ("initContainers", starting)):
        pod[field] = [
            {**first, "name": f"{field}-{number}", "resources": {"limits": {"memory": amount}}}
            for number, amount in enumerate(amounts)
        ]
    return workload(value, "worker-cpu")


@pytest.mark.parametrize(
    ("limits", "starting", "asked", "requested"),
    [
        (["200Mi"], [], 256, 256),  # the operator's init container has 256Mi
        (["300Mi"], [], 300, 300),
        (["100Mi", "100Mi"], [], 256, 256),
        (["200Mi"], ["100Mi"], 356, 256),
        (["400Mi"], ["100Mi"], 400, 400),
    ],
)
def test_the_memory_of_an_added_init_container_counts(
    limits: list[str], starting: list[str], asked: int, requested: int
) -> None:
    one = memory(limits, starting)
    assert (asked_memory(one) / MIB, requested_memory(one) / MIB) == (asked, requested)


def test_the_head_has_none() -> None:
    assert asked_memory(workload(ray_cluster(), "head")) / MIB == 200
