"""`contrast generate` refuses an input without any Contrast workload; a coordinator that is none is named."""

import copy

import pytest
import yaml

from tests.cli.conftest import Shop
from tests.failures.world import CONFIG, NOTE, World
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


def rendered(shop: Shop, world: World) -> list[str]:
    """The codes of errors in the render of a deployment."""
    shop.change(world)
    run = shop.generate("--format", "json")
    assert bool(run.code) == bool(run.errors)
    return [error["code"] for error in run.errors]


def checked(shop: Shop, world: World) -> list[str]:
    """The messages of errors in a deployment that is checked with its configuration, without a render."""
    shop.change(world)
    documents = [document for name, document in world.documents.items() if name not in CONFIG]
    run = shop("check", "--config", "config.yaml", "--format", "json", data=yaml.safe_dump_all(documents).encode())
    assert run.code == bool(run.errors)
    return [error["message"] for error in run.errors]


def test_pods_none_of_which_is_confidential_are_an_error_of_render_and_check(shop: Shop) -> None:
    world = plain()
    assert rendered(shop, world) == ["CC0291"]
    assert checked(shop, world) == [f"{ALL_PLAIN}Deployment/shop/web"]
    assert rendered(shop, World()) == []


def test_pods_that_are_plain_on_purpose_are_named_so(shop: Shop) -> None:
    world = plain()
    world.spec["workloads"] = [{"kind": "Deployment", "name": "web", "plain": "public pages"}]
    assert rendered(shop, world) == []
    assert checked(shop, world) == []


def test_output_without_pods_passes(shop: Shop) -> None:
    world = plain()
    del world.documents["web"]
    assert rendered(shop, world) == []
    assert checked(shop, world) == []


def test_optional_allows_an_input_without_confidential_pods(shop: Shop) -> None:
    """For layers of a kustomization and charts that share a configuration."""
    world = plain()
    world.spec["workloads"] = "optional"
    assert rendered(shop, world) == []
    assert checked(shop, world) == []
    world.spec["workloads"] = ["optional", "required"]
    assert rendered(shop, world) == ["CC0901"]


def test_a_kind_that_is_known_to_make_pods_counts(shop: Shop) -> None:
    world = plain()
    web = world.documents["web"]
    web.clear()
    web |= {"apiVersion": "kafka.strimzi.io/v1", "kind": "Kafka", "metadata": {"name": "queue"}, "spec": {}}
    assert rendered(shop, world) == ["CC0291"]
    web |= {"kind": "KafkaTopic"}
    assert rendered(shop, world) == []


def test_required_wants_an_entry_for_each_pod(shop: Shop) -> None:
    world = plain()
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


def test_an_optional_entry_names_an_object_that_not_every_input_has(shop: Shop) -> None:
    """Helm 3 passes no hooks to a post-renderer, and `helm template` prints them: one configuration is for both."""
    world = World()
    hook = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "test", "image": "busybox"}]}}
    metadata = {"name": "web-test", "namespace": "shop", "annotations": {"helm.sh/hook": "test"}}
    world.documents["hook"] = {**hook, "metadata": metadata}
    world.spec["workloads"] = ["required"]
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0255")
    assert "{kind: Pod, name: web-test, optional: true}" in found["hint"]
    world.spec["workloads"] = ["required", {"kind": "Pod", "name": "web-test", "plain": "a test", "optional": True}]
    assert rendered(shop, world) == []
    del world.documents["hook"]
    assert rendered(shop, world) == []
    del world.spec["workloads"][1]["optional"]
    assert rendered(shop, world) == ["CC0251"]
