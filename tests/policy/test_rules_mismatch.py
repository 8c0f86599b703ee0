"""Whether policy data belong to the rules that they are to be sealed with."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.profiles import CONTRAST, KATA, PROFILES, STRICT, Profile
from krm_function.findings import Ref, finding
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import mismatch, mismatch_findings
from tests.policy import pods
from tests.policy.bound import image_storage, with_images, without_images
from tests.wording import wording

Json = dict[str, Any]

APP = "app:1@sha256:" + "1" * 64
POD = pods.simple(image=APP)
NONE = without_images(read_policy_data(pods.sealed(POD).rego))
BOUND = with_images(NONE)
BINDING = [profile for profile in PROFILES.values() if profile.binds_images]


def holding(*storages: Any, container: int = 1) -> Json:
    data = copy.deepcopy(BOUND)
    data["containers"][container]["storages"] = list(storages)
    return data


def said(data: Json, profile: Profile) -> str:
    """What is said of data that do not fit, "" of data that do."""
    cause = mismatch(data, profile)
    if cause is None:
        return ""
    message = finding(cause.code, profile=profile.name, maker="", others="", **cause.values).message
    return message.removeprefix(wording("CC0618", profile=profile.name, problem=""))


@pytest.mark.parametrize("profile", BINDING)
def test_data_with_an_image_in_every_container_fit_rules_that_count_images(profile: Profile) -> None:
    assert mismatch(BOUND, profile) is None
    assert mismatch(with_images(read_policy_data(pods.sealed(pods.rich()).rego)), profile) is None


def test_data_without_images_fit_rules_that_do_not() -> None:
    assert mismatch(NONE, KATA) is None
    volume = {"driver": "", "fstype": "ext4"}
    assert mismatch(holding(image_storage(APP), volume), CONTRAST) is None, "volumes are no images"


@pytest.mark.parametrize(
    "data, problem",
    [
        (NONE, "the sandbox has no image storage instead of one"),
        (holding(), "container app has no image storage instead of one"),
        (holding(image_storage(APP), image_storage(APP)), "container app has 2 image storages instead of one"),
        (holding(image_storage("app:1")), "container app has an image without a digest"),
        (holding(image_storage("pause")), "container app has an image without a digest"),
        (holding(image_storage(APP), container=0), wording("CC0618.sandbox-image", image="pause")),
        (holding(image_storage(APP) | {"fstype": "x"}), "has an image storage whose fstype differs"),
        (holding(image_storage(APP) | {"shared": 0}), "whose shared differs"),
        (holding(image_storage(APP) | {"driver_options": ["x"]}), "whose driver_options differs"),
        (holding(image_storage(APP) | {"more": 1}), "whose more differs"),
        (holding(image_storage(APP) | {"source": 5}), "whose source differs"),
        (holding(image_storage(APP) | {"source": 5, "fstype": 1, "more": 1}), "whose fstype differs"),
        ({"containers": []}, "there are no containers"),
        ({}, "there are no containers"),
        ({"containers": [5]}, "the sandbox has no list of storages"),
    ],
)
def test_what_data_lack_for_rules_that_count_images(data: Json, problem: str) -> None:
    assert problem in said(data, CONTRAST)
    assert problem in said(data, STRICT)


@pytest.mark.parametrize("member", image_storage(""))
def test_every_member_of_an_image_storage_is_looked_at(member: str) -> None:
    storage = {key: value for key, value in image_storage(APP).items() if key != member}
    assert mismatch(holding(storage), CONTRAST)


def test_an_image_in_any_container_is_too_much_for_rules_that_do_not_count_them() -> None:
    assert said(BOUND, KATA) == wording("CC0618.known-storage", container="the sandbox")
    only = copy.deepcopy(NONE)
    only["containers"][1]["storages"].append({"driver": "image_guest_pull"})
    assert said(only, KATA) == wording("CC0618.known-storage", container="container app")


def test_the_finding_says_which_profile_and_which_genpolicy_would_do() -> None:
    (found,) = mismatch_findings(POD, NONE, CONTRAST)
    assert (found.code, found.ref, found.path) == ("CC0618", Ref("apps/v1", "Deployment", "shop", "web"), POD.spec_path)
    assert found.message == (
        wording("CC0618", problem="the sandbox has no image storage instead of one", profile="contrast-1.25")
    )
    assert found.hint == (
        "use Contrast's genpolicy, and images with digests, or set policy.profile: kata-4.1 and use rules for it"
    )
    (found,) = mismatch_findings(POD, BOUND, KATA)
    assert found.hint == "use the genpolicy of Kata, or set policy.profile: contrast-1.25 and use rules for it"
    assert mismatch_findings(POD, BOUND, CONTRAST) == mismatch_findings(POD, NONE, KATA) == ()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["OCI", "storages", "x"]), inner),
)


@given(entries=ANYTHING, profile=st.sampled_from(list(PROFILES.values())))
def test_any_data_are_judged_and_never_a_crash(entries: Any, profile: Profile) -> None:
    data = {"containers": entries}
    assert "\n" not in said(data, profile)
    assert mismatch(data, profile) or not profile.binds_images


def _notes(data: Json, index: int) -> Json:
    notes: Json = data["containers"][index]["OCI"]["Annotations"]
    return notes


STRANGE: dict[str, tuple[Any, str]] = {
    "another image": (
        lambda data: data["containers"][1]["storages"][-1].update(source="app:1@sha256:" + "2" * 64),
        wording("CC0618.image", container="app"),
    ),
    "a container twice": (
        lambda data: data["containers"].append(copy.deepcopy(data["containers"][1])),
        wording("CC0618.names"),
    ),
    "a container less": (lambda data: data["containers"].pop(), wording("CC0618.names")),
    "a container of another pod": (
        lambda data: _notes(data, 1).update({"io.kubernetes.cri.container-name": "web"}),
        wording("CC0618.names"),
    ),
    "no sandbox storages": (lambda data: data.pop("sandbox"), wording("CC0618.member", member="sandbox")),
    "no settings of requests": (
        lambda data: data.update(request_defaults=None),
        wording("CC0618.member", member="request_defaults"),
    ),
    "no sandbox": (
        lambda data: _notes(data, 0).update({"io.kubernetes.cri.container-type": "container"}),
        wording("CC0618.sandbox"),
    ),
    "two sandboxes": (
        lambda data: _notes(data, 1).update({"io.kubernetes.cri.container-type": "sandbox"}),
        wording("CC0618.sandbox"),
    ),
}


@pytest.mark.parametrize("name", STRANGE)
def test_data_that_are_not_this_pods_are_never_sealed(name: str) -> None:
    edit, problem = STRANGE[name]
    data = copy.deepcopy(BOUND)
    assert mismatch_findings(POD, data, CONTRAST) == ()
    edit(data)
    (found,) = mismatch_findings(POD, data, CONTRAST)
    assert found.code == "CC0618"
    assert problem in found.message
