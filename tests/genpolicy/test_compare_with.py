"""`policy compare`: the native policy beside the one that genpolicy makes of the same pod."""

import json

from krm_function.kubernetes.workload import INITDATA
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import listing
from tests.failures.world import World, canaries
from tests.genpolicy.standin_orders import ordered

CALL = ("policy", "compare", "Deployment/web", "deployment", "--config", CONFIG)


def test_every_field_that_differs_is_a_line(shop: Shop, standin: str) -> None:
    shop.change(ordered(World(), ""))
    before = listing(shop.directory)
    run = shop(*CALL, "--genpolicy", standin)
    assert run.code == 0, run.stderr
    lines = run.stdout.decode().splitlines()
    assert lines[0] == "the native policy against genpolicy's; weaker: the native one allows more"
    assert lines[1] == "Deployment shop/web"
    fields = {line.split(": ")[1].split()[0] for line in lines[2:-1] if ": " in line}
    assert {"env", "command"} <= fields
    assert not {"mounts", "storages", "image", "capabilities", "user"} & fields, "what both make of one pod is the same"
    assert not [line for line in lines if "rules" in line], "both have the same rules"
    assert any("web: command changed /entry -> $(PATH)/main" in line for line in lines)
    assert not list(canaries(run.stdout.decode() + run.stderr))
    assert listing(shop.directory) == before


def test_it_works_on_rendered_output_and_for_machines(shop: Shop, standin: str, rendered_shop: str) -> None:
    run = shop("policy", "compare", "deploy/web", rendered_shop, "--genpolicy", standin, "-o", "json")
    assert run.code == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["version"] == 1
    assert said["totals"]["weaker"] > 0
    (web,) = said["workloads"]
    assert {"weaker", "stronger", "different"} >= {line["verdict"] for line in web["differences"]}
    text = shop("policy", "compare", "deploy/web", rendered_shop, "--genpolicy", standin)
    assert sum(said["totals"].values()) == len(text.stdout.splitlines()) - 3


def test_other_files_of_the_initdata_are_no_difference(shop: Shop, standin: str) -> None:
    world = ordered(World(), "")
    world.spec["policy"]["initdata"] = {"aa.toml": "a = 1"}
    shop.change(world)
    assert "aa.toml" not in shop(*CALL, "--genpolicy", standin).stdout.decode()


def test_a_genpolicy_that_fails_is_an_error(shop: Shop, standin: str) -> None:
    shop.change(ordered(World(), "garbage"))
    run = shop(*CALL, "--genpolicy", standin, "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    assert [error["code"] for error in run.errors] == ["CC0615"]


def test_a_path_is_needed(shop: Shop) -> None:
    run = shop(*CALL)
    assert run.code == 2
    assert "--genpolicy" in run.stderr
    run = shop(*CALL, "--genpolicy", "genpolicy")
    assert run.code == 2
    assert "has no slash" in run.stderr


def test_a_pod_that_was_never_sealed_cannot_be_compared(shop: Shop, standin: str) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-1a2b3c4d"
    shop.change(world)
    run = shop("policy", "compare", "deploy/web", "deployment", "--genpolicy", standin)
    assert run.code == 1
    assert "the pod has no policy" in run.stderr
    assert INITDATA in run.stderr
