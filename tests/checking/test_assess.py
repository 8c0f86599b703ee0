"""`assess`: each pod of any input is confidential, plain, misplaced or blocked, without any configuration."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from krm_function.check.assess import Assessment, assess
from krm_function.kubernetes.workload import INITDATA
from krm_function.report.assessment import assessment_json, assessment_text
from krm_function.text.writer import dump
from tests.hosts.running import EXAMPLES, called
from tests.world import Json, an_object, coordinator, good, pod_spec, run, stream, values

CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
ROLLOUT = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "ro", "namespace": "shop"}}
RAY = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "ray", "namespace": "shop"}}


def plain(name: str = "web", **spec: Any) -> Json:
    return an_object(name=name, spec=pod_spec(runtimeClassName=None, **spec))


def claiming(**spec: Any) -> Json:
    """A pod that mounts a claim of the host's, which no render seals."""
    value = pod_spec(**CLAIM, **spec)
    value["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return value


def states(assessment: Assessment) -> dict[str, str]:
    return {pod.ref.name: pod.state for pod in assessment.pods}


def test_a_pod_has_one_state_and_what_stands_in_the_way() -> None:
    one_level_too_high = plain("high")
    one_level_too_high["spec"]["runtimeClassName"] = "contrast-cc"
    made = assess(
        stream(
            coordinator(), an_object(name="sealed"), plain(), an_object(name="db", spec=claiming()), one_level_too_high
        )
    )
    assert states(made) == {
        "coordinator": "confidential",
        "sealed": "confidential",
        "web": "plain",
        "db": "blocked",
        "high": "misplaced",
    }
    codes = {pod.ref.name: {found.code for found in pod.findings} for pod in made.pods}
    assert codes == {"coordinator": set(), "sealed": set(), "web": set(), "db": {"CC0807"}, "high": {"CC0240"}}


def test_a_pod_that_an_injector_changes_is_blocked() -> None:
    injected = an_object(labels={"azure.workload.identity/use": "true"})
    assert states(assess(stream(injected))) == {"web": "blocked"}


@pytest.mark.parametrize(
    ("value", "codes"),
    [("${REGION}", {"CC0686"}), ("eu-${REGION:=west}", {"CC0686"}), ("$${REGION}", set()), ("$REGION ${1}", set())],
)
def test_a_variable_that_flux_may_replace_is_named(value: str, codes: set[str]) -> None:
    spec = pod_spec()
    spec["containers"][0]["env"] = [{"name": "REGION", "value": value}]
    (pod,) = assess(stream(an_object(spec=spec))).pods
    assert (pod.state, {problem.code for problem in pod.findings}) == ("confidential", codes)


def test_images_and_releases_are_no_reason() -> None:
    spec = pod_spec()
    spec["containers"][0]["image"] = "nginx"
    assert states(assess(stream(an_object(spec=spec)))) == {"web": "confidential"}


def test_with_every_a_plain_pod_is_judged_as_if_it_asked_and_stays_plain() -> None:
    database = an_object(name="db", spec=claiming(runtimeClassName=None))
    assert states(assess(stream(plain(), database))) == {"web": "plain", "db": "plain"}
    assert states(assess(stream(plain(), database), judge_plain=True)) == {"web": "plain", "db": "blocked"}


def test_a_pod_with_a_gpu_is_judged_as_one_of_a_platform_with_gpus() -> None:
    spec = pod_spec(runtimeClassName=None)
    spec["containers"][0]["resources"]["limits"] |= {"cpu": "2", "nvidia.com/pgpu": "1"}
    assert states(assess(stream(an_object(spec=spec)), judge_plain=True)) == {"web": "plain"}


def test_each_pod_of_a_custom_resource_is_listed() -> None:
    template = {"spec": {"containers": [{"name": "worker", "image": "a"}]}}
    ray = RAY | {"spec": {"head": {"template": template}, "groups": [{"template": template}, {"template": template}]}}
    assert [pod.state for pod in assess(stream(ray)).pods] == ["plain"] * 3
    assert [pod.state for pod in assess(stream(ray), judge_plain=True).pods] == ["blocked"] * 3
    asking = ROLLOUT | {"spec": {"template": {"spec": pod_spec()}}}
    (pod,) = assess(stream(asking)).pods
    assert pod.state == "confidential"  # the catalogue has its kind
    (pod,) = assess(stream(RAY | {"spec": {"head": {"template": {"spec": pod_spec()}}}})).pods
    assert (pod.state, [found.code for found in pod.findings]) == ("blocked", ["CC1109"])
    assert "spec.groups[1].template.spec" in assessment_text(assess(stream(ray)))


def test_rendered_output_is_as_its_input() -> None:
    made = good(coordinator(), an_object(), plain("landing"))
    rendered = stream(*values(made))
    assert states(assess(rendered)) == {"coordinator": "confidential", "web": "confidential", "landing": "plain"}


def test_output_is_sealed_whatever_allowed_it_and_initdata_of_a_user_is_not() -> None:
    quick = EXAMPLES / "quickstart"
    made = called("generate", str(quick / "resources"), "--config", str(quick / "config"), "-q")
    text = made.out.decode()
    data = json.loads(called("assess", "-", "-o", "json", stdin=text.encode()).out)
    assert {pod["name"]: pod.get("sealed", False) for pod in data["pods"]} == {
        "coordinator": True,
        "db": True,
        "nightly-report": True,
        "payments": True,
        "recommendations": True,
        "web": True,
        "landing": False,
    }
    document = good(coordinator(), an_object())
    (web,) = (value for value in values(document) if value["metadata"]["name"] == "web")
    pod = web["spec"]["template"]
    pod["spec"] |= {"volumes": [*pod["spec"].get("volumes", []), *CLAIM["volumes"]]}  # no render takes it
    web["metadata"].pop("annotations", None)
    assert [(item.state, item.is_sealed) for item in assess(stream(web)).pods] == [("confidential", True)]
    pod["metadata"]["annotations"][INITDATA] = "bm9uZQ=="
    assert [item.is_sealed for item in assess(stream(web)).pods] == [False]


def test_of_a_configuration_that_cannot_be_read_only_that_is_reported(tmp_path: Path) -> None:
    run = called("assess", "-", "--config", str(tmp_path), "--format", "json", stdin=dump(plain()).encode())
    assert [problem["code"] for problem in json.loads(run.err)["findings"]] == ["CC1001"]


def test_a_configuration_decides_who_is_plain(tmp_path: Path) -> None:
    config = tmp_path / "config"
    shutil.copytree(EXAMPLES / "quickstart" / "config", config)
    (config / "contrast.yaml").write_text(
        dump(
            {
                "apiVersion": "contrast-krm.dev/v1alpha1",
                "kind": "ContrastGenerate",
                "metadata": {"name": "contrast", "annotations": {"config.kubernetes.io/local-config": "true"}},
                "spec": {
                    "platform": "Metal-QEMU-SNP",
                    "workloads": [
                        {"kind": "Deployment", "name": "web"},
                        {"kind": "Deployment", "name": "landing", "plain": "a public page"},
                    ],
                },
            }
        )
    )
    text = "---\n".join(map(dump, [plain(), plain("landing"), plain("other")])).encode()
    options = ("-", "--config", str(config), "-o", "json")
    made = called("assess", *options, stdin=text)
    pods = {pod["name"]: (pod["state"], pod.get("reason")) for pod in json.loads(made.out)["pods"]}
    assert pods == {"web": ("confidential", None), "landing": ("plain", "a public page"), "other": ("plain", None)}
    assert called("assess", *options, "--require-all", stdin=text).code == 1
    decided = "---\n".join(map(dump, [plain(), plain("landing")])).encode()
    assert called("assess", *options, "--require-all", stdin=decided).code == 0
    assert called("assess", "-", "--require-all", stdin=decided).code == 1


def test_what_holds_no_pod_is_not_listed() -> None:
    text = "spec: {containers: [{name: a, image: b}]}"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"it": text}}
    assert assess(stream(config_map, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}})).pods == ()


def test_the_json_has_every_pod() -> None:
    data = json.loads(assessment_json(assess(stream(coordinator(), plain()))))
    assert data["totals"] == {"confidential": 1, "plain": 1, "blocked": 0, "misplaced": 0}
    assert [(pod["name"], pod["podSpec"], pod["state"]) for pod in data["pods"]] == [
        ("coordinator", "spec.template.spec", "confidential"),
        ("web", "spec.template.spec", "plain"),
    ]


@pytest.mark.parametrize(
    "options, documents, code",
    [
        ((), [plain()], 0),
        (("--require-all",), [plain()], 1),
        (("--require-all",), [an_object()], 0),
        (("--require-all",), [an_object(spec=claiming())], 1),
        (("--all",), [an_object(spec=claiming(runtimeClassName=None))], 0),
        ((), [plain() | {"metadata": {"name": "web", "annotations": {"class": "contrast-cc"}}}], 1),
    ],
    ids=["plain", "plain, all required", "confidential", "blocked", "blocked if it asked", "misplaced"],
)
def test_the_exit_code_says_whether_it_is_as_required(
    options: tuple[str, ...], documents: list[Json], code: int
) -> None:
    text = "---\n".join(map(dump, documents))
    assert called("assess", *options, "-", stdin=text.encode()).code == code


def test_an_example_is_assessed_in_words() -> None:
    made = called("assess", str(EXAMPLES / "quickstart" / "resources"))
    lines = made.out.decode().splitlines()
    assert (made.code, made.err, lines[0]) == (0, "", "confidential 6, plain 1, blocked 0, misplaced 0")
    assert "  Deployment/shop/landing" in lines


def test_namespaces_with_a_guard_are_named_and_what_a_guard_is_not() -> None:
    labels = {"guard.contrast-krm.dev/pods": "confidential"}
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": of}}
        for name, of in (("shop", labels), ("other", {"guard.contrast-krm.dev/pods": "any"}), ("more", {}))
    ]
    made = assess(stream(*spaces, plain()))
    assert made.guarded == ("shop",)
    (said,) = (line for line in assessment_text(made).splitlines() if line.startswith("guarded: "))
    assert said.startswith("guarded: shop: ")
    assert "honest mistakes" in said
    assert json.loads(assessment_json(made))["guardedNamespaces"] == ["shop"]
    assert "guarded" not in assessment_text(assess(stream(plain()))) + assessment_json(assess(stream(plain())))


def test_what_cannot_be_read_is_an_error_and_nothing_is_assessed() -> None:
    made = called("assess", "-", stdin=b"kind: Deployment\nspec: {containers: [}\n")
    assert (made.code, made.out) == (1, b"")


def test_plain_pods_are_named_by_a_render_and_by_a_check() -> None:
    config = str(EXAMPLES / "quickstart" / "config")
    made = called("generate", str(EXAMPLES / "quickstart" / "resources"), "--config", config)
    assert made.err.splitlines()[-1] == "not confidential: Deployment/shop/landing"
    checked = called("check", "-", stdin=made.out)
    assert checked.err.splitlines()[-1] == "not confidential: Deployment/shop/landing"


def test_a_coordinator_beside_plain_pods_alone_is_a_warning() -> None:
    assert [found.code for found in run(coordinator(), plain()).findings if found.severity == "warning"].count("CC0242")
    assert "CC0242" not in {found.code for found in run(coordinator(), an_object(), plain("landing")).findings}
    assert "CC0242" not in {found.code for found in run(coordinator()).findings}
