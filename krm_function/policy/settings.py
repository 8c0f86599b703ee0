"""Policy settings, which are the same for every pod: their defaults, and drop-ins."""

import functools
from collections.abc import Mapping
from marshal import dumps, loads
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import RequestRules
from krm_function.contrast import profiles as allowed_variables
from krm_function.contrast.profiles import DEFAULT, KATA, NAME_OF_API_SERVER, Profile
from krm_function.findings import Finding, Path, dotted, finding, has_errors
from krm_function.policy.initdata import pretty
from krm_function.record import NamedTuple
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.table import filled
from krm_function.schema.values import ANY_TEXT, Anything, Field, Flag, ListOf, MapOf, Number, Record, Spec

# --- Default settings: those of Kata 4.1.0, with the changes of a profile
#
# Rule: one literal in the shape of a genpolicy-settings.json document, so that settings.py reads a
# user's file and the defaults in the same way. The changes of each profile are in contrast/profiles.py.


REQUESTS = (  # each is allowed or not
    *("CloseStdinRequest", "ReadStreamRequest", "UpdateEphemeralMountsRequest", "WriteStreamRequest"),
    "GetDiagnosticDataRequest",
)
_SHM = "/run/kata-containers/sandbox/shm"
_DEV_SHM = "/dev/shm"  # noqa: S108 - a mount of the guest
_BUNDLE = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/$(bundle-id)"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OCTET = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_SYSCTL = {"net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 2147483647"}
_LOOPBACK_V4 = r"^127\.(?:[0-9]{1,3}\.){2}[0-9]{1,3}$"


def _split_capabilities(names: str) -> list[str]:
    return [f"CAP_{name}" for name in names.split()]


def _bind_mount(destination: str, options: str, source: str = "") -> dict[str, Any]:
    return {"destination": destination, "source": source, "type_": "bind", "options": options.split(",")}


_MOUNTS = [
    _bind_mount("/etc/hosts", "rbind,rprivate,rw"),
    _bind_mount("/dev/termination-log", "rbind,rprivate,rw"),
    _bind_mount("/etc/hostname", "rbind,rprivate"),
    _bind_mount("/etc/resolv.conf", "rbind,rprivate"),
    _bind_mount(_DEV_SHM, "rbind", _SHM),
    _bind_mount("/var/run/secrets/kubernetes.io/serviceaccount", "rbind,rprivate,ro"),
    _bind_mount("/var/run/secrets/azure/tokens", "rbind,rprivate,ro", "$(sfprefix)tokens$"),
]
_DISK = {
    "mount_type": "bind",
    "mount_source": "",
    "mount_point": "$(spath)/$(b64_device_id)",
    "driver": "",
    "driver_options": ["create_filesystem"],
    "source": "",
    "fstype": "ext4",
    "options": [],
    "shared": True,
}

KATA_4_1: dict[str, Any] = {
    "pause_container": {
        "Root": {"Path": "$(root_path)"},
        "Mounts": [
            _bind_mount(_DEV_SHM, "rbind", _SHM),
            _bind_mount("/etc/resolv.conf", "rbind,ro,nosuid,nodev,noexec"),
        ],
        "Annotations": {
            "io.katacontainers.pkg.oci.bundle_path": _BUNDLE,
            "io.katacontainers.pkg.oci.container_type": "pod_sandbox",
            "io.kubernetes.cri.container-type": "sandbox",
            "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
            "io.kubernetes.cri.sandbox-log-directory": (
                f"^/var/log/pods/$(sandbox-namespace)_$(sandbox-name)_{_UUID}$"
            ),
            "io.kubernetes.cri.sandbox-namespace": "default",
        },
        "Process": {"Args": ["/pause"]},
        "Linux": {
            "Sysctl": _SYSCTL,
            "MaskedPaths": [
                *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"),
                *("/proc/timer_stats", "/proc/sched_debug", "/sys/firmware", "/proc/scsi"),
            ],
            "ReadonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
        },
    },
    "other_container": {
        "Root": {"Path": "$(root_path)"},
        "Mounts": _MOUNTS,
        "Annotations": {
            "io.katacontainers.pkg.oci.bundle_path": _BUNDLE,
            "io.katacontainers.pkg.oci.container_type": "pod_container",
            "io.kubernetes.cri.container-type": "container",
            "io.kubernetes.cri.sandbox-id": "^[a-z0-9]{64}$",
        },
        "Linux": {"Sysctl": _SYSCTL},
    },
    "mount_destinations": ["/sys/fs/cgroup", *(mount["destination"] for mount in _MOUNTS)],
    "volumes": {
        "emptyDir_encrypted": {**_DISK, "driver_options": ["encryption_key=ephemeral", "create_filesystem"]},
        "emptyDir_plain": {**_DISK, "options": ["discard"]},
        "emptyDir_memory": {
            "mount_type": "bind",
            "mount_source": "^/run/kata-containers/sandbox/ephemeral/",
            "mount_point": "^/run/kata-containers/sandbox/ephemeral/",
            "driver": "ephemeral",
            "driver_options": [],
            "source": "tmpfs",
            "fstype": "tmpfs",
            "options": [],
            "shared": False,
        },
        "configMap": {
            "mount_type": "bind",
            "mount_source": "$(sfprefix)",
            "mount_point": "$(sfprefix)",
            "driver": "local",
            "fstype": "bind",
            "options": ["rbind", "rprivate", "ro"],
        },
        "image_volume": {
            "mount_type": "bind",
            "mount_source": "$(sfprefix)",
            "driver": "local",
            "source": "local",
            "fstype": "bind",
            "options": ["rbind", "rprivate", "rw"],
        },
    },
    "devices": {
        "vfio": {
            "device_path": "/dev/vfio/devices/vfio",
            "anno_key_regex": r"^cdi\.k8s\.io/vfio[0-9]+$",
            "nvidia": {
                "gpu_anno_value_regex": r"^nvidia\.com/gpu=[0-9]+$",
                "gpu_gk_device_type": "vfio-pci-gk",
                "pgpu_resource_keys": ["nvidia.com/pgpu"],
            },
        }
    },
    "sandbox": {
        "storages": [
            {
                "driver": "ephemeral",
                "driver_options": [],
                "source": "shm",
                "fstype": "tmpfs",
                "options": ["noexec", "nosuid", "nodev", "mode=1777", "size=67108864"],
                "mount_point": _SHM,
                "fs_group": None,
                "shared": False,
            }
        ]
    },
    "common": {
        "cpath": "/run/kata-containers/shared/containers(?:/passthrough)?",
        "root_path": "/run/kata-containers/$(bundle-id)/rootfs",
        "sfprefix": "^$(cpath)/(watchable/)?$(bundle-id)-[a-z0-9]{16}-",
        "spath": "/run/kata-containers/sandbox/storage",
        "ipv4_a": r"\.".join([_OCTET] * 4),
        "ip_p": "[0-9]{1,5}",
        "svc_name_downward_env": allowed_variables.NAME_OF_SERVICE,
        "dns_label": r"[a-zA-Z0-9_\.\-]+",
        "default_caps": _split_capabilities(
            "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT "
            "KILL AUDIT_WRITE"
        ),
        "privileged_caps": _split_capabilities(
            "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE "
            "NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT "
            "SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE "
            "AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ "
            "PERFMON BPF CHECKPOINT_RESTORE"
        ),
    },
    "kata_config": {"oci_version": "1.1.0", "enable_configmap_secret_storages": False},
    "cluster_config": {
        "pause_container_image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
        "guest_pull": True,
        "emptydir_type": "block-encrypted",
        "cgroup_mount_extras_allowed": ["nsdelegate", "memory_recursiveprot"],
    },
    "request_defaults": {
        "CreateContainerRequest": {"allow_env_regex": list(allowed_variables.KATA_VARIABLES)},
        "CopyFileRequest": ["$(sfprefix)"],
        "ExecProcessRequest": {"allowed_commands": [], "regex": []},
        "UpdateInterfaceRequest": {
            "allow_raw_flags": 128,
            "forbidden_names": ["lo"],
            "forbidden_hw_addrs": ["00:00:00:00:00:00"],
        },
        "UpdateRoutesRequest": {
            "forbidden_device_names": ["lo"],
            "forbidden_source_regex": ["^(?:0{0,4}:){0,7}0{0,3}1$", _LOOPBACK_V4],
        },
        "AddARPNeighborsRequest": {
            "forbidden_device_names": ["lo"],
            "forbidden_cidrs_regex": [_LOOPBACK_V4],
            "allowed_states": [2, 128],
        },
        **dict.fromkeys(REQUESTS, False),
    },
}


def default_document(profile: Profile) -> dict[str, Any]:
    """Return the settings document of a profile, a new copy at each call."""
    document: dict[str, Any] = _deep_copy(KATA_4_1)
    for pointer, value in (*profile.settings, *profile.own_settings):
        place, name = _resolve_pointer(document, pointer)
        place[name] = _deep_copy(value)
    for pointer in profile.left_out:
        place, name = _resolve_pointer(document, pointer)
        del place[name]
    return document


def _deep_copy(value: Any) -> Any:
    """Copy in C: a render would load module `copy` for this alone."""
    return loads(dumps(value))  # noqa: S302 - bytes made by dumps in this line


def _resolve_pointer(document: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    """Return the map that holds the last name of a JSON pointer without escapes, and that name."""
    *above, name = pointer.removeprefix("/").split("/")
    for key in above:
        document = document[key]
    return document, name


# --- Apply drop-ins of policy settings: JSON Patches (RFC 6902), one after the other
#
# Source: docs/facts/kata.md#settings-files.
#
# Rule: every operation of every patch must apply. The given document is never changed. An error names the
# operation, never a value.


def patched(document: Mapping[str, Any], patch: Any) -> Any:
    """Return the settings with one drop-in applied. Raises ValueError with a problem text."""
    from jsonpatch import InvalidJsonPatch, JsonPatch, JsonPatchException, JsonPatchTestFailed
    from jsonpointer import JsonPointerException

    if not isinstance(patch, list):
        raise ValueError("is not a JSON Patch (a list of operations)")  # noqa: TRY004 - about the text
    result: Any = _deep_copy(document)
    for number, operation in enumerate(patch):
        name = _operation_name(number, operation)
        try:
            result = JsonPatch([_deep_copy(operation)]).apply(result, in_place=True)
        except JsonPatchTestFailed:
            raise ValueError(f"{name} finds a different value") from None
        except InvalidJsonPatch as error:
            raise ValueError(f"{name} is not an operation of RFC 6902: {_error_text(error)}") from None
        except (JsonPatchException, JsonPointerException) as error:
            raise ValueError(f"{name} does not apply: {_error_text(error)}") from None
    return result


def _operation_name(number: int, operation: Any) -> str:
    if not isinstance(operation, dict):
        return f"operation {number + 1}"
    words = [str(operation[key])[:200] for key in ("op", "from", "path") if isinstance(operation.get(key), str)]
    return " ".join([f"operation {number + 1}", *([f"({' '.join(words)})"] if words else [])])


def _error_text(error: Exception) -> str:
    # The library's message names members, never values
    text = str(error)[:200]
    return text[:1].lower() + text[1:]


# --- Read policy settings, which are the same for every pod, to one checked, immutable record
#
# Rule: a user's settings are held against the table SETTINGS once, so that the generator can trust them.
# They are a whole genpolicy-settings.json document, after its drop-ins (policy/settings.py); unknown keys are ignored
# as in genpolicy, an ill-typed one is CC0612, a missing one CC0641. The default values are in policy/settings.py, which
# the tests hold against the table.


Json = dict[str, Any]
NO_RULES = RequestRules()

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


def report_option(code: str, config: Config, field: str, **values: Any) -> Finding:
    """Report an option of spec.policy that contradicts the others. code: CC0901 with a variant."""
    ref, path = config.generate.ref, ("spec", "policy", field)
    return finding(code, ref, path, kind=ref.kind, name=ref.name, field=dotted(path), **values)


def choose_settings(config: Config, profile: Profile) -> tuple[Settings | None, tuple[Finding, ...]]:
    """Return the settings of all policies of a render, None after an error."""
    options, ref = config.generate.policy, config.generate.ref
    if options.settings and options.requests != NO_RULES:
        return None, (report_option("CC0901.requests", config, "requests"),)
    chosen, problems = settings(options.settings or config.release.policy_settings, profile, options.requests)
    if not has_errors(problems):
        return chosen, problems
    path: Path = ("spec", "policy", "settings") if options.settings else ("spec", "policySettings")
    ref = ref if options.settings else config.release.ref
    return None, tuple(problem._replace(ref=ref, path=path) for problem in problems)


def settings(
    override: Mapping[str, Any] | None, profile: Profile = DEFAULT, requests: RequestRules = NO_RULES
) -> tuple[Settings, tuple[Finding, ...]]:
    """Return the settings of a render: the defaults, or a genpolicy-settings.json document in their place.

    requests: what differs from either. With an error among the findings the settings returned are the defaults and must
    not be used.
    """
    if override is None:
        if requests == NO_RULES:
            return default_settings(profile), ()
        override = default_document(profile)
    if mismatches := faults(SETTINGS, override):
        missing_first = sorted(mismatches, key=lambda fault: fault.kind != "missing")
        return default_settings(profile), tuple(map(_shape_finding, missing_first))
    document = filled(SETTINGS, override)
    if requests.logs:
        document["request_defaults"]["ReadStreamRequest"] = requests.logs == "allow"
    if requests.exec is not None:
        commands = [list(command) for command in requests.exec]
        document["request_defaults"]["ExecProcessRequest"] |= {"allowed_commands": commands, "regex": []}
    problems = _find_problems(document, profile)
    if problems:
        return default_settings(profile), problems
    return _build_settings(document, profile), ()


@functools.cache
def default_settings(profile: Profile = DEFAULT) -> Settings:
    """Return the default settings of a profile."""
    return _build_settings(filled(SETTINGS, default_document(profile)), profile)


def _shape_finding(fault: Fault) -> Finding:
    if fault.kind == "missing":
        return finding("CC0641", member=dotted(fault.path))
    if fault.kind != "type":
        expected_type = fault.problem.removeprefix("must be ")  # valid Unicode, an integer from ... to ...
    else:
        expected_type = "a boolean" if isinstance(fault.spec, Flag) else expected(fault.spec)
    return finding("CC0612.type", member=dotted(fault.path) or "the document", expected=expected_type)


def _find_problems(document: Json, profile: Profile) -> tuple[Finding, ...]:
    cluster, problems = document["cluster_config"], []
    if document["request_defaults"]["ExecProcessRequest"]["commands"]:
        problems.append(finding("CC0612.commands"))
    if cluster["emptydir_type"] not in EMPTYDIR_TYPES:
        problems.append(finding("CC0612.emptydir-type", known=", ".join(EMPTYDIR_TYPES)))
    if profile.binds_images and not cluster["guest_pull"]:
        problems.append(finding("CC0612.guest-pull", profile=profile.name))
    unanchored = _find_unanchored_patterns(document) if profile.narrowed else []
    return (*problems, *(finding("CC0612.anchor", member=member, profile=profile.name) for member in unanchored))


def _find_unanchored_patterns(document: Json) -> list[str]:
    """Without a ^, the rules of a narrowed profile never match a pattern."""
    return [
        f"request_defaults.{request}.{field}[{index}]"
        for request, field in (("CreateContainerRequest", "allow_env_regex"), ("ExecProcessRequest", "regex"))
        for index, pattern in enumerate(document["request_defaults"][request][field])
        if not pattern.startswith("^")
    ]


def _build_settings(document: Json, profile: Profile) -> Settings:
    del document["request_defaults"]["ExecProcessRequest"]["commands"]  # none, and deprecated
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
    return Settings(
        document["pause_container"],
        document["other_container"],
        frozenset(document["mount_destinations"]),
        document["volumes"],
        document["devices"],
        document["kata_config"],
        document["cluster_config"],
        shared,
        _serialise_members(shared),
        profile,
    )


def document_of(settings: Settings) -> Json:
    """Return the genpolicy-settings.json document that `settings` reads as the same settings."""
    document = {name: settings.shared.get(name) for name in SETTINGS.fields}
    members = {name: value for name, value in zip(settings._fields, settings, strict=True) if name in document}
    return {**document, **members, "mount_destinations": sorted(settings.mount_destinations)}


def settings_of_pod(settings: Settings, *, links: bool) -> Settings:
    """Return the render's settings for one pod. links: whether it gets variables of every Service.

    Without links, a narrowed profile allows only the variables of the API server's Service.
    """
    if links or not settings.profile.narrowed:
        return settings
    common = {**settings.shared["common"], "svc_name_downward_env": NAME_OF_API_SERVER}
    shared = {**settings.shared, "common": common}
    return settings._replace(shared=shared, shared_text=_serialise_members(shared))


def _serialise_members(shared: Json) -> str:
    """Return the members of policy_data other than `containers` as they are in the document."""
    return ",\n".join(f'  "{key}": {pretty(value, 1)}' for key, value in shared.items())


def _record_of(**fields: Spec | Field) -> Record:
    """Require every field that is not given as a Field; ignore other members.

    The value read has all fields, in this order; absent ones have a copy of their default.
    """
    table = {name: spec if isinstance(spec, Field) else Field(spec, "", True) for name, spec in fields.items()}

    def whole(**values: Any) -> Json:
        return {
            name: values[name] if name in values else filled(field.spec, field.default) for name, field in table.items()
        }

    return Record(table, None, False, whole)


_TEXTS = ListOf(ANY_TEXT)
_NO_TEXTS = Field(_TEXTS, default=[])
_STORAGE = _record_of(
    driver=ANY_TEXT,
    driver_options=_TEXTS,
    source=ANY_TEXT,
    fstype=ANY_TEXT,
    options=_TEXTS,
    mount_point=ANY_TEXT,
    fs_group=Field(_record_of(group_id=Number(), group_change_policy=Number())),
    shared=Field(Flag(), default=False),
)
_MOUNTED = dict.fromkeys(("mount_type", "mount_source", "mount_point", "driver"), ANY_TEXT)
_EMPTY_DIR = _record_of(
    **_MOUNTED, driver_options=_TEXTS, source=ANY_TEXT, fstype=ANY_TEXT, options=_TEXTS, shared=Flag()
)
_CONFIG_MAP = _record_of(**_MOUNTED, fstype=ANY_TEXT, options=_TEXTS, shared=Field(Flag(), default=False))
# the members that are read here; Contrast's settings have no image_volume
_IMAGE_VOLUME = _record_of(mount_source=ANY_TEXT, fstype=ANY_TEXT, options=_TEXTS)
_MOUNT = _record_of(destination=ANY_TEXT, source=Field(ANY_TEXT, default=""), type_=ANY_TEXT, options=_TEXTS)
_CONTAINER = _record_of(
    Root=_record_of(Path=ANY_TEXT),
    Mounts=ListOf(_MOUNT),
    Annotations=MapOf(Anything(), ANY_TEXT),
    Process=Field(_record_of(Args=_NO_TEXTS, Env=_NO_TEXTS), default={}),
    Linux=Field(
        _record_of(
            Sysctl=Field(MapOf(Anything(), ANY_TEXT), default={}),
            MaskedPaths=_NO_TEXTS,
            ReadonlyPaths=_NO_TEXTS,
            Devices=Field(ListOf(_record_of(Path=ANY_TEXT)), default=[]),
        ),
        default={},
    ),
)
SETTINGS = _record_of(
    pause_container=_CONTAINER,
    other_container=_CONTAINER,
    mount_destinations=_TEXTS,
    volumes=_record_of(
        **dict.fromkeys(("emptyDir_encrypted", "emptyDir_plain", "emptyDir_memory"), _EMPTY_DIR),
        configMap=_CONFIG_MAP,
        image_volume=Field(_IMAGE_VOLUME),
    ),
    devices=_record_of(
        vfio=_record_of(
            device_path=ANY_TEXT,
            anno_key_regex=ANY_TEXT,
            nvidia=_record_of(gpu_anno_value_regex=ANY_TEXT, gpu_gk_device_type=ANY_TEXT, pgpu_resource_keys=_TEXTS),
        )
    ),
    sandbox=_record_of(storages=ListOf(_STORAGE)),
    common=_record_of(
        **dict.fromkeys(("cpath", "root_path", "sfprefix", "spath", "ipv4_a", "ip_p"), ANY_TEXT),
        **dict.fromkeys(("svc_name_downward_env", "dns_label"), ANY_TEXT),
        **dict.fromkeys(("default_caps", "privileged_caps"), _TEXTS),
    ),
    kata_config=_record_of(oci_version=ANY_TEXT, enable_configmap_secret_storages=Flag()),
    cluster_config=_record_of(
        pause_container_image=ANY_TEXT,
        guest_pull=Flag(),
        emptydir_type=ANY_TEXT,
        cgroup_mount_extras_allowed=_NO_TEXTS,
    ),
    request_defaults=_record_of(
        CreateContainerRequest=_record_of(allow_env_regex=_TEXTS),
        CopyFileRequest=_TEXTS,
        ExecProcessRequest=_record_of(commands=_NO_TEXTS, allowed_commands=ListOf(_TEXTS), regex=_TEXTS),
        UpdateRoutesRequest=_record_of(forbidden_device_names=_TEXTS, forbidden_source_regex=_TEXTS),
        UpdateInterfaceRequest=_record_of(allow_raw_flags=Number(), forbidden_names=_TEXTS, forbidden_hw_addrs=_TEXTS),
        AddARPNeighborsRequest=_record_of(
            forbidden_device_names=_TEXTS, forbidden_cidrs_regex=_TEXTS, allowed_states=ListOf(Number())
        ),
        **dict.fromkeys(REQUESTS, Flag()),
    ),
)
