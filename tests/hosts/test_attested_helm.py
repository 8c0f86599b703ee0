"""`--attest` through the real Helm: the statement is about what Helm was given, and says so of the manifest as well."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.hosts.hosts import CONFIG, make_chart, quickstart, run_helm3, run_helm4
from tests.hosts.running import Machine

RUN = {"helm3": run_helm3, "helm4": run_helm4}
ATTEST = ("--post-renderer-args", "--attest", "--post-renderer-args", "statement.json")


@pytest.mark.parametrize("host", RUN)
def test_a_post_renderer_of_helm_attests_its_stream(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    plain = RUN[host](krm_machine, chart).ok()
    made = RUN[host](krm_machine, chart, *ATTEST)
    assert made.ok() == plain
    statement = json.loads((chart / "statement.json").read_bytes())
    names = [one["name"] for one in statement["subject"]]
    assert names == ["-", "manifest.json"]
    roles = [one["annotations"]["role"] for one in statement["predicate"]["buildDefinition"]["resolvedDependencies"]]
    assert sorted(set(roles)) == ["config", "input"]
    manifest = krm_machine.krm("manifest", stdin=plain).ok()
    assert statement["subject"][1]["digest"]["sha256"] == hashlib.sha256(manifest).hexdigest()
    # Helm 3 prints what it is given, Helm 4 sorts and prints it again
    said = krm_machine.krm("check", "--attestation", str(chart / "statement.json"), stdin=plain)
    assert (said.code, "error CC1331 " in said.err) == ((0, False) if host == "helm3" else (1, True))


def test_a_pipe_from_helm_is_attested_as_it_is(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    config = " ".join(word for word in CONFIG if word != "--post-renderer-args")
    script = (
        "set -eo pipefail; helm template shop chart > plain.yaml\n"
        f"contrast-krm post-render {config} --attest statement.json < plain.yaml > rendered.yaml\n"
        f"contrast-krm check rendered.yaml {config} --input plain.yaml --attestation statement.json"
    )
    ran = krm_machine.run(["bash", "-c", script], chart)
    assert "compared: output, config, input; not compared: nothing" in (ran.ok(), ran.err)[1]
