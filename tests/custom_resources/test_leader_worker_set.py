"""A LeaderWorkerSet is sealed as the pods that its controller makes: names, variables, and what it says of sizes."""

import json
from typing import Any

import pytest

from tests.custom_resources.objects import (
    OPTIONS,
    Json,
    data_of,
    leader_worker_set,
    pod_name,
    ran,
    rendered,
    stream,
    template,
    variables,
)

LEADER, WORKER = "LeaderWorkerSet/shop/vllm#leader", "LeaderWorkerSet/shop/vllm#worker"
PATTERN = "$(text-pattern)"


@pytest.fixture(name="output", scope="module")
def the_output() -> bytes:
    return rendered(leader_worker_set()).ok()


def test_the_leader_is_bound_to_its_own_name(output: bytes) -> None:
    data = data_of(output, LEADER)
    assert pod_name(data) == "^vllm-[0-9]{1,10}$"
    for container in ("leader", "contrast-initializer"):
        found = variables(data, container)
        assert found["LWS_LEADER_ADDRESS"] == rf"{PATTERN}^$(sandbox-name)\.vllm\.shop$"
        assert (found["LWS_GROUP_SIZE"], found["LWS_WORKER_INDEX"]) == ("3", "0")
    assert _arguments(data, "leader") == ["/bin/leader", "$(sandbox-name).vllm.shop", "3"]


def test_a_worker_has_a_leader_of_the_same_object(output: bytes) -> None:
    data = data_of(output, WORKER)
    assert pod_name(data) == "^vllm-[0-9]{1,10}-[0-9]{1,10}$"
    found = variables(data, "worker")
    assert found["LWS_LEADER_ADDRESS"] == rf"{PATTERN}^vllm\-[0-9]{{1,10}}\.vllm\.shop$"
    assert found["LWS_WORKER_INDEX"] == f"{PATTERN}^[0-9]{{1,10}}$"
    assert _arguments(data, "worker") == ["/bin/worker", f"{PATTERN}^[0-9]{{1,10}}$"]


def test_one_template_makes_both(output: bytes) -> None:
    made = leader_worker_set()
    del made["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    data = data_of(rendered(made).ok(), WORKER)
    assert pod_name(data) == "^(?:vllm-[0-9]{1,10}|vllm-[0-9]{1,10}-[0-9]{1,10})$"


def test_the_subdomain_follows_its_policy() -> None:
    made = leader_worker_set()
    made["spec"]["networkConfig"] = {"subdomainPolicy": "UniquePerReplica"}
    output = rendered(made).ok()
    found = variables(data_of(output, LEADER), "leader")["LWS_LEADER_ADDRESS"]
    assert found == rf"{PATTERN}^$(sandbox-name)\.$(sandbox-name)\.shop$"
    found = variables(data_of(output, WORKER), "worker")["LWS_LEADER_ADDRESS"]
    assert found == rf"{PATTERN}^vllm\-[0-9]{{1,10}}\.vllm\-[0-9]{{1,10}}\.shop$"


def test_a_variable_of_the_user_is_replaced_as_the_controller_does() -> None:
    env = [{"name": "LWS_GROUP_SIZE", "value": "99"}, {"name": "A", "value": "$(LWS_GROUP_SIZE)"}]
    mine = template("worker", env=env)
    data = data_of(rendered(leader_worker_set(workerTemplate=mine)).ok(), WORKER)
    found = variables(data, "worker")
    assert (found["LWS_GROUP_SIZE"], found["A"]) == ("3", "3")


def test_round_trip_check_and_lock(output: bytes) -> None:
    text = stream(leader_worker_set())
    assert ran("generate", "-", *OPTIONS, stdin=output).ok() == output
    assert json.loads(ran("uninject", stdin=output).ok().split(b"\n---\n")[0]) == leader_worker_set()
    assert ran("check", "-", stdin=output).code == 0
    assert ran("check", "-", *OPTIONS, stdin=output).code == 0
    assert "confidential 3" in ran("assess", "-", stdin=text).ok().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"/bin/worker"', '"/bin/evil"'),
        ('"size": 3', '"size": 4'),
        ('"name": "vllm"', '"name": "other"'),
    ],
)
def test_a_change_of_the_object_is_drift(output: bytes, before: str, after: str) -> None:
    changed = output.decode().replace(before, after)
    assert changed != output.decode()
    made = ran("check", "-", stdin=changed)
    assert made.code == 1
    assert "CC1103" in made.err


def test_the_openings_are_shown() -> None:
    made = rendered(leader_worker_set())
    assert "CC0691" in made.err
    assert "LWS_WORKER_INDEX (<number>)" in made.err
    plan = json.loads(ran("plan", "-", "-o", "json", *OPTIONS, stdin=stream(leader_worker_set())).ok())
    worker = next(one for one in plan["workloads"] if one.get("template") == "worker")
    assert {"container": "worker", "name": "LWS_WORKER_INDEX", "source": "the controller, as <number>"} in worker[
        "openVariables"
    ]
    text = ran("plan", "-", *OPTIONS, stdin=stream(leader_worker_set())).ok().decode()
    assert "shop/vllm#leader" in text


@pytest.mark.parametrize(
    "config",
    [
        {"kind": "LeaderWorkerSet", "name": "vllm"},
        {"kind": "LeaderWorkerSet", "name": "vllm", "platform": "metal-qemu-snp"},
    ],
)
def test_an_entry_of_workloads_makes_all_its_pods_confidential(config: Json, tmp_path: Any) -> None:
    from tests import quick_yaml as yaml
    from tests.custom_resources.objects import CONTRAST, FACTS

    generate = yaml.safe_load(CONTRAST.read_text())
    generate["spec"]["workloads"] = [config]
    (tmp_path / "contrast.yaml").write_text(json.dumps(generate))
    files = (FACTS / "release.yaml", FACTS / "images.yaml", tmp_path / "contrast.yaml")
    options = [part for file in files for part in ("--config", str(file))]
    made = leader_worker_set()
    for one in ("leaderTemplate", "workerTemplate"):
        del made["spec"]["leaderWorkerTemplate"][one]["spec"]["runtimeClassName"]
    output = ran("generate", "-", *options, stdin=stream(made)).ok()
    assert data_of(output, LEADER)
    assert data_of(output, WORKER)


def test_other_versions_are_refused_and_said() -> None:
    made = rendered({**leader_worker_set(), "apiVersion": "leaderworkerset.x-k8s.io/v2"})
    assert (made.code, made.out) == (1, b"")
    assert "CC1109" in made.err
    assert "only known for v1" in made.err


def _arguments(data: Json, container: str) -> list[str]:
    for one in data["containers"]:
        if one["OCI"]["Annotations"].get("io.kubernetes.cri.container-name") == container:
            return list(one["OCI"]["Process"]["Args"])
    raise AssertionError(container)
