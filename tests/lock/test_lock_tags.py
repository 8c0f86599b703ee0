"""A digest under another tag than the one that was looked up: a warning of `lock` until a registry was asked."""

import re

import pytest

from krm_function.kubernetes.image import Image, other_tags, parse_image
from tests.lock.conftest import Locking
from tests.lock.content import image, layer, tar
from tests.lock.registries import Front, Registry
from tests.lock.test_lock_pins import Overlay, built, images_of, pod
from tests.wording import wording

D, E = (f"sha256:{digit * 64}" for digit in "de")


@pytest.mark.parametrize(
    ("reference", "known", "tags"),
    [
        (f"name:2@{D}", [f"name:1@{D}"], ("1",)),
        (f"name:2@{D}", [f"docker.io/library/name:1@{D}", f"name:0@{D}"], ("0", "1")),
        (f"name:2@{D}", [f"other/name:1@{D}"], ()),
        (f"name:2@{D}", [f"name:1@{E}"], ()),
        (f"name:2@{D}", [f"name@{D}"], ()),
        (f"name:2@{D}", [f"name:1@{D}", f"name:2@{D}"], ()),
        (f"name@{D}", [f"name:1@{D}"], ()),
        ("name:2", [f"name:1@{D}"], ()),
        (f"name:2@{D}", [f"no name@{D}"], ()),
    ],
    ids=["one", "two", "repository", "digest", "no-tag", "itself", "own-no-tag", "own-no-digest", "invalid"],
)
def test_the_other_tags_of_a_digest(reference: str, known: list[str], tags: tuple[str, ...]) -> None:
    asked = parse_image(reference)
    assert isinstance(asked, Image)
    assert other_tags(asked, known) == tags


def test_a_tag_that_changes_without_its_digest_is_a_warning_until_it_is_looked_up(hub: Registry, lock: Locking) -> None:
    """What people and simple bots do to a kustomization: 2.0 is another image there, and the old one would run."""
    old, new = image(), image(layer(tar({"a": "b"})))
    name = hub.push(old, "tags/podinfo", "1.0").partition(":1.0@")[0]
    hub.push(new, "tags/podinfo", "2.0")
    overlay = Overlay(lock, hub, "resources: [pod0.yaml]\n", pod("web", f"{name}:1.0"))
    assert overlay.run().code == 0
    bumped = re.sub("newTag: .*", 'newTag: "2.0" # bumped', overlay.file.read_text())
    overlay.file.write_text(bumped)

    run = overlay.run("--format", "json")
    (warning,) = [one for one in run.findings if one["code"] == "CC0510"]
    assert (run.code, warning["severity"]) == (0, "warning")
    assert warning["message"] == (wording("CC0510", image=f"{name}:2.0@{old.digest}", known="1.0", tag="2.0"))
    assert lock.written()[f"{name}:2.0@{old.digest}"]["foundAs"] == "1.0"
    assert overlay.file.read_text() == bumped, "what a lock knows is kept"
    assert "CC0510" in overlay.run().stderr, "every time"
    assert "CC0510" in overlay.run("--prune").stderr, "also once the entry of the old tag is gone"
    checked = lock("--check", "-o", "images.yaml", data=built(lock.directory))
    assert (checked.code, "CC0510" in checked.stderr) == (0, True)

    named = re.findall(r"--upgrade (\S+) ", warning["hint"])[0]  # the hint, to the letter
    run = overlay.run("--upgrade", named)
    assert run.code == 0, run.stderr
    assert "CC0510" not in run.stderr
    assert f"kustomization.yaml: {name}:2.0@{old.digest} is pinned to {new.digest}" in run.stderr
    assert images_of(built(lock.directory)) == [f"{name}:2.0@{new.digest}"]
    assert "# bumped" in overlay.file.read_text()
    assert f"{name}:2.0@{new.digest}" in lock.written()
    again = overlay.run("--prune")
    assert (again.code, list(lock.written())) == (0, [f"{name}:2.0@{new.digest}"])
    assert "CC0510" not in again.stderr


def test_two_tags_of_one_image_are_none_once_both_were_looked_up(hub: Registry, lock: Locking) -> None:
    made = image()
    name = hub.push(made, "tags/same", "1.0").partition(":1.0@")[0]
    hub.push(made, "tags/same", "latest")
    lock.entries(f"{name}:1.0@{made.digest}")
    assert lock.entries(f"{name}:latest@{made.digest}")[f"{name}:latest@{made.digest}"]["foundAs"] == "1.0"
    before = lock.lock.read_text()
    run = lock.images(f"{name}:latest@{made.digest}", flags=("--upgrade",))
    assert run.code == 0
    assert "CC0510" not in run.stderr
    assert lock.lock.read_text() == before.replace('      foundAs: "1.0"\n', "")
    assert "CC0510" not in lock.images(f"{name}:latest@{made.digest}").stderr


def test_a_tag_of_a_tag_names_the_one_that_was_looked_up(lock: Locking, hub: Registry) -> None:
    made = image()
    name = hub.push(made, "tags/chain", "1").partition(":1@")[0]
    for tag in ("1", "2"):
        lock.entries(f"{name}:{tag}@{made.digest}")
    written = lock.entries(f"{name}:3@{made.digest}")
    assert [entry.get("foundAs") for entry in written.values()] == [None, "1", "1"]


def test_another_repository_may_tag_a_known_digest_as_it_likes(hub: Registry, lock: Locking) -> None:
    made = image()
    first, second = hub.push(made, "tags/ci", "build-7"), hub.push(made, "tags/prod", "1.0")
    lock.entries(first)
    lock.entries(first.replace("build-7", "build-8"))
    assert "foundAs" not in lock.entries(second)[second]


# --- --upgrade


def test_without_a_name_every_tag_is_looked_up_and_nothing_else(hub: Registry, front: Front, lock: Locking) -> None:
    one, two, bare = (front.named(hub.push(image(), f"upgrade/{name}", "1")) for name in ("one", "two", "bare"))
    bare = bare.replace(":1@", "@")
    lock.entries(one, two, bare)
    asked = len(front.asked)
    run = lock.images(one, two, bare, flags=("--upgrade",))
    assert (run.code, run.stdout) == (0, b"")
    assert sorted(one.path for one in front.asked[asked:] if "/manifests/" in one.path) == [
        "/v2/upgrade/one/manifests/1",
        "/v2/upgrade/two/manifests/1",
    ]
    assert "0 fetched, 3 known already" in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["web", "names/web", "web:1", "*/web", "w?b", "names/*", "HOST/names/web", "HOST/names/web:1@DIGEST"]
)
def test_an_image_is_named_with_or_without_registry_directory_and_tag(
    name: str, hub: Registry, front: Front, lock: Locking
) -> None:
    web, other = (front.named(hub.push(image(), f"{path}", "1")) for path in ("names/web", "others/db"))
    lock.entries(web, other)
    asked = len(front.asked)
    name = name.replace("HOST", front.address).replace("DIGEST", image().digest)
    assert lock.images(web, other, flags=("--upgrade", name)).code == 0
    assert {one.path for one in front.asked[asked:] if "/manifests/" in one.path} == {"/v2/names/web/manifests/1"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wbe", "no Contrast workload of the input has such an image"),
        ("bare", wording("CC1241.no-tag")),
        ("ghcr.io/edgelesssys/contrast/coordinator", "the images of Contrast belong to its release"),
    ],
    ids=["unknown", "no-tag", "release"],
)
def test_a_name_that_means_nothing_is_an_error_and_nothing_is_asked(
    name: str, says: str, front: Front, lock: Locking
) -> None:
    images = (
        f"{front.address}/web:1@{D}",
        f"{front.address}/bare@{D}",
        f"ghcr.io/edgelesssys/contrast/coordinator:v1@{D}",
    )
    error = lock.refused("CC1241", *images, flags=("--upgrade", "web", name))
    assert error["message"] == f"--upgrade {name}: {says}"
    assert not front.asked


def test_an_upgrade_that_no_file_takes_is_a_warning_and_keeps_both_entries(hub: Registry, lock: Locking) -> None:
    old, new = image(), image(layer(tar({"a": "c"})))
    pinned = hub.push(old, "upgrade/kept", "1")
    lock.entries(pinned)
    hub.push(new, "upgrade/kept", "1")
    run = lock.images(pinned, flags=("--upgrade", "--prune", "--format", "json"))
    (warning,) = [one for one in run.findings if one["code"] == "CC1240"]
    assert warning["hint"].startswith(f"write {pinned.partition('@')[0]}@{new.digest}, or run this again with")
    assert list(lock.written()) == [pinned, f"{pinned.partition('@')[0]}@{new.digest}"]


def test_a_tag_that_is_not_there_stops_the_run(hub: Registry, lock: Locking) -> None:
    pinned = hub.push(image(), "upgrade/gone", "1").replace(":1@", ":2@")
    lock.refused("CC1202", pinned, flags=("--upgrade",))


def test_upgrade_and_check_exclude_each_other(lock: Locking) -> None:
    run = lock("--check", "-o", "images.yaml", "--upgrade", data=b"a: b\n")
    assert run.code == 2
    assert "--upgrade" in run.stderr
