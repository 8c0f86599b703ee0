"""Detect drift between a pod and its sealed policy, without ImageLock or configuration."""

from collections.abc import Mapping
from typing import Any

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import Profile
from krm_function.findings import Finding, Path, has_errors
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.workload import Workload
from krm_function.policy.containers import containers, sysctl_name
from krm_function.policy.expansion import as_bound
from krm_function.policy.image_storage import images, is_bound, is_of, misshapen, without_images
from krm_function.policy.made_pod import SANDBOX_NAME, made_pod, name_patterns
from krm_function.policy.mounts import VARIABLE, in_the_vm, shares_gpus
from krm_function.policy.pod_metadata import PodMetadata, coverage_findings
from krm_function.policy.rules import profile_of_data
from krm_function.policy.seal import PAUSE
from krm_function.policy.settings import EMPTYDIR_TYPES, Settings, default_settings
from krm_function.record import NamedTuple

# --- Compare policy data of genpolicy with those of the native generator where the two write the same pod differently
#
# Rule: both sides are normalised first, so that what a generator ignores is not compared, and everything
# else is.


Json = dict[str, Any]
Mount = tuple[str, ...]  # destination, type, options, and more

CLAIMS = frozenset(("persistentVolumeClaim", "azureFile", "ephemeral"))
_PRIVATE = {"rslave": "rprivate", "rshared": "rprivate"}


def mounted_volume_kinds(pod: PodMetadata, container: Json) -> dict[str, str]:
    """Map the mountPath of each volumeMount of a container to the kind of its volume."""
    kinds = dict.fromkeys(pod.claim_templates, "persistentVolumeClaim")
    for volume in maps(pod.spec.get("volumes")):
        source = next((key for key, value in volume.items() if key != "name" and value is not None), "emptyDir")
        kinds.setdefault(volume["name"], source)
    return {entry["mountPath"]: kinds.get(entry["name"], "") for entry in maps(container.get("volumeMounts"))}


def effective_variables(made: set[str], other: set[str]) -> set[str]:
    """Return genpolicy's variables without those that a later one of the same name replaces."""
    names = {entry.partition("=")[0] for entry in made}
    return {entry for entry in other if entry in made or entry.partition("=")[0] not in names}


def equivalent_mounts(made: list[Mount], other: list[Mount], where: Mapping[str, str], *, propagates: bool) -> bool:
    """Tell whether genpolicy's mounts are equivalent to the native ones.

    where: as `mounted_volume_kinds` returns it. propagates: whether mountPropagation of an emptyDir is honoured. At the
    mountPaths of the pod genpolicy may have further mounts: volumes not covered here, and the runtime's own mount.
    """
    again, found = ([_normalized(one, where, propagates=propagates) for one in side] for side in (made, other))
    elsewhere = [sorted(one for one in side if one[0] not in where) for side in (again, found)]
    return elsewhere[0] == elsewhere[1] and set(again) <= set(found)


def _normalized(mount: Mount, where: Mapping[str, str], *, propagates: bool) -> Mount:
    """Normalise a mount to the options that both generators write.

    volume of the pod                                what genpolicy writes, regardless of the pod
    emptyDir                                         rprivate; Contrast's: as in the pod spec
    persistentVolumeClaim, azureFile, ephemeral      rprivate, rw
    hostPath                                         rprivate for rslave
    all others                                       rprivate
    """
    kind = where.get(mount[0], "")
    words: dict[str, str] = {}
    if kind in CLAIMS:
        words = {**_PRIVATE, "ro": "rw"}
    elif kind == "hostPath":
        words = {"rslave": "rprivate"}
    elif kind and not (kind == "emptyDir" and propagates):
        words = _PRIVATE
    return tuple(words.get(part, part) for part in mount)


# --- Name the fields of a pod that differ between two container policies: the sealed one and one generated now
#
# Rule: fields have the names of the pod spec. What only the settings decide is not compared.


IMAGE = "io.kubernetes.cri.image-name"
SHARED_GPUS = f"GPUs of the pod by {VARIABLE}"
ENV: Path = ("OCI", "Process", "Env")  # compared as a set, because variables that the generator adds occur twice

# annotation of the runtime -> field of the object that it repeats
IDENTITY = {
    "io.kubernetes.cri.sandbox-name": "metadata.name",
    "io.kubernetes.cri.sandbox-namespace": "metadata.namespace",
}

# field of the pod -> its path in a container of policy_data
COMPARED: dict[str, Path] = {
    "command or args": ("OCI", "Process", "Args"),
    "workingDir": ("OCI", "Process", "Cwd"),
    "tty": ("OCI", "Process", "Terminal"),
    "securityContext.runAsUser or runAsGroup": ("OCI", "Process", "User"),
    "securityContext.capabilities": ("OCI", "Process", "Capabilities"),
    "securityContext.allowPrivilegeEscalation": ("OCI", "Process", "NoNewPrivileges"),
    "securityContext.readOnlyRootFilesystem": ("OCI", "Root", "Readonly"),
    "volumeDevices": ("OCI", "Linux", "Devices"),
    "exec probes or lifecycle": ("exec_commands",),
    "shareProcessNamespace": ("sandbox_pidns",),
    "resources.limits": ("devices",),
}


def differing_pod_fields(made: Json, policy: Json) -> list[str]:
    """Return the names of the fields in which two containers of the native generator differ."""
    fields = [field for field, path in COMPARED.items() if _at(made, path) != _at(policy, path)]
    if _env(made) != _env(policy):
        fields.append("env")
    if shares_gpus(made) != shares_gpus(policy):
        fields.append(SHARED_GPUS)
    if annotation_value(made, IMAGE) != annotation_value(policy, IMAGE):
        fields.append("image")
    if _mounts(made) != _mounts(policy) or _storages(made) != _storages(policy):
        fields.append("volumeMounts")
    notes, sealed = (_user_annotations(entry) for entry in (made, policy))
    changed = sorted(key for key in notes.keys() | sealed.keys() if notes.get(key) != sealed.get(key))
    return fields + [IDENTITY.get(key, f"annotation {key}") for key in changed]


def without_generator_variants(
    fields: list[str], made: Json, policy: Json, where: dict[str, str], *, propagates: bool
) -> list[str]:
    """Return the fields without those that differ only because another generator writes the same in another way."""
    same = {
        "env": effective_variables(_env(made), _env(policy)) == _env(made),
        "volumeMounts": equivalent_mounts(_mounts(made), _mounts(policy), where, propagates=propagates)
        and _storages(made) == _storages(policy),
        SHARED_GPUS: not shares_gpus(policy),  # genpolicy does not look at the image's variables
    }
    return [field for field in fields if not same.get(field)]


def same_image(reference: str, policy: Json, binds: bool | None) -> bool:
    """Tell whether the image storage of a container binds the image that the pod names.

    binds: whether there must be one; None if that is unknown, so that both are accepted.
    """
    found = images(policy["storages"])
    if binds is not None and bool(found) != binds:
        return False
    return not found or is_of(found, reference)


def sandbox_differences(made: Json, policy: Json, binds: bool | None, *, native: bool) -> list[str]:
    """Return the names of what differs in the pause container, which is the same for every pod.

    Its image is in the VM, it runs one command, has no volumes and allows no exec.
    """
    found = images(policy["storages"])
    fields = []
    if (binds is not None and bool(found) != binds) or (found and not _is_sandbox_image(found)):
        fields.append("image")
    if without_images(policy["storages"]) or policy.get("exec_commands"):
        fields.append("volumes or exec commands")
    of_the_process = ("command or args", "tty", *(name for name in COMPARED if name.startswith("securityContext.")))
    fields += [name for name in of_the_process if native and _at(made, COMPARED[name]) != _at(policy, COMPARED[name])]
    return fields


def _is_sandbox_image(found: list[Json]) -> bool:
    return len(found) == 1 and not misshapen(found[0]) and is_bound(found[0], sandbox=True)


def _env(entry: Json) -> set[str]:
    return set(_at(entry, ENV) or ())


def _at(value: Any, path: Path) -> Any:
    return dig(value, path) or None


def _mounts(entry: Json) -> list[tuple[str, ...]]:
    """Return destination, type and options of every mount, and the source unless the settings decide it."""
    return sorted(
        (mount["destination"], mount["type_"], *mount["options"], mount["source"] * in_the_vm(mount["source"]))
        for mount in entry["OCI"]["Mounts"]
    )


def _storages(entry: Json) -> list[str]:
    """Return the volumes in the VM: the name of each one in memory, "" for the others, which have none in a policy."""
    return sorted(
        one["mount_point"].rpartition("/")[2] * (one["fstype"] == "tmpfs") for one in without_images(entry["storages"])
    )


def annotation_value(entry: Json, key: str) -> str:
    """Return the value of an annotation in a container's policy, or ""."""
    return str(mapping(dig(entry, ("OCI", "Annotations"))).get(key, ""))


def _user_annotations(entry: Json) -> dict[str, str]:
    """Return the annotations that come from the pod, and the names in IDENTITY; without the runtime's others."""
    annotations = mapping(dig(entry, ("OCI", "Annotations")))
    of_the_runtime = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")
    return {key: value for key, value in annotations.items() if key in IDENTITY or not key.startswith(of_the_runtime)}


# --- Detect drift between a pod and its sealed policy, without ImageLock or configuration
#
# Rule: the generator itself answers, with image facts read back from the policy: what the policy claims of
# an image is given to it as that image's configuration, so any difference that remains comes from the pod. What only
# the settings decide is not compared, because a policy may have been made with others. What a pod field hides of the
# image cannot be read back: that a `command`, `args` or `workingDir` was removed shows only in the lock. So does, where
# volumes of an image are mounted, the end of a writable mount of the node's files, which a policy does not tell from
# one.


NAME = "io.kubernetes.cri.container-name"
SANDBOX = "(pause)"  # which has no name
HOST_NAME = "HOSTNAME=$(host-name)"  # stands between what the image sets and what the pod sets
TERMINAL = "TERM=xterm"  # stands right before it if the pod has a tty
NOT_IN_INPUT = ("CC0602", "CC0603")
SHAPES = ("CC0207", "CC0604")  # without these the generator cannot look at a pod

SYSCTL: Path = ("OCI", "Linux", "Sysctl")
NAMESPACES: Path = ("OCI", "Linux", "Namespaces")


def drift(workload: Workload, sealed: Json, references: References, *, native: bool = True) -> list[str]:
    """Return the fields of the pod that changed since it was sealed, as `container: field`; [] if none did.

    native: whether the native generator made the policy; then it must still be able to describe the pod.
    """
    problems = coverage_findings(workload.pod_spec, workload.spec_path, workload.ref)
    pod, findings = made_pod(workload)
    findings += [found for found in problems if native or found.code in SHAPES]
    if findings:
        return [finding.message for finding in findings]
    entries = maps(sealed.get("containers"))
    present = [(key, entry) for key in ("initContainers", "containers") for entry in maps(pod.spec.get(key))]
    other = _other_containers([str(entry.get("name")) for _, entry in present], entries)
    if other:
        return other
    profile = profile_of_data(sealed)
    policy = _Sealed(
        entries[0],
        {annotation_value(entry, NAME): entry for entry in entries[1:]},
        profile,
        profile.binds_images if native or sealed.get("profile") == profile.name else None,
        _settings(sealed, profile),
        native,
    )
    moved: list[str] = []
    for key, container in present:
        _add_moved(moved, pod, key, container, policy, references, last=container is present[-1][1])
    return _of_the_pod(moved, len(present))


class _Sealed(NamedTuple):
    """A policy, read back. policies: by container. binds: whether it binds images, None if that is not known."""

    sandbox: Json
    policies: Mapping[str, Json]
    profile: Profile
    binds: bool | None
    settings: Settings
    native: bool


def _other_containers(names: list[str], entries: list[dict[str, Any]]) -> list[str]:
    """Return what keeps a pod with these containers from being compared with the entries of a policy."""
    sealed_names = [annotation_value(entry, NAME) for entry in entries[1:]]
    if sorted(names) != sorted(sealed_names):
        wrong = {one for one in (*names, *sealed_names) if names.count(one) != sealed_names.count(one)}
        return [f"containers {', '.join(sorted(wrong))}"]
    policies = dict(zip(sealed_names, entries[1:], strict=True))
    unreadable = [name for name, entry in policies.items() if not _readable(entry)]
    if not unreadable and not (entries and _readable(entries[0])):
        unreadable = [SANDBOX]
    return [f"{name}: its policy" for name in unreadable]


def _add_moved(
    moved: list[str],
    pod: PodMetadata,
    key: str,
    container: Json,
    sealed: _Sealed,
    references: References,
    *,
    last: bool,
) -> None:
    """Add what changed of one container, and with the last one what changed of the sandbox."""
    name, native = str(container["name"]), sealed.native
    volumes, gpus = not sealed.profile.refuses_volumes, bool(sealed.sandbox.get("devices"))
    again, findings = _described(
        pod, key, container, sealed.policies[name], references, sealed.settings, volumes=volumes, gpus=gpus
    )
    if native and has_errors(findings):
        moved += [f"{name}: {found.message}" for found in findings]
    own, policy = as_bound(again[1]), as_bound(sealed.policies[name])
    fields = differing_pod_fields(own, policy)
    if annotation_value(policy, SANDBOX_NAME) in name_patterns(pod):
        fields = [field for field in fields if field != IDENTITY[SANDBOX_NAME]]
    if not native:
        kinds = mounted_volume_kinds(pod, container)
        fields = without_generator_variants(fields, own, policy, kinds, propagates=sealed.profile.propagates)
    if not same_image(container["image"], policy, sealed.binds):
        fields.append("image")
    moved += [f"{name}: {field}" for field in fields]
    kernel = mapping(dig(policy, SYSCTL))  # the settings may add some
    wanted = maps(dig(pod.spec, ("securityContext", "sysctls")))
    if any(kernel.get(sysctl_name(one["name"])) != one["value"] for one in wanted):
        moved.append(f"{name}: securityContext.sysctls")
    if dig(again[0], NAMESPACES) != dig(sealed.sandbox, NAMESPACES) and "hostNetwork" not in moved:
        moved.append("hostNetwork")
    if last:
        differing = sandbox_differences(again[0], sealed.sandbox, sealed.binds, native=native)
        moved += [f"{SANDBOX}: {field}" for field in differing]


def differing_fields(sealed: Json, again: Json) -> list[str]:
    """Return the fields by which the policy of a second render differs from the sealed one, named as in `drift`."""
    entries, others = (
        {annotation_value(one, NAME): one for one in maps(data.get("containers"))} for data in (sealed, again)
    )
    if entries.keys() != others.keys() or len(maps(again.get("containers"))) != len(others):
        return [f"containers {', '.join(sorted(entries.keys() ^ others.keys()))}"]
    readable = [name for name in entries if _readable(entries[name]) and _readable(others[name])]
    moved = []
    for name in readable:
        fields = differing_pod_fields(others[name], entries[name])
        if images(others[name]["storages"]) != images(entries[name]["storages"]):
            fields.append("image")
        moved += [f"{name or SANDBOX}: {field}" for field in fields]
    if not moved and list(entries) != list(others):
        return ["the order of its containers"]
    return _of_the_pod(moved, len(entries)) or ["what the rules, the settings or the release say of it"]


def _of_the_pod(moved: list[str], containers: int) -> list[str]:
    """Name an annotation or a name once where every container shows it: it is the pod's."""
    out: list[str] = []
    for field in moved:
        _, _, name = field.partition(": ")
        of_the_pod = name.startswith("annotation ") or name in IDENTITY.values()
        everywhere = of_the_pod and sum(one.endswith(f": {name}") for one in moved) >= containers
        out.append(name if everywhere else field)
    return list(dict.fromkeys(out))


def _described(
    pod: PodMetadata,
    key: str,
    container: Json,
    policy: Json,
    references: References,
    settings: Settings,
    *,
    volumes: bool,
    gpus: bool,
) -> tuple[list[Json], list[Finding]]:
    """Return the policies that the generator makes of one container today, pause first, and its findings.

    gpus: whether the pod has any, by the policy of its sandbox.
    """
    alone = pod._replace(spec={**pod.spec, "initContainers": [], "containers": [], key: [container]})
    facts = _claimed(container, policy, volumes=volumes)
    made, findings = containers(alone, {container["image"]: facts}, PAUSE, references, settings, other_gpus=gpus)
    if any(found.code in NOT_IN_INPUT for found in findings):  # its variables cannot be distinguished from the image's
        facts = _claimed(container, policy, volumes=volumes, whole_env=True)
        return containers(alone, {container["image"]: facts}, PAUSE, references, settings, other_gpus=gpus)[0], []
    return made, findings


def _settings(sealed: Json, profile: Profile) -> Settings:
    """Return the default settings of a profile, with those that can be read back from the policy."""
    default = default_settings(profile)
    stored = any(
        one.get("fstype") == "bind" for entry in maps(sealed.get("containers")) for one in maps(entry.get("storages"))
    )
    kata = {**default.kata_config, "enable_configmap_secret_storages": stored}
    stated = mapping(sealed.get("cluster_config"))
    cluster = dict(default.cluster_config)
    if isinstance(stated.get("guest_pull"), bool):
        cluster["guest_pull"] = stated["guest_pull"]
    if stated.get("emptydir_type") in EMPTYDIR_TYPES:
        cluster["emptydir_type"] = stated["emptydir_type"]
    return default._replace(cluster_config=cluster, kata_config=kata)


def _readable(entry: Json) -> bool:
    """Tell whether one container of a policy, of any generator, has the parts that are compared."""
    process, mounts = dig(entry, ("OCI", "Process")), dig(entry, ("OCI", "Mounts"))
    texts = [mapping(process).get(key, []) for key in ("Args", "Env")]
    texts += [one.get("options") for one in maps(mounts)]
    names = [one.get(key) for one in maps(mounts) for key in ("destination", "type_", "source")]
    names += [one.get(key) for one in maps(entry.get("storages")) for key in ("mount_point", "fstype")]
    user = mapping(mapping(process).get("User"))
    groups = user.get("AdditionalGids", [])
    return (
        isinstance(process, dict)
        and isinstance(mounts, list)
        and isinstance(entry.get("storages"), list)
        and all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in texts)
        and all(isinstance(name, str) for name in names)
        and isinstance(groups, list)
        and all(isinstance(number, int) for number in (user.get("UID", 0), user.get("GID", 0), *groups))
        and isinstance(process.get("Cwd", ""), str)
        and isinstance(dig(entry, ("OCI", "Annotations")) or {}, dict)
    )


def _claimed(container: Json, policy: Json, *, volumes: bool, whole_env: bool = False) -> ImageFacts:
    """Return the image facts that would have led to this policy for this container.

    volumes: claim all mounts as volumes of the image; whole_env: claim all variables.
    """
    process = policy["OCI"]["Process"]
    user, args, env = process.get("User", {}), list(process.get("Args", ())), list(process.get("Env", ()))
    own = container.get("args")
    entrypoint = args[: len(args) - len(own)] if own and not container.get("command") else args
    terminal = bool(process.get("Terminal"))
    if not whole_env and HOST_NAME in env:
        env = env[: env.index(HOST_NAME)]
        if terminal and env[-1:] == [TERMINAL]:  # hence it was the pod that asked for one
            env, terminal = env[:-1], False
    groups = "".join(f"g{gid}:x:{gid}:u\n" for gid in user.get("AdditionalGids", ()))
    config = {
        "User": str(user.get("UID", 0)),
        "Env": env,
        "WorkingDir": process.get("Cwd", ""),
        "Tty": terminal,
        "Entrypoint": [_unescaped(text) for text in entrypoint],
        "Volumes": {mount["destination"]: {} for mount in policy["OCI"]["Mounts"]} if volumes else {},
    }
    passwd = f"u:x:{user.get('UID', 0)}:{user.get('GID', 0)}:::\n"
    return ImageFacts("", config, passwd, groups)


def _unescaped(text: str) -> str:
    """Undo `expansion.escaped_argument`."""
    return text.replace("$$", "$")
