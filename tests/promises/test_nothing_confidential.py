"""`contrast generate` refuses an input without any Contrast workload; a coordinator that is none is named."""

import copy

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import NOTE, World
from tests.mistakes.test_mistakes import said
from tests.wording import wording

ROLE = f"{NOTE}pod-role"
ALL_PLAIN = wording("CC0291", names="")


def plain() -> World:
    """A deployment that has lost its runtimeClassName."""
    world = World()
    del world.documents["coordinator"]
    del world.pod["runtimeClassName"]
    return world


def checked(shop: Shop, world: World) -> list[str]:
    """The codes of errors in the render of a deployment, checked with its configuration."""
    shop.change(world)
    made = shop.generate()
    assert made.code == 0, made.stderr
    run = shop("check", "--config", "config.yaml", "--format", "json", data=made.stdout)
    assert run.code == bool(run.errors)
    for error in run.errors:
        assert error["message"] == f"{ALL_PLAIN}Deployment/shop/web"
    return [error["hint"] for error in run.errors]


def test_an_input_without_any_contrast_workload_is_an_error_of_the_check(shop: Shop) -> None:
    world = plain()
    (hint,) = checked(shop, world)
    assert "write runtimeClassName: contrast-cc into the pod spec" in hint
    assert checked(shop, World()) == []


def test_pods_that_are_plain_on_purpose_are_named_so(shop: Shop) -> None:
    world = plain()
    assert "list workloads that should be plain in spec.workloads, with the reason" in checked(shop, world)[0]
    world.spec["workloads"] = [{"kind": "Deployment", "name": "web", "plain": "public pages"}]
    assert checked(shop, world) == []


def test_output_without_pods_passes(shop: Shop) -> None:
    world = plain()
    del world.documents["web"]
    assert checked(shop, world) == []


def test_a_render_refuses_it_where_all_pods_have_to_be_named(shop: Shop) -> None:
    world = plain()
    assert said(shop, world) == (0, []), "a layer of a kustomization, a chart beside others"
    world.spec["workloads"] = "required"
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0255")


@pytest.mark.parametrize("form", ["without-class", "deployment", "annotation"])
def test_a_coordinator_that_is_none_is_named_as_what_it_is(form: str, shop: Shop) -> None:
    world = World()
    right = copy.deepcopy(world["coordinator"])
    template = world["coordinator"]["spec"]["template"]
    del template["metadata"]["labels"][ROLE]
    if form == "without-class":
        del template["spec"]["runtimeClassName"]
    if form == "deployment":
        world["coordinator"]["kind"] = "Deployment"
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0741")
    expected = {
        "without-class": wording("CC0741.plain"),
        "deployment": wording("CC0741.kind", kind="Deployment"),
        "annotation": wording("CC0741.unlabelled"),
    }
    assert expected[form] in found["message"]
    if form == "annotation":
        assert f"add the label {ROLE}: coordinator to its pod template" in found["hint"]
        template["metadata"]["labels"][ROLE] = "coordinator"
    else:
        assert "replace it with coordinator.yml of the release" in found["hint"]
        world.documents["coordinator"] = right
    assert said(shop, world) == (0, [])
