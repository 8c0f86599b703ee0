"""The rules of vCPUs and memory on the command line: planned, explained, checked, and taken back."""

from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.world import World
from tests.hosts.documents import pod_templates

Json = dict[str, Any]


@pytest.mark.slow
@pytest.mark.parametrize("resources", [None, {}, {"limits": {"cpu": "1", "memory": "3Gi"}}, {"requests": {"cpu": "1"}}])
@pytest.mark.parametrize("rules", [{"vcpus": {"minimum": 4}}, {"vcpus": {"minimum": "gpus"}, "memory": "calculate"}])
def test_the_input_comes_back_byte_for_byte(rules: Json, resources: Any, shop: Shop) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-gpu"
    world.container["resources"]["limits"] |= {"nvidia.com/pgpu": 4, "cpu": "1"}
    if resources is not None:
        world.pod["resources"] = resources
    for entry in world["lock"]["spec"]["images"].values():
        size = {"compressedSize": 10 << 20, "uncompressedSize": 20 << 20}
        entry["layers"] = [{"diffID": f"sha256:{1:064}", **size}]
    world.spec.update(rules)
    shop.change(world)
    run_once = shop.generate("-o", "rendered.yaml")
    assert run_once.code == 0, run_once.stderr
    rendered = (shop.directory / "rendered.yaml").read_bytes()
    template = next(one for name, one in pod_templates(rendered).items() if name.endswith("web"))
    assert template["spec"]["resources"]["limits"]["cpu"] == "3"
    assert shop("uninject", "rendered.yaml").stdout == (shop.directory / "deployment/resources.yaml").read_bytes()
    again = shop("generate", "rendered.yaml", "--config", CONFIG)
    assert (again.code, again.stdout) == (0, rendered), again.stderr
    assert shop("check", "rendered.yaml", "--config", CONFIG).code == 0
    assert b"vCPUs raised" in shop("plan", "deployment", "--config", CONFIG).stdout
    assert b"CC0417" in shop("explain", "deploy/web", "deployment", "--config", CONFIG).stdout
