"""Read policy settings, which are the same for every pod, to one checked, immutable record.

Rule of this file: a user's settings are held against the table SETTINGS once, so that the generator can trust them.
They are a whole genpolicy-settings.json document, after its drop-ins (dropins.py); unknown keys are ignored as in
genpolicy, an ill-typed one is CC0612, a missing one CC0641. The default values are in defaults.py, which the tests hold
against the table.
"""

import functools
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Finding, dotted, finding
from krm_function.model.allowed_variables import NAME_OF_API_SERVER
from krm_function.model.profiles import DEFAULT, KATA, Profile
from krm_function.policy.defaults import default_document
from krm_function.policy.pretty import pretty
from krm_function.record import NamedTuple
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.kinds import ANY_TEXT, Anything, Field, Flag, ListOf, MapOf, Number, Record, Spec
from krm_function.schema.read import filled

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
    wrong = faults(SETTINGS, override)
    if wrong:
        missing = [finding("CC0641", member=dotted(fault.path)) for fault in wrong if fault.kind == "missing"]
        return default_settings(profile), (*missing, *(_ill_typed(fault) for fault in wrong if fault.kind != "missing"))
    document = filled(SETTINGS, override)
    problems = _problems(document, profile)
    if problems:
        return default_settings(profile), problems
    return _settings(document, profile), ()


@functools.cache
def default_settings(profile: Profile = DEFAULT) -> Settings:
    """Return the default settings of a profile."""
    return _settings(filled(SETTINGS, default_document(profile)), profile)


def _ill_typed(fault: Fault) -> Finding:
    if fault.kind != "type":
        wanted = fault.problem.removeprefix("must be ")  # valid Unicode, an integer from ... to ...
    else:
        wanted = "a boolean" if isinstance(fault.spec, Flag) else expected(fault.spec)
    return finding("CC0612.type", member=dotted(fault.path) or "the document", expected=wanted)


def _problems(document: Json, profile: Profile) -> tuple[Finding, ...]:
    """Find the values that a policy of this profile cannot have."""
    cluster, problems = document["cluster_config"], []
    if document["request_defaults"]["ExecProcessRequest"]["commands"]:
        problems.append(finding("CC0612.commands"))
    if cluster["emptydir_type"] not in EMPTYDIR_TYPES:
        problems.append(finding("CC0612.emptydir-type", known=", ".join(EMPTYDIR_TYPES)))
    if profile.binds_images and not cluster["guest_pull"]:
        problems.append(finding("CC0612.guest-pull", profile=profile.name))
    unanchored = _unanchored(document) if profile.narrowed else []
    return (*problems, *(finding("CC0612.anchor", member=member, profile=profile.name) for member in unanchored))


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
        _text(shared),
        profile,
    )


def settings_of_pod(settings: Settings, *, links: bool) -> Settings:
    """Return the settings for one pod, which are the render's. links: whether it gets variables of every Service.

    A narrowed profile allows a pod without those the variables of the API server's Service only.
    """
    if links or not settings.profile.narrowed:
        return settings
    common = {**settings.shared["common"], "svc_name_downward_env": NAME_OF_API_SERVER}
    shared = {**settings.shared, "common": common}
    return settings._replace(shared=shared, shared_text=_text(shared))


def _text(shared: Json) -> str:
    """Return the members of policy_data beside `containers` as text of the document."""
    return ",\n".join(f'  "{key}": {pretty(value, 1)}' for key, value in shared.items())


def _map(**fields: Spec | Field) -> Record:
    """Return a table whose fields must be there, but for those given as a Field; other members are ignored.

    It is read into a map of all fields, in this order; those that are absent have a copy of their default.
    """
    table = {name: one if isinstance(one, Field) else Field(one, "", True) for name, one in fields.items()}

    def whole(**given: Any) -> Json:
        return {
            name: given[name] if name in given else filled(field.spec, field.default) for name, field in table.items()
        }

    return Record(table, None, False, whole)


_TEXTS = ListOf(ANY_TEXT)
_NO_TEXTS = Field(_TEXTS, default=[])
_STORAGE = _map(
    driver=ANY_TEXT,
    driver_options=_TEXTS,
    source=ANY_TEXT,
    fstype=ANY_TEXT,
    options=_TEXTS,
    mount_point=ANY_TEXT,
    fs_group=Field(_map(group_id=Number(), group_change_policy=Number())),
    shared=Field(Flag(), default=False),
)
_EMPTY_DIR = _map(
    mount_type=ANY_TEXT,
    mount_source=ANY_TEXT,
    mount_point=ANY_TEXT,
    driver=ANY_TEXT,
    driver_options=_TEXTS,
    source=ANY_TEXT,
    fstype=ANY_TEXT,
    options=_TEXTS,
    shared=Flag(),
)
_CONFIG_MAP = _map(
    mount_type=ANY_TEXT,
    mount_source=ANY_TEXT,
    mount_point=ANY_TEXT,
    driver=ANY_TEXT,
    fstype=ANY_TEXT,
    options=_TEXTS,
    shared=Field(Flag(), default=False),
)
# the members that are read here; Contrast's settings have no image_volume
_IMAGE_VOLUME = _map(mount_source=ANY_TEXT, fstype=ANY_TEXT, options=_TEXTS)
_MOUNT = _map(destination=ANY_TEXT, source=Field(ANY_TEXT, default=""), type_=ANY_TEXT, options=_TEXTS)
_CONTAINER = _map(
    Root=_map(Path=ANY_TEXT),
    Mounts=ListOf(_MOUNT),
    Annotations=MapOf(Anything(), ANY_TEXT),
    Process=Field(_map(Args=_NO_TEXTS, Env=_NO_TEXTS), default={}),
    Linux=Field(
        _map(
            Sysctl=Field(MapOf(Anything(), ANY_TEXT), default={}),
            MaskedPaths=_NO_TEXTS,
            ReadonlyPaths=_NO_TEXTS,
            Devices=Field(ListOf(_map(Path=ANY_TEXT)), default=[]),
        ),
        default={},
    ),
)
SETTINGS = _map(
    pause_container=_CONTAINER,
    other_container=_CONTAINER,
    mount_destinations=_TEXTS,
    volumes=_map(
        emptyDir_encrypted=_EMPTY_DIR,
        emptyDir_plain=_EMPTY_DIR,
        emptyDir_memory=_EMPTY_DIR,
        configMap=_CONFIG_MAP,
        image_volume=Field(_IMAGE_VOLUME),
    ),
    devices=_map(
        vfio=_map(
            device_path=ANY_TEXT,
            anno_key_regex=ANY_TEXT,
            nvidia=_map(gpu_anno_value_regex=ANY_TEXT, gpu_gk_device_type=ANY_TEXT, pgpu_resource_keys=_TEXTS),
        )
    ),
    sandbox=_map(storages=ListOf(_STORAGE)),
    common=_map(
        **dict.fromkeys(("cpath", "root_path", "sfprefix", "spath", "ipv4_a", "ip_p"), ANY_TEXT),
        svc_name_downward_env=ANY_TEXT,
        dns_label=ANY_TEXT,
        default_caps=_TEXTS,
        privileged_caps=_TEXTS,
    ),
    kata_config=_map(oci_version=ANY_TEXT, enable_configmap_secret_storages=Flag()),
    cluster_config=_map(
        pause_container_image=ANY_TEXT,
        guest_pull=Flag(),
        emptydir_type=ANY_TEXT,
        cgroup_mount_extras_allowed=_NO_TEXTS,
    ),
    request_defaults=_map(
        CreateContainerRequest=_map(allow_env_regex=_TEXTS),
        CopyFileRequest=_TEXTS,
        ExecProcessRequest=_map(commands=_NO_TEXTS, allowed_commands=ListOf(_TEXTS), regex=_TEXTS),
        UpdateRoutesRequest=_map(forbidden_device_names=_TEXTS, forbidden_source_regex=_TEXTS),
        UpdateInterfaceRequest=_map(allow_raw_flags=Number(), forbidden_names=_TEXTS, forbidden_hw_addrs=_TEXTS),
        AddARPNeighborsRequest=_map(
            forbidden_device_names=_TEXTS, forbidden_cidrs_regex=_TEXTS, allowed_states=ListOf(Number())
        ),
        CloseStdinRequest=Flag(),
        ReadStreamRequest=Flag(),
        UpdateEphemeralMountsRequest=Flag(),
        WriteStreamRequest=Flag(),
        GetDiagnosticDataRequest=Flag(),
    ),
)
