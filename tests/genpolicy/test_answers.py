"""What genpolicy says, whatever it is: initdata that was checked, or one finding without values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.check.pods import check_workload
from krm_function.config.references import References
from krm_function.contrast.profiles import DEFAULT
from krm_function.findings import Ref
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.policy.genpolicy import GenpolicyResult, genpolicy_input, read_result, settings_text
from krm_function.policy.initdata import Initdata, annotation, encode_toml
from krm_function.policy.rules import load_rules
from krm_function.text.parse import parse
from tests.policy import pods

NOTHING = References()
SECRET = 's3cret \u00fc "word"'
POD = pods.simple(env=[{"name": "TOKEN", "value": SECRET}])


def answered(log: str, code: int = 101, workload: Workload = POD) -> tuple[str, str, tuple[str | int, ...]]:
    made, (found,) = read_result(GenpolicyResult("exit", code, b"", log), workload, NOTHING)
    assert made is None
    assert found.ref == workload.ref
    return found.code, found.message, found.path


@given(output=st.binary(max_size=300))
def test_any_output_is_judged(output: bytes) -> None:
    made, findings = read_result(GenpolicyResult("exit", 0, output), POD, NOTHING)
    assert made is None
    assert [found.code for found in findings] == ["CC0615"]


@given(toml=st.one_of(st.binary(max_size=200), st.text().map(str.encode)))
def test_any_document_is_judged(toml: bytes) -> None:
    _, findings = read_result(GenpolicyResult("exit", 0, annotation(toml).encode() + b"\n"), POD, NOTHING)
    assert [found.code for found in findings] == ["CC0615"]


@given(log=st.text(max_size=200), code=st.sampled_from([1, 2, 101, 127, -9, -11]))
def test_any_log_is_one_finding(log: str, code: int) -> None:
    assert answered(log, code)[0] == "CC0614"
    assert answered(f"thread 'main' panicked at src/a.rs:1:2:\n{log}", code)[0] == "CC0614"


@given(text=st.text(max_size=50), dotted=st.text("abc.[]0123?", max_size=30))
def test_any_path_is_a_place_in_the_object(text: str, dotted: str) -> None:
    _, message, path = answered(f"thread 'main' panicked at src/a.rs:1:2:\nUnsupported field: {dotted} {text}")
    assert message
    assert all(isinstance(step, (str, int)) for step in path)


@pytest.mark.parametrize(
    "shown",
    [SECRET, json.dumps(SECRET), json.dumps(SECRET, ensure_ascii=False), f"a{SECRET}b", "czNjcmV0IMO8ICJ3b3JkIg=="],
)
def test_a_value_is_never_told_however_it_is_quoted(shown: str) -> None:
    message = answered(f"thread 'main' panicked at src/a.rs:1:2:\ninvalid value: {shown}, expected a map")[1]
    assert "(value)" in message
    assert "s3cret" not in message
    assert "czNj" not in message


def test_a_good_answer_is_the_document() -> None:
    sealed = pods.sealed(POD)
    made, findings = read_result(GenpolicyResult("exit", 0, sealed.annotation.encode()), POD, NOTHING)
    assert findings == ()
    assert made == Initdata("0.1.0", "sha256", {"policy.rego": sealed.rego})


def test_settings_are_whole_and_the_operators_are_left_alone() -> None:
    assert set(json.loads(settings_text(None, DEFAULT))["volumes"]) >= {"emptyDir", "configMap"}
    assert json.loads(settings_text({"a": 1}, DEFAULT)) == {"a": 1}


def test_an_object_goes_out_alone() -> None:
    member = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": {"containers": []}}
    workload = workloads_of(member, ("items", 1), Ref("v1", "Pod", "", "b"))[0]
    assert "Service" not in genpolicy_input(workload, NOTHING, "", "").workload


def test_check_does_not_ask_our_generator_about_fields_that_only_genpolicy_knows() -> None:
    """The pod has a field that we do not cover; who made its policy decides whether that is a change."""

    def checked(rules: str) -> list[str]:
        from krm_function.policy.seal import seal
        from krm_function.policy.settings import default_settings

        subject = pods.simple()
        made, _ = seal(subject, pods.images(subject), NOTHING, default_settings(), rules)
        assert made is not None
        document = {**subject.object}
        template = document["spec"]["template"]
        notes = {"io.katacontainers.config.hypervisor.cc_init_data": made.annotation}
        spec = {**template["spec"], "hostPID": True}
        document["spec"] = {"template": {"metadata": {**template["metadata"], "annotations": notes}, "spec": spec}}
        findings = check_workload(subject._replace(object=document), NOTHING).findings
        return [found.message for found in findings if found.code == "CC1103"]

    from krm_function.policy.genpolicy import MARK

    assert checked(load_rules())
    assert checked(load_rules() + MARK) == []


def test_initdata_is_written_anew() -> None:
    document = Initdata("0.1.0", "sha256", {"policy.rego": pods.sealed(POD).rego, "aa.toml": ""})
    made, _ = read_result(GenpolicyResult("exit", 0, annotation(encode_toml(document)).encode()), POD, NOTHING)
    assert made == document


def test_what_the_program_ends_at_is_written_as_it_takes_it() -> None:
    stated = {"runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": False}
    spec: dict[str, Any] = {
        "initContainers": [
            {"name": "contrast-initializer", "image": "i", "securityContext": stated},
            {"name": "own", "image": "i", "securityContext": stated},
        ],
        "containers": [{"name": "contrast-service-mesh", "image": "i", "securityContext": stated}],
        "volumes": [{"name": "a", "emptyDir": None}, {"name": "b"}, {"name": "c", "secret": {"secretName": "s"}}],
    }
    workload = pods.workload(spec)
    sent = parse(genpolicy_input(workload, NOTHING, "", "").workload).value["spec"]["template"]["spec"]
    assert sent["initContainers"][0]["securityContext"] == {"runAsUser": 0, "runAsGroup": 0}
    assert sent["initContainers"][1]["securityContext"] == stated
    assert sent["containers"][0]["securityContext"] == stated
    assert sent["volumes"] == [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}, spec["volumes"][2]]
    assert workload.pod_spec["initContainers"][0]["securityContext"] == stated, "the pod itself keeps it"
