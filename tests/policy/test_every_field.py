"""The pod with every supported field: it has them all, and a correct host can run it, and no other pod in its place."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from krm_function.check.drift import find_drift
from krm_function.kubernetes.pod_fields import POD_SPEC, TYPES
from krm_function.policy.pod_metadata import use_of
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from krm_function.schema.values import ListOf, Record, Spec
from tests.policy import host, pods

Json = dict[str, Any]
NAME = "every-field-2"


def _used(value: Any, spec: Spec) -> Iterator[tuple[int, str]]:
    """Every field of the policy that a value has, as its type and its name."""
    if isinstance(spec, ListOf):
        for entry in value:
            yield from _used(entry, spec.items)
    elif isinstance(spec, Record) and spec in TYPES.values():
        for key, entry in value.items():
            field = spec.fields[key]
            if use_of(field) == "policy":
                yield id(spec), key
                yield from _used(entry, field.spec)


@pytest.fixture(scope="module")
def rego() -> str:
    subject, references, images = pods.every_field()
    made, findings = seal(subject, images, references, default_settings(), load_rules())
    assert made is not None, findings
    return made.rego


@pytest.fixture(scope="module")
def correct(rego: str) -> host.Host:
    return host.Host(rego, NAME)


@pytest.fixture(scope="module")
def fresh(rego: str) -> host.Agent:
    return host.Agent(rego)


def test_it_has_every_field_that_enters_a_policy() -> None:
    spec = pods.every_field()[0].pod_spec
    every = {
        (id(known), key) for known in TYPES.values() for key, field in known.fields.items() if use_of(field) == "policy"
    }
    assert set(_used(spec, POD_SPEC)) == every


def test_a_correct_host_can_run_it(rego: str, correct: host.Host) -> None:
    agent = host.Agent(rego)
    for name in ("pause", "proxy", "prepare", "app"):
        assert agent.allows("CreateContainerRequest", correct.create(name))


def test_it_did_not_move() -> None:
    subject, references, images = pods.every_field()
    made, _ = seal(subject, images, references, default_settings(), load_rules())
    assert made is not None
    assert find_drift(subject, made.data, references) == []


def _argument(index: int, change: Callable[[str], str]) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        args = request["OCI"]["Process"]["Args"]
        before = args[index]
        args[index] = change(before)
        assert args[index] != before

    return mutate


def _variable(name: str, change: Callable[[str], str]) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        env = request["OCI"]["Process"]["Env"]
        (index,) = [index for index, entry in enumerate(env) if entry.startswith(f"{name}=")]
        before = env[index]
        env[index] = f"{name}={change(before.removeprefix(f'{name}='))}"
        assert env[index] != before

    return mutate


def _mount(place: str, **values: Any) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        (mount,) = [mount for mount in request["OCI"]["Mounts"] if mount["destination"] == place]
        assert any(mount[key] != value for key, value in values.items())
        mount.update(values)

    return mutate


def _source(place: str, pattern: str, by: str) -> Callable[[Json], None]:
    def mutate(request: Json) -> None:
        (mount,) = [mount for mount in request["OCI"]["Mounts"] if mount["destination"] == place]
        before = mount["source"]
        mount["source"] = re.sub(pattern, by, before)
        assert mount["source"] != before

    return mutate


RO, RW = ["rbind", "rprivate", "ro"], ["rbind", "rprivate", "rw"]
DENIED: dict[str, Callable[[Json], None]] = {
    "another name in an argument": _argument(1, lambda text: text.replace("every-field-2", "every-field-1")),
    "an address with more behind it": _argument(2, lambda text: text.replace(":8080", ".evil:8080")),
    "something before a pattern": _argument(2, lambda text: "x" + text),
    "something after a pattern": _argument(2, lambda text: text + "1"),
    "another line after a pattern": _argument(2, lambda text: text + "\n"),
    "no address": _argument(2, lambda text: "--listen=host:8080"),
    "the pattern itself": _argument(2, lambda text: "$(text-pattern)^--listen"),
    "an unexpanded variable": _argument(2, lambda text: "--listen=$(POD_IP):8080"),
    "a port that is none": _argument(4, lambda text: text + "x"),
    "an expanded escape": _argument(5, lambda text: text.replace("$(POD_NAME)", "every-field-2")),
    "another value of a ConfigMap": _argument(6, lambda text: text + "x"),
    "another pod in a variable": _variable("URL", lambda text: text.replace("every-field-2", "every-field-3")),
    "a wildcard in a variable": _variable("URL", lambda text: text.replace("every-field-2.", "every-field-2x")),
    "another path in a variable": _variable("URL", lambda text: text + "&x=y"),
    "no uid": _variable("URL", lambda text: re.sub("uid=.*", "uid=*", text)),
    "an index that is none": _variable("POD_INDEX", lambda text: text + "a"),
    "no list of addresses": _variable("POD_IPS", lambda text: text + ",x"),
    "an empty list of addresses": _variable("POD_IPS", lambda text: ""),
    "the pattern as a variable": _variable("POD_INDEX", lambda text: "$(text-pattern)^[0-9]+$"),
    "a claim that is writable": _mount("/mnt/claim", options=RW),
    "a hostPath that is read-only": _mount("/mnt/host", options=RO),
    "another device of the VM": _mount("/mnt/fuse", source="/dev/sda"),
    "the volume of another container": _source("/mnt/nfs", "[0-9a-f]{64}", "f" * 64),
    "a file that only looks alike": _source("/etc/app.conf", r"app\.conf", "app-conf"),
    "a volume with another name": _source("/mnt/csi", "csi$", "csi2"),
    "a host's directory": _mount("/mnt/host", source="/srv/shop"),
    "the sandbox's memory for the pod's": _mount("/dev/shm", source="/run/kata-containers/sandbox/shm"),  # noqa: S108
    "propagation": _mount("/mnt/ephemeral", options=["rbind", "rshared", "rw"]),
}


@pytest.mark.parametrize("what", DENIED)
def test_any_other_container_is_denied(fresh: host.Agent, correct: host.Host, what: str) -> None:
    request = copy.deepcopy(correct.create("app"))
    DENIED[what](request)
    assert fresh.verdict("CreateContainerRequest", request) is False


ALLOWED: dict[str, Callable[[Json], None]] = {
    "no such Service": _argument(4, lambda text: "--database=$(DB_SERVICE_HOST):$(DB_SERVICE_PORT)"),
    "an address of the newer protocol": _argument(2, lambda text: "--listen=fd00::1:8080"),
    "one address": _variable("POD_IPS", lambda text: "10.0.0.7"),
    "a claim that is watched": _source("/etc/settings", "/containers/", "/containers/watchable/"),
}


@pytest.mark.parametrize("what", ALLOWED)
def test_what_a_cluster_may_decide_is_allowed(fresh: host.Agent, correct: host.Host, what: str) -> None:
    request = copy.deepcopy(correct.create("app"))
    ALLOWED[what](request)
    assert fresh.verdict("CreateContainerRequest", request) is not False


@pytest.mark.parametrize("name", ["every-field-2", "every-field-77"])
def test_the_name_in_a_pattern_is_the_pod_s(rego: str, name: str) -> None:
    request = host.Host(rego, name).create("app")
    assert host.Agent(rego).allows("CreateContainerRequest", request)
    assert f"URL=http://{name}.every-field.shop" in str(request["OCI"]["Process"]["Env"])


def test_a_host_cannot_put_a_regex_into_a_pattern() -> None:
    env = [
        {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "URL", "value": "http://$(N).$(NS)/"},
    ]
    spec = {"containers": [{"name": "app", "image": "i", "env": env, "args": ["$(NS)"]}]}
    rego = pods.sealed(pods.workload(spec, "Pod", {"generateName": "", "labels": {}})).rego
    for name, namespace, value, allowed in (
        ("web.1", "shop", "http://web.1.shop/", True),
        ("web.1", "shop", "http://web-1.shop/", False),
        (".*", "shop", "http://evil.shop/", False),
        ("web", ".*", "http://web.evil/", False),
        ("web", "shop|x", "http://web.shop|x/", False),
    ):
        request = host.Host(rego, name, namespace).create("app")
        process = request["OCI"]["Process"]
        process["Env"] = [entry for entry in process["Env"] if not entry.startswith("URL=")] + [f"URL={value}"]
        assert (host.Agent(rego).verdict("CreateContainerRequest", request) is not False) == allowed, (name, namespace)


def test_probes_run_as_the_kubelet_runs_them(rego: str, correct: host.Host) -> None:
    agent = host.Agent(rego)
    assert agent.allows("CreateContainerRequest", correct.create("app"))
    url = "http://$(POD_NAME).every-field.$(POD_NAMESPACE).svc:8080/?uid=$(POD_UID)"
    for command, allowed in (
        (["/bin/app", "health", url], True),
        (["/bin/app", "health", "$(URL)"], False),
        (["/bin/app", "stop"], True),
        (["/bin/app", "health"], False),
    ):
        assert bool(agent.verdict("ExecProcessRequest", correct.execute("app", command))) == allowed


def test_with_rules_of_someone_else_a_pattern_is_refused() -> None:
    subject, references, images = pods.every_field()
    made, findings = seal(subject, images, references, default_settings(), "package agent_policy\n")
    assert made is None
    said = [found.message for found in findings if found.severity == "error"]
    assert {found.code for found in findings if found.severity == "error"} == {"CC0601"}
    assert said[0].startswith("container app: POD_INDEX with text around")
    assert any(message.startswith("container app: its arguments") for message in said)
