import json
from typing import Any

import pytest

from krm_function.contrast import profiles as allowed_variables
from krm_function.contrast.profiles import CONTRAST, DEFAULT, KATA, PROFILES, STRICT, Profile
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.settings import default_document, default_settings, settings
from tests.policy import pods


def _with(*path: Any) -> dict[str, Any]:
    document = default_document(DEFAULT)
    value: Any = document
    for part in path[:-2]:
        value = value[part]
    value[path[-2]] = path[-1]
    return document


def test_none_is_our_own() -> None:
    assert settings(None) == (default_settings(), ())


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_the_defaults_of_each_profile_are_settings_as_a_user_may_give_them(profile: Profile) -> None:
    assert settings(default_document(profile), profile) == (default_settings(profile), ())


def test_facts_of_kata_4_1() -> None:
    common = default_settings().shared["common"]
    assert len(common["default_caps"]) == 14
    assert len(common["privileged_caps"]) == 41
    assert common["default_caps"][:2] == ["CAP_CHOWN", "CAP_DAC_OVERRIDE"]
    assert common["privileged_caps"][-1] == "CAP_CHECKPOINT_RESTORE"
    octet = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
    assert common["ipv4_a"] == rf"{octet}\.{octet}\.{octet}\.{octet}"
    members = ["common", "sandbox", "request_defaults", "devices", "cluster_config"]
    assert list(default_settings(KATA).shared) == members
    assert list(default_settings().shared) == ["profile", *members]
    assert default_settings().shared["devices"] == {"vfio": {"device_path": "/dev/vfio/devices/vfio", "nvidia": {}}}
    assert len(default_settings(KATA).shared["request_defaults"]["CreateContainerRequest"]["allow_env_regex"]) == 15


def test_what_contrast_changes() -> None:
    kata, contrast = (_leaves(default_document(profile)) for profile in (KATA, CONTRAST))
    assert {path: contrast.get(path) for path in kata | contrast if kata.get(path) != contrast.get(path)} == {
        "cluster_config.pause_container_image": "ghcr.io/edgelesssys/kubernetes/pause:3.6",
        "devices.vfio.nvidia.pgpu_resource_keys": (
            "nvidia.com/pgpu",
            "nvidia.com/GB100_B200",
            "nvidia.com/GB110_B300_SXM6_AC",
            "nvidia.com/GH100_H100_PCIE",
        ),
        "request_defaults.ReadStreamRequest": True,
        "common.svc_name_downward_env": allowed_variables.NAME_OF_ANY_SERVICE,
        "request_defaults.CreateContainerRequest.allow_env_regex": allowed_variables.CONTRAST_VARIABLES,
        **{path: None for path in kata if path.startswith("volumes.image_volume.")},
    }
    strict = _leaves(default_document(STRICT))
    assert {path: strict[path] for path in contrast if strict[path] != contrast[path]} == {
        "request_defaults.CreateContainerRequest.allow_env_regex": allowed_variables.STRICT_VARIABLES
    }
    assert set(allowed_variables.STRICT_VARIABLES) < set(allowed_variables.CONTRAST_VARIABLES)


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    return {
        at: leaf for key, below in value.items() for at, leaf in _leaves(below, f"{path}.{key}".lstrip(".")).items()
    }


def test_a_profile_that_binds_images_wants_them_pulled_in_the_vm() -> None:
    document = _with("cluster_config", "guest_pull", False)
    for profile, codes in ((CONTRAST, ["CC0612"]), (STRICT, ["CC0612"]), (KATA, [])):
        assert [found.code for found in settings(document, profile)[1]] == codes


def test_a_document_stands_for_itself() -> None:
    made, findings = settings(json.loads(json.dumps(_with("kata_config", "oci_version", "1.3.0"))))

    assert findings == ()
    assert made.kata_config["oci_version"] == "1.3.0"
    assert made.shared == default_settings().shared


def test_unknown_keys_are_dropped() -> None:
    made, findings = settings(_with("common", "image_layer_verification", "none"))

    assert findings == ()
    assert made == default_settings()


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (_with("common", "default_caps", "CAP_KILL"), "common.default_caps must be a list"),
        (_with("common", "default_caps", [1]), "common.default_caps[0] must be a string"),
        (_with("cluster_config", "guest_pull", "true"), "cluster_config.guest_pull must be a boolean"),
        (_with("cluster_config", "emptydir_type", "disk"), "cluster_config.emptydir_type must be one of"),
        (_with("request_defaults", "AddARPNeighborsRequest", "allowed_states", [True]), "must be an integer"),
        (_with("request_defaults", "AddARPNeighborsRequest", "allowed_states", [2**64]), "[0] must be an integer from"),
        (_with("request_defaults", "UpdateInterfaceRequest", "allow_raw_flags", 2.0), "must be an integer"),
        (_with("common", "cpath", "\ud800"), "common.cpath must be valid Unicode"),
        (_with("common", "default_caps", [None]), "common.default_caps[0] must be a string"),
        (_with("other_container", "Annotations", []), "other_container.Annotations must be a map"),
        (_with("other_container", "Annotations", {"a.b": 1}), 'other_container.Annotations["a.b"] must be a string'),
        (_with("volumes", "image_volume", {"mount_source": 1, "fstype": "", "options": []}), "image_volume.mount_sou"),
        (_with("request_defaults", "ExecProcessRequest", "commands", ["sh"]), "use allowed_commands"),
    ],
)
def test_problems(document: dict[str, Any], problem: str) -> None:
    _, findings = settings(document)

    assert findings
    assert {found.code for found in findings} == {"CC0612"}
    assert problem in findings[0].message


@pytest.mark.parametrize(
    ("document", "member"),
    [({}, "pause_container"), (_with("common", "cpath", None), "common.cpath")],
)
def test_settings_of_another_release(document: dict[str, Any], member: str) -> None:
    _, findings = settings(document)

    assert {found.code for found in findings} == {"CC0641"}
    assert findings[0].message.startswith(f"policy settings: {member} is missing")


def test_a_missing_member_does_not_hide_a_wrong_one() -> None:
    document = _with("common", "cpath", None)
    document["common"]["spath"] = 1
    assert [found.code for found in settings(document)[1]] == ["CC0641", "CC0612"]


def test_profile_strict_says_so_in_the_data() -> None:
    made, findings = settings(None, STRICT)

    assert findings == ()
    assert made.profile is STRICT
    requests = made.shared["request_defaults"]
    assert requests["CreateContainerRequest"] == {"allow_env_regex": list(allowed_variables.STRICT_VARIABLES)}
    variables = default_settings().shared["request_defaults"]["CreateContainerRequest"]
    same = {**requests, "CreateContainerRequest": variables}
    assert {**made.shared, "request_defaults": same} == {**default_settings().shared, "profile": "strict"}
    assert json.loads(f"{{{made.shared_text}}}") == made.shared


def test_patterns_that_strict_would_never_match() -> None:
    document = _with("request_defaults", "ExecProcessRequest", "regex", ["^ls$", ".*"])
    assert settings(document)[1] == ()
    _, findings = settings(document, STRICT)
    assert [found.message for found in findings] == [
        "policy settings: request_defaults.ExecProcessRequest.regex[1] must begin with ^ in profile strict"
    ]


def test_settings_are_read_not_kept_as_they_were() -> None:
    document = default_document(DEFAULT)
    made, _ = settings(document)
    document["common"]["default_caps"].clear()
    assert len(made.shared["common"]["default_caps"]) == 14


def test_the_settings_text_is_the_settings() -> None:
    data = read_policy_data(pods.sealed(pods.simple()).rego)
    assert {key: data[key] for key in default_settings().shared} == default_settings().shared
