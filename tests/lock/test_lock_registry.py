"""`lock` against the real registry."""

import pytest
import yaml

from krm_function.config.document import ConfigDocument
from krm_function.config.image_lock import parse_image_lock
from tests.lock.conftest import Locking
from tests.lock.content import ACCOUNTS, GROUP, PASSWD, SETTINGS, Link, image, index, layer, pods, tar
from tests.lock.registries import Front, Registry
from tests.wording import wording


def test_an_image_becomes_an_entry_that_a_render_understands(hub: Registry, lock: Locking) -> None:
    base = layer(tar(ACCOUNTS))
    made = image(base)
    name = hub.push(made, "shop/entry")

    entries = lock.entries(name)

    sizes = {"compressedSize": len(base.data), "uncompressedSize": base.size}
    assert entries == {
        name: {
            "digest": made.digest,
            "config": SETTINGS,
            "passwd": PASSWD,
            "group": GROUP,
            "layers": [{"diffID": base.diff_id, **sizes}],
        }
    }
    facts, findings = parse_image_lock(ConfigDocument(yaml.safe_load(lock.lock.read_text())))
    assert not findings
    assert facts is not None
    assert facts[name].passwd == PASSWD


@pytest.mark.parametrize(
    ("members", "passwd", "group"),
    [({"bin/web": "x"}, "", ""), ({"etc/passwd": ""}, "", ""), ({"etc/group": GROUP}, "", GROUP)],
    ids=["neither file", "an empty one", "only group"],
)
def test_an_image_without_a_file_of_users_has_an_entry_that_says_so(
    members: dict[str, str], passwd: str, group: str, hub: Registry, lock: Locking
) -> None:
    name = hub.push(image(layer(tar(members)), settings={"Cmd": [group]}), "shop/without")
    entry = lock.entries(name)[name]
    assert (entry["passwd"], entry["group"]) == (passwd, group)


def test_twenty_images_twice_the_second_time_without_a_blob(hub: Registry, lock: Locking) -> None:
    base = layer(tar(ACCOUNTS))
    names = [
        hub.push(
            image(base, layer(tar({f"bin/{number}": "x" * number})), settings={"Cmd": [str(number)]}), f"many/{number}"
        )
        for number in range(20)
    ]
    before = hub.asked_for("/blobs/")

    run = lock.images(*names)

    assert run.code == 0, run.stderr
    assert "20 images: 20 fetched, 0 known already" in run.stderr
    assert list(lock.written()) == sorted(names)
    fetched = hub.asked_for("/blobs/") - before
    assert fetched >= 40, "20 configurations and 20 layers of their own"
    text, before, manifests = lock.lock.read_bytes(), hub.asked_for("/blobs/"), hub.asked_for("/manifests/")

    run = lock.images(*names)

    assert run.code == 0, run.stderr
    assert "20 images: 0 fetched, 20 known already" in run.stderr
    assert hub.asked_for("/blobs/") == before
    assert hub.asked_for("/manifests/") == manifests
    assert lock.lock.read_bytes() == text


def test_the_second_run_opens_no_connection_at_all(hub: Registry, front: Front, lock: Locking) -> None:
    name = front.named(hub.push(image(), "shop/twice"))
    lock.entries(name)
    asked = len(front.asked)
    assert asked == 3, "manifest, configuration, layer"
    lock.entries(name)
    assert len(front.asked) == asked


def test_a_layer_of_several_images_is_fetched_once(hub: Registry, front: Front, lock: Locking) -> None:
    base = layer(tar(ACCOUNTS))
    names = [front.named(hub.push(image(base, settings={"Cmd": [str(n)]}), f"base/{n}")) for n in range(6)]
    lock.entries(*names)
    assert len(front.paths(base.descriptor["digest"])) == 1


def test_the_same_image_under_another_name_is_known(hub: Registry, front: Front, lock: Locking) -> None:
    made = image()
    first, second = (front.named(hub.push(made, "shop/known", tag)) for tag in ("1.0", "stable"))
    lock.entries(first)
    asked = len(front.asked)
    entries = lock.entries(second)
    assert entries[second] == {**entries[first], "foundAs": "1.0"}, "and nobody has asked for the second tag"
    assert len(front.asked) == asked


def test_a_tag_is_resolved_and_the_finding_says_what_to_pin(hub: Registry, lock: Locking) -> None:
    made = image()
    pinned = hub.push(made, "shop/tagged", "2.0")
    tagged = pinned.partition("@")[0]

    run = lock.images(tagged, flags=("--format", "json"))

    assert run.code == 0
    warning = next(found for found in run.findings if found["code"] == "CC1201")
    assert warning["severity"] == "warning"
    assert made.digest in warning["message"]
    assert warning["hint"].startswith(
        f"write {pinned}, or run this again with the option that names your files: --write-ku"
    )
    assert list(lock.written()) == [pinned], "so that the render needs no second lock once the image is pinned"


def test_an_index_leads_to_linux_amd64(hub: Registry, lock: Locking) -> None:
    arm = image(settings={"User": "arm"}, architecture="arm64")
    amd = image(settings={"User": "amd"})
    both = index([("linux/arm64", arm), ("linux/amd64", amd)], attested=True)
    entries = lock.entries(hub.push(both, "shop/multi"))
    (entry,) = entries.values()
    assert entry["digest"] == both.digest
    assert entry["config"] == {"User": "amd"}


def test_an_index_without_linux_amd64_is_refused(hub: Registry, lock: Locking) -> None:
    arm = image(architecture="arm64")
    name = hub.push(index([("linux/arm64/v8", arm)], attested=True), "shop/arm-index")
    assert "only for linux/arm64/v8" in lock.refused("CC1205", name)["message"]


def test_an_image_for_another_platform_is_refused(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(architecture="arm64"), "shop/arm")
    assert "only for linux/arm64" in lock.refused("CC1205", name)["message"]


def test_zstd_and_plain_layers(hub: Registry, lock: Locking) -> None:
    lower, upper = layer(tar(ACCOUNTS), "zstd"), layer(tar({"etc/group": "root:x:0:\n"}), "plain")
    (entry,) = lock.entries(hub.push(image(lower, upper), "shop/zstd")).values()
    assert entry["passwd"] == PASSWD
    assert entry["group"] == "root:x:0:\n"
    assert [row["uncompressedSize"] for row in entry["layers"]] == [lower.size, upper.size]


def test_an_image_that_is_not_there(hub: Registry, lock: Locking) -> None:
    name = f"{hub.address}/shop/none:1.0@sha256:{'0' * 64}"
    assert f"does not exist in {hub.address}" in lock.refused("CC1202", name)["message"]


def test_without_output_the_lock_goes_to_standard_output(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(), "shop/stdout")
    run = lock("--insecure-registry", hub.address, data=pods(name))
    assert run.code == 0, run.stderr
    assert yaml.safe_load(run.stdout)["spec"]["images"][name]["passwd"] == PASSWD
    assert not lock.lock.exists()


def test_one_image_that_fails_means_that_nothing_is_written(hub: Registry, lock: Locking) -> None:
    good, bad = hub.push(image(), "shop/good"), f"{hub.address}/shop/bad@sha256:{'0' * 64}"
    assert "shop/bad" in lock.refused("CC1202", good, bad)["message"]


def test_account_files_with_more_than_one_reading(hub: Registry, lock: Locking) -> None:
    loop = image(layer(tar({"etc/passwd": Link("group"), "etc/group": Link("passwd")})))
    error = lock.refused("CC1208", hub.push(loop, "shop/loop"))
    assert f"/etc/passwd is ambiguous: {wording('CC1208.links')}" in error["message"]
    assert error["field"] == "spec.containers[0].image"
