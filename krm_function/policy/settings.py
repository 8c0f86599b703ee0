"""Read policy settings, which are the same for every pod, to one checked, immutable record.

Rule of this file: shapes are checked here once, so that the generator can trust them. A user's settings are a
whole genpolicy-settings.json document, after its drop-ins (dropins.py); unknown keys are ignored as in genpolicy, an
ill-typed one is CC0612, a missing one CC0641. The default values are in defaults.py.
"""

import functools
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.profiles import DEFAULT, KATA, Profile
from krm_function.policy.defaults import default_document
from krm_function.policy.pretty import pretty
from krm_function.record import NamedTuple

Json = dict[str, Any]

EMPTYDIR_TYPES = ("block-encrypted", "block-plain", "shared-fs")


class Settings(NamedTuple):
    """The settings as the generator reads them. Maps and lists are shared by all pods: never change one."""

    pause_container: Json
    other_container: Json
    mount_destinations: frozenset[str]
    volumes: Json
    devices: Json
    kata_config: Json
    cluster_config: Json
    shared: Json  # everything in policy_data beside `containers`, in genpolicy's order (docs/facts/kata.md#policy-data)
    shared_text: str  # the members of `shared` as text of the document
    profile: Profile


def settings(override: Mapping[str, Any] | None, profile: Profile = DEFAULT) -> tuple[Settings, tuple[Finding, ...]]:
    """Return the settings of a render: the defaults, or a genpolicy-settings.json document in their place.

    With an error among the findings the settings returned are the defaults and must not be used.
    """
    if override is None:
        return default_settings(profile), ()
    problems: list[Finding] = []
    missing: list[str] = []
    document = _checked_copy(override, _DOCUMENT, "", problems, missing)
    if missing:
        found = [finding("CC0641", member=member) for member in missing]
        return default_settings(profile), (*found, *problems)
    if not problems:
        if document["request_defaults"]["ExecProcessRequest"].pop("commands"):
            problems.append(finding("CC0612.commands"))
        if document["cluster_config"]["emptydir_type"] not in EMPTYDIR_TYPES:
            problems.append(finding("CC0612.emptydir-type", known=", ".join(EMPTYDIR_TYPES)))
        if profile.binds_images and not document["cluster_config"]["guest_pull"]:
            problems.append(finding("CC0612.guest-pull", profile=profile.name))
        if profile.narrowed:
            unanchored = _unanchored(document)
            problems += [finding("CC0612.anchor", member=member, profile=profile.name) for member in unanchored]
    if problems:
        return default_settings(profile), tuple(problems)
    return _settings(document, profile), ()


@functools.cache
def default_settings(profile: Profile = DEFAULT) -> Settings:
    """Return the default settings of a profile."""
    found, problems = settings(default_document(profile), profile)
    if problems:
        raise AssertionError(problems)
    return found


def _unanchored(document: Json) -> list[str]:
    """Return the members with a pattern that the rules of a narrowed profile never match: those without a ^."""
    requests = document["request_defaults"]
    lists = {
        "CreateContainerRequest.allow_env_regex": requests["CreateContainerRequest"]["allow_env_regex"],
        "ExecProcessRequest.regex": requests["ExecProcessRequest"]["regex"],
    }
    return [
        f"request_defaults.{name}[{index}]"
        for name, patterns in lists.items()
        for index, pattern in enumerate(patterns)
        if not pattern.startswith("^")
    ]


def _settings(document: Json, profile: Profile) -> Settings:
    shared = {
        # tells `check` and readers the profile; kata-4.1 has no such member, because Kata's data have none
        **({} if profile is KATA else {"profile": profile.name}),
        "common": document["common"],
        "sandbox": document["sandbox"],
        "request_defaults": document["request_defaults"],
        # only the generator uses the other vfio settings (docs/facts/kata.md#policy-data)
        "devices": {"vfio": {"device_path": document["devices"]["vfio"]["device_path"], "nvidia": {}}},
        "cluster_config": document["cluster_config"],
    }
    text = ",\n".join(f'  "{key}": {pretty(value, 1)}' for key, value in shared.items())
    return Settings(
        document["pause_container"],
        document["other_container"],
        frozenset(document["mount_destinations"]),
        document["volumes"],
        document["devices"],
        document["kata_config"],
        document["cluster_config"],
        shared,
        text,
        profile,
    )


class _Optional(NamedTuple):
    """A member that may be missing or null, and its default."""

    shape: Any
    default: Any


class _MapOf(NamedTuple):
    """A map with any keys."""

    shape: Any


# A shape: str, int, bool; [shape] for a list; {name: shape} for a record, whose other members are dropped.
_STORAGE: Json = {
    "driver": str,
    "driver_options": [str],
    "source": str,
    "fstype": str,
    "options": [str],
    "mount_point": str,
    "fs_group": _Optional({"group_id": int, "group_change_policy": int}, None),
    "shared": _Optional(bool, default=False),
}
_EMPTY_DIR: Json = {
    "mount_type": str,
    "mount_source": str,
    "mount_point": str,
    "driver": str,
    "driver_options": [str],
    "source": str,
    "fstype": str,
    "options": [str],
    "shared": bool,
}
_CONFIG_MAP: Json = {
    **{name: _EMPTY_DIR[name] for name in ("mount_type", "mount_source", "mount_point", "driver", "fstype", "options")},
    "shared": _Optional(bool, default=False),
}
_IMAGE_VOLUME: Json = {
    "mount_source": str,
    "fstype": str,
    "options": [str],
}  # the members that are read here; Contrast's settings have no image_volume
_MOUNT: Json = {"destination": str, "source": _Optional(str, ""), "type_": str, "options": [str]}
_CONTAINER: Json = {
    "Root": {"Path": str},
    "Mounts": [_MOUNT],
    "Annotations": _MapOf(str),
    "Process": _Optional({"Args": _Optional([str], []), "Env": _Optional([str], [])}, {"Args": [], "Env": []}),
    "Linux": _Optional(
        {
            "Sysctl": _Optional(_MapOf(str), {}),
            "MaskedPaths": _Optional([str], []),
            "ReadonlyPaths": _Optional([str], []),
            "Devices": _Optional([{"Path": str}], []),
        },
        {"Sysctl": {}, "MaskedPaths": [], "ReadonlyPaths": [], "Devices": []},
    ),
}
_DOCUMENT: Json = {
    "pause_container": _CONTAINER,
    "other_container": _CONTAINER,
    "mount_destinations": [str],
    "volumes": {
        "emptyDir_encrypted": _EMPTY_DIR,
        "emptyDir_plain": _EMPTY_DIR,
        "emptyDir_memory": _EMPTY_DIR,
        "configMap": _CONFIG_MAP,
        "image_volume": _Optional(_IMAGE_VOLUME, None),
    },
    "devices": {
        "vfio": {
            "device_path": str,
            "anno_key_regex": str,
            "nvidia": {"gpu_anno_value_regex": str, "gpu_gk_device_type": str, "pgpu_resource_keys": [str]},
        }
    },
    "sandbox": {"storages": [_STORAGE]},
    "common": {
        "cpath": str,
        "root_path": str,
        "sfprefix": str,
        "spath": str,
        "ipv4_a": str,
        "ip_p": str,
        "svc_name_downward_env": str,
        "dns_label": str,
        "default_caps": [str],
        "privileged_caps": [str],
    },
    "kata_config": {"oci_version": str, "enable_configmap_secret_storages": bool},
    "cluster_config": {
        "pause_container_image": str,
        "guest_pull": bool,
        "emptydir_type": str,
        "cgroup_mount_extras_allowed": _Optional([str], []),
    },
    "request_defaults": {
        "CreateContainerRequest": {"allow_env_regex": [str]},
        "CopyFileRequest": [str],
        "ExecProcessRequest": {"commands": _Optional([str], []), "allowed_commands": [[str]], "regex": [str]},
        "UpdateRoutesRequest": {"forbidden_device_names": [str], "forbidden_source_regex": [str]},
        "UpdateInterfaceRequest": {"allow_raw_flags": int, "forbidden_names": [str], "forbidden_hw_addrs": [str]},
        "AddARPNeighborsRequest": {
            "forbidden_device_names": [str],
            "forbidden_cidrs_regex": [str],
            "allowed_states": [int],
        },
        "CloseStdinRequest": bool,
        "ReadStreamRequest": bool,
        "UpdateEphemeralMountsRequest": bool,
        "WriteStreamRequest": bool,
        "GetDiagnosticDataRequest": bool,
    },
}
_NAMES = {str: "a string", int: "an integer", bool: "a boolean"}


def _checked_copy(value: Any, shape: Any, where: str, problems: list[Finding], missing: list[str]) -> Any:
    """Copy `value` with exactly the members of `shape`; appends what does not fit to `problems` and `missing`."""
    if isinstance(shape, dict):
        if not isinstance(value, Mapping):
            problems.append(finding("CC0612.type", member=where or "the document", expected="a map"))
            return {}
        out = {}
        for key, member in shape.items():
            at = f"{where}.{key}" if where else key
            entry = value.get(key)
            if entry is None and isinstance(member, _Optional):
                out[key] = member.default.copy() if isinstance(member.default, (dict, list)) else member.default
            elif entry is None:
                missing.append(at)
            else:
                shape_of = member.shape if isinstance(member, _Optional) else member
                out[key] = _checked_copy(entry, shape_of, at, problems, missing)
        return out
    if isinstance(shape, _MapOf):
        if not isinstance(value, Mapping):
            problems.append(finding("CC0612.type", member=where, expected="a map"))
            return {}
        return {
            str(key): _checked_copy(entry, shape.shape, f"{where}.{key}", problems, missing)
            for key, entry in value.items()
        }
    if isinstance(shape, list):
        if not isinstance(value, (list, tuple)):
            problems.append(finding("CC0612.type", member=where, expected="a list"))
            return []
        return [
            _checked_copy(entry, shape[0], f"{where}[{index}]", problems, missing) for index, entry in enumerate(value)
        ]
    if not isinstance(value, shape) or (shape is int and isinstance(value, bool)):
        problems.append(finding("CC0612.type", member=where, expected=_NAMES[shape]))
    return value
