"""Two objects with one identity, in every command that renders and in `check`."""

import pytest
import yaml

from tests.cli.conftest import Shop
from tests.failures.world import World

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}


def again(world: World, name: str = "web") -> None:
    world["again"] = world[name]


@pytest.mark.parametrize("name", ["web", "settings", "service"])
def test_every_command_that_renders_refuses(shop: Shop, name: str) -> None:
    world = World()
    again(world, name)
    shop.change(world)
    for run in (
        shop.generate("--format", "json"),
        shop("post-render", "--config", "config.yaml", "--format", "json", data=world.stream()),
        shop("plan", "deployment", "--config", "config.yaml", "--format", "json"),
        function := shop("fn", "--format", "json", data=world.resource_list()),
    ):
        assert run.code == 1
        assert [error["code"] for error in run.errors] == ["CC0118", "CC0118"]
        assert len({error.get("line") for error in run.errors}) == (1 if run is function else 2)


def test_the_text_says_file_and_line_of_both(shop: Shop) -> None:
    world = World()
    again(world)
    shop.change(world)
    lines = shop.generate().stderr.splitlines()
    places = [line.removeprefix("  at: ").rpartition(":")[0] for line in lines if line.startswith("  at: ")]
    said = [line.rpartition("also at ")[2] for line in lines if line.startswith("error CC0118 ")]
    assert len(places) == 2
    assert said == places[::-1]


def test_a_stream_of_which_nothing_is_contrasts_passes_through(shop: Shop) -> None:
    data = yaml.safe_dump_all([MAP, MAP, POD]).encode()
    world = World()
    world.spec["workloads"] = "optional"
    shop.change(world)
    run = shop("post-render", "--config", "config.yaml", data=data)
    assert (run.code, run.stdout) == (0, data)
    assert shop("check", data=data).code == 0


def test_rendered_output_is_no_duplicate_of_what_the_render_adds(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    shop.change(world)
    run = shop("generate", "-", "--config", "config.yaml", data=rendered)
    assert (run.code, run.stdout) == (0, rendered)


def test_diff_of_two_outputs_says_once_which_command_compares_them(shop: Shop, rendered: bytes) -> None:
    for name in ("old.yaml", "new.yaml"):
        (shop.directory / name).write_bytes(rendered)
    run = shop("diff", "old.yaml", "new.yaml", "--config", "config.yaml")
    assert (run.code, run.stdout) == (1, b"")
    assert run.stderr.count("error CC0118 ") > 2
    hints = [line for line in run.stderr.splitlines() if line.startswith("  hint: ")]
    assert hints == ["  hint: diff renders its inputs; to compare two outputs: contrast-krm diff --policy OLD NEW"]
    (shop.directory / "old.yaml").write_bytes(World().stream())
    run = shop("diff", "old.yaml", "new.yaml", "--config", "config.yaml")
    assert "--policy" not in run.stderr
    assert "new.yaml is the output of an earlier render" in run.stderr
