"""The settings files of Kata and of Contrast: what our parser takes, and what it makes of them."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA
from krm_function.kubernetes.objects import dig
from krm_function.policy.settings import default_settings, settings
from tests.genpolicy.settings_files import contrast, kata

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


def test_what_is_unknown_is_overlooked() -> None:
    document = kata()
    document["volumes"]["image_volume"]["mount_point"] = "$(sfprefix)"
    document["of"] = {"another": "release"}
    document["request_defaults"]["NewRequest"] = True
    assert settings(document)[1] == ()
    assert settings(document)[0] == settings(kata())[0]


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


def members(document: Json, path: Path = ()) -> list[Path]:
    """Return the paths of all members of the settings, but for those of maps with names of their own."""
    found = []
    for name, member in document.items():
        found.append((*path, name))
        if isinstance(member, dict) and name not in {"Annotations", "Sysctl"}:
            found += members(member, (*path, name))
    return found


REQUIRED = [path for path in members(kata()) if path not in OPTIONAL and not {"Process", "Linux"} & {*path}]
# what our generator does not look at
UNREAD: set[Path] = {
    ("common", "image_layer_verification"),
    ("volumes", "emptyDir"),
    *(("volumes", "emptyDir", name) for name in kata()["volumes"]["emptyDir"]),
    *(("volumes", "image_volume", name) for name in ("mount_type", "driver", "source")),
}


@pytest.mark.parametrize("path", REQUIRED, ids=".".join)
def test_a_member_that_is_left_out_of_katas_file_is_told_by_its_name(path: Path) -> None:
    _, findings = settings(without(kata(), path))
    if path in UNREAD:
        assert findings == ()
    else:
        assert {found.code for found in findings} == {"CC0641"}
        assert f"policy settings: {'.'.join(path)} is missing" in findings[0].message


@pytest.mark.parametrize("path", OPTIONAL, ids=".".join)
def test_a_member_that_need_not_be_there_may_be_left_out(path: Path) -> None:
    document = without(kata(), path)
    assert settings(document)[1] == ()


def test_deprecated_commands_may_be_there_if_there_are_none() -> None:
    document = kata()
    document["request_defaults"]["ExecProcessRequest"]["commands"] = []
    assert settings(document)[1] == ()


def test_an_encrypted_volume_is_never_taken_for_a_plain_one_for_want_of_a_member() -> None:
    document = without(kata(), ("volumes", "emptyDir_encrypted", "driver_options"))
    assert [found.code for found in settings(document)[1]] == ["CC0641"]
