"""`check`: what has moved since the render, and what was never rendered."""

from collections.abc import Callable
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.running import Run
from tests.failures.world import CANARY, OTHER_IMAGE, WEB_IMAGE, World, canaries, encoded
from tests.wording import wording

NOT_COMPARED = f"{wording('CC1117.no-configuration')}\n"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
CLASS = "contrast-cc-metal-qemu-snp-1a2b3c4d"
Objects = dict[str, Any]
Move = Callable[[Objects], None]


def objects(rendered: bytes) -> Objects:
    """The rendered objects by kind and name, to be moved about."""
    made = [value for value in yaml.safe_load_all(rendered) if value]
    return {f"{value['kind']}/{value['metadata']['name']}": value for value in made}


def web(made: Objects) -> Any:
    return made["Deployment/web"]["spec"]["template"]


def container(made: Objects) -> Any:
    return web(made)["spec"]["containers"][0]


def checked(shop: Shop, made: Objects, *arguments: str) -> Run:
    run = shop(
        "check", "--format", "json", *arguments, data=yaml.safe_dump_all(made.values(), sort_keys=False).encode()
    )
    assert run.stdout == b""
    assert not list(canaries(run.stderr))
    return run


def test_what_a_render_makes_passes(shop: Shop, rendered: bytes) -> None:
    run = shop("check", data=rendered)
    assert (run.code, run.stdout, run.stderr) == (0, b"", f"checked 2 Contrast workloads\n{NOT_COMPARED}")
    assert checked(shop, objects(rendered)).code == 0


def test_what_a_render_makes_passes_as_a_resource_list_and_in_place(shop: Shop) -> None:
    listed = shop("fn", data=World().resource_list()).stdout
    assert shop("check", data=listed).code == 0
    assert shop.generate("--in-place").code == 0
    assert shop("check", "deployment").code == 0


def test_input_that_has_nothing_to_check_says_so(shop: Shop) -> None:
    run = shop("check", data=b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
    assert (run.code, run.stderr) == (0, "checked 0 Contrast workloads\n")


def placeholder(made: Objects) -> None:
    web(made)["spec"]["runtimeClassName"] = "contrast-cc-metal-qemu-snp"


def bare_placeholder(made: Objects) -> None:
    web(made)["spec"]["runtimeClassName"] = "contrast-cc"


def no_initdata(made: Objects) -> None:
    del web(made)["metadata"]["annotations"][INITDATA]


def broken_initdata(made: Objects) -> None:
    web(made)["metadata"]["annotations"][INITDATA] = encoded(CANARY)


def env(made: Objects) -> None:
    container(made)["env"][0]["value"] = f"{CANARY}-other"


def more_env(made: Objects) -> None:
    container(made)["env"].append({"name": "MORE", "value": CANARY})


def config_map(made: Objects) -> None:
    made["ConfigMap/settings"]["data"]["MODE"] = f"{CANARY}-other"


def secret(made: Objects) -> None:
    made["Secret/login"]["data"]["password"] = encoded(f"{CANARY}-other")


def image(made: Objects) -> None:
    container(made)["image"] = OTHER_IMAGE


def command(made: Objects) -> None:
    container(made)["command"] = ["/bin/other"]


def more_containers(made: Objects) -> None:
    web(made)["spec"]["containers"].append({"name": "more", "image": WEB_IMAGE})


def privileges(made: Objects) -> None:
    container(made)["securityContext"] = {"runAsUser": 4242}


def annotation(made: Objects) -> None:
    web(made)["metadata"]["annotations"]["io.katacontainers.added"] = CANARY


def cpu(made: Objects) -> None:
    container(made)["resources"]["limits"]["cpu"] = "7"


def unpinned_init_container(made: Objects) -> None:
    web(made)["spec"]["initContainers"][0]["image"] = "registry.example.com/unpinned:1.0"


def node_selector(made: Objects) -> None:
    web(made)["spec"]["nodeSelector"] = {"hardware": "tdx"}


def no_runtime_class(made: Objects) -> None:
    made[f"RuntimeClass/{CLASS}"]["metadata"]["name"] = "contrast-cc-metal-qemu-snp-99999999"


def no_manifest(made: Objects) -> None:
    del made["ConfigMap/contrast-manifest"]


def no_coordinator(made: Objects) -> None:
    del made["StatefulSet/coordinator"]


def no_web(made: Objects) -> None:
    del made["Deployment/web"]


MOVES: list[tuple[Move, str, str]] = [
    (placeholder, "CC1101", "the placeholder contrast-cc-metal-qemu-snp was not replaced"),
    (bare_placeholder, "CC1101", "the placeholder contrast-cc was not replaced"),
    (no_initdata, "CC1102", "the pod has no policy"),
    (broken_initdata, "CC0610", ": it is not "),
    (env, "CC1103", "web: env"),
    (more_env, "CC1103", "web: env"),
    (config_map, "CC1103", "web: env"),
    (secret, "CC1103", "web: env"),
    (image, "CC1103", "web: image"),
    (command, "CC1103", "web: command or args"),
    (more_containers, "CC1103", "more"),
    (privileges, "CC1103", "web: securityContext.runAsUser"),
    (annotation, "CC1103", "annotation io.katacontainers.added"),
    (cpu, "CC1103", "the vCPU count"),
    (unpinned_init_container, "CC0502", "registry.example.com/unpinned:1.0 is not pinned"),
    (node_selector, "CC0304", "hardware=tdx contradicts"),
    (no_runtime_class, "CC1107", "does not exist"),
    (no_manifest, "CC1106", "no manifest"),
    (no_coordinator, "CC1105", "coordinator"),
    (no_web, "CC1105", "web"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("move", "code", "says"), MOVES, ids=[move.__name__ for move, _, _ in MOVES])
def test_what_moved_since_the_render_is_found(move: Move, code: str, says: str, shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    move(made)
    run = checked(shop, made)
    assert run.code == 1
    found = [error for error in run.errors if error["code"] == code]
    assert found, run.errors
    assert any(says in error["message"] for error in found)
    assert all(error["hint"] for error in run.errors)


@pytest.mark.parametrize("move", [env, image, command, privileges, cpu, node_selector, no_manifest])
def test_one_move_is_one_error(move: Move, shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    move(made)
    assert len(checked(shop, made).errors) == 1


def test_input_that_was_never_rendered_is_found(shop: Shop) -> None:
    run = shop("check", "deployment", "--format", "json")
    assert run.code == 1
    assert sorted(error["code"] for error in run.errors) == ["CC1101", "CC1101"]
    assert all("--enable-exec" in error["hint"] for error in run.errors if error["code"] == "CC1101")


def test_the_manifest_may_stand_in_a_file(shop: Shop, rendered: bytes) -> None:
    shop.write("manifest.json", shop("manifest", data=rendered).stdout)
    made = objects(rendered)
    no_manifest(made)
    assert checked(shop, made, "--manifest", "manifest.json").code == 0


def test_the_manifest_of_another_render_is_found(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.container["args"] = ["other"]
    shop.change(world)
    shop.generate("-m", "other.json")
    made = objects(rendered)
    run = checked(shop, made, "--manifest", "other.json")
    assert run.code == 1
    assert {error["code"] for error in run.errors} == {"CC1104", "CC1105"}


def test_a_manifest_without_a_coordinator_is_found(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    text = made["ConfigMap/contrast-manifest"]["data"]["manifest.json"]
    made["ConfigMap/contrast-manifest"]["data"]["manifest.json"] = text.replace('"Role": "coordinator"', '"Role": ""')
    run = checked(shop, made)
    assert run.code == 1
    assert any("coordinator" in error["message"] for error in run.errors)


@pytest.mark.parametrize(("text", "says"), [("{", "not JSON"), ("[]", "not a JSON object")])
def test_a_manifest_that_is_none_is_found(text: str, says: str, shop: Shop, rendered: bytes) -> None:
    shop.write("manifest.json", text)
    run = shop("check", "--manifest", "manifest.json", "--format", "json", data=rendered)
    (error,) = run.errors
    assert (run.code, error["code"], error["file"]) == (1, "CC0702", "manifest.json")
    assert says in error["message"]


def test_a_manifest_that_is_not_there_is_an_environment_error(shop: Shop, rendered: bytes) -> None:
    run = shop("check", "--manifest", "nothing.json", "--format", "json", data=rendered)
    assert (run.code, [error["code"] for error in run.errors]) == (3, ["CC1001"])


@pytest.mark.parametrize("data", [b"a: [", b"\xff", b"kind: Pod\nkind: Pod\n", b"a: " + b"[" * 100_000])
def test_input_that_cannot_be_read_is_found(data: bytes, shop: Shop) -> None:
    run = shop("check", "--format", "json", data=data)
    assert run.code == 1
    (error,) = run.errors
    assert error["line"] > 0


def test_pods_of_the_wrong_shape_are_found(shop: Shop, rendered: bytes) -> None:
    shapes: list[Any] = [None, "containers", [None], [{"name": 1}], [{}], {}]
    for shape in shapes:
        made = objects(rendered)
        web(made)["spec"]["containers"] = shape
        assert checked(shop, made).code == 1
