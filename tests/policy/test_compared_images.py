"""Which of two policies is weaker by what binds the images of its containers."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.policy.compare_values import equal_json
from krm_function.policy.initdata import Initdata, read_policy_data
from tests.policy import pods
from tests.policy.bound import image_storage, with_images, without_images
from tests.policy.compared import Line, lines_of
from tests.policy.pods import rego_document

Json = dict[str, Any]

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64
APP = f"app@{ONE}"
NONE = without_images(read_policy_data(pods.sealed(pods.simple(image=APP)).rego))
BOUND = with_images(NONE)
IMAGE_NAME = "io.kubernetes.cri.image-name"


def initdata(data: Json) -> Initdata:
    return Initdata("0.1.0", "sha256", {"policy.rego": rego_document("package agent_policy\n", data)})


def between(old: Json, new: Json) -> list[Line]:
    return lines_of(initdata(old), initdata(new))


def holding(*storages: Any, container: int = 1, name: str = APP) -> Json:
    """BOUND with other image storages in one container."""
    data = copy.deepcopy(BOUND)
    data["containers"][container]["storages"] = list(storages)
    if container:
        data["containers"][container]["OCI"]["Annotations"][IMAGE_NAME] = name
    return data


def source(text: str) -> Json:
    return holding(image_storage(text))


def but(**members: Any) -> Json:
    return holding(image_storage(APP) | members)


ANY = "nothing binds the image any more: the host may have any image pulled"
NO_DIGEST = "nothing binds the image: without a digest any image will do"
BINDS = "the image is bound to its digest"
NOBODY = "its effect cannot be determined"
# before, after, and the one line: what happened, verdict, why
CHANGES: dict[str, tuple[Json, Json, tuple[str, str, str]]] = {
    "removed": (BOUND, holding(), ("removed", "weaker", ANY)),
    "added": (holding(), BOUND, ("added", "stronger", BINDS)),
    "another digest": (BOUND, source(f"app@{TWO}"), ("changed", "different", "another image")),
    "another name": (BOUND, source(f"b/app:1@{ONE}"), ("changed", "different", "the same image under another name")),
    "no digest": (BOUND, source("app:1"), ("changed", "weaker", NO_DIGEST)),
    "no name": (BOUND, source(f"@{ONE}"), ("changed", "weaker", NO_DIGEST)),
    "a short digest": (BOUND, source("app@sha256:11"), ("changed", "weaker", NO_DIGEST)),
    "another algorithm": (BOUND, source("app@sha512:" + "1" * 128), ("changed", "weaker", NO_DIGEST)),
    "two digests": (BOUND, source(f"app@{ONE}@{TWO}"), ("changed", "weaker", NO_DIGEST)),
    "the sandbox's word": (BOUND, source("pause"), ("changed", "weaker", NO_DIGEST)),
    "none, then one without a digest": (holding(), source("app:1"), ("added", "weaker", NO_DIGEST)),
    "a digest at last": (source("app:1"), BOUND, ("changed", "stronger", BINDS)),
    "without a digest, and gone": (source("app:1"), holding(), ("removed", "weaker", ANY)),
    "two": (BOUND, holding(image_storage(APP), image_storage(f"app@{TWO}")), ("changed", "weaker", NOBODY)),
    "the same twice": (BOUND, holding(image_storage(APP), image_storage(APP)), ("changed", "weaker", NOBODY)),
    "one of two": (holding(image_storage(APP), image_storage(APP)), BOUND, ("changed", "weaker", NOBODY)),
    "an option": (BOUND, but(options=["rw"]), ("changed", "weaker", NOBODY)),
    "a driver option": (BOUND, but(driver_options=["image_guest_pull={}"]), ("changed", "weaker", NOBODY)),
    "another mount point": (BOUND, but(mount_point="^/.*$"), ("changed", "weaker", NOBODY)),
    "shared": (BOUND, but(shared=True), ("changed", "weaker", NOBODY)),
    "a number for a boolean": (BOUND, but(shared=0), ("changed", "weaker", NOBODY)),
    "another file system": (but(fstype="tmpfs"), BOUND, ("changed", "weaker", NOBODY)),
    "a member more": (BOUND, but(future=1), ("changed", "weaker", NOBODY)),
    "no source": (BOUND, but(source=None), ("changed", "weaker", NOBODY)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_what_binds_the_image_is_one_line(name: str) -> None:
    before, after, line = CHANGES[name]
    (found,) = between(before, after)
    assert (found.container, found.field) == ("app", "image")
    assert (found.op, found.verdict, found.why) == line


def test_the_image_is_told_as_the_policy_names_it() -> None:
    assert [line.what for line in between(holding(), BOUND)] == [f"app@{ONE}"[:64] + "…"]
    (line,) = between(source("app:1"), source("app:2"))
    assert line.what == "app:1 -> app:2"


def test_the_sandbox_has_a_word_in_place_of_a_digest() -> None:
    (line,) = between(holding(container=0), BOUND)
    assert line == ("(pause)", "image", "added", "pause", "stronger", "the sandbox's image is the VM's own")
    (line,) = between(BOUND, holding(container=0))
    assert (line.op, line.verdict, line.why) == ("removed", "weaker", ANY)
    for other in (f"evil.example/pause@{ONE}", "paused", ""):
        (line,) = between(BOUND, holding(image_storage(other), container=0))
        assert (line.container, line.verdict) == ("(pause)", "weaker")


def test_another_image_is_told_once_and_not_by_its_name_again() -> None:
    new = holding(image_storage(f"app@{TWO}"), name=f"app@{TWO}")
    assert [line[1:] for line in between(BOUND, new)] == [
        ("image", "changed", f"{APP[:64]}… -> {f'app@{TWO}'[:64]}…", "different", "another image")
    ]


def test_an_image_that_is_bound_now_and_another_is_told_as_both() -> None:
    new = holding(image_storage(f"app@{TWO}"), name=f"app@{TWO}")
    old = holding()
    assert [(line.field, line.verdict, line.why) for line in between(old, new)] == [
        ("image", "different", "another image"),
        ("image", "stronger", BINDS),
    ]


def test_a_name_that_no_longer_fits_what_is_bound_is_told() -> None:
    new = holding(image_storage(APP), name="other:1")
    assert [(line.field, line.op, line.what[-7:]) for line in between(BOUND, new)] == [("image", "changed", "other:1")]


def test_without_storages_an_image_is_its_name_as_before() -> None:
    old, new = holding(), holding(name="app:2")
    assert [(line.op, line.verdict, line.why) for line in between(old, new)] == [
        ("changed", "different", "another image")
    ]


def test_a_pod_that_is_sealed_with_bound_images_is_stronger_in_every_container_and_in_nothing_else() -> None:
    rich = without_images(read_policy_data(pods.sealed(pods.rich()).rego))
    found = between(rich, with_images(rich))
    assert {(line.field, line.verdict) for line in found} == {("image", "stronger")}
    containers = {name for line in found for name in line.container.split(", ")}
    assert containers == {"(pause)", "pvc-holder", "contrast-initializer", "contrast-service-mesh", "app"}
    back = between(with_images(rich), rich)
    assert {(line.field, line.verdict, line.why) for line in back} == {("image", "weaker", ANY)}


def test_the_first_unnamed_container_alone_is_the_sandbox() -> None:
    """Else a second one could bring an image that nothing binds."""
    old = copy.deepcopy(BOUND)
    old["containers"].append(copy.deepcopy(old["containers"][0]))
    new = copy.deepcopy(old)
    old["containers"][2]["storages"] = []
    assert [line.verdict for line in between(old, new)] == ["weaker"]


def test_volumes_are_compared_beside_the_image() -> None:
    volume = {"driver": "", "fstype": "ext4", "mount_point": "/x", "driver_options": []}
    found = between(BOUND, holding(volume, image_storage(f"app@{TWO}")))
    assert {(line.field, line.op, line.verdict) for line in found} == {
        ("storages", "added", "weaker"),
        ("image", "changed", "different"),
    }


ODD = st.sampled_from([None, True, 0, 1, "", "odd", [], ["odd"], {}, {"odd": 1}])
MEMBERS = st.sampled_from([*image_storage(""), "future"])


@given(edits=st.dictionaries(MEMBERS, ODD, min_size=1), gone=st.sets(MEMBERS, max_size=2))
def test_nothing_that_is_not_exactly_an_image_with_a_digest_is_ever_stronger(edits: Json, gone: set[str]) -> None:
    storage = {key: value for key, value in (image_storage(APP) | edits).items() if key not in gone}
    if equal_json(storage, image_storage(APP)):
        return
    for before in (holding(), BOUND, source("app:1"), but(shared=True)):
        found = between(before, holding(storage))
        verdicts = {line.verdict for line in found if line.field == "image"}
        unchanged = equal_json(before, holding(storage))
        assert "stronger" not in verdicts
        assert unchanged or any(line.verdict == "weaker" for line in found)


@given(storages=st.one_of(ODD, st.lists(st.one_of(ODD, st.just(image_storage(APP))), max_size=3)))
def test_any_storages_are_compared_and_never_a_crash(storages: Any) -> None:
    new = copy.deepcopy(BOUND)
    new["containers"][1]["storages"] = storages
    changed = not equal_json(storages, BOUND["containers"][1]["storages"])
    assert bool(between(BOUND, new)) == changed
    assert bool(between(new, BOUND)) == changed
