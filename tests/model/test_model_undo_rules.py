"""What undoing a render may change in an object: the rules of single fields, asked directly.

tests/adversary has whole records, and asks every command.
"""

from copy import deepcopy
from typing import Any

import pytest

from krm_function.contrast.injected import INITIALIZER, MEMORY_DIRECTORY, SECRETS, STATE, initializer
from krm_function.kubernetes.image import any_image
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.proof import find_unexplained
from tests.world import HANDLERS, Json, an_object, pod_spec

HANDLER = HANDLERS["metal-qemu-snp"]
POD = ("spec", "template", "spec")


def pair(now: Json, before: Json) -> tuple[Json, Json]:
    """A rendered Deployment and its restored form. now, before: fields of its pod spec."""
    rendered = an_object(spec=pod_spec(**{"runtimeClassName": HANDLER, **now}))
    rendered["metadata"]["annotations"] = {ORIGINAL: "[]"}
    return rendered, an_object(spec=pod_spec(**before))


def test_what_a_render_changes_is_explained() -> None:
    assert find_unexplained(*pair({}, {}), any_image) is None


@pytest.mark.parametrize("field", ["volumes", "initContainers", "containers"])
@pytest.mark.parametrize("odd", [{"a": 1}, "text", 7, True], ids=str)
def test_a_field_that_is_no_list_does_not_go(field: str, odd: Any) -> None:
    assert find_unexplained(*pair({field: odd}, {field: None}), any_image) == (*POD, field)
    assert find_unexplained(*pair({field: None}, {field: odd}), any_image) == (*POD, field)


@pytest.mark.parametrize("odd", [{"a": 1}, "text", 7], ids=str)
def test_mounts_that_are_no_list_do_not_go(odd: Any) -> None:
    now, before = pair({}, {})
    now["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = odd
    assert find_unexplained(now, before, any_image) == (*POD, "containers", "web", "volumeMounts")
    assert find_unexplained(*pair_of(now, before), any_image) == (*POD, "containers", "web", "volumeMounts")


def pair_of(now: Json, before: Json) -> tuple[Json, Json]:
    """The same two with their mounts exchanged."""
    first, second = deepcopy(now), deepcopy(before)
    mounts = first["spec"]["template"]["spec"]["containers"][0].pop("volumeMounts")
    second["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = mounts
    return first, second


def test_a_container_without_a_name_is_named_by_its_place() -> None:
    def containers(*images: str) -> list[Json]:
        return [{"image": image, "tty": number == 0} for number, image in enumerate(images)]

    changed = containers("a", "b")
    changed[1]["tty"] = True
    now, before = pair({"containers": changed}, {"containers": containers("a", "b")})
    assert find_unexplained(now, before, any_image) == (*POD, "containers", 1, "tty")
    changed[1]["tty"], changed[0]["tty"] = False, False
    now, before = pair({"containers": changed}, {"containers": containers("a", "b")})
    assert find_unexplained(now, before, any_image) == (*POD, "containers", 0, "tty")


def volume(name: str) -> Json:
    return {"name": name, "emptyDir": dict(MEMORY_DIRECTORY)}


def test_the_volume_that_the_initializer_shares_goes_with_it_and_never_without_it() -> None:
    image = "registry.example.com/initializer@sha256:" + 64 * "a"
    container = initializer(image, "coordinator", None, "50Mi", mesh_disabled=False)
    container["volumeMounts"] = [*container["volumeMounts"], {"name": "state", "mountPath": STATE}]
    both = {"volumes": [volume(SECRETS), volume("state")], "initContainers": [container]}
    assert container["name"] == INITIALIZER
    assert find_unexplained(*pair(both, {}), any_image) is None
    stays = {"initContainers": [container], "volumes": [volume(SECRETS)]}
    assert find_unexplained(*pair(both, stays), any_image) == (*POD, "volumes", 1)
    other = {"volumes": [volume(SECRETS), volume("cache")], "initContainers": [container]}
    assert find_unexplained(*pair(other, {}), any_image) == (*POD, "volumes", 1)
