"""A RayCluster is sealed as the pods that KubeRay's operator makes, or refused with what to do."""

import json
from collections.abc import Callable

import pytest
import yaml

from tests.custom_resources.objects import OPTIONS, Json, data_of, pod_name, ran, ray_cluster, rendered, variables

HEAD, WORKER, GPU = (f"RayCluster/shop/llm#{part}" for part in ("head", "worker-cpu", "worker-gpu"))
ADDRESS = "llm-head-svc.shop.svc.cluster.local"


@pytest.fixture(name="output", scope="module")
def the_output() -> bytes:
    return rendered(ray_cluster()).ok()


def process(data: Json, container: str) -> list[str]:
    (found,) = (
        one["OCI"]["Process"]["Args"]
        for one in data["containers"]
        if one["OCI"]["Annotations"].get("io.kubernetes.cri.container-name") == container
    )
    return list(found)


def head_of(value: Json) -> Json:
    head: Json = value["spec"]["headGroupSpec"]
    return head


def test_head_and_groups_have_the_names_of_the_operator(output: bytes) -> None:
    suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}$"
    assert pod_name(data_of(output, HEAD)) == rf"^llm-head-{suffix}"
    assert pod_name(data_of(output, WORKER)) == rf"^llm-cpu-worker-{suffix}"
    assert pod_name(data_of(output, GPU)) == rf"^llm-gpu-worker-{suffix}"


def test_variables_are_bound_to_the_object(output: bytes) -> None:
    head, worker = (variables(data_of(output, name), "ray") for name in (HEAD, WORKER))
    assert head["RAY_ADDRESS"] == "127.0.0.1:6379"
    assert worker["RAY_ADDRESS"] == f"{ADDRESS}:6379"
    assert (worker["FQ_RAY_IP"], worker["RAY_IP"]) == (ADDRESS, "llm-head-svc")
    assert "FQ_RAY_IP" not in head


COMMON = ("block", "dashboard-agent-listen-port=52365", "memory=209715200", "metrics-export-port=8080")


@pytest.mark.parametrize(
    ("name", "start", "options"),
    [
        (HEAD, "ray start --head ", (*COMMON, "dashboard-host=0.0.0.0", "num-cpus=0")),
        (GPU, "ray start ", (*COMMON, f"address={ADDRESS}:6379", "num-cpus=2", "num-gpus=1")),
    ],
)
def test_the_command_is_the_one_that_the_operator_computes(name: str, start: str, options: tuple[str, ...]) -> None:
    data = data_of(rendered(ray_cluster(own_command=False)).ok(), name)
    command = start + "".join(f" --{option} " for option in sorted(options))
    assert process(data, "ray") == ["/bin/bash", "-c", "--", f"ulimit -n 65536; {command}"]


def test_a_worker_waits_for_the_head_of_its_own_object(output: bytes) -> None:
    assert f"--address {ADDRESS}:6379" in process(data_of(output, WORKER), "wait-gcs-ready")[-1]


def test_a_variable_of_the_user_stays_where_the_operator_leaves_it() -> None:
    value = ray_cluster()
    head_of(value)["template"]["spec"]["containers"][0]["env"] = [{"name": "RAY_PORT", "value": "7000"}]
    assert variables(data_of(rendered(value).ok(), HEAD), "ray")["RAY_PORT"] == "7000"


def reading(value: Json, *keys: str) -> Json:
    """A RayCluster whose GPU group reads labels of its pods into variables."""
    container = value["spec"]["workerGroupSpecs"][1]["template"]["spec"]["containers"][0]
    container["env"] = [
        {"name": f"V{number}", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{key}']"}}}
        for number, key in enumerate(keys)
    ]
    return value


def test_a_group_of_several_hosts_has_their_labels_in_their_form() -> None:
    """The replica, its name and the number of the host; the names of the pods are as with one."""
    labels = ("group", "worker-group-replica-index", "worker-group-replica-name", "replica-host-index", "cluster")
    value = reading(ray_cluster(), *(f"ray.io/{name}" for name in labels))
    value["spec"]["workerGroupSpecs"][1]["numOfHosts"] = 4
    output = rendered(value).ok()
    assert ran("check", "-", *OPTIONS, stdin=output).code == 0
    data = data_of(output, GPU)
    found = variables(data, "ray")
    assert [found[f"V{number}"].removeprefix("$(text-pattern)") for number in range(5)] == [
        "gpu",
        "^[0-9]{1,10}$",
        r"^gpu\-[bcdfghjklmnpqrstvwxz2456789]{5}$",
        "^[0-9]{1,10}$",
        "llm",
    ]
    assert pod_name(data) == "^llm-gpu-worker-[bcdfghjklmnpqrstvwxz2456789]{5}$"


def test_the_service_of_the_head_may_have_a_name_of_its_own() -> None:
    value = ray_cluster(own_command=False)
    head_of(value)["headService"] = {"metadata": {"name": "front"}, "spec": {"type": "ClusterIP"}}
    data = data_of(rendered(value).ok(), GPU)
    found = variables(data, "ray")
    address = "front.shop.svc.cluster.local"
    assert (found["FQ_RAY_IP"], found["RAY_IP"], found["RAY_ADDRESS"]) == (address, "front", f"{address}:6379")
    assert variables(data, "wait-gcs-ready")["FQ_RAY_IP"] == address
    assert f" --address={address}:6379 " in process(data, "ray")[-1]
    assert f"--address {address}:6379" in process(data, "wait-gcs-ready")[-1]


def test_a_service_of_the_head_without_a_name_is_the_usual_one() -> None:
    value = ray_cluster()
    head_of(value)["headService"] = {"spec": {"type": "ClusterIP"}}
    assert variables(data_of(rendered(value).ok(), GPU), "ray")["FQ_RAY_IP"] == ADDRESS


def test_another_port_of_the_head_is_everywhere() -> None:
    value = ray_cluster(own_command=False)
    head_of(value)["rayStartParams"]["port"] = "6380"
    output = rendered(value).ok()
    head, worker = (variables(data_of(output, name), "ray") for name in (HEAD, GPU))
    assert (head["RAY_PORT"], head["RAY_ADDRESS"]) == ("6380", "127.0.0.1:6380")
    assert (worker["RAY_PORT"], worker["RAY_ADDRESS"]) == ("6380", f"{ADDRESS}:6380")
    assert f"--address {ADDRESS}:6380" in process(data_of(output, GPU), "wait-gcs-ready")[-1]


def with_field(**fields: object) -> Callable[[Json], None]:
    return lambda value: head_of(value).update(fields)


def spec_with(**fields: object) -> Callable[[Json], None]:
    return lambda value: value["spec"].update(fields)


def params(**given: object) -> Callable[[Json], None]:
    return lambda value: head_of(value)["rayStartParams"].update(given)


def without_annotation(value: Json) -> None:
    del value["metadata"]["annotations"]


def fault_tolerant(value: Json) -> None:
    value["metadata"]["annotations"]["ray.io/ft-enabled"] = "true"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "instead"),
    [
        (spec_with(enableInTreeAutoscaling=True), "set enableInTreeAutoscaling to false"),
        (spec_with(gcsFaultToleranceOptions={"redisAddress": "redis:6379"}), "remove gcsFaultToleranceOptions"),
        (fault_tolerant, "remove gcsFaultToleranceOptions"),
        (spec_with(authOptions={"mode": "token"}), "remove authOptions"),
        (with_field(labels={"a": "b"}), "write them into the metadata of the head's template"),
        (with_field(resources={"CPU": "1"}), "write num-cpus, num-gpus, memory and resources into rayStartParams"),
        (params(**{"num-cpus": 1}), 'write num-cpus as a string: "1" instead of 1'),
        (without_annotation, "ray.io/overwrite-container-cmd"),
    ],
    ids=["autoscaler", "redis", "ft-enabled", "token", "labels", "resources", "number", "command"],
)
def test_what_the_entry_cannot_say_is_refused_with_what_to_do(change: Callable[[Json], None], instead: str) -> None:
    value = ray_cluster()
    change(value)
    made = rendered(value)
    assert (made.code, made.out) == (1, b"")
    assert "CC0694" in made.err
    assert instead in made.err


def test_the_remedy_of_the_autoscaler_renders() -> None:
    assert rendered(ray_cluster(enableInTreeAutoscaling=False)).code == 0


def test_a_version_with_http_probes_gets_no_command_of_a_probe() -> None:
    older, newer = (data_of(rendered(ray_cluster(rayVersion=name)).ok(), HEAD) for name in ("2.52.1", "2.53.0"))
    assert "local_raylet_healthz" in json.dumps(older)
    assert "local_raylet_healthz" not in json.dumps(newer)


def test_that_the_ports_of_ray_take_programs_is_said_with_the_remedy() -> None:
    made = rendered(ray_cluster())
    assert "CC0695" in made.err
    assert "RAY_USE_TLS" in made.err


def test_the_remedy_for_the_ports_is_what_the_pods_get() -> None:
    value = ray_cluster(own_command=False)
    head_of(value)["rayStartParams"]["dashboard-host"] = "127.0.0.1"
    head_of(value)["template"]["spec"]["containers"][0]["env"] = [{"name": "RAY_USE_TLS", "value": "1"}]
    data = data_of(rendered(value).ok(), HEAD)
    assert "--dashboard-host=127.0.0.1" in process(data, "ray")[-1]
    assert variables(data, "ray")["RAY_USE_TLS"] == "1"


def test_round_trip_and_check(output: bytes) -> None:
    assert ran("generate", "-", *OPTIONS, stdin=output).ok() == output
    assert json.loads(ran("uninject", stdin=output).ok().split(b"\n---\n")[0]) == ray_cluster()
    assert ran("check", "-", *OPTIONS, stdin=output).code == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [("env", ["x"]), ("env", {"a": 1}), ("env", [{"name": []}]), ("volumes", [{"name": []}]), ("containers", 3)],
)
def test_a_field_of_the_wrong_type_in_rendered_output_is_an_error_of_check(
    field: str, value: object, output: bytes
) -> None:
    documents = [document for document in yaml.safe_load_all(output) if document]
    (cluster,) = (document for document in documents if document["kind"] == "RayCluster")
    pod = cluster["spec"]["headGroupSpec"]["template"]["spec"]
    (pod["containers"][0] if field == "env" else pod)[field] = value
    check = ran("check", stdin=yaml.safe_dump_all(documents).encode())
    assert check.code == 1
    assert "error CC0207" in check.err
