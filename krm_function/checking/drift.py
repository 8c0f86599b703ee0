"""Detect drift between a pod and its sealed policy, without ImageLock or configuration.

Rule of this file: the generator itself answers, with image facts read back from the policy: what the policy claims of
an image is given to it as that image's configuration, so any difference that remains comes from the pod. What only the
settings decide is not compared, because a policy may have been made with others. What a pod field hides of the image
cannot be read back: that a `command`, `args` or `workingDir` was removed shows only in the lock. So does, where volumes
of an image are mounted, the end of a writable mount of the node's files, which a policy does not tell from one.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.records import ImageFacts
from krm_function.findings import Finding, Path, has_errors
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.profiles import Profile
from krm_function.model.workload import Workload
from krm_function.policy import genpolicy_variants
from krm_function.policy.allowed_names import SANDBOX_NAME, name_patterns
from krm_function.policy.bound_values import as_bound
from krm_function.policy.compare.pod_fields import (
    IDENTITY,
    annotation_value,
    differing_pod_fields,
    same_image,
    sandbox_differences,
    without_generator_variants,
)
from krm_function.policy.containers import containers, sysctl_name
from krm_function.policy.field_coverage import coverage_findings
from krm_function.policy.image_storage import images
from krm_function.policy.made_pod import made_pod
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.references import References
from krm_function.policy.rules_mismatch import profile_of_data
from krm_function.policy.seal import PAUSE
from krm_function.policy.settings import EMPTYDIR_TYPES, Settings, default_settings
from krm_function.record import NamedTuple

Json = dict[str, Any]

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
        kinds = genpolicy_variants.mounted_volume_kinds(pod, container)
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
    """Undo `variable_expansion.escaped_argument`."""
    return text.replace("$$", "$")
