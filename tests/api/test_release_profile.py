"""Which profile a render has: every row of the truth table, today's profiles and a next release beside them."""

from typing import Any

import pytest

from krm_function.config.generate import Generate
from krm_function.config.release import Release, chosen_profile, profile_of, profile_of_version
from krm_function.contrast.profiles import DEFAULT, PROFILES, RELEASED, Profile
from tests.wording import remedy, wording

OWN = PROFILES["contrast-1.25"]
STRICT = PROFILES["strict"]
KATA = PROFILES["kata-4.1"]
_NEXT: Any = {"name": "contrast-1.26", "release": (1, 26)}
_STRICT: Any = {"name": "strict-1.26", "release": (1, 26)}
NEXT = OWN._replace(**_NEXT)
NEXT_STRICT = STRICT._replace(**_STRICT)
ALL = (OWN, STRICT, KATA, NEXT, NEXT_STRICT)


def release(version: str = "v1.25.0", profile: Any = "") -> Release:
    return Release("mine", version, policy_profile=profile)


@pytest.mark.parametrize(
    ("wanted", "version", "chosen", "codes"),
    [
        (None, "v1.25.0", OWN, []),
        (None, "1.25.3-rc.1", OWN, []),
        (None, "v1.24.9", None, ["CC0650"]),
        (None, "v0.1.0", None, ["CC0650"]),
        (None, "v1.26.0", OWN, ["CC0651"]),
        (None, "v2.0.0", OWN, ["CC0651"]),
        (None, "v0.0.0", DEFAULT, []),
        ("contrast-1.25", "v1.25.0", OWN, []),
        ("contrast-1.25", "v1.26.0", OWN, ["CC0651"]),
        ("contrast-1.25", "v1.24.0", None, ["CC0650"]),
        ("contrast-1.25", "v0.0.0", OWN, []),
        ("strict", "v1.25.0", STRICT, []),
        ("strict", "v1.26.0", STRICT, ["CC0651"]),
        ("strict", "v1.24.0", None, ["CC0650"]),
        ("kata-4.1", "v1.25.0", KATA, ["CC0653"]),
        ("kata-4.1", "v1.24.0", KATA, ["CC0653"]),
        ("kata-4.1", "v1.26.0", KATA, ["CC0653"]),
        ("kata-4.1", "v0.0.0", KATA, ["CC0653"]),
    ],
)
def test_a_render_has_the_profile_of_its_release_or_one_that_fits_it(
    wanted: Any, version: str, chosen: Profile | None, codes: list[str]
) -> None:
    found, findings = chosen_profile(wanted, release(version))
    assert found is chosen
    assert [one.code for one in findings] == codes
    assert (found is None) == any(one.severity == "error" for one in findings)


@pytest.mark.parametrize(
    ("wanted", "version", "written", "chosen", "codes"),
    [
        (None, "v1.25.0", "", OWN, []),
        (None, "v1.26.4", "", NEXT, []),
        (None, "v1.27.0", "", NEXT, ["CC0651"]),
        (None, "v1.24.0", "", None, ["CC0650"]),
        # what the release says beats what follows from its version
        (None, "v1.26.0", "contrast-1.25", OWN, ["CC0651"]),
        (None, "v1.25.0", "contrast-1.26", NEXT, []),
        (None, "v1.27.0", "contrast-1.26", NEXT, ["CC0651"]),
        (None, "v1.24.0", "contrast-1.25", OWN, []),
        (None, "v0.0.0", "contrast-1.26", NEXT, []),
        ("contrast-1.25", "v1.26.0", "", None, ["CC0652"]),
        ("contrast-1.26", "v1.25.0", "", None, ["CC0652"]),
        ("strict", "v1.26.0", "", None, ["CC0652"]),
        ("strict-1.26", "v1.26.0", "", NEXT_STRICT, []),
        ("strict-1.26", "v1.25.0", "", None, ["CC0652"]),
        ("contrast-1.25", "v1.26.0", "contrast-1.25", OWN, ["CC0651"]),
        ("contrast-1.25", "v1.25.0", "contrast-1.26", None, ["CC0652"]),
        ("contrast-1.25", "v1.27.0", "", None, ["CC0652"]),
        ("kata-4.1", "v1.27.0", "contrast-1.26", KATA, ["CC0653"]),
    ],
)
def test_the_profile_of_another_contrast_release_is_refused(
    wanted: Any, version: str, written: str, chosen: Profile | None, codes: list[str]
) -> None:
    found, findings = chosen_profile(wanted, release(version, written), profiles=ALL, released=(OWN, NEXT))
    assert found is chosen
    assert [one.code for one in findings] == codes


def test_findings_are_about_the_field_that_is_wrong() -> None:
    for wanted, version, kind, name, path in (
        (None, "v1.24.0", "ContrastRelease", "mine", "spec.version"),
        (None, "v1.27.0", "ContrastRelease", "mine", "spec.version"),
        ("contrast-1.25", "v1.26.0", "ContrastGenerate", "shop", "spec.policy.profile"),
        ("kata-4.1", "v1.25.0", "ContrastGenerate", "shop", "spec.policy.profile"),
    ):
        asked: Any = wanted
        _, (found,) = chosen_profile(asked, release(version), "shop", ALL, (OWN, NEXT))
        assert found.ref is not None
        assert (found.ref.kind, found.ref.name, ".".join(map(str, found.path))) == (kind, name, path)


def test_findings_name_the_versions_and_what_to_do() -> None:
    wanted: Any = "contrast-1.25"
    _, (other,) = chosen_profile(wanted, release("v1.26.0"), "shop", ALL, (OWN, NEXT))
    assert other.message == wording("CC0652", other="1.25", profile="contrast-1.25", version="v1.26.0")
    assert other.hint == remedy("CC0652", right="contrast-1.26")
    _, (kata,) = chosen_profile("kata-4.1", release())
    assert "does not bind the images of containers and the files at a VOLUME of an image" in kata.message
    _, (old,) = profile_of_version("v1.24.7")
    assert old.message == wording("CC0650", oldest="1.25", version="v1.24.7")
    _, (new,) = profile_of_version("v1.26.0")
    said = "release v1.26.0 is newer than Contrast 1.25; its nodes may refuse policies of profile contrast-1.25"
    assert new.message == said


def test_nothing_imported_yet_has_the_default_and_that_is_a_released_profile() -> None:
    assert profile_of(release("v0.0.0")) == (DEFAULT, ())
    assert DEFAULT in RELEASED
    assert Generate().policy.profile is None


def test_the_released_profiles_are_all_that_are_not_narrowed_oldest_first() -> None:
    of_releases = [one for one in PROFILES.values() if one.release and not one.narrowed]
    assert list(RELEASED) == sorted(of_releases, key=lambda one: one.release or ())
