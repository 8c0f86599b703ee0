"""A pod whose node affinity contradicts its runtime class runs nowhere; the render says so, not only the plan."""

from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import World
from tests.mistakes.test_mistakes import said

NODES = {"metal-qemu-snp": {"nodeSelector": {"hardware": "sev-snp"}}}


def wanting(*terms: list[dict[str, Any]]) -> World:
    world = World()
    world.spec["scheduling"] = NODES
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    world.pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return world


def one(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


ZONE = one("zone", "In", "a")
OTHER = one("hardware", "In", "tdx", "plain")
NONE = one("hardware", "DoesNotExist")
SAME = one("hardware", "NotIn", "tdx")


@pytest.mark.parametrize(
    ("terms", "wanted"),
    [
        ([[ZONE, OTHER]], "hardware in (tdx, plain)"),
        ([[OTHER], [ZONE, NONE]], "hardware in (tdx, plain) or hardware does not exist"),
        ([[OTHER], [ZONE]], ""),
        ([[SAME, ZONE]], ""),
    ],
    ids=["contradicts", "each-term", "one-may-hold", "agrees"],
)
def test_node_affinity_that_contradicts_the_class_is_an_error(
    terms: list[list[dict[str, Any]]], wanted: str, shop: Shop
) -> None:
    world = wanting(*terms)
    code, findings = said(shop, world)
    if not wanted:
        assert (code, findings) == (0, [])
        return
    (found,) = findings
    assert (code, found["code"]) == (1, "CC0323")
    assert found["message"].startswith(f"required node affinity is {wanted}, but runtime class ")
    assert "hardware=sev-snp: no node has both" in found["message"]
    assert found["hint"].startswith("remove these terms")
    del world.pod["affinity"]
    assert said(shop, world) == (0, [])
    assert "pods will run on nodes" not in shop("fn", data=wanting(*terms).resource_list()).stderr
