"""`check`, all that `contrast set` and `contrast verify` will ask: roles, bytes, kinds, hooks, and another render."""

import base64
import copy
import json
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.cli.test_check import NOT_COMPARED, Objects, checked, container, objects, web
from tests.failures.running import Run, spawned
from tests.failures.world import World, canaries
from tests.wording import wording

TDX = {"MrTd": "0a" * 48, "Rtmrs": ["0b" * 48, "0c" * 48, "0d" * 48, "0e" * 48], "MrSeam": "0f" * 48}


def codes(run: Run) -> list[str]:
    return sorted(error["code"] for error in run.errors)


def stream(made: Objects) -> bytes:
    return yaml.safe_dump_all(made.values(), sort_keys=False).encode()


def again(shop: Shop, made: Objects) -> Run:
    """`check` with the configuration of the render."""
    return checked(shop, made, "--config", "config.yaml")


def rendered_from(shop: Shop, world: World) -> Objects:
    shop.change(world)
    run = shop.generate()
    assert run.code == 0, run.stderr
    return objects(run.stdout)


# --- the tripwire


def test_a_placeholder_in_a_helm_hook_is_reported_with_its_remedy(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    hook = {"name": "migrate", "namespace": "shop", "annotations": {"helm.sh/hook": "pre-install"}}
    made["Job/migrate"] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": hook,
        "spec": {"template": {"spec": {"runtimeClassName": "contrast-cc", "containers": []}}},
    }
    (error,) = checked(shop, made).errors
    assert (error["code"], error["resource"]["name"]) == ("CC1108", "migrate")
    assert "pre-install" in error["message"]
    assert "Helm 4" in error["hint"]


@pytest.mark.parametrize("name", ["contrast-cc", "contrast-cc-metal-qemu-snp-1a2b3c4d", "kata-cc-isolation"])
def test_a_kind_that_contrast_does_not_know_is_no_hiding_place(name: str, shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    made["Thing/web"] = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": {"runtimeClassName": name}}},
    }
    (error,) = checked(shop, made).errors
    assert (error["code"], error["field"]) == ("CC1109", "spec.template.spec.runtimeClassName")
    assert "example.com/v1 Thing" in error["message"]


def test_an_old_api_version_is_no_hiding_place(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    made["old"] = copy.deepcopy(made["Deployment/web"]) | {"apiVersion": "extensions/v1beta1"}
    made["old"]["metadata"]["name"] = "old"
    assert codes(checked(shop, made)) == ["CC1109"]


# --- the manifest


def text_of(made: Objects) -> Any:
    return made["ConfigMap/contrast-manifest"]["data"]


def test_a_manifest_that_was_formatted_anew_would_not_verify(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    shop.write("manifest.json", json.dumps(json.loads(text_of(made)["manifest.json"])))
    (error,) = checked(shop, made, "--manifest", "manifest.json").errors
    assert error["code"] == "CC1111"
    assert "byte for byte" in error["hint"]


def test_a_role_that_was_given_to_another_pod_is_found(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    manifest = json.loads(text_of(made)["manifest.json"])
    for policy in manifest["Policies"].values():
        policy["Role"] = "" if policy.get("Role") else "coordinator"
    text_of(made)["manifest.json"] = json.dumps(manifest)
    assert codes(checked(shop, made)) == ["CC1110", "CC1110"]


def test_a_platform_without_reference_values_is_found(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    manifest = json.loads(text_of(made)["manifest.json"])
    for value in manifest["ReferenceValues"]["snp"]:
        value["Platform"] = "Metal-QEMU-SNP-GPU"
    text_of(made)["manifest.json"] = json.dumps(manifest)
    assert "CC0709" in codes(checked(shop, made))


def test_pods_that_a_manifest_would_count_once_are_found(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    made["copy"] = copy.deepcopy(made["Deployment/web"])
    assert codes(checked(shop, made)) == ["CC0118", "CC0118"]  # the same object twice: which one will it be?
    made["copy"]["kind"] = "ReplicaSet"
    assert "CC0705" in codes(checked(shop, made))


# --- what no policy can tell, and another render can


def commanded() -> World:
    world = World()
    world.container.update(command=["/bin/main"], args=["serve"], workingDir="/")
    return world


@pytest.mark.parametrize(
    ("field", "says"),
    [("command", "web: command or args"), ("args", "web: command or args"), ("workingDir", "web: workingDir")],
)
def test_a_field_that_was_removed_is_found_by_another_render(field: str, says: str, shop: Shop) -> None:
    world = commanded()
    world["lock"]["spec"]["images"][world.container["image"]]["config"] |= {
        "Entrypoint": ["/bin/other"],
        "Cmd": ["x"],
        "WorkingDir": "/other",
    }
    made = rendered_from(shop, world)
    assert again(shop, made).code == 0
    del container(made)[field]
    found = [error for error in again(shop, made).errors if error["code"] == "CC1103"]
    assert [error["message"] for error in found] == [wording("CC1103", field=says)]


def tdx_world() -> World:
    world = World()
    platform = {"handler": "contrast-cc-metal-qemu-tdx-1a2b3c4d", "referenceValues": {"tdx": [TDX]}}
    platform["rtmr0ByVCPU"] = {str(count): f"{count}a" * 48 for count in range(1, 9)}
    world["release"]["spec"]["platforms"]["metal-qemu-tdx"] = platform
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-tdx"
    return world


def test_a_cpu_limit_that_was_changed_on_tdx_is_found_by_the_release(shop: Shop) -> None:
    made = rendered_from(shop, tdx_world())
    assert again(shop, made).code == 0
    container(made)["resources"]["limits"]["cpu"] = "4"
    errors = again(shop, made).errors
    assert "CC1112" in [error["code"] for error in errors]
    assert any("VM with 5 vCPUs" in error["message"] for error in errors)


def test_a_pod_that_was_moved_to_another_platform_is_found(shop: Shop) -> None:
    world = tdx_world()
    world["other"] = copy.deepcopy(world["web"])
    world["other"]["metadata"]["name"] = "other"
    world["other"]["spec"]["template"]["spec"]["runtimeClassName"] = "contrast-cc-metal-qemu-snp"
    made = rendered_from(shop, world)
    made["Deployment/other"]["spec"]["template"]["spec"]["runtimeClassName"] = "contrast-cc-metal-qemu-tdx-1a2b3c4d"
    (error,) = checked(shop, made).errors
    assert "runtimeClassName (it has the ID block of another platform" in error["message"]


def test_another_configuration_makes_another_manifest(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    world.spec["manifest"]["referenceValues"]["snp"]["MinimumTCB"] = {
        **world.spec["manifest"]["referenceValues"]["snp"]["MinimumTCB"],
        "SNPVersion": 99,
    }
    shop.change(world)
    (error,) = again(shop, objects(rendered)).errors
    assert error["code"] == "CC1113"
    assert error["message"].rpartition(": ")[2] == "ReferenceValues.snp[0].MinimumTCB.SNPVersion"


def test_another_release_of_an_image_seals_another_policy(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    world["lock"]["spec"]["images"][world.container["image"]]["config"]["Entrypoint"] = ["/bin/changed"]
    shop.change(world)
    (error,) = again(shop, objects(rendered)).errors
    assert (error["code"], error["resource"]["name"]) == ("CC1103", "web")
    assert error["message"].endswith("web: command or args")


def test_the_order_of_init_containers_is_found_by_another_render(shop: Shop) -> None:
    world = World()
    image = world.container["image"]
    world.pod["initContainers"] = [{"name": name, "image": image} for name in ("first", "second")]
    made = rendered_from(shop, world)
    assert again(shop, made).code == 0
    web(made)["spec"]["initContainers"][1:3] = web(made)["spec"]["initContainers"][2:0:-1]
    assert [error["message"].rpartition(": ")[2] for error in again(shop, made).errors] == [
        "the order of its containers"
    ]


def without_a_lock() -> World:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    del world.documents["lock"]
    return world


def test_a_configuration_without_a_lock_passes_and_names_what_was_not_compared(shop: Shop, rendered: bytes) -> None:
    shop.change(without_a_lock())
    run = shop("check", "--config", "config.yaml", data=rendered)
    assert run.code == 0
    assert f"{wording('CC1117.no-lock')}\n" in run.stderr


def test_without_a_lock_all_but_the_policies_is_compared(shop: Shop, rendered: bytes) -> None:
    world = without_a_lock()
    world.spec["manifest"]["disableUpdates"] = True
    shop.change(world)
    (error,) = again(shop, objects(rendered)).errors
    assert (error["code"], error["message"].rpartition(": ")[2]) == ("CC1113", "WorkloadOwnerPubKeys")


def test_a_configuration_that_is_wrong_is_a_usage_error(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["platfrom"] = "metal-qemu-snp"
    shop.change(world)
    run = again(shop, objects(rendered))
    assert (run.code, codes(run)) == (2, ["CC0902"])


# --- every move of the issue, by the installed executable


def moved_env(made: Objects) -> None:
    container(made)["env"][0]["value"] = "other"


def unpinned(made: Objects) -> None:
    web(made)["spec"]["initContainers"][0]["image"] = "registry.example.com/unpinned:1.0"


def unadmissible(made: Objects) -> None:
    web(made)["spec"]["nodeSelector"] = {"hardware": "tdx"}


def another_render(made: Objects) -> None:
    text_of(made)["manifest.json"] = text_of(made)["manifest.json"].replace(digest_of(made), "a" * 64)


def digest_of(made: Objects) -> str:
    policies = json.loads(text_of(made)["manifest.json"])["Policies"]
    return next(str(digest) for digest, policy in policies.items() if policy["SANs"][0] == "web")


ISSUE: dict[str, Any] = {
    "CC1101": lambda made: web(made)["spec"].update(runtimeClassName="contrast-cc"),
    "CC1102": lambda made: web(made)["metadata"]["annotations"].pop("io.katacontainers.config.hypervisor.cc_init_data"),
    "CC1103": moved_env,
    "CC1104": another_render,
    "CC1105": lambda made: made.pop("StatefulSet/coordinator"),
    "CC0502": unpinned,
    "CC0304": unadmissible,
}


@pytest.mark.slow
@pytest.mark.parametrize("code", ISSUE)
def test_the_installed_executable_catches_it(code: str, rendered: bytes) -> None:
    made = objects(rendered)
    ISSUE[code](made)
    run = spawned("check", "--format", "json", data=stream(made))
    assert run.code == 1
    assert code in codes(run)


def test_a_pod_that_was_edited_says_which_field_in_which_file_and_line(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    moved_env(made)
    shop.write("rendered.yaml", stream(made))
    run = shop("check", "rendered.yaml")
    assert run.code == 1
    assert f"error CC1103 shop/web spec.template.spec: {wording('CC1103', field='web: env')}" in run.stderr
    assert "\n  at: rendered.yaml:" in run.stderr


def test_a_name_prefix_of_an_outer_layer_is_reported_as_such(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    made["Deployment/web"]["metadata"]["name"] = "prod-web"
    made["Deployment/web"]["metadata"]["namespace"] = "prod"
    for name in ("ConfigMap/settings", "Secret/login"):
        made[name]["metadata"]["namespace"] = "prod"
    said = [error["message"].rpartition(": ")[2] for error in checked(shop, made).errors]
    assert sorted(said) == ["metadata.name", "metadata.namespace"]


# --- as a KRM function


def resource_list(made: Objects, config: Any) -> bytes:
    value = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    return yaml.safe_dump({**value, "functionConfig": config, "items": list(made.values())}, sort_keys=False).encode()


MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"mode": "check"}}
OBJECT = {
    "apiVersion": "contrast-krm.dev/v1alpha1",
    "kind": "ContrastGenerate",
    "metadata": {"name": "check"},
    "spec": {"mode": "check"},
}


@pytest.mark.parametrize("config", [MAP, OBJECT], ids=["ConfigMap", "ContrastGenerate"])
def test_a_function_config_can_request_a_check(config: Any, shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    sent = resource_list(made, config)
    run = shop(data=sent)
    assert (run.code, run.stderr) == (0, f"checked 2 Contrast workloads\n{NOT_COMPARED}")
    assert run.stdout.startswith(sent)
    moved_env(made)
    sent = resource_list(made, config)
    run = shop("fn", "--format", "json", data=sent)
    assert (run.code, codes(run)) == (1, ["CC1103"])
    assert run.stdout.startswith(sent)
    (result,) = yaml.safe_load(run.stdout)["results"]
    assert (result["severity"], result["tags"]["code"]) == ("error", "CC1103")
    assert not list(canaries(result["message"]))


def with_configuration(made: Objects, *names: str) -> Objects:
    world = commanded()
    world["lock"]["spec"]["images"][world.container["image"]]["config"]["WorkingDir"] = "/other"
    return {**made, **{name: world[name] for name in names}}


@pytest.mark.parametrize(
    ("config", "items", "expected"),
    [
        (MAP, ("release", "lock"), []),  # the options of the render are not known
        (MAP, ("options", "release", "lock"), ["CC1103"]),  # kpt: all of them are in the package
        (OBJECT, ("options", "release", "lock"), ["CC1103"]),
        (OBJECT | {"spec": World()["options"]["spec"] | {"mode": "check"}}, ("release", "lock"), ["CC1103"]),
    ],
)
def test_a_check_renders_again_where_the_options_are_known(
    config: Any, items: tuple[str, ...], expected: list[str], shop: Shop
) -> None:
    world = commanded()
    world["lock"]["spec"]["images"][world.container["image"]]["config"]["WorkingDir"] = "/other"
    made = with_configuration(rendered_from(shop, world), *items)
    run = shop("fn", "--format", "json", data=resource_list(made, config))
    assert (run.code, codes(run)) == (0, [])
    del container(made)["workingDir"]
    assert codes(shop("fn", "--format", "json", data=resource_list(made, config))) == expected


def test_a_check_in_the_package_is_not_read_by_the_render(shop: Shop) -> None:
    world = World()
    local = {"config.kubernetes.io/local-config": "true"}
    world["second"] = OBJECT | {"metadata": {"name": "check", "annotations": local}}
    run = shop("fn", data=world.resource_list())
    assert (run.code, run.stderr) == (0, "")
    world["second"]["spec"] = {"mode": "check", "platfrom": "x"}
    assert codes(shop("fn", "--format", "json", data=world.resource_list())) == ["CC0902"]


def test_a_mistyped_mode_is_a_usage_error(shop: Shop, rendered: bytes) -> None:
    run = shop("fn", "--format", "json", data=resource_list(objects(rendered), OBJECT | {"spec": {"mode": "chekc"}}))
    assert run.code == 2
    assert any(error["code"] == "CC0901" for error in run.errors)


def test_the_verb_answers_a_list_with_itself_because_an_empty_answer_deletes_everything(
    shop: Shop, rendered: bytes
) -> None:
    sent = resource_list(objects(rendered), None)
    run = shop("check", data=sent)
    assert (run.code, run.stdout) == (0, sent)


def test_no_format_prints_a_secret(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    moved_env(made)
    made["Secret/login"]["data"]["password"] = base64.b64encode(b"CANARY-other").decode()
    for form in ("text", "json", "github", "sarif"):
        run = shop("check", "--format", form, data=stream(made))
        assert run.code == 1
        assert not list(canaries(run.stderr))
