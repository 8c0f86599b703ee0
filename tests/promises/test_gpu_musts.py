"""What Contrast's pages ask of pods with GPUs: the variable, a limit for an annotation of CDI, a GPU for the class."""

from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import World
from tests.hosts.running import EXAMPLES, called
from tests.mistakes.test_mistakes import said

VARIABLE = "NVIDIA_VISIBLE_DEVICES"
GPU = "nvidia.com/pgpu"
CODES = {"CC0415", "CC0416", "CC0418", "CC0419"}


def with_gpu(env: list[dict[str, Any]], image_env: list[str]) -> World:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"] |= {GPU: 1, "memory": "20Gi"}
    world.container["env"] = env
    config = world["lock"]["spec"]["images"][world.container["image"]]["config"]
    config["Env"] = [*(config.get("Env") or []), *image_env]
    return world


def found(shop: Shop, world: World) -> list[tuple[str, str]]:
    run = shop("fn", "--format", "json", data=world.resource_list())
    assert run.code == 0, run.stderr
    return [(one["severity"], one["code"]) for one in run.findings if one["code"] in CODES]


@pytest.mark.parametrize(
    ("env", "image", "expected"),
    [
        ([], [], [("info", "CC0418")]),
        ([{"name": VARIABLE, "value": "all"}], [], []),
        ([], [f"{VARIABLE}=all"], []),
        ([{"name": VARIABLE, "value": "none"}], [f"{VARIABLE}=all"], [("warning", "CC0419")]),
        ([], [f"{VARIABLE}=void"], [("warning", "CC0419")]),
        ([{"name": VARIABLE, "value": "all"}], [f"{VARIABLE}=void"], []),
    ],
    ids=["nowhere", "pod", "image", "pod-over-image", "image-void", "pod-over-void"],
)
def test_a_gpu_container_has_nvidia_visible_devices_all(
    env: list[dict[str, Any]], image: list[str], expected: list[tuple[str, str]], shop: Shop
) -> None:
    assert found(shop, with_gpu(env, image)) == expected


def test_a_container_without_gpu_beside_one_needs_no_variable(shop: Shop) -> None:
    world = with_gpu([{"name": VARIABLE, "value": "all"}], [])
    world.pod["containers"].append({**world.container, "name": "log", "env": [], "resources": {}})
    assert found(shop, world) == []


def test_a_cdi_annotation_needs_a_gpu_limit_and_a_class(shop: Shop) -> None:
    world = World()
    world.notes["cdi.k8s.io/gpu"] = f"{GPU}=0"
    assert found(shop, world) == [("warning", "CC0416")]


def test_a_gpu_class_needs_a_gpu(shop: Shop) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    assert found(shop, world) == [("warning", "CC0415")]


@pytest.mark.parametrize("example", ["quickstart", "gpu", "multi-runtime", "every-field", "custom-resources"])
def test_our_own_examples_are_not_warned_of(example: str) -> None:
    directory = EXAMPLES / example
    ran = called("generate", str(directory / "resources"), "--config", str(directory / "config"))
    assert ran.code == 0
    assert "CC0418" not in ran.err
    assert "CC0419" not in ran.err


def test_the_value_is_in_no_message(shop: Shop) -> None:
    world = with_gpu([{"name": VARIABLE, "value": "only-for-me"}], [])
    assert "only-for-me" not in str(said(shop, world))
