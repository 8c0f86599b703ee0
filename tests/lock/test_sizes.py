"""`lock --sizes`: how much every layer is, as it comes and unpacked, for the memory of VMs."""

import re
from pathlib import Path

from tests import quick_yaml as yaml
from tests.failures.world import release
from tests.lock.conftest import Locking
from tests.lock.content import ACCOUNTS, Image, Part, image, layer, tar
from tests.lock.registries import Registry

BASE = layer(tar({"bin/large": "x" * 100_000}))
TOP = layer(tar(ACCOUNTS))
CALCULATE = """apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata: {name: contrast}
spec: {memory: calculate, platform: metal-qemu-snp, initializer: {enabled: false}}
---
"""


def _unpacked(entry: dict[str, list[dict[str, int]]]) -> list[int | None]:
    return [one.get("uncompressedSize") for one in entry["layers"]]


def _pushed(hub: Registry, *parts: Part) -> tuple[Image, str]:
    made = image(*parts)
    return made, hub.push(made, "shop/sized")


def test_a_layer_below_the_users_is_read_only_for_its_size(hub: Registry, lock: Locking) -> None:
    _, name = _pushed(hub, BASE, TOP)
    assert _unpacked(lock.entries(name)[name]) == [None, TOP.size]
    lock.lock.unlink()
    assert _unpacked(lock.entries(name, flags=("--sizes",))[name]) == [BASE.size, TOP.size]


def test_an_old_entry_gets_its_sizes_and_keeps_what_a_person_wrote(hub: Registry, lock: Locking) -> None:
    _, name = _pushed(hub, BASE, TOP)
    lock.entries(name)
    old = (
        lock.lock.read_text().replace("      passwd: ", "      # by hand\n      passwd: ").replace("User: ", "User:  ")
    )
    lock.lock.write_text(old)
    assert lock.images(name).code == 0
    assert lock.lock.read_text() == old  # without the option nothing moves

    assert _unpacked(lock.entries(name, flags=("--sizes",))[name]) == [BASE.size, TOP.size]

    new = lock.lock.read_text()
    assert new != old
    assert re.sub(r" *uncompressedSize: .*\n", "", new) == re.sub(r" *uncompressedSize: .*\n", "", old)
    requests = hub.asked_for("/blobs/")
    assert lock.images(name, flags=("--sizes",)).code == 0
    assert (lock.lock.read_text(), hub.asked_for("/blobs/")) == (new, requests)


def test_a_configuration_that_calculates_memory_needs_no_option(hub: Registry, lock: Locking, tmp_path: Path) -> None:
    _, name = _pushed(hub, BASE, TOP)
    config = tmp_path / "generate.yaml"
    facts = release()
    facts["spec"]["images"] = {}
    config.write_text(CALCULATE + yaml.plain(facts))
    lock.entries(name)

    check = lock.images(name, flags=("--config", str(config), "--check", "--format", "json"))
    (error,) = [one for one in check.errors if one["code"] == "CC1216"]
    assert "lacks the sizes of layers" in error["message"]

    assert _unpacked(lock.entries(name, flags=("--config", str(config)))[name]) == [BASE.size, TOP.size]
    assert lock.images(name, flags=("--config", str(config), "--check")).code == 0
