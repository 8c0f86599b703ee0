"""Detect drift between a pod and its sealed policy, without ImageLock or configuration."""

from collections.abc import Mapping
from typing import Any

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import Profile
from krm_function.findings import Finding, Path, has_errors
from krm_function.kubernetes.objects import dig, mapping, maps
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
# Rule: both sides are normalised first, so that the comparison skips parts that a generator ignores, and nothing else.


Json = dict[str, Any]
Mount = tuple[str, ...]  # destination, type, options, and more

CLAIMS = frozenset(("persistentVolumeClaim", "azureFile", "ephemeral"))
_PRIVATE = {"rslave": "rprivate", "rshared": "rprivate"}


def map_volume_kinds(pod: PodMetadata, container: Json) -> dict[str, str]:
    """Map the mountPath of each volumeMount of a container to the kind of its volume."""
    kinds = dict.fromkeys(pod.claim_templates, "persistentVolumeClaim")
    for volume in maps(pod.spec.get("volumes")):
        source = next((key for key, value in volume.items() if key != "name" and value is not None), "emptyDir")
        kinds.setdefault(volume["name"], source)
    return {entry["mountPath"]: kinds.get(entry["name"], "") for entry in maps(container.get("volumeMounts"))}


def find_effective_variables(native: set[str], foreign: set[str]) -> set[str]:
    """Return genpolicy's variables without those that a later one of the same name replaces."""
    names = {entry.partition("=")[0] for entry in native}
    return {entry for entry in foreign if entry in native or entry.partition("=")[0] not in names}


def are_equivalent_mounts(
    native: list[Mount], foreign: list[Mount], volume_kinds: Mapping[str, str], *, propagates: bool
) -> bool:
    """Tell whether genpolicy's mounts are equivalent to the native ones.

    volume_kinds: of `map_volume_kinds`. propagates: whether mountPropagation of an emptyDir is honoured. At the
    mountPaths of the pod genpolicy may have further mounts: volumes not covered here, and the runtime's own mount.
    """
    sides = (native, foreign)
    ours, theirs = ([_normalize(mount, volume_kinds, propagates=propagates) for mount in side] for side in sides)
    outside = [sorted(mount for mount in side if mount[0] not in volume_kinds) for side in (ours, theirs)]
    return outside[0] == outside[1] and set(ours) <= set(theirs)


def _normalize(mount: Mount, volume_kinds: Mapping[str, str], *, propagates: bool) -> Mount:
    """Normalise a mount to the options that both generators write.

    volume of the pod                                what genpolicy writes, regardless of the pod
    emptyDir                                         rprivate; Contrast's: as in the pod spec
    persistentVolumeClaim, azureFile, ephemeral      rprivate, rw
    hostPath                                         rprivate for rslave
    all others                                       rprivate
    """
    kind = volume_kinds.get(mount[0], "")
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
# Rule: fields have the names of the pod spec. Parts that only the settings decide are not compared.


IMAGE = "io.kubernetes.cri.image-name"
SHARED_GPUS = f"GPUs of the pod by {VARIABLE}"
ENV: Path = ("OCI", "Process", "Env")  # compared as a set, because variables that the generator adds occur twice

# annotation of the runtime -> field of the object that it repeats
IDENTITY = {
    "io.kubernetes.cri.sandbox-name": "metadata.name",
    "io.kubernetes.cri.sandbox-namespace": "metadata.namespace",
}

# The annotations that reach a node's runtime, and Contrast's. Requests carry no others: CNI plugins, webhooks and
# controllers may write those. Source: docs/facts/contrast.md#annotations-of-kata.
READ_BY_THE_NODE = ("io.katacontainers.", "contrast.edgeless.systems/")

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


def compare_pod_fields(generated: Json, policy: Json, annotations: tuple[str, ...] = ("",)) -> list[str]:
    """Return the names of the differing fields of two containers of the native generator.

    annotations: prefixes of those that count.
    """
    fields = [field for field, path in COMPARED.items() if _get(generated, path) != _get(policy, path)]
    if _list_variables(generated) != _list_variables(policy):
        fields.append("env")
    if shares_gpus(generated) != shares_gpus(policy):
        fields.append(SHARED_GPUS)
    if read_annotation(generated, IMAGE) != read_annotation(policy, IMAGE):
        fields.append("image")
    if _list_mounts(generated) != _list_mounts(policy) or _list_storages(generated) != _list_storages(policy):
        fields.append("volumeMounts")
    notes, sealed = (_select_user_annotations(entry) for entry in (generated, policy))
    differing = sorted(key for key in notes.keys() | sealed.keys() if notes.get(key) != sealed.get(key))
    changed = [key for key in differing if key in IDENTITY or key.startswith(annotations)]
    return fields + [IDENTITY.get(key, f"annotation {key}") for key in changed]


def drop_generator_variants(
    fields: list[str], generated: Json, policy: Json, volume_kinds: dict[str, str], *, propagates: bool
) -> list[str]:
    """Return the fields without those that differ only in the way another generator writes them."""
    variables, mounts = _list_variables(generated), _list_mounts(generated)
    same = {
        "env": find_effective_variables(variables, _list_variables(policy)) == variables,
        "volumeMounts": are_equivalent_mounts(mounts, _list_mounts(policy), volume_kinds, propagates=propagates)
        and _list_storages(generated) == _list_storages(policy),
        SHARED_GPUS: not shares_gpus(policy),  # genpolicy does not look at the image's variables
    }
    return [field for field in fields if not same.get(field)]


def is_same_image(reference: str, policy: Json, binds: bool | None) -> bool:
    """Tell whether the image storage of a container binds the image that the pod names.

    binds: whether there must be one; None if that is unknown, so that both are accepted.
    """
    bound = images(policy["storages"])
    if binds is not None and bool(bound) != binds:
        return False
    return not bound or is_of(bound, reference)


def compare_sandbox(generated: Json, policy: Json, binds: bool | None, *, native: bool) -> list[str]:
    """Return the names of the fields that differ in the pause container, which is the same for every pod.

    Its image is in the VM, it runs one command, has no volumes and allows no exec.
    """
    bound = images(policy["storages"])
    fields = []
    if (binds is not None and bool(bound) != binds) or (bound and not _is_sandbox_image(bound)):
        fields.append("image")
    if without_images(policy["storages"]) or policy.get("exec_commands"):
        fields.append("volumes or exec commands")
    of_the_process = ("command or args", "tty", *(name for name in COMPARED if name.startswith("securityContext.")))
    paths = {name: COMPARED[name] for name in of_the_process if native}
    return fields + [name for name, path in paths.items() if _get(generated, path) != _get(policy, path)]


def _is_sandbox_image(bound: list[Json]) -> bool:
    return len(bound) == 1 and not misshapen(bound[0]) and is_bound(bound[0], sandbox=True)


def _list_variables(entry: Json) -> set[str]:
    return set(_get(entry, ENV) or ())


def _get(value: Any, path: Path) -> Any:
    return dig(value, path) or None


def _list_mounts(entry: Json) -> list[tuple[str, ...]]:
    """Return destination, type and options of every mount, and the source unless the settings decide it."""
    return sorted(
        (mount["destination"], mount["type_"], *mount["options"], mount["source"] * in_the_vm(mount["source"]))
        for mount in entry["OCI"]["Mounts"]
    )


def _list_storages(entry: Json) -> list[str]:
    """Return the names of the volumes in the VM: "" for those not in memory, which a policy does not name."""
    return sorted(
        storage["mount_point"].rpartition("/")[2] * (storage["fstype"] == "tmpfs")
        for storage in without_images(entry["storages"])
    )


def read_annotation(entry: Json, key: str) -> str:
    """Return the value of an annotation in a container's policy, or ""."""
    return str(mapping(dig(entry, ("OCI", "Annotations"))).get(key, ""))


def _select_user_annotations(entry: Json) -> dict[str, str]:
    """Return the annotations that come from the pod, and the names in IDENTITY; without the runtime's others."""
    annotations = mapping(dig(entry, ("OCI", "Annotations")))
    of_the_runtime = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")
    return {key: value for key, value in annotations.items() if key in IDENTITY or not key.startswith(of_the_runtime)}


# --- Detect drift between a pod and its sealed policy, without ImageLock or configuration
#
# Rule: the generator itself answers, with image facts read back from the policy: its claims about an image become that
# image's configuration, so any remaining difference comes from the pod. Parts that only the settings decide are not
# compared, because the policy may have been made with others. Image facts that a pod field hides cannot be read back:
# the removal of a `command`, `args` or `workingDir` shows only with the lock. So does, where volumes of an image are
# mounted, the removal of a writable mount of the node's files, since a policy does not distinguish the two.


NAME = "io.kubernetes.cri.container-name"
SANDBOX = "(pause)"  # the pause container has no name
HOST_NAME = "HOSTNAME=$(host-name)"  # between the variables of the image and those of the pod
TERMINAL = "TERM=xterm"  # right before it if the pod has a tty
NOT_IN_INPUT = ("CC0602", "CC0603")
SHAPES = ("CC0207", "CC0604")  # without these the generator cannot look at a pod

SYSCTL: Path = ("OCI", "Linux", "Sysctl")


def find_drift(workload: Workload, sealed: Json, references: References, *, native: bool = True) -> list[str]:
    """Return the fields of the pod that changed since it was sealed, as `container: field`; [] if none did.

    native: whether the native generator made the policy; then it must still be able to describe the pod.
    """
    problems = coverage_findings(workload.pod_spec, workload.spec_path, workload.ref)
    pod, findings = made_pod(workload)
    findings += [problem for problem in problems if native or problem.code in SHAPES]
    if findings:
        return [problem.message for problem in findings]
    entries = maps(sealed.get("containers"))
    present = [(key, entry) for key in ("initContainers", "containers") for entry in maps(pod.spec.get(key))]
    mismatch = _compare_names([str(entry.get("name")) for _, entry in present], entries)
    if mismatch:
        return mismatch
    profile = profile_of_data(sealed)
    policy = _Sealed(
        entries[0],
        {read_annotation(entry, NAME): entry for entry in entries[1:]},
        profile,
        profile.binds_images if native or sealed.get("profile") == profile.name else None,
        _read_settings(sealed, profile),
        native,
    )
    changed: list[str] = []
    generated = policy.sandbox
    for key, container in present:
        generated, fields = _find_changes(pod, key, container, policy, references)
        changed += [f"{container['name']}: {field}" for field in fields]
    differing = compare_sandbox(generated, policy.sandbox, policy.binds, native=native)
    return _merge_pod_fields([*changed, *(f"{SANDBOX}: {field}" for field in differing)], len(present))


class _Sealed(NamedTuple):
    """A policy, read back. policies: by container. binds: whether it binds images, None if unknown."""

    sandbox: Json
    policies: Mapping[str, Json]
    profile: Profile
    binds: bool | None
    settings: Settings
    native: bool


def _compare_names(names: list[str], entries: list[dict[str, Any]]) -> list[str]:
    """Return the reasons why a pod with these containers and the entries of a policy cannot be compared."""
    sealed_names = [read_annotation(entry, NAME) for entry in entries[1:]]
    if sorted(names) != sorted(sealed_names):
        differing = {name for name in (*names, *sealed_names) if names.count(name) != sealed_names.count(name)}
        return [f"containers {', '.join(sorted(differing))}"]
    policies = dict(zip(sealed_names, entries[1:], strict=True))
    unreadable = [name for name, entry in policies.items() if not _is_readable(entry)]
    if not unreadable and not (entries and _is_readable(entries[0])):
        unreadable = [SANDBOX]
    return [f"{name}: its policy" for name in unreadable]


def _find_changes(
    pod: PodMetadata, key: str, container: Json, sealed: _Sealed, references: References
) -> tuple[Json, list[str]]:
    """Return the generated policy of the sandbox, and the changed fields of a container."""
    entries, findings = _generate(pod, key, container, sealed, references)
    problems = [problem.message for problem in findings] if sealed.native and has_errors(findings) else []
    generated, policy = as_bound(entries[1]), as_bound(sealed.policies[str(container["name"])])
    fields = compare_pod_fields(generated, policy, READ_BY_THE_NODE)
    if read_annotation(policy, SANDBOX_NAME) in name_patterns(pod):
        fields = [field for field in fields if field != IDENTITY[SANDBOX_NAME]]
    if not sealed.native:
        kinds = map_volume_kinds(pod, container)
        fields = drop_generator_variants(fields, generated, policy, kinds, propagates=sealed.profile.propagates)
    if not is_same_image(container["image"], policy, sealed.binds):
        fields.append("image")
    kernel = mapping(dig(policy, SYSCTL))  # the settings may add some
    sysctls = maps(dig(pod.spec, ("securityContext", "sysctls")))
    if any(kernel.get(sysctl_name(sysctl["name"])) != sysctl["value"] for sysctl in sysctls):
        fields.append("securityContext.sysctls")
    return entries[0], [*problems, *fields]


def compare_policies(sealed: Json, again: Json) -> list[str]:
    """Return the fields in which the policy of a second render differs from the sealed one, as in `find_drift`."""
    entries, rendered = (
        {read_annotation(entry, NAME): entry for entry in maps(data.get("containers"))} for data in (sealed, again)
    )
    if entries.keys() != rendered.keys() or len(maps(again.get("containers"))) != len(rendered):
        return [f"containers {', '.join(sorted(entries.keys() ^ rendered.keys()))}"]
    readable = [name for name in entries if _is_readable(entries[name]) and _is_readable(rendered[name])]
    changed = []
    for name in readable:
        fields = compare_pod_fields(rendered[name], entries[name])
        if images(rendered[name]["storages"]) != images(entries[name]["storages"]):
            fields.append("image")
        changed += [f"{name or SANDBOX}: {field}" for field in fields]
    if not changed and list(entries) != list(rendered):
        return ["the order of its containers"]
    return _merge_pod_fields(changed, len(entries)) or ["settings from the rules, the policy settings or the release"]


def _merge_pod_fields(changed: list[str], containers: int) -> list[str]:
    """Name an annotation or a name once if every container has it: it is the pod's."""
    out: list[str] = []
    for field in changed:
        _, _, name = field.partition(": ")
        of_the_pod = name.startswith("annotation ") or name in IDENTITY.values()
        everywhere = of_the_pod and sum(text.endswith(f": {name}") for text in changed) >= containers
        out.append(name if everywhere else field)
    return list(dict.fromkeys(out))


def _generate(
    pod: PodMetadata, key: str, container: Json, sealed: _Sealed, references: References
) -> tuple[list[Json], list[Finding]]:
    """Return the policies that the generator makes for a container today, pause first, and its findings."""
    alone = pod._replace(spec={**pod.spec, "initContainers": [], "containers": [], key: [container]})
    policy, volumes = sealed.policies[str(container["name"])], not sealed.profile.refuses_volumes
    gpus = bool(sealed.sandbox.get("devices"))  # of the pod: the sandbox has them all

    def generate(facts: ImageFacts) -> tuple[list[Json], list[Finding]]:
        images = {container["image"]: facts}
        return containers(alone, images, PAUSE, references, sealed.settings, other_gpus=gpus)

    entries, findings = generate(_read_image_facts(container, policy, volumes=volumes))
    if any(problem.code in NOT_IN_INPUT for problem in findings):  # its variables may be the image's
        return generate(_read_image_facts(container, policy, volumes=volumes, whole_env=True))[0], []
    return entries, findings


def _read_settings(sealed: Json, profile: Profile) -> Settings:
    """Return the default settings of a profile, with those that can be read back from the policy."""
    default = default_settings(profile)
    stored = any(
        storage.get("fstype") == "bind"
        for entry in maps(sealed.get("containers"))
        for storage in maps(entry.get("storages"))
    )
    kata = {**default.kata_config, "enable_configmap_secret_storages": stored}
    stated = mapping(sealed.get("cluster_config"))
    cluster = dict(default.cluster_config)
    if isinstance(stated.get("guest_pull"), bool):
        cluster["guest_pull"] = stated["guest_pull"]
    if stated.get("emptydir_type") in EMPTYDIR_TYPES:
        cluster["emptydir_type"] = stated["emptydir_type"]
    return default._replace(cluster_config=cluster, kata_config=kata)


def _is_readable(entry: Json) -> bool:
    """Tell whether a container of a policy, of any generator, has all compared parts."""
    process, mounts = dig(entry, ("OCI", "Process")), dig(entry, ("OCI", "Mounts"))
    texts = [mapping(process).get(key, []) for key in ("Args", "Env")]
    texts += [item.get("options") for item in maps(mounts)]
    names = [item.get(key) for item in maps(mounts) for key in ("destination", "type_", "source")]
    names += [item.get(key) for item in maps(entry.get("storages")) for key in ("mount_point", "fstype")]
    user = mapping(mapping(process).get("User"))
    groups = user.get("AdditionalGids", [])
    return (
        isinstance(process, dict)
        and isinstance(mounts, list)
        and isinstance(entry.get("storages"), list)
        and all(isinstance(item, list) and all(isinstance(text, str) for text in item) for item in texts)
        and all(isinstance(name, str) for name in names)
        and isinstance(groups, list)
        and all(isinstance(number, int) for number in (user.get("UID", 0), user.get("GID", 0), *groups))
        and isinstance(process.get("Cwd", ""), str)
        and isinstance(dig(entry, ("OCI", "Annotations")) or {}, dict)
    )


def _read_image_facts(container: Json, policy: Json, *, volumes: bool, whole_env: bool = False) -> ImageFacts:
    """Return the image facts that would have led to this policy for this container.

    volumes: claim all mounts as volumes of the image; whole_env: claim all variables.
    """
    process = policy["OCI"]["Process"]
    user, args, env = process.get("User", {}), list(process.get("Args", ())), list(process.get("Env", ()))
    pod_args = container.get("args")
    entrypoint = args[: len(args) - len(pod_args)] if pod_args and not container.get("command") else args
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
        "Entrypoint": [_unescape(text) for text in entrypoint],
        "Volumes": {mount["destination"]: {} for mount in policy["OCI"]["Mounts"]} if volumes else {},
    }
    passwd = f"u:x:{user.get('UID', 0)}:{user.get('GID', 0)}:::\n"
    return ImageFacts("", config, passwd, groups)


def _unescape(text: str) -> str:
    """Undo `expansion.escaped_argument`."""
    return text.replace("$$", "$")
