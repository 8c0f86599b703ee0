"""Older pages of Contrast annotate the workload object; it reads its annotations on the pod template alone."""

import re
from typing import Any

import pytest

from krm_function.check.adopt import Request, adopt
from krm_function.config.document import ConfigDocument
from tests.adoption.test_sources import GENERATE, codes
from tests.cli.conftest import Shop
from tests.failures.world import NOTE, World
from tests.mistakes.test_mistakes import said
from tests.world import an_object, config, coordinator, stream

SKIP, INGRESS, ROLE = f"{NOTE}skip-initializer", f"{NOTE}servicemesh-ingress", f"{NOTE}pod-role"
MOVE = {"objectAnnotations": "move"}


def edited(shop: Shop, world: World) -> tuple[bytes, bytes]:
    """Return what goes in, without the configuration, and what comes out."""
    shop.change(world)
    given = world.stream()
    run = shop.generate()
    assert run.code == 0, run.stderr
    return given, run.stdout


@pytest.mark.parametrize("more", [{}, {"team": "a"}], ids=["alone", "beside-others"])
def test_annotations_of_the_deployment_are_moved_to_its_pods_and_back(more: dict[str, str], shop: Shop) -> None:
    world = World()
    world["web"]["metadata"]["annotations"] = {INGRESS: "", **more}
    code, (found,) = said(shop, world)
    assert (code, found["code"]) == (1, "CC0202")
    assert "move it to the annotations of the pod template, or set spec.objectAnnotations" in found["hint"]
    world.spec.update(MOVE)
    assert said(shop, world) == (0, [])
    given, made = edited(shop, world)
    by_hand = World()
    by_hand["web"]["metadata"]["annotations"] = dict(more)
    by_hand.notes[INGRESS] = ""
    _, expected = edited(shop, by_hand)
    policies = re.findall(rb"cc_init_data: (\S+)", expected)
    assert policies
    assert policies == re.findall(rb"cc_init_data: (\S+)", made)
    shop.change(world)
    assert shop("uninject", data=made).stdout == given
    again = shop("generate", "-", "--config", "config.yaml", data=made)
    assert (again.code, again.stdout) == (0, made)


def test_the_role_of_an_old_coordinator_moves_from_an_annotation_to_a_label_and_back(shop: Shop) -> None:
    world, by_hand = World(), World()
    template = world["coordinator"]["spec"]["template"]["metadata"]
    template.setdefault("annotations", {})[ROLE] = template["labels"].pop(ROLE)
    code, findings = said(shop, world)
    assert code == 1
    assert "or set spec.objectAnnotations" in next(item["hint"] for item in findings if item["code"] == "CC0202")
    world.spec.update(MOVE)
    assert said(shop, world) == (0, [])
    given, rendered = edited(shop, world)
    _, expected = edited(shop, by_hand)
    assert re.findall(rb"cc_init_data: (\S+)", expected) == re.findall(rb"cc_init_data: (\S+)", rendered)
    shop.change(world)
    assert shop("uninject", data=rendered).stdout == given
    again = shop("generate", "-", "--config", "config.yaml", data=rendered)
    assert (again.code, again.stdout) == (0, rendered)
    world.spec.clear()
    shop.change(World())  # the rule is gone, and with it the label
    refused = shop("generate", "-", "--config", "config.yaml", "--format", "json", data=rendered)
    assert (refused.code, refused.stdout) == (1, b"")


def test_only_the_role_of_a_coordinator_moves(shop: Shop) -> None:
    world = World()
    world.notes[ROLE] = "contrast-node-installer"
    world.spec.update(MOVE)
    code, (finding,) = said(shop, world)
    assert (code, finding["code"], finding["hint"]) == (1, "CC0202", "move it to the labels of the pod template")


def test_a_record_brings_no_annotation_back_that_the_configuration_does_not_move(shop: Shop) -> None:
    world = World()
    world["web"]["metadata"]["annotations"][INGRESS] = ""
    world.spec.update(MOVE)
    _, made = edited(shop, world)
    shop.change(World())  # the rule is gone
    run = shop("generate", "-", "--config", "config.yaml", "--format", "json", data=made)
    assert (run.code, run.stdout) == (1, b"")
    assert [found["code"] for found in run.errors] == ["CC0202"]


def test_what_the_pod_template_says_is_not_replaced(shop: Shop) -> None:
    world = World()
    world["web"]["metadata"]["annotations"][INGRESS] = "web#8080#true"
    world.notes[INGRESS] = ""
    world.spec.update(MOVE)
    code, (found,) = said(shop, world)
    assert (code, found["code"], found["hint"]) == (1, "CC0202", "move it to the annotations of the pod template")


def test_adopt_moves_them() -> None:
    job = an_object("CronJob", "backup", schedule="@daily")
    job["spec"]["jobTemplate"]["metadata"] = {"annotations": {SKIP: "true"}}
    web = an_object()
    web["metadata"]["annotations"] = {INGRESS: ""}

    def adopted(*yes: str) -> Any:
        document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp"}})
        return adopt(stream(coordinator(), web, job), document, config(), Request(yes=frozenset(yes)))

    made = adopted()
    assert [(one.name, one.spec, len(one.workloads)) for one in made.offered] == [("moveAnnotations", MOVE, 2)]
    assert set(codes(made)) == {"CC0202"}
    made = adopted("moveAnnotations")
    assert made.spec == {"platform": "metal-qemu-snp", **MOVE}
    assert codes(made) == []
