"""Errors of the manifest are reported together with those of workloads, so that they can be fixed at once."""

import copy
from collections.abc import Callable

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import World

Change = Callable[[World], None]


def no_coordinator(world: World) -> None:
    world["coordinator"]["spec"]["template"]["metadata"]["labels"] = {"app": "coordinator"}


def wrong_key(world: World) -> None:
    key = world.spec["manifest"]["workloadOwnerKeys"][0]
    world.spec["manifest"]["workloadOwnerKeys"] = [key.replace("MHYw", "MHYx")]


def unknown_name(world: World) -> None:
    world.spec["manifest"]["policies"] = {"wbe": {"sans": ["a.example.com"]}}


def taken_name(world: World) -> None:
    world["settings"]["metadata"]["name"] = "contrast-manifest"
    world["settings"]["metadata"]["namespace"] = "shop"
    world.container["env"][1]["valueFrom"]["configMapKeyRef"]["name"] = "contrast-manifest"


ALSO: list[tuple[Change, str]] = [
    (no_coordinator, "CC0741"),  # its pod is there, without its label
    (wrong_key, "CC0707"),
    (unknown_name, "CC0708"),
    (taken_name, "CC0710"),
]


@pytest.mark.parametrize(("change", "code"), ALSO, ids=[code for _, code in ALSO])
def test_an_error_of_the_manifest_does_not_wait_for_the_workloads(change: Change, code: str, shop: Shop) -> None:
    world = World()
    change(world)
    shop.change(world)
    assert [error["code"] for error in shop.generate("--format", "json").errors] == [code]
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    assert sorted(error["code"] for error in shop.generate("--format", "json").errors) == sorted(["CC0502", code])


def test_two_pods_of_one_digest_are_reported_beside_a_third_that_is_broken(shop: Shop) -> None:
    world = World()
    for kind in ("ReplicaSet", "DaemonSet"):  # their pods' names follow one pattern
        world[kind] = copy.deepcopy(world["web"]) | {"kind": kind}
        world[kind]["metadata"] = {"name": "twin", "namespace": "shop"}
    world.spec["manifest"]["policies"] = {"ReplicaSet/shop/twin": {}, "DaemonSet/shop/twin": {}}
    world.container["workingDri"] = "/"
    shop.change(world)
    assert sorted(error["code"] for error in shop.generate("--format", "json").errors) == ["CC0605", "CC0705"]


def test_a_workload_that_could_not_be_read_is_not_missed_in_the_manifest(shop: Shop) -> None:
    world = World()
    world["coordinator"]["spec"]["template"]["spec"]["runtimeClassName"] = 1
    shop.change(world)
    assert [error["code"] for error in shop.generate("--format", "json").errors] == ["CC0207"]
