"""The policy data of profile strict."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from krm_function.check.drift import find_drift
from krm_function.config.references import References
from krm_function.contrast.profiles import KATA, PROFILES, STRICT
from krm_function.policy.containers import escaped, narrowed
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.pod_metadata import pod_metadata as read
from krm_function.policy.rules import load_file, load_rules, path_of, profile_of_rules
from krm_function.policy.settings import default_settings
from tests.policy import pods

Json = dict[str, Any]

PINNED = "registry.example.com/shop/app:1@sha256:" + "a" * 64
REFERENCES = References([pods.CONFIG_MAP, pods.SECRET])


def _container(index: int = 1, **container: Any) -> Json:
    made = pods.sealed(pods.simple(**{"image": PINNED, **container}), profile=STRICT)
    found: Json = made.data["containers"][index]
    return found


def test_a_policy_says_which_profile_it_has() -> None:
    for name, profile in PROFILES.items():
        rego = pods.sealed(pods.rich(), profile=profile).rego
        assert profile_of_rules(rego) is profile
        assert read_policy_data(rego).get("profile", KATA.name) == name
    assert profile_of_rules("package agent_policy\n") is None
    assert "profile" not in read_policy_data(pods.sealed(pods.rich(), profile=KATA).rego)


def test_the_rules_of_a_profile_are_three_texts_one_about_the_node_and_one_about_texts() -> None:
    files = {name: path_of(name) for profile in PROFILES.values() for name in profile.rules}
    heads = {
        name: re.findall(r"^# --- (A node|Texts)", Path(path).read_text(), re.MULTILINE) for name, path in files.items()
    }
    for profile in PROFILES.values():
        assert [heads[name] for name in profile.rules] == [[], ["A node"], ["Texts"]]
        assert load_rules(profile) == "".join(map(load_file, profile.rules))


def test_a_policy_holds_one_comment_and_the_code_of_its_files() -> None:
    for profile in PROFILES.values():
        lines = load_rules(profile).splitlines()
        assert [line for line in lines if line.lstrip().startswith("#")] == lines[:1]
        assert all(first or second for first, second in pairwise(lines))
        code = [
            line
            for name in profile.rules
            for line in Path(path_of(name)).read_text().splitlines()
            if line and not line.lstrip().startswith("#")
        ]
        assert [line for line in lines[1:] if line] == code


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        ("$(sfprefix)resolv.conf$", r"$(sfprefix)resolv\.conf$"),
        (r"$(sfprefix)a\.b\-c$", r"$(sfprefix)a\.b\-c$"),
        ("^/run/kata-containers/sandbox/ephemeral/a.b$", r"^/run/kata-containers/sandbox/ephemeral/a\.b$"),
        (r"^$(cpath)/sandbox-[0-9a-f]{16}-a.b$", r"^$(cpath)/sandbox-[0-9a-f]{16}-a\.b$"),
        ("^/x/$(bundle-id)-[a-z0-9]{16}-a.b$", r"^/x/$(bundle-id)-[a-z0-9]{16}-a\.b$"),
        ("$(spath)/$(b64_device_id)", "$(spath)/$(b64_device_id)"),
        ("/run/kata-containers/sandbox/shm", "/run/kata-containers/sandbox/shm"),
        ("/sys/a.b", "/sys/a.b"),
        ("proc", "proc"),
        ("", ""),
    ],
)
def test_names_in_patterns_stand_for_themselves(pattern: str, made: str) -> None:
    assert escaped(pattern) == made
    assert escaped(made) == made


@pytest.mark.parametrize(
    ("kind", "metadata", "pattern"),
    [
        ("Pod", {"name": "a.b"}, r"^a\.b$"),
        ("Pod", {"generateName": "a.b-"}, r"^a\.b-[bcdfghjklmnpqrstvwxz2456789]{5}$"),
        ("StatefulSet", {"name": "a.b"}, r"^a\.b-[0-9]{1,10}$"),
    ],
)
def test_the_name_of_the_pod_stands_for_itself(kind: str, metadata: Json, pattern: str) -> None:
    workload = pods.workload({"containers": [{"name": "app", "image": PINNED}]}, kind, metadata)
    for container in pods.sealed(workload, profile=STRICT).data["containers"]:
        assert container["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-name"] == pattern


def test_only_mounts_of_the_pod_are_required() -> None:
    containers = pods.sealed(pods.rich(), profile=STRICT).data["containers"]
    assert containers[0]["required_mounts"] == []
    assert containers[4]["required_mounts"] == ["/contrast", "/data", "/etc/keys", "/etc/look", "/scratch"]


def test_a_mount_of_the_pod_replaces_the_runtime_s() -> None:
    mounts = [{"name": "v", "mountPath": path} for path in ("/etc/hosts", "/dev/shm")]  # noqa: S108
    container = {"name": "app", "image": PINNED, "volumeMounts": mounts}
    spec = {"containers": [container], "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}
    for profile in (KATA, STRICT):
        found = pods.sealed(pods.workload(spec), profile=profile).data["containers"][1]["OCI"]["Mounts"]
        for path in ("/etc/hosts", "/dev/shm"):  # noqa: S108
            sources = [mount["source"] for mount in found if mount["destination"] == path]
            assert sources == ["^/run/kata-containers/sandbox/ephemeral/v$"]


def test_variables_of_the_pod_are_required() -> None:
    odd = {"name": "1 odd", "value": "x"}
    made = _container(env=[{"name": "A", "value": "1"}, odd], tty=True)
    assert made["required_variables"] == ["PATH", "TERM", "HOSTNAME", "A"]
    assert "1 odd=x" in made["OCI"]["Process"]["Env"]
    assert _container(0)["required_variables"] == []


def test_a_variable_has_one_value() -> None:
    made = _container(
        env=[
            {"name": "PATH", "value": "/own"},
            {"name": "LOOK_colour", "value": "own"},
            {"name": "A", "value": "1"},
            {"name": "A", "value": "2"},
        ],
        envFrom=[{"prefix": "LOOK_", "configMapRef": {"name": "look"}}],
    )
    env = made["OCI"]["Process"]["Env"]
    assert sorted(env) == ["A=2", "HOSTNAME=$(host-name)", "LOOK_colour=own", "LOOK_size=$(MODE)", "PATH=/own"]
    assert "PATH=/bin" in pods.container(pods.simple(env=[{"name": "PATH", "value": "/own"}]))["OCI"]["Process"]["Env"]


@pytest.mark.parametrize("path", ["status.podIPs", "status.hostIPs", "metadata.labels['pod-template-hash']"])
def test_a_list_or_a_hash_that_would_be_in_no_request_is_refused(path: str) -> None:
    entry = {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    made, findings = pods.sealing(pods.simple(image=PINNED, env=[entry]), profile=STRICT)
    assert made is None
    assert [found.code for found in findings] == ["CC0640"]


@pytest.mark.parametrize(
    ("env", "args", "tokens"),
    [
        (["A=http://$(pod-ip):80"], [], ["$(pod-ip)"]),
        (["A=$(node-name)x"], [], ["$(node-name)"]),
        ([], ["--node=$(node-name)"], ["$(node-name)"]),
        (["A=$(pod-ip)", "B=x.$(sandbox-namespace)"], ["$(node-name)", "--name=$(sandbox-name)"], []),
    ],
)
def test_tokens_inside_other_text_cannot_be_bound(env: list[str], args: list[str], tokens: list[str]) -> None:
    workload = pods.simple(image=PINNED)
    pod, _ = read(workload)
    containers = pods.sealed(workload).data["containers"]
    process = {**containers[1]["OCI"]["Process"], "Env": env, "Args": args}
    given = [containers[0], {**containers[1], "OCI": {**containers[1]["OCI"], "Process": process}}]

    _, findings = narrowed(given, pod)
    assert [found.code for found in findings] == ["CC0640"] * len(tokens)
    assert all(token in found.message for token, found in zip(tokens, findings, strict=True))


def test_nothing_given_is_changed() -> None:
    workload = pods.rich()
    pod, _ = read(workload)
    containers = pods.sealed(workload).data["containers"]
    before = str(containers)
    narrowed(containers, pod)
    assert str(containers) == before
    assert default_settings(KATA).profile == KATA


def test_a_pod_is_what_its_strict_policy_describes() -> None:
    subject = pods.rich()
    sealed = read_policy_data(pods.sealed(subject, profile=STRICT).rego)
    assert find_drift(subject, sealed, REFERENCES) == []
    subject.object["spec"]["template"]["spec"]["containers"][0]["env"][4]["value"] = "other"
    assert find_drift(subject, sealed, REFERENCES) == ["app: env"]


def test_a_strict_policy_without_the_variables_in_the_input() -> None:
    subject = pods.rich()
    sealed = read_policy_data(pods.sealed(subject, profile=STRICT).rego)
    assert find_drift(subject, sealed, References()) == []


def test_an_overridden_variable_is_missed_when_it_goes() -> None:
    subject = pods.simple(image=PINNED, env=[{"name": "PATH", "value": "/own"}])
    sealed = read_policy_data(pods.sealed(subject, profile=STRICT).rego)
    assert find_drift(subject, sealed, REFERENCES) == []
    assert find_drift(pods.simple(image=PINNED), sealed, REFERENCES) == ["app: env"]
