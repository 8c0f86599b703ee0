import copy
import subprocess
import sys
import time
from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.initdata import (
    Initdata,
    annotation,
    decode_toml,
    digest,
    encode_toml,
    from_annotation,
    read_policy_data,
)
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import LONGEST_LINE, seal
from krm_function.policy.settings import default_settings
from tests.policy import host, pods
from tests.policy.engines.lines import Lines
from tests.real_tools import needing
from tests.wording import wording


def test_the_forms_of_a_policy_agree() -> None:
    made, findings = pods.sealing(pods.rich())

    assert made is not None
    assert [found.code for found in findings] == ["CC0606"]
    assert read_policy_data(made.rego) == made.data
    assert made.rego.startswith(load_rules() + "\npolicy_data := {\n")
    assert decode_toml(made.toml) == Initdata("0.1.0", "sha256", {"policy.rego": made.rego})
    assert from_annotation(made.annotation) == made.toml
    assert made.digest == digest(made.toml)
    assert made.toml.startswith(b'version = "0.1.0"\nalgorithm = "sha256"\n\n[data]\n"policy.rego" = \'\'\'\n')
    assert max(map(len, made.rego.splitlines())) < 1024


def test_the_same_pod_gets_the_same_policy() -> None:
    assert pods.sealed(pods.rich()) == pods.sealed(pods.rich())


def test_hash_seeds_change_nothing() -> None:
    program = "from tests.policy import pods; print(pods.sealed(pods.rich()).digest)"
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert runs == {pods.sealed(pods.rich()).digest + "\n"}


def test_the_workload_is_left_alone() -> None:
    subject = pods.rich()
    before = copy.deepcopy(subject.object)
    pods.sealed(subject)
    assert subject.object == before


def test_the_settings_are_left_alone() -> None:
    before = copy.deepcopy(default_settings())
    pods.sealed(pods.rich())
    assert default_settings() == before


def _with_initdata(value: str) -> Workload:
    spec = {"containers": [{"name": "a", "image": "i"}]}
    return pods.workload(spec, template_metadata={"annotations": {INITDATA: value}})


def test_initdata_of_the_user_that_the_configuration_names_is_kept() -> None:
    files = {"cdh.toml": "x = 1\n", "aa.toml": "it's"}
    given = Initdata("0.1.0", "sha256", files)
    made = pods.sealed(_with_initdata(annotation(encode_toml(given))), files=files)

    assert decode_toml(made.toml).data == {"aa.toml": "it's", "cdh.toml": "x = 1\n", "policy.rego": made.rego}
    assert made.data == pods.sealed(_with_initdata(annotation(encode_toml(given._replace(data={}))))).data
    assert all(INITDATA not in container["OCI"]["Annotations"] for container in made.data["containers"])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "cut off"),
        ("junk", "not gzip"),
        (annotation(b"junk"), "not TOML"),
        (annotation(encode_toml(Initdata("0.1.0", "sha384", {}))), "sha384"),
    ],
)
def test_initdata_of_the_user_that_cannot_be_used(value: str, problem: str) -> None:
    made, findings = pods.sealing(_with_initdata(value))

    assert made is None
    assert [found.code for found in findings] == ["CC0610"]
    assert problem in findings[0].message
    assert findings[0].path[-1] == INITDATA


def test_every_missing_image_is_told() -> None:
    subject = pods.rich()
    known = pods.images(subject)
    del known[pods.MESH["image"]], known[pods.APP["image"]]
    references = References([pods.CONFIG_MAP, pods.SECRET])
    made, findings = seal(subject, known, references, default_settings(), load_rules())

    assert made is None
    assert [(found.code, found.path[-3:]) for found in findings] == [
        ("CC0504", ("initContainers", 2, "image")),
        ("CC0504", ("containers", 0, "image")),
    ]


def test_only_the_pod_template_is_looked_at() -> None:
    subject = pods.simple()
    before = pods.sealed(subject).digest
    subject.object["spec"] |= {
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "50%"}},
        "of-a-later-release": {"x": [1.5]},
    }
    assert pods.sealed(subject).digest == before


def test_every_problem_of_a_pod_is_told_at_once() -> None:
    container = {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}}]}
    found = pods.refused(
        pods.workload(
            {
                "containers": [
                    {"name": "a", "image": "i", **container},
                    {"name": "b", "image": "i", "volumeMounts": [{"name": "x", "mountPath": "/x"}], **container},
                ]
            }
        )
    )
    assert [code for code, _ in found] == ["CC0601", "CC0601", "CC0604"]


@needing("regorus-agent")
@pytest.mark.parametrize("character", ["x", "\u00fc", "\U0001f600"])
def test_a_line_that_the_agent_would_refuse_is_an_error_and_the_longest_one_is_not(character: str) -> None:
    size = len(character.encode())
    around = len('            ""')
    count, odd = divmod(LONGEST_LINE - around, size)
    made = pods.sealed(pods.simple(args=["y" * odd + character * count]))
    agent = Lines("regorus-agent")
    answer = agent.ask(made.rego, "SetPolicyRequest", {}, {})
    agent.close()

    assert max(len(line) for line in made.rego.encode().splitlines()) == LONGEST_LINE
    assert answer.value is False
    said = _refusal(args=["y" * (odd + 1) + character * count])
    assert f"spec: {wording('CC0604.long-line', limit='65535')}" in said


def test_a_policy_of_more_lines_or_bytes_than_the_agent_takes_is_an_error() -> None:
    assert "makes the policy longer than 200000 lines" in _refusal(args=["x"] * 200_000)
    assert "makes the policy longer than 16777216 bytes" in _refusal(args=["x" * 60_000] * 280)


def _refusal(**container: Any) -> str:
    made, findings = pods.sealing(pods.simple(**container))
    assert made is None
    (found,) = findings
    assert (found.code, found.hint) == ("CC0604", "shorten the pod's longest values or lists")
    return found.message


def test_text_that_is_no_unicode() -> None:
    assert pods.refused(pods.simple(args=["\ud800"])) == [("CC0604", "containers[0].args[0]")]
    noted = pods.workload(
        {"containers": [{"name": "a", "image": "i"}]}, template_metadata={"annotations": {"a": "\ud800"}}
    )
    assert pods.refused(noted) == [("CC0604", "")]


def test_rules_of_the_user() -> None:
    subject = pods.simple()
    rules = "package agent_policy\n# three apostrophes: '''\n"
    made, _ = seal(subject, pods.images(subject), References(), default_settings(), rules)

    assert made is not None
    assert decode_toml(made.toml).data["policy.rego"] == made.rego
    assert made.rego.startswith(rules + "\npolicy_data := {")


@pytest.mark.parametrize("text", ["it's", "'''", "''''''", "a\nb\tc", '"q" \\n', "\u00e9\u20ac\U0001f600", "<&>"])
def test_odd_text_reaches_the_rules_unharmed(text: str) -> None:
    made = pods.sealed(pods.simple(env=[{"name": "A", "value": text}], args=[text]))

    assert decode_toml(made.toml).data["policy.rego"] == made.rego
    assert read_policy_data(made.rego)["containers"][1]["OCI"]["Process"]["Args"][1] == text
    if "'''" not in text:  # rego-cpp does not decode \u0027; regorus and OPA do
        agent = host.Agent(made.rego)
        assert agent.verdict("CreateContainerRequest", host.Host(made.rego).create("app")) is not False


def test_a_thousand_workloads_are_quick() -> None:
    subject, known = pods.rich(), pods.images(pods.rich())
    references, rules = References([pods.CONFIG_MAP, pods.SECRET]), load_rules()
    best = 1.0
    for _ in range(20):
        start = time.perf_counter()
        seal(subject, known, references, default_settings(), rules)
        best = min(best, time.perf_counter() - start)
    assert best < 0.02  # about 2 ms on an idle machine, half of it gzip
