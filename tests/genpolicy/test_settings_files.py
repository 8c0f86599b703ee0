"""The settings files of Kata and of Contrast, and ours: what our parser takes, and what genpolicy's takes of ours."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA, PROFILES, Profile
from krm_function.kubernetes.lookup import dig
from krm_function.policy.genpolicy import settings_text
from krm_function.policy.settings import default_settings, settings
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.world import World
from tests.genpolicy.settings_files import contrast, kata
from tests.genpolicy.standin_orders import ordered
from tests.genpolicy.standin_settings import PATCHED, PLAIN, complaint, required

Json = dict[str, Any]
Path = tuple[str, ...]

FILES: dict[str, Callable[[], Json]] = {"kata": kata, "contrast": contrast}


def without(document: Json, path: Path) -> Json:
    out = copy.deepcopy(document)
    value: Any = out
    for step in path[:-1]:
        value = value[step]
    del value[path[-1]]
    return out


@pytest.mark.parametrize("name", FILES)
def test_our_parser_takes_the_file_as_it_is(name: str) -> None:
    made, findings = settings(FILES[name](), KATA)
    assert findings == ()
    assert made.shared["common"] == default_settings(KATA).shared["common"]
    assert bool(made.volumes["image_volume"]) == (name == "kata")
    assert "pause_container_id_policy" not in made.shared["cluster_config"]
    assert "image_layer_verification" not in made.shared["common"]


def steps(pointer: str) -> Path:
    return tuple(pointer.split("/")[1:])


def test_contrasts_file_is_katas_with_the_changes_of_the_profile() -> None:
    """The table of the profile against what stands here by hand."""
    document = kata()
    for pointer, value in CONTRAST.settings:
        dig(document, steps(pointer)[:-1])[steps(pointer)[-1]] = list(value) if isinstance(value, tuple) else value
    for pointer in CONTRAST.left_out:
        document = without(document, steps(pointer))
    assert document == without(contrast(), ("cluster_config", "pause_container_id_policy"))


def test_ours_are_katas_and_contrasts() -> None:
    assert settings(None, KATA)[0] == settings(kata(), KATA)[0]
    document = contrast()
    for pointer, value in CONTRAST.own_settings:
        dig(document, steps(pointer)[:-1])[steps(pointer)[-1]] = list(value) if isinstance(value, tuple) else value
    assert settings(None, CONTRAST)[0] == settings(document, CONTRAST)[0]


def ours(profile: Profile = CONTRAST) -> Json:
    made: Json = json.loads(settings_text(None, profile))
    return made


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_the_stand_ins_take_their_own_file_and_ours(profile: Profile) -> None:
    assert complaint(kata(), PLAIN) == ""
    assert complaint(contrast(), PATCHED) == ""
    assert complaint(ours(profile), PLAIN) == ""
    assert complaint(ours(profile), PATCHED) == ""


def test_the_stand_ins_do_not_take_each_others_file() -> None:
    assert complaint(contrast(), PLAIN) == "missing field `image_volume`"
    assert complaint(kata(), PATCHED) == "missing field `pause_container_id_policy`"


def test_what_is_unknown_is_overlooked() -> None:
    document = kata()
    document["volumes"]["image_volume"]["mount_point"] = "$(sfprefix)"
    document["of"] = {"another": "release"}
    document["request_defaults"]["NewRequest"] = True
    assert complaint(document, PLAIN) == ""
    assert settings(document)[1] == ()
    assert settings(document)[0] == settings(kata())[0]


@pytest.mark.parametrize("path", required(PLAIN), ids=".".join)
def test_our_settings_have_each_member_that_plain_genpolicy_wants(path: Path) -> None:
    assert complaint(without(ours(), path), PLAIN) == f"missing field `{path[-1]}`"


@pytest.mark.parametrize("path", required(PATCHED), ids=".".join)
def test_our_settings_have_each_member_that_contrasts_genpolicy_wants(path: Path) -> None:
    assert complaint(without(ours(), path), PATCHED) == f"missing field `{path[-1]}`"


# what the programs want and our generator does not look at
UNREAD: set[Path] = {
    ("volumes", "emptyDir"),
    *(("volumes", "emptyDir", name) for name in kata()["volumes"]["emptyDir"]),
    ("volumes", "image_volume"),
    *(("volumes", "image_volume", name) for name in ("mount_type", "driver", "source")),
}


@pytest.mark.parametrize("path", required(PLAIN), ids=".".join)
def test_a_member_that_is_left_out_of_katas_file_is_told_by_its_name(path: Path) -> None:
    _, findings = settings(without(kata(), path))
    if path in UNREAD:
        assert findings == ()
    else:
        assert {found.code for found in findings} == {"CC0641"}
        assert f"policy settings: {'.'.join(path)} is missing" in findings[0].message


OPTIONAL: tuple[Path, ...] = (
    ("cluster_config", "cgroup_mount_extras_allowed"),
    ("pause_container", "Process"),
    ("pause_container", "Linux"),
    ("pause_container", "Linux", "Sysctl"),
    ("pause_container", "Linux", "MaskedPaths"),
    ("pause_container", "Root", "Readonly"),
    ("other_container", "Linux"),
    ("volumes", "image_volume"),
)


@pytest.mark.parametrize("path", OPTIONAL, ids=".".join)
def test_a_member_that_need_not_be_there_may_be_left_out(path: Path) -> None:
    document = without(kata(), path)
    assert settings(document)[1] == ()
    if path != ("volumes", "image_volume"):
        assert complaint(document, PLAIN) == ""


def test_deprecated_commands_may_be_there_if_there_are_none() -> None:
    document = kata()
    document["request_defaults"]["ExecProcessRequest"]["commands"] = []
    assert settings(document)[1] == ()
    assert complaint(document, PLAIN) == ""


def test_an_encrypted_volume_is_never_taken_for_a_plain_one_for_want_of_a_member() -> None:
    document = without(kata(), ("volumes", "emptyDir_encrypted", "driver_options"))
    assert [found.code for found in settings(document)[1]] == ["CC0641"]


# --- with the programs


@pytest.mark.parametrize(
    "program, file", [("standin", "kata"), ("patched_standin", "contrast"), ("standin", ""), ("patched_standin", "")]
)
def test_a_program_runs_with_its_own_file_and_with_ours(
    shop: Shop, request: pytest.FixtureRequest, program: str, file: str
) -> None:
    world = ordered(World(), "")
    if file:
        world.spec["policy"]["settings"] = FILES[file]()
    shop.change(world)
    call = ("policy", "compare", "Deployment/web", "deployment", "--config", CONFIG)
    run = shop(*call, "--genpolicy", request.getfixturevalue(program))
    assert run.code == 0, run.stderr


def test_what_settings_lack_is_not_the_pods_fault(shop: Shop, standin: str) -> None:
    shop.change(ordered(World(), ""))
    file = without(kata(), ("volumes", "emptyDir_memory", "driver_options"))
    shop.write("settings.json", json.dumps(file))
    run = shop.generate("--genpolicy", standin, "--settings", "settings.json", "--format", "json")
    assert run.code == 1
    web = next(error for error in run.errors if error["resource"]["name"] == "web")
    assert web["code"] == "CC0614"
    assert web["message"] == "genpolicy: Merged settings are invalid: missing field `driver_options`"
    assert web["hint"] == (
        "correct the policy settings: genpolicy wants each member that the settings file of its release has"
    )
    assert "field" not in web
