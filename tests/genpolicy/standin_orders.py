"""How tests tell the stand-in what to do, and find what it made."""

from typing import Any

import yaml

from tests.failures.world import World

ORDER = "test.example.com/genpolicy"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"


def ordered(world: World, order: str) -> World:
    """The deployment, with an order on the pod of web, under the profile that plain genpolicy makes data for."""
    world.notes[ORDER] = order
    world.spec.setdefault("policy", {}).setdefault("profile", "kata-4.1")
    return world


def initdata_of(stream: bytes, name: str) -> str:
    """The annotation of one workload in rendered output."""
    found: list[Any] = [one for one in yaml.safe_load_all(stream) if one and one["metadata"]["name"] == name]
    (pod,) = [one["spec"]["template"] for one in found if "template" in one.get("spec", {})]
    return str(pod["metadata"]["annotations"][INITDATA])
