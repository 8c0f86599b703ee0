"""Whatever kind of object holds a placeholder: its pods are sealed, or it is refused with the reason; never silent."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.kinds import CATALOGUED
from krm_function.kubernetes.kinds import REFUSED as REFUSED_KINDS
from krm_function.kubernetes.pod_kinds import DIRECTORY, SHIPPED, of_group
from tests import quick_yaml as yaml
from tests.custom_resources.kinds import BY_CATALOGUE, OTHER_VERSIONS, REFUSED, SEALED
from tests.custom_resources.objects import (
    CONTRAST,
    OPTIONS,
    Json,
    leader_worker_set,
    ray_cluster,
    rendered,
    stream,
    template,
)
from tests.custom_resources.planted import Planted, thing
from tests.custom_resources.unknown_kinds import UNKNOWN_NAMES, UNKNOWN_TEMPLATES
from tests.hosts.running import called
from tests.wording import remedy


def _name(planted: Planted) -> str:
    return f"{planted.value['apiVersion']} {planted.value['kind']}"


def _rendered(planted: Planted, *options: str) -> Any:
    return called("generate", "-", *OPTIONS, *options, stdin=stream(planted.value).encode())


def _policies(output: bytes) -> Any:
    found = next(one for one in yaml.safe_load_all(output) if one["kind"] == "ConfigMap")
    return json.loads(found["data"]["manifest.json"])["Policies"]


@pytest.mark.slow
@pytest.mark.parametrize("planted", SEALED, ids=_name)
def test_every_kind_of_the_catalogue_goes_all_the_way(planted: Planted) -> None:
    made = _rendered(planted)
    output = made.ok()
    text = stream(planted.value).encode()
    assert called("generate", "-", *OPTIONS, stdin=output).ok() == output
    assert called("uninject", stdin=output).ok() == text
    assert called("check", "-", stdin=output).code == 0
    assert called("check", "-", *OPTIONS, stdin=output).code == 0
    plan = json.loads(called("plan", "-", "-o", "json", *OPTIONS, stdin=text).ok())
    assert len(plan["workloads"]) == len(planted.sealed) + 1
    for address in planted.sealed:
        assert called("policy", "show", address, stdin=output).code == 0
        assert called("explain", address, "-", *OPTIONS, stdin=text).code == 0
    assert called("lock", "--check", "-o", OPTIONS[3], "-", *OPTIONS, stdin=text).code == 0
    assert called("diff", "-", *OPTIONS, stdin=text).code in (0, 1)
    assert len(_policies(output)) == len(planted.sealed) + 1


@pytest.mark.parametrize("planted", REFUSED, ids=_name)
@pytest.mark.parametrize("command", ["generate", "plan", "diff", "check"])
def test_every_other_kind_is_refused_with_the_reason(planted: Planted, command: str) -> None:
    made = called(command, "-", *OPTIONS, stdin=stream(planted.value).encode())
    assert made.code == 1
    assert "CC1109" in made.err
    assert planted.said in made.err
    if command == "generate":
        assert made.out == b""


@pytest.mark.parametrize("planted", REFUSED, ids=_name)
def test_assess_says_that_it_is_blocked(planted: Planted) -> None:
    made = called("assess", "-", stdin=json.dumps(planted.value).encode())
    assert "blocked 0" not in made.out.decode()
    assert made.out.decode().count("CC1109") >= 1


def with_entries(directory: Path, entries: Json, **spec: Any) -> tuple[str, ...]:
    """Options with what an error says to write under `spec`."""
    config = yaml.safe_load(CONTRAST.read_text())
    config["spec"] |= entries | spec
    (directory / "contrast.yaml").write_text(json.dumps(config))
    return (*OPTIONS[:4], "--config", str(directory / "contrast.yaml"))


def shown(error: str) -> Json:
    """The entry that an error shows."""
    entry: Json = yaml.safe_load(error[error.index("podTemplates: [") :].splitlines()[0])
    return entry


@pytest.mark.slow
@pytest.mark.parametrize("planted", UNKNOWN_TEMPLATES, ids=_name)
def test_the_entry_that_the_error_shows_is_all_that_is_missing(planted: Planted, tmp_path: Path) -> None:
    options = with_entries(tmp_path, shown(_rendered(planted).err))
    text = stream(planted.value).encode()
    output = called("generate", "-", *options, stdin=text).ok()
    assert len(_policies(output)) == 2
    assert called("check", "-", *options, stdin=output).code == 0
    assert called("generate", "-", *options, stdin=output).ok() == output
    assert called("uninject", *options[4:], stdin=output).ok() == text


@pytest.mark.parametrize("planted", UNKNOWN_NAMES, ids=_name)
def test_where_no_entry_can_help_none_is_shown(planted: Planted) -> None:
    made = _rendered(planted)
    assert "podTemplates" not in made.err
    assert remedy("CC1109.bare") in made.err


def spark(**roles: Json) -> Json:
    templates = {role: {"template": one} for role, one in roles.items()}
    return thing("sparkoperator.k8s.io/v1beta2", "SparkApplication", **templates)


def test_an_entry_names_all_templates_of_an_object_at_once(tmp_path: Path) -> None:
    value = spark(driver=template(), executor=template("other"))
    entry = shown(called("generate", "-", *OPTIONS, stdin=stream(value).encode()).err)
    paths = [one["path"] for one in entry["podTemplates"][0]["templates"]]
    assert paths == ["spec.driver.template", "spec.executor.template"]
    output = called("generate", "-", *with_entries(tmp_path, entry), stdin=stream(value).encode()).ok()
    assert len(_policies(output)) == 3


@pytest.mark.parametrize("command", ["generate", "plan", "diff", "check"])
def test_a_template_that_an_entry_leaves_out_is_refused(command: str, tmp_path: Path) -> None:
    """Of a kind whose other pods are sealed: not silent, and the path to add is there."""
    options = with_entries(tmp_path, shown(_rendered(Planted(spark(driver=template()))).err))
    value = spark(driver=template(), executor=template("other"))
    made = called(command, "-", *options, stdin=stream(value).encode())
    assert made.code == 1
    assert "CC1109 shop/llm spec.executor.template.spec.runtimeClassName" in made.err
    assert "add {path: 'spec.executor.template'} to the templates of the kind" in made.err


@pytest.mark.parametrize("command", ["generate", "plan", "diff", "check", "assess"])
def test_a_template_that_the_catalogue_does_not_have_is_refused(command: str) -> None:
    value = SEALED[0].value
    extra = {**value, "spec": {**value["spec"], "sidecarTemplate": template("other")}}
    made = called(command, "-", *(() if command == "assess" else OPTIONS), stdin=stream(extra).encode())
    assert made.code == (0 if command == "assess" else 1)
    assert "CC1109" in made.err + made.out.decode()
    assert "spec.sidecarTemplate" in made.err + made.out.decode()


@pytest.mark.parametrize("workloads", ["required", [{"kind": "SparkApplication", "name": "llm"}]])
def test_an_object_that_is_to_be_confidential_has_no_pod_beside_its_entry(workloads: Any, tmp_path: Path) -> None:
    """The executor names no class, so nobody asks; the user did."""
    entry = shown(_rendered(Planted(spark(driver=template()))).err)
    other = template("other")
    del other["spec"]["runtimeClassName"]
    chosen = [workloads, {"kind": "StatefulSet", "name": "coordinator"}] if workloads == "required" else workloads
    options = with_entries(tmp_path, entry, workloads=chosen)
    made = called("generate", "-", *options, stdin=stream(spark(driver=template(), executor=other)).encode())
    assert (made.code, made.out) == (1, b"")
    assert "SparkApplication" in made.err


def test_how_many_kinds_are_planted() -> None:
    groups = {
        "sealed": SEALED,
        "refused by the catalogue": BY_CATALOGUE,
        "of another version": OTHER_VERSIONS,
        "unknown, with the entry to write": UNKNOWN_TEMPLATES,
        "unknown, and no entry could help": UNKNOWN_NAMES,
    }
    kinds = [_name(one) for each in groups.values() for one in each]
    assert len(set(kinds)) == len(kinds)
    assert len(kinds) >= 86
    catalogued = {(group, kind) for group, names in REFUSED_KINDS.items() for kind in names}
    assert {(one.value["apiVersion"].partition("/")[0], one.value["kind"]) for one in BY_CATALOGUE} == catalogued
    for one in (*UNKNOWN_TEMPLATES, *UNKNOWN_NAMES):
        ref = Ref(one.value["apiVersion"], one.value["kind"], "shop", "llm")
        assert SHIPPED.entry(ref) is None


def test_an_entry_of_workloads_for_an_object_of_unknown_kind_is_an_error(tmp_path: Any) -> None:
    """Of a version that the catalogue does not have: neither silent nor plain."""
    config = yaml.safe_load(CONTRAST.read_text())
    config["spec"]["workloads"] = [{"kind": "CloneSet", "name": "llm"}]
    (tmp_path / "contrast.yaml").write_text(json.dumps(config))
    options = (*OPTIONS[:4], "--config", str(tmp_path / "contrast.yaml"))
    value = thing("apps.kruise.io/v1beta1", "CloneSet", template=template())
    del value["spec"]["template"]["spec"]["runtimeClassName"]
    made = called("generate", "-", *options, stdin=stream(value).encode())
    assert made.code == 1
    assert "only known for v1alpha1" in made.err


def test_the_index_of_the_catalogue_is_its_files() -> None:
    groups = sorted(name.removesuffix(".yaml") for name in os.listdir(DIRECTORY))
    entries = [entry for group in groups for entry in of_group(group).values()]
    found = {(entry.group, entry.kind): bool(entry.refused) for entry in entries}
    sealed = {(group, kind): False for kind, names in CATALOGUED.items() for group in names}
    assert found == sealed | {(group, kind): True for group, kinds in REFUSED_KINDS.items() for kind in kinds}
    assert all(entry.instead for entry in entries if entry.refused)
    assert all(entry.versions and entry.templates for entry in entries if not entry.refused)


def test_every_kind_of_the_catalogue_is_planted_here() -> None:
    planted = {(one.value["apiVersion"].partition("/")[0], one.value["kind"]) for one in SEALED}
    assert planted == {(group, kind) for kind, groups in CATALOGUED.items() for group in groups}
    assert {one.value["kind"] for one in SEALED} <= SHIPPED.names


CHART = "kind: Deployment\nspec: {template: {spec: {runtimeClassName: contrast-cc}}}\n"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"apiVersion": "v1", "kind": "ConfigMap", "data": {"pod_template.yaml": CHART}}, "data"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "data": {"runtimeClass": "contrast-cc"}}, "data.runtimeClass"),
        ({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": CHART}}, "stringData.a"),
        (
            {
                "apiVersion": "helm.toolkit.fluxcd.io/v2",
                "kind": "HelmRelease",
                "spec": {"postRenderers": [{"kustomize": {"patches": [{"patch": CHART}]}}]},
            },
            "spec.postRenderers[0].kustomize.patches[0].patch",
        ),
        (
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Application",
                "spec": {"source": {"helm": {"values": "pod:\n  runtimeClassName: contrast-cc\n"}}},
            },
            "spec.source.helm.values",
        ),
        (
            {
                "apiVersion": "helm.cattle.io/v1",
                "kind": "HelmChart",
                "spec": {"valuesContent": "runtimeClassName: contrast-cc-metal-qemu-snp\n"},
            },
            "spec.valuesContent",
        ),
        (
            {  # of KubeAI
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "data": {"system.yaml": "resourceProfiles:\n  h100:\n    runtimeClassName: contrast-cc\n"},
            },
            "data",
        ),
    ],
)
def test_a_placeholder_in_text_is_named(value: Any, field: str) -> None:
    value = {**value, "metadata": {"name": "profiles", "namespace": "shop"}}
    for command in (("check", "-"), ("assess", "-")):
        made = called(*command, stdin=json.dumps(value).encode())
        assert "CC0285" in made.err
        assert field in made.err


def test_the_output_of_a_render_has_no_placeholder_in_text() -> None:
    output = _rendered(SEALED[0]).ok()
    assert "CC0285" not in called("check", "-", stdin=output).err
    assert "CC0285" not in called("assess", "-", stdin=output).err


def test_an_entry_in_place_of_the_catalogue_counts_and_the_plan_says_so(tmp_path: Any) -> None:
    config = yaml.safe_load(CONTRAST.read_text())
    entry = {"group": "argoproj.io", "kind": "Rollout", "templates": [{"path": "spec.template", "names": ["other"]}]}
    config["spec"]["podTemplates"] = [entry]
    (tmp_path / "contrast.yaml").write_text(json.dumps(config))
    options = (*OPTIONS[:4], "--config", str(tmp_path / "contrast.yaml"))
    text = stream(thing("argoproj.io/v1alpha1", "Rollout", template=template())).encode()
    plan = called("plan", "-", *options, stdin=text).ok().decode()
    assert "in place of the catalogue" in " ".join(plan.split())
    output = called("generate", "-", *options, stdin=text).ok()
    assert b"^other$" in called("policy", "show", "Rollout/shop/llm", "-o", "data", stdin=output).ok()


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "HTTP_PROXY"])
def test_a_variable_that_steers_programs_gets_no_form(name: str, tmp_path: Any) -> None:
    config = yaml.safe_load(CONTRAST.read_text())
    adds = {"env": [{"name": name, "value": "/lib/{hash}.so"}]}
    entry = {"group": "argoproj.io", "kind": "Rollout", "templates": [{"path": "spec.template", "adds": adds}]}
    config["spec"]["podTemplates"] = [entry]
    (tmp_path / "contrast.yaml").write_text(json.dumps(config))
    options = (*OPTIONS[:4], "--config", str(tmp_path / "contrast.yaml"))
    text = stream(thing("argoproj.io/v1alpha1", "Rollout", template=template())).encode()
    made = called("generate", "-", *options, stdin=text)
    assert (made.code, made.out) == (1, b"")
    assert "CC0693" in made.err


@pytest.mark.parametrize(
    "adds",
    [
        {"annotations": {"example.com/note": "{spec.note}"}},
        {"labels": {"example.com/note": "{spec.note}"}},
        {"env": [{"name": "NOTE", "value": "{spec.note}.{hash}"}], "annotations": {"example.com/note": "{spec.note}"}},
        {"env": [{"name": "LD_PRELOAD", "value": "{spec.note}"}]},
    ],
    ids=["annotation", "label", "with a form", "variable"],
)
def test_no_token_comes_into_a_policy_through_what_a_controller_adds(adds: Json, tmp_path: Any) -> None:
    config = yaml.safe_load(CONTRAST.read_text())
    config["spec"]["podTemplates"] = [
        {
            "group": "example.com",
            "kind": "Fleet",
            "templates": [{"path": "spec.template", "names": ["x"], "adds": adds}],
        }
    ]
    (tmp_path / "contrast.yaml").write_text(json.dumps(config))
    options = (*OPTIONS[:4], "--config", str(tmp_path / "contrast.yaml"))
    field = "labels" if "labels" in adds else "annotations"
    source = {"fieldRef": {"fieldPath": f"metadata.{field}['example.com/note']"}}
    env = [] if list(adds) == ["env"] else [{"name": "LD_PRELOAD", "valueFrom": source}]
    for note, code in (("$(text-pattern)^(?s:.*)$", 1), ("$(todo-annotation)", 1), ("a note", 0)):
        fleet = thing("example.com/v1", "Fleet", note=note, template=template(env=env))
        run = called("generate", "-", *options, stdin=stream(fleet).encode())
        assert (run.code, "CC0604" in run.err) == (code, code == 1), run.err


def test_no_token_comes_into_a_policy_through_the_name_of_a_group() -> None:
    cluster = ray_cluster(own_command=False)
    cluster["spec"]["workerGroupSpecs"][0]["groupName"] = "$(todo-annotation)"
    run = called("generate", "-", *OPTIONS, stdin=stream(cluster).encode())
    assert run.code == 1
    assert "CC0604" in run.err


LONGEST: dict[str, tuple[int, Callable[[str], Json]]] = {
    "LeaderWorkerSet": (50, leader_worker_set),
    "CloneSet": (52, lambda name: kruise("CloneSet", name)),
    "StatefulSet": (52, lambda name: kruise("StatefulSet", name)),
}


def kruise(kind: str, name: str) -> Json:
    pod = template("web")
    spec = {"replicas": 1, "selector": {"matchLabels": pod["metadata"]["labels"]}, "template": pod}
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "apps.kruise.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("kind", LONGEST)
def test_a_name_of_which_the_controller_makes_no_pods_is_refused(kind: str) -> None:
    """tests/cluster has the longest names that have pods."""
    longest, make = LONGEST[kind]
    assert rendered(make("n" * longest)).code == 0
    ran = rendered(make("n" * (longest + 1)))
    assert (ran.code, ran.out) == (1, b"")
    assert f"CC0222 shop/{'n' * (longest + 1)}" in ran.err
