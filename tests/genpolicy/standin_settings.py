"""What the settings parser of genpolicy 4.1 asks of its file, for the stand-in: unknown members are overlooked, a
missing or ill-typed one is told as the program tells it.

A shape: str, bool, int; [shape] for a list; {name: shape} for a record; Maybe(shape) for a member that may be missing
or null; {"*": shape} for a map.
"""

from typing import Any, NamedTuple


class Maybe(NamedTuple):
    """A member that need not be there."""

    shape: Any


MOUNT = {"destination": str, "source": Maybe(str), "type_": str, "options": [str]}
USER = {"UID": int, "GID": int, "AdditionalGids": [int], "Username": str}
CONTAINER = {
    "Mounts": [MOUNT],
    "Version": Maybe(str),
    "Process": Maybe(
        {
            "Terminal": Maybe(bool),
            "User": Maybe(USER),
            "Args": Maybe([str]),
            "Env": Maybe([str]),
            "Cwd": Maybe(str),
            "NoNewPrivileges": Maybe(bool),
        }
    ),
    "Root": Maybe({"Path": str, "Readonly": Maybe(bool)}),
    "Annotations": Maybe({"*": str}),
    "Linux": Maybe(
        {
            "Sysctl": Maybe({"*": str}),
            "MaskedPaths": Maybe([str]),
            "ReadonlyPaths": Maybe([str]),
            "Devices": Maybe([{"Path": str}]),
        }
    ),
}
EMPTY_DIR = {
    **dict.fromkeys(("mount_type", "mount_source", "mount_point", "driver", "fstype", "source"), str),
    **{key: [str] for key in ("driver_options", "options")},
    "shared": bool,
}
CONFIG_MAP = {
    **dict.fromkeys(("mount_type", "mount_source", "mount_point", "driver", "fstype"), str),
    "options": [str],
}
IMAGE_VOLUME = {**dict.fromkeys(("mount_type", "mount_source", "driver", "source", "fstype"), str), "options": [str]}
COMMON = {
    **dict.fromkeys(
        ("cpath", "root_path", "sfprefix", "spath", "ipv4_a", "ip_p", "svc_name_downward_env", "dns_label"), str
    ),
    **{key: [str] for key in ("default_caps", "privileged_caps")},
}
STORAGE = {
    **dict.fromkeys(("driver", "source", "fstype", "mount_point"), str),
    **{key: [str] for key in ("driver_options", "options")},
    "fs_group": Maybe({"group_id": int, "group_change_policy": int}),
    "shared": Maybe(bool),
}
REQUESTS = {
    "CreateContainerRequest": {"allow_env_regex": [str]},
    "CopyFileRequest": [str],
    "ExecProcessRequest": {"commands": Maybe([str]), "allowed_commands": [[str]], "regex": [str]},
    "UpdateRoutesRequest": {"forbidden_device_names": [str], "forbidden_source_regex": [str]},
    "UpdateInterfaceRequest": {"allow_raw_flags": int, "forbidden_names": [str], "forbidden_hw_addrs": [str]},
    "AddARPNeighborsRequest": {
        "forbidden_device_names": [str],
        "forbidden_cidrs_regex": [str],
        "allowed_states": [int],
    },
    **dict.fromkeys(
        (
            *("CloseStdinRequest", "ReadStreamRequest", "UpdateEphemeralMountsRequest", "WriteStreamRequest"),
            "GetDiagnosticDataRequest",
        ),
        bool,
    ),
}
PLAIN: dict[str, Any] = {
    "pause_container": CONTAINER,
    "other_container": CONTAINER,
    "volumes": {
        **dict.fromkeys(("emptyDir", "emptyDir_encrypted", "emptyDir_plain", "emptyDir_memory"), EMPTY_DIR),
        "configMap": CONFIG_MAP,
        "image_volume": IMAGE_VOLUME,
    },
    "devices": {
        "vfio": {
            "device_path": str,
            "anno_key_regex": str,
            "nvidia": {"gpu_anno_value_regex": str, "gpu_gk_device_type": str, "pgpu_resource_keys": [str]},
        }
    },
    "kata_config": {"oci_version": str, "enable_configmap_secret_storages": bool},
    "cluster_config": {
        "pause_container_image": str,
        "guest_pull": bool,
        "emptydir_type": str,
        "cgroup_mount_extras_allowed": Maybe([str]),
    },
    "request_defaults": REQUESTS,
    "common": COMMON,
    "mount_destinations": [str],
    "sandbox": {"storages": [STORAGE]},
}
# Contrast's newest settings have pause_container_id_policy: the stand-in wants it, which is as strict as it can get
PATCHED: dict[str, Any] = {
    **PLAIN,
    "volumes": {name: shape for name, shape in PLAIN["volumes"].items() if name != "image_volume"},
    "cluster_config": {**PLAIN["cluster_config"], "pause_container_id_policy": str},
}
NAMES = {str: "a string", bool: "a boolean", int: "an integer"}


def required(shape: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all members that must be there, lists and maps not entered."""
    if not isinstance(shape, dict) or "*" in shape:
        return []
    out = []
    for name, member in shape.items():
        if not isinstance(member, Maybe):
            out += [(*path, name), *required(member, (*path, name))]
    return out


def complaint(value: Any, shape: Any) -> str:
    """The first thing that is wrong with a settings document, "" if it can be read."""
    if isinstance(shape, Maybe):
        return "" if value is None else complaint(value, shape.shape)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return "invalid type: expected a sequence"
        return next(filter(None, (complaint(entry, shape[0]) for entry in value)), "")
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return "invalid type: expected a map"
        if "*" in shape:
            return next(filter(None, (complaint(entry, shape["*"]) for entry in value.values())), "")
        for name, member in shape.items():
            if name not in value and not isinstance(member, Maybe):
                return f"missing field `{name}`"
            said = complaint(value.get(name), member)
            if said:
                return said
        return ""
    good = isinstance(value, shape) and not (shape is int and isinstance(value, bool))
    return "" if good else f"invalid type: expected {NAMES[shape]}"
