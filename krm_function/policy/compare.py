"""Compare the policies of two outputs, workload by workload and field by field."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from krm_function.contrast.identity import base_entries, key_of_derived, object_key
from krm_function.contrast.manifest_merge import secret_id
from krm_function.contrast.profiles import KATA, NAME_OF_ANY_SERVICE, NAME_OF_API_SERVER, NAME_OF_SERVICE
from krm_function.findings import Finding, Path, Ref, dotted
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.workload import INITDATA, POD_ROLE, PREFIX, Workload
from krm_function.policy.compare_values import (
    CANNOT_TELL,
    DIFFERENT,
    STRONGER,
    WEAKER,
    Difference,
    FieldRule,
    Op,
    Verdict,
    as_text,
    bits,
    both_texts,
    compare_annotations,
    compare_capabilities,
    compare_command,
    compare_images,
    compare_mounts,
    compare_storages,
    compare_user,
    compare_variables,
    equal_json,
    exact,
    expanded_capabilities,
    flag,
    pairs,
    ranked,
    setting,
    truncated,
    unknown_value,
    unordered_list,
    without_image,
)
from krm_function.policy.image_storage import images
from krm_function.policy.initdata import (
    POLICY,
    Initdata,
    container_name,
    decode_toml,
    digest,
    from_annotation,
    read_policy_data,
    rules_of,
    unreadable,
)
from krm_function.policy.mounts import ALL, shares_gpus
from krm_function.policy.rules import without_external_sources
from krm_function.policy.settings import REQUESTS
from krm_function.record import NamedTuple
from krm_function.text.changes import differing_places

# --- Compare two policies field by field; a table has the comparator of each field of policy_data
#
# Rule: pure, and closed: a field that is not in the table counts as weaker if it differs at all, so that a
# field of a new release cannot pass `check --no-weaker` unnoticed.


FOREIGN = "none: the data are another program's"
PAUSE = "(pause)"
SECRET = 4  # characters from which on a variable's value is hidden wherever it turns up
TOKEN = re.compile(r"\$\([a-z0-9_-]+\)")
HOLDS_VALUES = ("command", "exec commands")
CAPABILITIES: Path = ("OCI", "Process", "Capabilities")
ENV: Path = ("OCI", "Process", "Env")


def _path_of(key: str) -> Any:
    return lambda entry: as_text(mapping(entry).get(key) or entry)


def _compare_profiles(old: Any, new: Any) -> Iterator[Difference]:
    """Compare the names only; another line lists the rules' differences."""
    whose = "one of the data name no profile" if FOREIGN in (old, new) else "for other nodes, or narrower"
    yield Difference("changed", both_texts(old or KATA.name, new or KATA.name), DIFFERENT, whose)


def _profile_or_foreign(data: Mapping[str, Any]) -> Any:
    """Return the profile of policy data; FOREIGN if they name none and bind images.

    This program names every profile but kata-4.1, which binds none, in the data; genpolicy names none.
    """
    name = data.get("profile")
    bound = any(images(entry.get("storages")) for entry in maps(data.get("containers")))
    return FOREIGN if name is None and bound else name


_DEVICES = ("the process reaches one more device", "the process reaches one device less")
_MORE = ("the host may do more", "the host may do less")
_LESS_FORBIDDEN = ("the host is forbidden more", "the host is forbidden less")

# path in a container's policy -> the field's name and its comparator
CONTAINER: Mapping[Path, FieldRule] = {
    ("OCI", "Version"): ("OCI version", exact("pods of another runtime version")),
    ("OCI", "Process", "Terminal"): ("tty", flag(True, "a terminal may be attached", "no terminal any more")),
    ("OCI", "Process", "User"): ("user", compare_user),
    ("OCI", "Process", "Args"): ("command", compare_command),
    ENV: ("env", compare_variables),
    ("OCI", "Process", "Cwd"): ("workingDir", exact("the process starts in another directory")),
    CAPABILITIES: ("capabilities", compare_capabilities),
    ("OCI", "Process", "NoNewPrivileges"): (
        "noNewPrivileges",
        flag(False, "the process may gain privileges", "the process may not gain privileges"),
    ),
    ("OCI", "Root", "Path"): ("root path", setting),
    ("OCI", "Root", "Readonly"): (
        "readOnlyRootFilesystem",
        flag(False, "the root file system is writable", "the root file system is read-only"),
    ),
    ("OCI", "Mounts"): ("mounts", compare_mounts),
    ("OCI", "Annotations"): ("annotations", compare_annotations),
    ("OCI", "Linux", "Namespaces"): (
        "namespaces",
        unordered_list(STRONGER, "one more namespace is private", "a namespace is no longer private", _path_of("Type")),
    ),
    ("OCI", "Linux", "MaskedPaths"): (
        "masked paths",
        unordered_list(STRONGER, "one more path is hidden", "a path is no longer hidden"),
    ),
    ("OCI", "Linux", "ReadonlyPaths"): (
        "read-only paths",
        unordered_list(STRONGER, "one more path is read-only", "a path is no longer read-only"),
    ),
    ("OCI", "Linux", "Devices"): ("device nodes", unordered_list(WEAKER, *_DEVICES, _path_of("Path"))),
    ("OCI", "Linux", "Sysctl"): (
        "sysctls",
        pairs("the host may set one more", "the host may no longer set it", CANNOT_TELL),
    ),
    ("storages",): ("storages", compare_storages),
    ("devices",): ("devices", unordered_list(WEAKER, *_DEVICES, _path_of("container_path"))),
    ("sandbox_pidns",): (
        "shareProcessNamespace",
        flag(True, "the containers see each other's processes", "the containers do not see each other's processes"),
    ),
    ("exec_commands",): (
        "exec commands",
        unordered_list(WEAKER, "the host may run one more command", "the host may run one command fewer"),
    ),
    ("runtime_anno_patterns",): (
        "annotation patterns",
        pairs("the host may set more annotations", "the host may set fewer", CANNOT_TELL),
    ),
}

_DEFAULTS = "request_defaults"
SETTINGS = {(name,) for name in ("common", "sandbox", _DEFAULTS, "devices", "cluster_config")}  # no value of a pod
# path in the rest of policy_data -> the same
SHARED: Mapping[Path, FieldRule] = {
    **{
        ("common", name): (
            f"common.{name}",
            unordered_list(WEAKER, "the named set grows", "the named set shrinks"),
        )
        for name in ("default_caps", "privileged_caps")
    },
    ("common", "svc_name_downward_env"): (
        "common.svc_name_downward_env",
        ranked(
            (NAME_OF_API_SERVER, NAME_OF_SERVICE, NAME_OF_ANY_SERVICE),
            "the host may set variables of more Services",
            "the host may set variables of fewer Services",
        ),
    ),
    ("sandbox", "storages"): (
        "sandbox storages",
        unordered_list(
            WEAKER, "the host may attach one more volume", "the host may attach one less", _path_of("mount_point")
        ),
    ),
    **{
        (_DEFAULTS, name): (name, flag(True, "the host may do so", "the host may no longer do so")) for name in REQUESTS
    },
    **{
        (_DEFAULTS, *path): (".".join(path), unordered_list(WEAKER, *_MORE))
        for path in (
            ("CreateContainerRequest", "allow_env_regex"),
            ("CopyFileRequest",),
            ("ExecProcessRequest", "allowed_commands"),
            ("ExecProcessRequest", "regex"),
            ("AddARPNeighborsRequest", "allowed_states"),
        )
    },
    **{
        (_DEFAULTS, *path): (".".join(path), unordered_list(STRONGER, *_LESS_FORBIDDEN))
        for path in (
            ("UpdateInterfaceRequest", "forbidden_names"),
            ("UpdateInterfaceRequest", "forbidden_hw_addrs"),
            ("UpdateRoutesRequest", "forbidden_device_names"),
            ("UpdateRoutesRequest", "forbidden_source_regex"),
            ("AddARPNeighborsRequest", "forbidden_device_names"),
            ("AddARPNeighborsRequest", "forbidden_cidrs_regex"),
        )
    },
    (_DEFAULTS, "UpdateInterfaceRequest", "allow_raw_flags"): ("UpdateInterfaceRequest.allow_raw_flags", bits(*_MORE)),
    ("profile",): ("profile", _compare_profiles),
    ("cluster_config", "pause_container_image"): ("pause image", exact("another image")),
    ("cluster_config", "guest_pull"): (
        "guest pull",
        flag(False, "images come from the host", "images are pulled inside the VM"),
    ),
    ("cluster_config", "emptydir_type"): (
        "emptyDir type",
        ranked(
            ("block-encrypted", "block-plain", "shared-fs"),
            "the host sees more of the data written to an emptyDir",
            "the host sees less of the data written to an emptyDir",
        ),
    ),
    ("cluster_config", "cgroup_mount_extras_allowed"): ("cgroup mount options", unordered_list(WEAKER, *_MORE)),
}


def compare_initdata(old: Initdata, new: Initdata) -> tuple[Difference, ...]:
    """Return the differences between an old and a new initdata document. Raises ValueError if one has no policy."""
    try:
        return _compare_documents(old, new)
    except RecursionError:
        raise ValueError("policy_data is nested too deeply") from None


def _compare_documents(old: Initdata, new: Initdata) -> tuple[Difference, ...]:
    old_data, new_data = (read_policy_data(document.data.get(POLICY, "")) for document in (old, new))
    names = sorted((old.data.keys() | new.data.keys()) - {POLICY})
    members = [(f"file {as_text(name)}", old.data.get(name), new.data.get(name)) for name in names]
    differences = [
        _locate("", f"initdata {member}", change)
        for member, old_value, new_value in (*members, ("algorithm", old.algorithm, new.algorithm))
        for change in unknown_value(old_value, new_value)
    ]
    # the rules for open variables allow what `env` shows, and nothing else
    if len({without_external_sources(rules_of(document.data[POLICY])) for document in (old, new)}) > 1:
        why = "different rules: their effect cannot be compared by the data"
        differences.append(Difference("changed", "", WEAKER, why, "rules"))
    differences += _compare_containers(old_data, new_data)
    old_rest, new_rest = (
        {**data, "profile": _profile_or_foreign(data), "containers": None} for data in (old_data, new_data)
    )
    differences += _compare_fields(SHARED, old_rest, new_rest, "")
    if not differences and old != new:
        differences.append(Difference("changed", "", DIFFERENT, "the same policy, written in another way", "text"))
    values = _placeholders(old_data) | _placeholders(new_data)
    return tuple(_hide_values(line, values) for line in _merge_lines(differences))


def _compare_containers(old_data: Mapping[str, Any], new_data: Mapping[str, Any]) -> Iterator[Difference]:
    old, new = _containers_by_name(old_data), _containers_by_name(new_data)
    for key in sorted(old.keys() | new.keys()):
        if key not in new:
            yield Difference("removed", key[0], STRONGER, "the host may no longer run it", "container", key[0])
        elif key not in old:
            yield Difference("added", key[0], WEAKER, "the host may run one more container", "container", key[0])
        else:
            changed = compare_images(old[key], new[key], sandbox=key == (PAUSE, 0))
            yield from (_locate(key[0], "image", change) for change in changed)
            yield from (_locate(key[0], "GPUs", change) for change in _compare_shared_gpus(old[key], new[key]))
            yield from _compare_fields(CONTAINER, without_image(old[key]), without_image(new[key]), key[0])


def _compare_shared_gpus(old: Any, new: Any) -> Iterator[Difference]:
    """Compare whether the host announces all GPUs of the pod; genpolicy does not look at the image's variables."""
    shared, shares = shares_gpus(old), shares_gpus(new)
    if shares and not shared:
        yield Difference("changed", f"all of the pod, by {ALL}", WEAKER, "it can use GPUs that it does not request")
    elif shared and not shares:
        yield Difference("changed", "those that it asks for", STRONGER, "it can only use the GPUs that it requests")


def _containers_by_name(data: Mapping[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    out: dict[tuple[str, int], dict[str, Any]] = {}
    for entry in maps(data.get("containers")):
        name = container_name(entry) or PAUSE
        count = sum(1 for other_name, _ in out if other_name == name)
        process = dig(entry, CAPABILITIES[:-1])
        if isinstance(process, dict) and "Capabilities" in process:
            process = {**process, "Capabilities": expanded_capabilities(process["Capabilities"], data.get("common"))}
            out[name, count] = {**entry, "OCI": {**entry["OCI"], "Process": process}}
        else:
            out[name, count] = entry
    return out


def _compare_fields(table: Mapping[Path, FieldRule], old: Any, new: Any, container: str) -> Iterator[Difference]:
    """Yield the differences in the order of their paths; a field that the table does not have is weaker."""
    places = differing_places(old, new, table, equal=equal_json, absent=None)
    for path, old_value, new_value, rule in sorted(places, key=lambda place: place[0]):
        field, compare = rule or (as_text(dotted(path)), setting if path[:1] in SETTINGS else unknown_value)
        yield from (_locate(container, field, change) for change in compare(old_value, new_value))


def _locate(container: str, field: str, change: Difference) -> Difference:
    return change._replace(container=container, field=change.field or field)


def _merge_lines(differences: list[Difference]) -> list[Difference]:
    """Merge equal lines of several containers; weaker lines first, else in the order of the fields."""
    containers: dict[Difference, list[str]] = {}
    for difference in differences:
        names = containers.setdefault(difference._replace(container=""), [])
        if difference.container not in names:
            names.append(difference.container)
    lines = [difference._replace(container=", ".join(filter(None, names))) for difference, names in containers.items()]
    return sorted(lines, key=lambda difference: ("weaker", "different", "stronger").index(difference.verdict))


def _placeholders(data: Mapping[str, Any]) -> dict[str, str]:
    """Map the values of variables, also as JSON escapes them, to the `$(NAME)` that is shown instead."""
    out: dict[str, str] = {}
    for container in maps(data.get("containers")):
        entries = dig(container, ENV)
        for entry in entries if isinstance(entries, list) else ():
            name, _, value = str(entry).partition("=")
            if len(value) >= SECRET and not TOKEN.fullmatch(value):
                for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
                    out.setdefault(form, f"$({name})")
    return out


def _hide_values(line: Difference, values: Mapping[str, str]) -> Difference:
    """Replace values of variables by `$(NAME)`, because a command has them expanded, and truncate the line."""
    text = line.what
    for value in sorted(values, key=len, reverse=True) if line.field in HOLDS_VALUES else ():
        text = text.replace(value, values[value])
    return line._replace(what=truncated(text), field=truncated(line.field))


# --- Compare what the manifests of two outputs give to a workload: its role, the names of its certificate, its secret
#
# Rule: a name or a secret that another workload has, too, counts as weaker, and so do a new role and a
# new name. Where one of the outputs has no manifest, both are judged by their pods alone.


class Given(NamedTuple):
    """The role, certificate names and secret that a manifest gives to one workload."""

    role: str = ""
    names: frozenset[str] = frozenset()
    secret: str = ""


class GivenAway(NamedTuple):
    """All identities of one output. Key: a workload's, or a text of the manifest for a workload elsewhere."""

    by_key: Mapping[str, Given]

    def others(self, key: str, identity: Given) -> tuple[frozenset[str], frozenset[str]]:
        """Return the other keys with the same secret, and the other keys with one of its names."""
        secrets, names = self._holders
        alike = {holder for name in identity.names for holder in names.get(name, ())}
        return frozenset(secrets.get(identity.secret, set()) - {key}), frozenset(alike - {key})

    @cached_property
    def _holders(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        secrets: dict[str, set[str]] = {}
        names: dict[str, set[str]] = {}
        for key, identity in self.by_key.items():
            if identity.secret:
                secrets.setdefault(identity.secret, set()).add(key)
            for name in identity.names:
                names.setdefault(name, set()).add(key)
        return secrets, names


def given_away(workloads: Iterable[Workload], manifest: Mapping[str, Any] | None) -> GivenAway:
    """Read the identities of an output. manifest: decoded; None to read the pods alone."""
    entries = {entry.digest: entry for entry in base_entries(manifest)}
    by_key = {}
    for workload in workloads:
        entry = entries.pop(_initdata_digest(workload), None)
        if entry is None:
            chosen = workload.annotations.get(PREFIX + "workload-secret-id")
            secret = chosen if isinstance(chosen, str) and chosen else secret_id(*workload.ref[:4])
            identity = Given(str(workload.labels.get(POD_ROLE) or ""), frozenset((workload.ref.name,)), secret)
        else:
            identity = Given(entry.role, frozenset(entry.names), entry.secret)
        by_key[object_key(workload.ref)] = identity
    for entry in entries.values():
        key = key_of_derived(entry.secret) or entry.own_name or entry.digest
        by_key.setdefault(key, Given(entry.role, frozenset(entry.names), entry.secret))
    return GivenAway(by_key)


def compare_identity(ref: Ref, old: GivenAway, new: GivenAway) -> Iterator[Difference]:
    """Yield the differences of a workload of the new output; of a new one, the names and secrets of others."""
    key = object_key(ref)
    new_identity = new.by_key[key]
    old_identity = old.by_key.get(key)
    present = old_identity or new_identity
    shared, same_name = new.others(key, new_identity)
    had, had_same_name = old.others(key, old_identity) if old_identity else (frozenset(), frozenset())
    if new_identity.role != (old_identity.role if old_identity else ""):
        if old_identity and old_identity.role:
            yield Difference("removed", old_identity.role, STRONGER, "it loses a role", "role")
        if new_identity.role:
            yield Difference("added", new_identity.role, WEAKER, "it issues certificates and secrets", "role")
    for name in sorted(present.names - new_identity.names):
        yield Difference("removed", name, STRONGER, "its certificate has one name fewer", "name")
    for name in sorted(new_identity.names - present.names):
        yield Difference("added", name, WEAKER, "clients accept it as one more service", "name")
    for holder in sorted(same_name - had_same_name):
        yield Difference("added", holder, WEAKER, "clients may confuse the two", "name")
    owner = key_of_derived(new_identity.secret)
    foreign = {owner} if owner and owner != key else set()
    has_another = present.secret != new_identity.secret
    if has_another and not (shared or foreign):
        why = "data encrypted with the old secret cannot be opened"
        text = f"{present.secret} -> {new_identity.secret}"
        yield Difference("changed", text, DIFFERENT, why, "workload secret")
    if old_identity is None or has_another or shared - had:
        why = "each can open data that the other has encrypted"
        for holder in sorted((shared | foreign) - (set() if has_another else had)):
            yield Difference("added", holder, WEAKER, why, "workload secret")


def _initdata_digest(workload: Workload) -> str:
    try:
        return digest(from_annotation(str(workload.annotations.get(INITDATA, ""))))
    except ValueError:
        return ""


# --- Compare the policies of two rendered outputs, workload by workload
#
# Rule: pure, and closed: a workload has the same kind, namespace and name in both outputs, or it is new. A
# new one counts as weaker, because the manifest trusts a policy that it did not trust before.


WorkloadKey = tuple[str, str, str]


class WorkloadDifferences(NamedTuple):
    """A workload, and the differences of its policies."""

    ref: Ref
    lines: tuple[Difference, ...]


def workload_key(ref: Ref) -> WorkloadKey:
    """Return the key that matches a workload in two outputs."""
    return ref.kind, ref.namespace, f"{ref.name}#{ref.part}" if ref.part else ref.name


def compare_workloads(
    old: Iterable[Workload],
    new: Iterable[Workload],
    outside: Collection[WorkloadKey],
    identities: tuple[GivenAway, GivenAway] | None = None,
) -> tuple[tuple[WorkloadDifferences, ...], tuple[Finding, ...]]:
    """Return the workloads whose policies differ, and the findings of unreadable policies (CC0610).

    outside: the workloads of the new output that run without Contrast's runtime class. identities: what each output
    gives away; None to compare policies alone.

        old        new                       verdict
        policy     policy                    compared field by field
        policy     without one, or outside   weaker
        policy     not there                 stronger
        nothing    policy                    weaker
        no policy  policy                    stronger
    """
    findings: list[Finding] = []
    old_workloads = {workload_key(workload.ref): (workload, _read_initdata(workload, findings)) for workload in old}
    differences: list[WorkloadDifferences] = []
    seen: set[WorkloadKey] = set()
    for workload in new:
        key = workload_key(workload.ref)
        seen.add(key)
        new_initdata = _read_initdata(workload, findings)
        if key not in old_workloads:
            lines = _workload_change("workload", "added", WEAKER, "the manifest trusts one policy more")
        elif old_workloads[key][1] is None:
            lines = () if new_initdata is None else _workload_change("policy", "added", STRONGER, "it had no policy")
        elif new_initdata is None:
            lines = _workload_change("policy", "removed", WEAKER, "nothing limits the host")
        else:
            lines = _compare_policies(workload, old_workloads[key][1] or new_initdata, new_initdata, findings)
        if identities and new_initdata is not None:
            lines += tuple(compare_identity(workload.ref, *identities))
        if lines:
            differences.append(WorkloadDifferences(workload.ref, lines))
    for key, (workload, initdata) in old_workloads.items():
        if initdata is not None and (key in outside or key not in seen):
            lines = (
                _workload_change("policy", "removed", WEAKER, "it runs outside of a VM")
                if key in outside
                else _workload_change("workload", "removed", STRONGER, "the manifest trusts one policy less")
            )
            differences.append(WorkloadDifferences(workload.ref, lines))
    return (() if findings else tuple(differences)), tuple(findings)


def _workload_change(field: str, op: Op, verdict: Verdict, why: str) -> tuple[Difference, ...]:
    return (Difference(op, "", verdict, why, field),)


def _compare_policies(
    workload: Workload, old: Initdata, new: Initdata, findings: list[Finding]
) -> tuple[Difference, ...]:
    try:
        return compare_initdata(old, new)
    except ValueError as problem:
        findings.append(unreadable(workload, problem))
        return ()


def _read_initdata(workload: Workload, findings: list[Finding]) -> Initdata | None:
    value = workload.annotations.get(INITDATA)
    if value is None:
        return None
    try:
        initdata = decode_toml(from_annotation(str(value)))
        read_policy_data(initdata.data.get(POLICY, ""))
    except ValueError as problem:
        findings.append(unreadable(workload, problem))
        return None
    return initdata
