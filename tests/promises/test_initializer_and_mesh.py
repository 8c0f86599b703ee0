"""What Contrast's pages promise about the initializer, the mesh and the firewall of a VM."""

import copy
from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import IMAGES, NOTE, World, pinned
from tests.mistakes.test_mistakes import said

INITIALIZER = IMAGES["ghcr.io/edgelesssys/contrast/initializer:latest"]
PROXY = IMAGES["ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"]
SKIP = f"{NOTE}skip-initializer"
INGRESS = f"{NOTE}servicemesh-ingress"
OPEN = {"name": "CONTRAST_SERVICE_MESH_DISABLED", "value": "true"}


def by_hand(world: World, name: str, image: str, env: list[dict[str, Any]]) -> None:
    """Write one of Contrast's containers into the pod, as users of --skip-initializer do."""
    made = {"name": name, "image": image, "resources": {"limits": {"memory": "50Mi"}}}
    world.pod.setdefault("initContainers", []).append(made | ({"env": env} if env else {}))
    known = world["lock"]["spec"]["images"]
    known[image] = known[INITIALIZER] | {"digest": image.partition("@")[2]}


def codes(shop: Shop, world: World) -> list[tuple[str, str]]:
    return [(found["severity"], found["code"]) for found in said(shop, world)[1]]


def test_the_service_mesh_needs_an_initializer(shop: Shop) -> None:
    world = World()
    world.notes.update({SKIP: "true", INGRESS: ""})
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0286")
    assert f"remove the annotation {SKIP}" in found["hint"]
    assert SKIP in found["field"]
    del world.notes[SKIP]
    assert said(shop, world) == (0, [])


def test_a_proxy_by_hand_needs_an_initializer_too(shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = "true"
    by_hand(world, "proxy", PROXY, [])
    assert codes(shop, world) == [("error", "CC0286")]


@pytest.mark.parametrize("name", ["contrast-initializer", "initializer"])
def test_an_initializer_by_hand_serves_the_mesh(name: str, shop: Shop) -> None:
    world = World()
    world.notes.update({SKIP: "true", INGRESS: ""})
    by_hand(world, name, INITIALIZER, [])
    assert said(shop, world) == (0, [])


def test_without_a_mesh_the_initializer_must_be_told_so(shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = "true"
    by_hand(world, "initializer", INITIALIZER, [{"name": "COORDINATOR_HOST", "value": "coordinator-ready.shop"}])
    code, (found,) = said(shop, world)
    assert (code, found["severity"], found["code"]) == (0, "warning", "CC0287")
    assert f'add the variable {OPEN["name"]} with the value "true"' in found["hint"]
    world.pod["initContainers"][0]["env"].append(copy.deepcopy(OPEN))
    assert said(shop, world) == (0, [])


def test_an_initializer_of_a_mirror_is_one(shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = "true"
    by_hand(world, "first", pinned("mirror.example.com/contrast/initializer:v1.25.0", "7"), [OPEN])
    assert said(shop, world) == (0, [])


def test_skip_initializer_leaves_the_firewall_closed(shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = "true"
    code, (found,) = said(shop, world)
    assert (code, found["severity"], found["code"]) == (0, "warning", "CC0287")
    assert f"remove the annotation {SKIP}" in found["hint"]


def test_the_flag_that_skips_the_mesh_leaves_the_annotations_to_decide(shop: Shop) -> None:
    world = World()
    world.notes[INGRESS] = ""
    world.spec["serviceMesh"] = {"enabled": False}
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (0, "CC0287")
    assert "remove the servicemesh annotations" in found["hint"]
    del world.notes[INGRESS]
    assert said(shop, world) == (0, [])


@pytest.mark.parametrize(
    ("notes", "expected"), [({}, ("warning", "CC0287")), ({INGRESS: ""}, ("error", "CC0286"))], ids=["alone", "mesh"]
)
def test_the_configuration_that_skips_all_initializers(
    notes: dict[str, str], expected: tuple[str, str], shop: Shop
) -> None:
    world = World()
    world.notes.update(notes)
    world.spec["initializer"] = {"enabled": False}
    (found,) = said(shop, world)[1]  # the coordinator is not meant
    assert (found["severity"], found["code"]) == expected
    assert "set spec.initializer.enabled of the ContrastGenerate to true" in found["hint"]


@pytest.mark.parametrize("value", ["True", "yes", "", "1", " true"], ids=repr)
def test_skip_initializer_is_exactly_true(value: str, shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = value
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0204")
    assert 'write "true" in quotes to leave the initializer out, or remove the annotation' in found["hint"]


def test_skip_initializer_false_says_what_is_done(shop: Shop) -> None:
    world = World()
    world.notes[SKIP] = "false"
    assert said(shop, world) == (0, [])
