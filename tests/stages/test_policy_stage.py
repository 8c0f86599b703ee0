"""The policy stage."""

import base64
import gzip
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.initdata import Initdata, annotation, decode_toml, encode_toml
from krm_function.policy.rules import load_rules
from krm_function.policy.settings import default_settings
from krm_function.render.policies import add_existing_digest, seal_policy
from tests.world import LOCK, pod_template, workload


def sealing(subject: Workload, **files: str) -> Any:
    return seal_policy(subject, LOCK, References(), default_settings(), load_rules(), files)


def document(subject: Workload) -> tuple[bytes, Initdata]:
    """The TOML in the annotation, unpacked without our own codec."""
    toml = gzip.decompress(base64.b64decode(subject.annotations[INITDATA], validate=True))
    return toml, decode_toml(toml)


@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_is_the_sha256_of_the_toml_in_the_annotation(kind: str) -> None:
    subject = workload(kind)
    made = sealing(subject)
    toml, initdata = document(subject.after(made.edits))
    assert made.digest == sha256(toml).hexdigest()
    assert initdata.algorithm == "sha256"
    assert initdata.data["policy.rego"].startswith(load_rules())
    assert [edit.code for edit in made.edits] == ["CC0606"]
    assert made.digest[:16] in made.edits[0].reason
    assert made.edits[0].path[: len(subject.metadata_path)] == subject.metadata_path


def test_a_policy_that_stands_there_is_nothing_to_build_on() -> None:
    subject = workload(template=pod_template({"a": "b"}))
    first = sealing(subject)
    second = sealing(subject.after(first.edits))
    assert (second.edits, second.digest) == ((), "")
    assert [found.code for found in second.findings] == ["CC0621"]
    assert "policy.rego" in second.findings[0].message


def test_a_pod_that_cannot_be_sealed_gets_neither_annotation_nor_digest() -> None:
    made = sealing(workload(template=pod_template(hostPID=True)))
    assert (made.edits, made.digest) == ((), "")
    assert [found.severity for found in made.findings] == ["error"]


def test_files_that_are_in_the_annotation_and_in_the_configuration_enter_the_initdata() -> None:
    own = encode_toml(Initdata("0.1.0", "sha256", {"aa.toml": "x = 1\n"}))
    subject = workload(template=pod_template({INITDATA: annotation(own)}))
    made = sealing(subject, **{"aa.toml": "x = 1\n"})
    toml, initdata = document(subject.after(made.edits))
    assert initdata.data["aa.toml"] == "x = 1\n"
    assert set(initdata.data) == {"aa.toml", "policy.rego"}
    plain = sealing(workload())
    assert initdata.data["policy.rego"] == document(workload().after(plain.edits))[1].data["policy.rego"]
    assert made.digest == sha256(toml).hexdigest() != plain.digest


@pytest.mark.parametrize("value", ["no base64!", "", "YQ==", annotation(b"a = 1"), 5])
def test_initdata_that_cannot_be_read_is_an_error_and_stays(value: Any) -> None:
    made = sealing(workload(template=pod_template({INITDATA: value})))
    assert (made.edits, made.digest) == ((), "")
    assert [found.code for found in made.findings] == ["CC0610"]
    assert made.findings[0].path[-1] == INITDATA


BOOKKEEPING = {
    "kustomize": {
        "config.kubernetes.io/index": "0",
        "internal.config.kubernetes.io/path": "web.yaml",
        "internal.config.kubernetes.io/previousNames": "web",
        "internal.config.kubernetes.io/previousKinds": "Pod",
        "alpha.config.kubernetes.io/origin": "x",
        "kustomize.config.k8s.io/needs-hash": "true",
    },
    "kpt": {
        "internal.kpt.dev/upstream-identifier": "||x",
        "config.k8s.io/id": "1",
        "internal.config.kubernetes.io/annotations-migration-resource-id": "0",
    },
    "Helm": {"postrenderer.helm.sh/postrender-filename": "web.yaml"},
    "our own": {"contrast-krm.dev/original": "[]"},
}


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
@pytest.mark.parametrize("tool", BOOKKEEPING)
def test_what_a_tool_writes_for_itself_changes_no_digest(tool: str, kind: str) -> None:
    own: Mapping[str, str] = {"shop.example.com/a": "b"}
    plain = sealing(workload(kind, pod_template(own)))
    noted = sealing(workload(kind, pod_template({**BOOKKEEPING[tool], **own})))
    assert plain.digest == noted.digest != ""
    assert plain.digest != sealing(workload(kind, pod_template({"shop.example.com/a": "c"}))).digest


def test_annotations_that_would_be_too_long_for_kubernetes_are_an_error() -> None:
    plain = sealing(workload(template=pod_template({"a": ""})))
    size = sum(
        len(key + text)
        for key, text in workload(template=pod_template({"a": ""})).after(plain.edits).annotations.items()
    )
    made = sealing(workload(template=pod_template({"contrast-krm.dev/a": "x" * (256 * 1024)})))
    assert (made.edits, made.digest, [found.code for found in made.findings]) == ((), "", ["CC0611"])
    assert made.findings[0].path == ("spec", "template", "metadata", "annotations")
    room = 256 * 1024 - size - len("contrast-krm.dev/b")
    assert (
        sealing(workload(template=pod_template({"a": "", "contrast-krm.dev/b": "x" * room}))).findings[0].severity
        == "info"
    )
    over = sealing(workload(template=pod_template({"a": "", "contrast-krm.dev/b": "x" * (room + 1)})))
    assert [found.code for found in over.findings] == ["CC0611"]


# --- initdata of somebody else


@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_of_initdata_that_is_there_is_taken(kind: str) -> None:
    toml = encode_toml(Initdata("0.1.0", "sha256", {"policy.rego": "x"}))
    subject = workload(kind, pod_template({INITDATA: annotation(toml)}))._replace(platform="metal-qemu-snp")
    assert add_existing_digest(subject) == subject._replace(digest=sha256(toml).hexdigest())


def test_no_initdata_is_no_digest_and_no_finding() -> None:
    subject = workload()._replace(platform="metal-qemu-snp")
    assert add_existing_digest(subject) == subject


@pytest.mark.parametrize("value", ["no base64!", "YQ==", 5, ""])
def test_damaged_initdata_of_somebody_else_is_an_error(value: Any) -> None:
    made = add_existing_digest(workload(template=pod_template({INITDATA: value}))._replace(platform="metal-qemu-snp"))
    assert (made.edits, made.digest, [found.code for found in made.findings]) == ((), "", ["CC0610"])
    assert made.findings[0].path == ("spec", "template", "metadata", "annotations", INITDATA)
