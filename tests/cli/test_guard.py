"""`guard`: the same objects every time, for every kind that a render seals.

What a real API server refuses by them: tests/cluster/test_guard.py.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from krm_function.kubernetes.kinds import CATALOGUED, KINDS, REFUSED
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.workload import INITDATA
from krm_function.operations.guard_cel import field, find_guarded
from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, called

Json = dict[str, Any]
QUICKSTART = EXAMPLES / "quickstart"
FLEET = """
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata: {name: contrast}
spec:
  podTemplates:
    - {group: example.com, kind: Fleet, templates: [{path: 'spec.groups[*].template'}, {path: 'spec.a[*].b[*].c'}]}
    - {group: ray.io, kind: RayCluster, templates: [{path: spec.headGroupSpec.template}]}
"""


def printed(*arguments: str) -> list[Json]:
    return list(yaml.safe_load_all(called("guard", *arguments).ok()))


def texts(value: Any) -> list[str]:
    """Every text of a value."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in texts(part)]
    if isinstance(value, list):
        return [one for part in value for one in texts(part)]
    return [value] if isinstance(value, str) else []


def test_each_policy_has_its_binding_and_the_output_is_the_same_every_time() -> None:
    objects = printed()
    policies = [one for one in objects if one["kind"] == "ValidatingAdmissionPolicy"]
    bindings = {one["spec"]["policyName"]: one["spec"] for one in objects if one["kind"].endswith("Binding")}
    assert [one["metadata"]["name"] for one in policies] == list(bindings)
    assert len(policies) == 3
    assert all(one["spec"]["failurePolicy"] == "Fail" for one in policies)
    assert all(one["validationActions"] == ["Deny"] for one in bindings.values())
    assert called("guard").out == called("guard").out


def test_with_warn_nothing_is_refused() -> None:
    actions = [one["spec"]["validationActions"] for one in printed("--warn") if one["kind"].endswith("Binding")]
    assert actions == [["Warn", "Audit"]] * 3


def test_every_kind_that_a_render_seals_is_guarded() -> None:
    known = find_guarded(SHIPPED)
    groups = {(group, kind) for kind, of in CATALOGUED.items() for group in of}
    wanted = {*(f"{version.rpartition('/')[0]}/{kind}" for kind, (version, *_) in KINDS.items())}
    assert set(known.pods) == wanted | {f"{group}/{kind}" for group, kind in groups}
    assert {key.partition("/")[0] for key in known.classes} <= set(REFUSED)
    assert known.classes.keys() == known.reasons.keys()
    assert not known.classes.keys() & known.pods.keys()
    assert all(REFUSED[group] and kind in REFUSED[group] for group, kind in (key.split("/") for key in known.classes))


@pytest.mark.parametrize(
    ("path", "written"),
    [("spec.a", "o.?spec.?a"), ("spec.a-b.in", 'o.?spec[?"a-b"][?"in"]'), ("spec.a_b.items", "o.?spec.?a_b.?items")],
)
def test_a_key_that_is_no_name_in_cel_is_written_as_an_index(path: str, written: str) -> None:
    assert field("o", path.split(".")) == written


def test_the_kinds_of_a_configuration_are_guarded_as_well_and_what_is_not_is_said(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(FLEET)
    ran = called("guard", "--config", str(tmp_path))
    assert ran.code == 0
    assert (
        "warning CC1370: Fleet of example.com: the guard does not check the pod templates at spec.a[*].b[*].c"
        in ran.err
    )
    sealed = next(yaml.safe_load_all(ran.out))
    pods = next(one["expression"] for one in sealed["spec"]["variables"] if one["name"] == "pods")
    assert '"example.com/Fleet"' in pods
    assert '"ray.io/RayCluster"' in pods, "an entry counts in place of the catalogue's"
    assert not any('"ray.io/RayCluster"' in text and "reason" in text for text in texts(sealed))
    groups = [group for rule in sealed["spec"]["matchConstraints"]["resourceRules"] for group in rule["apiGroups"]]
    assert "example.com" in groups


def test_no_expression_or_message_is_longer_or_more_than_a_server_takes() -> None:
    for one in printed():
        spec = one.get("spec", {})
        assert len(spec.get("validations", ())) <= 64
        assert len(spec.get("matchConditions", ())) <= 64
        names = [each["name"] for each in spec.get("variables", ())]
        assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) for name in names)
        assert len(set(names)) == len(names)
        for check in spec.get("validations", ()):
            assert "\n" not in check["message"]


def test_the_guard_may_stand_among_the_resources_of_a_render(tmp_path: Path) -> None:
    file = tmp_path / "guard.yaml"
    assert called("guard", "-o", str(file)).ok() == b""
    text = file.read_bytes()
    assert text == called("guard").out
    both = called("generate", str(QUICKSTART / "resources"), str(file), "--config", str(QUICKSTART / "config")).ok()
    assert text.removeprefix(b"---\n") in both
    assert called("check", stdin=both).ok() == b""


@pytest.fixture(scope="module")
def rendered() -> bytes:
    return called("generate", str(QUICKSTART / "resources"), "--config", str(QUICKSTART / "config")).ok()


def test_the_containers_of_rendered_output_are_listed_by_the_end_of_its_initdata(rendered: bytes) -> None:
    (made,) = yaml.safe_load_all(called("guard", "--sealed", "-", stdin=rendered).ok())
    assert (made["kind"], made["metadata"]["name"], made["metadata"]["namespace"]) == (
        *("ConfigMap", "sealed-containers"),
        "shop",
    )
    web = next(one for one in yaml.safe_load_all(rendered) if one["kind"] == "Deployment" and "web" in str(one))
    pod = web["spec"]["template"]
    end = pod["metadata"]["annotations"][INITDATA][-40:].translate(str.maketrans("+/=", "-_."))
    names = [one["name"] for part in ("initContainers", "containers") for one in pod["spec"][part]]
    lines = made["data"][end].splitlines()
    assert [line.split(" ")[0] for line in lines] == names
    assert all(re.fullmatch("[a-z0-9-]+ sha256:[0-9a-f]{64}", line) for line in lines)


def test_a_list_that_is_too_long_for_one_object_is_in_several(rendered: bytes) -> None:
    documents = list(yaml.safe_load_all(rendered))
    web = next(one for one in documents if one["kind"] == "Deployment" and INITDATA in str(one))
    many = []
    for number in range(1000):
        pod = {**web["spec"]["template"]["metadata"]["annotations"], INITDATA: f"{'A' * 60}{number:08d}"}
        template = {**web["spec"]["template"], "metadata": {"annotations": pod}}
        name = {"name": f"web-{number}", "namespace": "shop"}
        many.append({**web, "metadata": name, "spec": {**web["spec"], "template": template}})
    stream = "".join(f"---\n{yaml.safe_dump(one)}" for one in many).encode()
    made = list(yaml.safe_load_all(called("guard", "--sealed", "-", "--name", "shop", stdin=stream).ok()))
    assert [one["metadata"]["name"] for one in made] == ["shop", "shop-1"]
    assert sum(len(one["data"]) for one in made) == 1000
    assert all(sum(map(len, texts(one["data"]))) < 262_144 for one in made)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--sealed", str(QUICKSTART / "resources")), 1, "CC1371"),
        (("--sealed", str(QUICKSTART / "resources"), "--name", "My_Name"), 1, "CC1372"),
        (("--sealed", "nowhere.yaml"), 3, "CC1001"),
        (("--sealed", "a.yaml", "--warn"), 2, "contrast-krm guard --help"),
    ],
    ids=["not rendered", "a wrong name", "no such file", "two at once"],
)
def test_a_wrong_call_prints_nothing(arguments: tuple[str, ...], code: int, said: str) -> None:
    ran = called("guard", *arguments)
    assert (ran.code, ran.out) == (code, b"")
    assert said in ran.err
