"""What public charts and models had: what could never run is told, and each hint followed to the letter renders."""

from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.world import WEB_IMAGE, World
from tests.hosts.documents import digests, pod_templates
from tests.mistakes.test_mistakes import said

GPU = "contrast-cc-metal-qemu-snp-gpu"
MIB = 1 << 20
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "state", "namespace": "shop"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def found(shop: Shop, world: World, *, warnings: bool = True) -> dict[str, str]:
    """What a render says: code -> hint."""
    _, findings = said(shop, world)
    return {one["code"]: one["hint"] for one in findings if warnings or one["severity"] == "error"}


def rendered(shop: Shop, world: World) -> bytes:
    """The output of a render that says nothing."""
    assert found(shop, world) == {}
    shop.change(world)
    run = shop.generate()
    assert run.code == 0
    return run.stdout


def on_gpus(**limits: Any) -> World:
    world = World()
    world.pod["runtimeClassName"] = GPU
    world.container["resources"]["limits"] = {"cpu": "4", "memory": "16Gi", **limits}
    return world


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "amd.com/gpu"])
def test_a_gpu_under_the_name_of_other_nodes_is_an_error_and_both_remedies_give_it_to_the_pod(
    name: str, shop: Shop
) -> None:
    hint = found(shop, on_gpus(**{name: 1}))["CC0411"]
    assert f"use nvidia.com/pgpu instead, or add {name}: nvidia.com/pgpu under spec.gpus.rename" in hint
    by_hand = rendered(shop, on_gpus(**{"nvidia.com/pgpu": 1}))
    by_rule = on_gpus(**{name: 1})
    by_rule.spec["gpus"] = {"rename": {name: "nvidia.com/pgpu"}}
    assert digests(rendered(shop, by_rule)) == digests(by_hand)


def test_a_share_of_a_gpu_counts_as_none_and_the_pod_without_it_renders(shop: Shop) -> None:
    world = on_gpus(**{"nvidia.com/pgpu": 1, "nvidia.com/gpumem": 1024})
    hints = found(shop, world)
    assert set(hints) == {"CC0414"}, "1024 GPUs would have been too few vCPUs"
    assert hints["CC0414"] == "remove the resource"
    rendered(shop, on_gpus(**{"nvidia.com/pgpu": 1}))


def with_image(compressed: int, unpacked: int, memory: str = "") -> World:
    """web with an image of these sizes in MiB, and this limit."""
    world = World()
    size = {"compressedSize": compressed * MIB, "uncompressedSize": unpacked * MIB}
    images = world["lock"]["spec"]["images"]
    for name, entry in images.items():
        small = {"compressedSize": 10 * MIB, "uncompressedSize": 20 * MIB}
        entry["layers"] = [{"diffID": f"sha256:{1:064}", **(size if name == WEB_IMAGE else small)}]
    world.container["resources"]["limits"] = {"cpu": "500m", **({"memory": memory} if memory else {})}
    return world


@pytest.mark.parametrize(("memory", "code"), [("", "CC0421"), ("2Gi", "CC0420")])
def test_an_image_of_21_gb_in_a_small_vm_is_told_with_the_figure_that_is_enough(
    memory: str, code: str, shop: Shop
) -> None:
    hint = found(shop, with_image(7_000, 14_000, memory))[code]
    figure = hint.partition("set spec.resources.limits.memory: ")[2].split()[0].rstrip(",")
    world = with_image(7_000, 14_000, memory)
    world.pod["resources"] = {"limits": {"memory": figure}}
    rendered(shop, world)
    assert "memory: calculate in the ContrastGenerate" in hint
    by_rule = with_image(7_000, 14_000, memory)
    by_rule.spec["memory"] = "calculate"
    assert code not in found(shop, by_rule)


def test_a_claim_of_secure_pv_that_is_a_file_system_is_an_error_and_a_rule_makes_it_block(shop: Shop) -> None:
    world = World()
    world["claim"] = yaml.safe_load(yaml.safe_dump(CLAIM))
    world.notes["contrast.edgeless.systems/secure-pv"] = "state:share"
    world.pod["volumes"] = [{"name": "state", "persistentVolumeClaim": {"claimName": "state"}}, EMPTY]
    hint = found(shop, world, warnings=False)["CC0830"]
    assert "set spec.volumeMode: Block in PersistentVolumeClaim state" in hint
    world["claim"]["spec"]["volumeMode"] = "Block"
    assert found(shop, world, warnings=False) == {}


EMPTY = {"name": "share", "emptyDir": {}}


def test_directories_of_one_empty_dir_stay_apart(shop: Shop) -> None:
    def world() -> World:
        made = World()
        made.mount("tmp", {"emptyDir": {}}, mountPath="/a", subPath="a")
        made.container["volumeMounts"].append({"name": "tmp", "mountPath": "/b", "subPath": "b"})
        return made

    hint = found(shop, world())["CC0604"]
    assert "write spec.volumes.splitSubPaths: true in the ContrastGenerate" in hint
    assert "mount the whole volume" not in hint, "two directories would become one"
    by_rule = world()
    by_rule.spec["volumes"] = {"splitSubPaths": True}
    template = next(one for name, one in pod_templates(rendered(shop, by_rule)).items() if name.endswith("web"))
    mounts = [one for one in template["spec"]["containers"][0]["volumeMounts"] if one["mountPath"] in ("/a", "/b")]
    assert len({one["name"] for one in mounts}) == 2
    assert all("subPath" not in one for one in mounts)


def test_a_file_system_of_the_host_hides_nothing_else_of_the_pod(shop: Shop) -> None:
    world = World()
    world.mount("host", {"hostPath": {"path": "/data"}})
    world.mount("parts", {"emptyDir": {}}, subPath="a")
    world.env("KEY", secretKeyRef={"name": "of-the-cluster", "key": "key"})
    world["lock"]["spec"]["images"][WEB_IMAGE]["config"]["Volumes"] = {"/var/lib/web": {}}
    assert {"CC0807", "CC0602", "CC0604", "CC0643"} <= set(found(shop, world, warnings=False))


def test_the_output_of_a_render_that_emits_no_manifest_passes_its_check(shop: Shop) -> None:
    world = World()
    world.spec["manifest"]["emit"] = "none"
    shop.change(world)
    assert shop.generate("-o", "rendered.yaml").code == 0
    run = shop("check", "rendered.yaml", "--config", CONFIG)
    assert run.code == 0
    assert "the manifest was not compared, because manifest.emit is none" in run.stderr
    assert shop.generate("-m", "manifest.json", "-o", "rendered.yaml").code == 0
    with_it = shop("check", "rendered.yaml", "--config", CONFIG, "--manifest", "manifest.json")
    assert with_it.code == 0
    assert "the manifest was not compared" not in with_it.stderr
    assert shop("check", "rendered.yaml", "--format", "json").errors[0]["code"] == "CC1106", "who does not know that"
    text = (shop.directory / "rendered.yaml").read_text()
    assert text.count("cpu: 500m") == 1
    (shop.directory / "rendered.yaml").write_text(text.replace("cpu: 500m", "cpu: 1500m"))
    assert shop("check", "rendered.yaml", "--config", CONFIG).code == 1, "everything else is checked as ever"
