"""Hints lead somewhere: the rule that a hint names is written, and the same error never comes back at the same field.

One test follows the hints of every error of every package, round by round, until no hint names a rule.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from krm_function.check.adopt import is_valid, merge_spec, replace_spec
from krm_function.check.assess import judge
from krm_function.config.collect import collect
from krm_function.config.document import ConfigDocument
from krm_function.findings import Finding
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import Workload
from tests.hosts.running import Machine, machine
from tests.quick_yaml import safe_load, safe_load_all
from tests.real_manifests.packages import CONFIG, PACKAGES, RELEASE, copy, unsealed

ROUNDS = 8
NO_KEY = "a-key-that-no-pod-reads"
Field = tuple[str, str, tuple[Any, ...], str]  # kind, name, path, code


def external_source(workload: Workload, finding: Finding) -> dict[str, Any]:
    """The entry for a reference: first with a key that no pod reads, so that the hint about the key is met as well."""
    reference = workload.at(finding.path)
    kind = "Secret" if "secret" in str(finding.path[-1]) else "ConfigMap"
    key = reference.get("key", "KEY") if finding.code == "CC0672" else NO_KEY
    return {"policy": {"externalSources": [{"kind": kind, "name": reference["name"], "keys": [key]}]}}


def named_source(workload: Workload, finding: Finding) -> dict[str, Any]:
    """The same with the name of the variable that the hint has."""
    part = external_source(workload, finding)
    keys, variables = re.findall(r"\[(.*?)\]", finding.hint)
    part["policy"]["externalSources"][0] |= {"keys": keys.split(", "), "variables": variables.split(", ")}
    return part


def volume_rule(workload: Workload, finding: Finding) -> dict[str, Any]:
    """The rule for the claim or the directory of the node that is mounted at the place of a finding."""
    name = (workload.at(finding.path) or {}).get("name") or dig(workload.at(finding.path), ("metadata", "name"))
    volumes = {volume["name"]: volume for volume in workload.pod_spec.get("volumes") or ()}
    volume = volumes.get(name, {"persistentVolumeClaim": {}})
    if "hostPath" in volume:
        return {"volumes": {"hostPathCaches": {"paths": [volume["hostPath"]["path"]]}}}
    return {"volumes": {"securePV": {"claims": [name]}}} if "persistentVolumeClaim" in volume else {}


def renamed_gpu(_: Workload, finding: Finding) -> dict[str, Any]:
    old, new = finding.hint.split(", or add ")[1].split(" under ")[0].split(": ")
    return {"gpus": {"rename": {old: new}}}


# words of a hint -> the rule that it names
RULES: dict[str, Callable[[Workload, Finding], dict[str, Any]]] = {
    "list it in spec.policy.externalSources": external_source,
    "to the keys of the entry": external_source,
    "add an entry with keys": named_source,
    "spec.volumes.splitSubPaths: true": lambda *_: {"volumes": {"splitSubPaths": True}},
    "the rules of spec.volumes": volume_rule,
    "spec.volumes.imageVolumes: emptyDir": lambda *_: {"volumes": {"imageVolumes": "emptyDir"}},
    "under spec.gpus.rename": renamed_gpu,
    "set vcpus.minimum: gpus": lambda *_: {"vcpus": {"minimum": "gpus"}},
    "memory: calculate": lambda *_: {"memory": "calculate"},
}


def with_part(spec: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Write a part; the keys of an external source join those of its entry."""
    entries = [dict(entry) for entry in dig(spec, ("policy", "externalSources")) or ()]
    for new in dig(part, ("policy", "externalSources")) or ():
        same = [entry for entry in entries if (entry["kind"], entry["name"]) == (new["kind"], new["name"])]
        if same and "variables" not in new:
            same[0]["keys"] = list(dict.fromkeys((*same[0]["keys"], *new["keys"])))
        else:
            entries.append(new)
    return merge_spec(spec, {**part, "policy": {"externalSources": entries}} if entries else part)


def followed(stream: bytes) -> Iterator[tuple[dict[Field, Finding], set[Field]]]:
    """Follow the hints; yield the errors of each round, and those whose hints were followed before."""
    value = safe_load((CONFIG / "first.yaml").read_text())
    files = (CONFIG / "first.yaml", RELEASE, CONFIG / "images.yaml")
    config, problems = collect([ConfigDocument(one) for file in files for one in safe_load_all(file.read_text())])
    assert config is not None, problems
    resources, spec, before = decode_stream(stream).resources, value["spec"], set[Field]()
    for _ in range(ROUNDS):
        judged = judge(resources, replace_spec(config, ConfigDocument(value), spec))
        errors: dict[Field, Finding] = {}
        parts = []
        for workload in judged.originals:
            for finding in judged.errors[*workload.place, workload.template]:
                field = (workload.ref.kind, workload.ref.name, finding.path, finding.code)
                errors[field] = finding
                rules = [rule for words, rule in RULES.items() if words in finding.hint]
                parts += [(field, part) for rule in rules if is_valid(part := rule(workload, finding)) and part]
        yield errors, before
        if not parts:
            return
        before = before | {field for field, _ in parts}
        for _, part in parts:
            spec = with_part(spec, part)
    raise AssertionError("the hints never end")


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_no_hint_leads_back_to_the_same_error_at_the_same_field(on: Machine, tmp_path: Path, name: str) -> None:
    met, rounds = set[Field](), 0
    for errors, before in followed(unsealed(on, copy(name, "first", tmp_path / "tool"))):
        assert {field: errors[field].hint for field in before & errors.keys()} == {}
        assert not {"CC0670", "CC0671"} & {code for *_, code in errors}, "no hint opens what must stay closed"
        met |= before
        rounds += 1
    assert met, "some hint of each package names a rule"
    assert rounds > 1
