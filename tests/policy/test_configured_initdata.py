"""The initdata to which a policy is added: from the pod's annotation, from the configuration, or from both."""

import tomllib

import pytest

from krm_function.config.references import References
from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import Initdata, annotation, base_initdata, decode_toml, encode_toml
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import pods

NONE: dict[str, str] = {}
AA = {"aa.toml": "[token_configs]\n"}
CDH = {"cdh.toml": "socket = 'x'\n"}


def noted(data: dict[str, str], algorithm: str = "sha256") -> dict[str, dict[str, str]]:
    """A pod template's metadata with initdata that somebody made before."""
    return {"annotations": {INITDATA: annotation(encode_toml(Initdata("0.1.0", algorithm, data)))}}


@pytest.mark.parametrize(
    "given, files, made",
    [
        (None, NONE, NONE),
        (None, AA, AA),
        (AA, AA, AA),
        (AA, {**AA, **CDH}, {**AA, **CDH}),
        ({}, CDH, CDH),
    ],
)
def test_the_files_are_those_of_the_configuration(
    given: dict[str, str] | None, files: dict[str, str], made: dict[str, str]
) -> None:
    subject = pods.workload({"containers": []}, template_metadata=noted(given) if given else None)
    base, findings = base_initdata(subject, files)
    assert findings == []
    assert base == Initdata("0.1.0", "sha256", made)


@pytest.mark.parametrize(
    "given, files, names",
    [
        (AA, NONE, ["aa.toml"]),
        (AA, CDH, ["aa.toml"]),
        ({**AA, **CDH}, CDH, ["aa.toml"]),
        ({**AA, **CDH}, NONE, ["aa.toml", "cdh.toml"]),
        ({"policy.rego": "of before"}, NONE, ["policy.rego"]),
        ({"policy.rego": "of before"}, AA, ["policy.rego"]),
        ({"": ""}, NONE, [""]),
    ],
)
def test_a_file_that_only_the_annotation_has_is_an_error(
    given: dict[str, str], files: dict[str, str], names: list[str]
) -> None:
    base, findings = base_initdata(pods.workload({"containers": []}, template_metadata=noted(given)), files)
    assert base is None
    assert [found.code for found in findings] == ["CC0621"] * len(names)
    assert all(f" {name}," in found.message for found, name in zip(findings, names, strict=True))
    assert {found.path[-1] for found in findings} == {INITDATA}


def test_two_texts_of_one_file_are_an_error_each() -> None:
    subject = pods.workload({"containers": []}, template_metadata=noted({**AA, **CDH}))
    base, findings = base_initdata(subject, {"aa.toml": "other", "cdh.toml": "other"})
    assert base is None
    assert [(found.code, found.message.split()[2]) for found in findings] == [
        ("CC0613", "aa.toml"),
        ("CC0613", "cdh.toml"),
    ]
    assert "other" not in findings[0].message + findings[0].hint


def test_another_algorithm_is_refused() -> None:
    subject = pods.workload({"containers": []}, template_metadata=noted({}, "sha512"))
    assert [found.code for found in base_initdata(subject, {})[1]] == ["CC0610"]


def test_the_files_are_in_the_digest_in_one_order() -> None:
    def made(files: dict[str, str]) -> bytes:
        subject = pods.simple()
        facts = pods.images(subject)
        done, _ = seal(subject, facts, References(), default_settings(), load_rules(), files)
        assert done is not None
        return done.toml

    one, other = made({**AA, **CDH}), made({**CDH, **AA})
    assert one == other
    assert list(tomllib.loads(one.decode())["data"]) == ["aa.toml", "cdh.toml", "policy.rego"]
    assert decode_toml(one).data["aa.toml"] == AA["aa.toml"]
    assert made({}) == pods.sealed(pods.simple()).toml
    assert one != made(AA)
