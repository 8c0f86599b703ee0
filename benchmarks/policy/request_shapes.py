"""The agent's requests with every field, as the rules see them: docs/facts/kata-rules.md#requests.

A shape: a default value for a scalar; Sub(fields) for a message that may be null; [shape] for a list; {} for a map;
ANY for what no rule looks into.

Rule of this file: a recorded request may leave fields out, and they get the value that the agent gives them. A member
that no request has is dropped, because the agent's parser drops it, and named: it may be a misspelt one.
"""

import stat
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.policy.host import ENTRY_POINTS_ALLOWED, ENTRY_POINTS_DENIED

Json = dict[str, Any]
ANY = object()


class Sub(NamedTuple):
    """A message that may be absent, which is null."""

    fields: Mapping[str, Any]


def _texts(*names: str) -> Json:
    return dict.fromkeys(names, "")


def _lists(*names: str) -> Json:
    return {name: [""] for name in names}


def _numbers(*names: str) -> Json:
    return dict.fromkeys(names, 0)


USER = {**_numbers("UID", "GID"), "AdditionalGids": [0], "Username": ""}
STRING_USER = Sub({**_texts("uid", "gid"), "additionalGids": [""]})
CAPABILITIES = _lists("Bounding", "Effective", "Inheritable", "Permitted", "Ambient")
PROCESS = {
    "Terminal": False,
    "ConsoleSize": Sub(_numbers("Height", "Width")),
    "User": Sub(USER),
    **_lists("Args", "Env"),
    "Cwd": "",
    "Capabilities": Sub(CAPABILITIES),
    "Rlimits": [{"Type": "", **_numbers("Hard", "Soft")}],
    "NoNewPrivileges": False,
    "ApparmorProfile": "",
    "OOMScoreAdj": 0,
    "SelinuxLabel": "",
}
RESOURCES = {
    "Devices": [{"Allow": False, **_texts("Type", "Access"), **_numbers("Major", "Minor")}],
    **dict.fromkeys(("Memory", "CPU", "Pids", "BlockIO", "Network"), Sub({"*": ANY})),
    "HugepageLimits": [ANY],
}
ID_MAPPING = _numbers("HostID", "ContainerID", "Size")
LINUX = {
    **{key: [ID_MAPPING] for key in ("UIDMappings", "GIDMappings")},
    "Sysctl": {},
    "Resources": Sub(RESOURCES),
    "CgroupsPath": "",
    "Namespaces": [_texts("Type", "Path")],
    "Devices": [{**_texts("Path", "Type"), **_numbers("Major", "Minor", "FileMode", "UID", "GID")}],
    "Seccomp": Sub({"*": ANY}),
    "RootfsPropagation": "",
    **_lists("MaskedPaths", "ReadonlyPaths"),
    "MountLabel": "",
    "IntelRdt": Sub({"*": ANY}),
}
MOUNT = {**_texts("destination", "source", "type_"), "options": [""]}
SPEC = {
    "Version": "",
    "Process": Sub(PROCESS),
    "Root": Sub({"Path": "", "Readonly": False}),
    "Hostname": "",
    "Mounts": [MOUNT],
    "Hooks": Sub({"*": ANY}),
    "Annotations": {},
    "Linux": Sub(LINUX),
    **dict.fromkeys(("Solaris", "Windows"), Sub({"*": ANY})),
}
STORAGE = {
    **_texts("driver", "source", "fstype", "mount_point"),
    **_lists("driver_options", "options"),
    "fs_group": Sub(_numbers("group_id", "group_change_policy")),
    "shared": False,
}
PORTS = _numbers("stdin_port", "stdout_port", "stderr_port")
ADDRESS = {"family": 0, **_texts("address", "mask")}
COPIED = {
    "path": "",
    "file_type": "Unknown",
    "symlink_target": None,
    **_numbers("file_size", "file_mode", "dir_mode", "uid", "gid", "offset"),
}
RAW_COPY = {"data"}  # of the protocol's CopyFile; the agent makes kind and target of it
SHAPES: Mapping[str, Any] = {
    "CreateContainerRequest": {
        **_texts("container_id", "exec_id"),
        "string_user": STRING_USER,
        "devices": [{**_texts("id", "type_", "vm_path", "container_path"), "options": [""]}],
        "storages": [STORAGE],
        "OCI": Sub(SPEC),
        "sandbox_pidns": False,
        "shared_mounts": [_texts("name", "src_ctr", "src_path", "dst_ctr", "dst_path")],
        **PORTS,
    },
    "ExecProcessRequest": {
        **_texts("container_id", "exec_id"),
        "string_user": STRING_USER,
        "process": Sub(PROCESS),
        **PORTS,
    },
    "RemoveContainerRequest": {"container_id": "", "timeout": 0},
    "CreateSandboxRequest": {
        "hostname": "",
        "dns": [""],
        "storages": [STORAGE],
        "sandbox_pidns": False,
        **_texts("sandbox_id", "guest_hook_path"),
        "kernel_modules": [{"name": "", "parameters": [""]}],
    },
    "UpdateInterfaceRequest": {
        "interface": Sub(
            {
                **_texts("device", "name", "hwAddr", "devicePath", "type_"),
                "IPAddresses": [ADDRESS],
                **_numbers("mtu", "raw_flags"),
            }
        )
    },
    "UpdateRoutesRequest": {
        "routes": Sub(
            {
                "Routes": [
                    {**_texts("dest", "gateway", "device", "source"), **_numbers("scope", "family", "flags", "mtu")}
                ]
            }
        )
    },
    "AddARPNeighborsRequest": {
        "neighbors": Sub(
            {
                "ARPNeighbors": [
                    {"toIPAddress": Sub(ADDRESS), **_texts("device", "lladdr"), **_numbers("state", "flags")}
                ]
            }
        )
    },
    "CopyFileRequest": COPIED,
}
BY_THE_SETTINGS = (
    *("CloseStdinRequest", "ReadStreamRequest", "UpdateEphemeralMountsRequest", "WriteStreamRequest"),
    "GetDiagnosticDataRequest",
)
START = "StartContainerRequest"  # an id alone, which a case has
# their verdict is the same whatever they say, so nothing is filled in
WITHOUT_A_LOOK = frozenset((START, *ENTRY_POINTS_ALLOWED, *ENTRY_POINTS_DENIED, *BY_THE_SETTINGS))


def entry_point(name: str) -> str:
    """Return the rule of a request: `CreateContainer` and `CreateContainerRequest` are one; "" for an unknown name."""
    known = {*SHAPES, *WITHOUT_A_LOOK}
    return next((one for one in (name, f"{name}Request") if one in known), "")


def normalised(rule: str, request: Json) -> tuple[Json, list[str]]:
    """Return a request with every field, and the dotted names of the members that were dropped. Raises ValueError.

    The message of a ValueError names the field that has a value of another kind.
    """
    if rule in WITHOUT_A_LOOK:
        return request, []
    if rule == "CopyFileRequest" and ("data" in request or "file_type" not in request):
        request = _digested(request)
    dropped: list[str] = []
    made: Json = _filled(SHAPES[rule], request, "", dropped)
    return made, dropped


def _filled(shape: Any, value: Any, at: str, dropped: list[str]) -> Any:
    """Return a value in its shape; null is the same as absent, as it is to protobuf."""
    if isinstance(shape, Sub):
        return None if value is None else _filled(shape.fields, value, at, dropped)
    if isinstance(shape, list):
        return [_filled(shape[0], one, f"{at}[]", dropped) for one in _of(list, value, at)]
    if isinstance(shape, Mapping):
        given = _of(dict, value, at)
        if not shape or "*" in shape:
            return given
        dropped += [f"{at}.{key}".lstrip(".") for key in given if key not in shape]
        return {key: _filled(one, given.get(key), f"{at}.{key}", dropped) for key, one in shape.items()}
    if shape is ANY or shape is None:
        return value
    return shape if value is None else _of(type(shape), value, at)


def _of(kind: type, value: Any, at: str) -> Any:
    """Return a value if it is of a kind, or an empty one for null."""
    if value is None:
        return kind()
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{at.lstrip('.') or 'the request'} is no {kind.__name__}")
    return value


def _digested(request: Json) -> Json:
    """CopyFile as the agent asks the rules about it: the kind of file and the target of a link are told apart."""
    mode = request.get("file_mode") or 0
    kinds = {stat.S_IFREG: "Regular", stat.S_IFDIR: "Directory", stat.S_IFLNK: "Symlink"}
    kind = kinds.get(stat.S_IFMT(mode), "Unknown")
    data = request.get("data") or []
    try:
        target = data if isinstance(data, str) else bytes(data).decode()
    except (TypeError, ValueError) as wrong:
        if kind == "Symlink":
            raise ValueError(f"data is no text: {wrong}") from None
        target = ""
    rest = {key: value for key, value in request.items() if key not in RAW_COPY}
    return {**rest, "file_type": kind, "symlink_target": target if kind == "Symlink" else None}
