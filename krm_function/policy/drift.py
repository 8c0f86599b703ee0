"""Is a pod still what its sealed policy describes? Asked without lock or configuration.

Rule of this file: the generator itself answers, with image facts read back from the policy: what the policy claims of
an image is given to it as that image's configuration, so any difference that remains comes from the pod. What only the
settings decide is not compared, because a policy may have been made with others.
"""

from typing import Any

from krm_function.api.kinds import ImageFacts
from krm_function.findings import Path
from krm_function.model.workload import Workload, maps
from krm_function.policy.containers import containers
from krm_function.policy.references import References
from krm_function.policy.seal import PAUSE
from krm_function.policy.settings import default_settings
from krm_function.policy.subject import subject

Json = dict[str, Any]

NAME = "io.kubernetes.cri.container-name"
IMAGE = "io.kubernetes.cri.image-name"

ENV: Path = ("OCI", "Process", "Env")  # a set: what the generator adds itself is there twice

# field of the pod -> where policy_data keeps what became of it
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


def drift(workload: Workload, sealed: Json, references: References) -> list[str]:
    """The fields of the pod that moved since it was sealed, as `container: field`; [] if none did."""
    pod, findings = subject(workload)
    if findings:
        return [finding.message for finding in findings]
    policies = {_annotation(entry, NAME): entry for entry in maps(sealed.get("containers"))[1:]}
    present = [(key, entry) for key in ("initContainers", "containers") for entry in maps(pod.spec.get(key))]
    names = [str(entry.get("name")) for _, entry in present]
    if sorted(names) != sorted(policies):
        return [f"containers {', '.join(sorted(set(names) ^ set(policies)))}"]
    moved: list[str] = []
    for key, container in present:
        name = str(container["name"])
        facts = _claimed(container, policies[name])
        alone = pod._replace(spec={**pod.spec, "initContainers": [], "containers": [], key: [container]})
        made, _ = containers(alone, {container["image"]: facts}, PAUSE, references, default_settings())
        moved += [f"{name}: {field}" for field in _differences(made[1], policies[name])]
    return moved


def _claimed(container: Json, policy: Json) -> ImageFacts:
    """The image facts that would have led to this policy for this container."""
    process = policy["OCI"]["Process"]
    user, args = process.get("User", {}), list(process.get("Args", ()))
    own = container.get("args")
    entrypoint = args[: len(args) - len(own)] if own and "command" not in container else args
    groups = "".join(f"g{gid}:x:{gid}:u\n" for gid in user.get("AdditionalGids", ()))
    config = {
        "User": str(user.get("UID", 0)),
        "Env": list(process.get("Env", ())),
        "WorkingDir": process.get("Cwd", ""),
        "Tty": process.get("Terminal", False),
        "Entrypoint": entrypoint,
        "Volumes": {mount["destination"]: {} for mount in policy["OCI"].get("Mounts", ())},
    }
    passwd = f"u:x:{user.get('UID', 0)}:{user.get('GID', 0)}:::\n"
    return ImageFacts("", config, passwd, groups)


def _differences(made: Json, policy: Json) -> list[str]:
    fields = [field for field, path in COMPARED.items() if _at(made, path) != _at(policy, path)]
    if set(_at(made, ENV) or ()) != set(_at(policy, ENV) or ()):
        fields.append("env")
    if _annotation(made, IMAGE) != _annotation(policy, IMAGE):
        fields.append("image")
    if _mounts(made) != _mounts(policy) or len(made["storages"]) != len(policy["storages"]):
        fields.append("volumeMounts")
    mine, theirs = (_user_annotations(entry) for entry in (made, policy))
    fields += [f"annotation {key}" for key in sorted(mine.keys() | theirs.keys()) if mine.get(key) != theirs.get(key)]
    return fields


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value or None


def _mounts(entry: Json) -> list[tuple[str, ...]]:
    """Destination, type and options of every mount; the source is the settings' matter."""
    mounts = entry["OCI"].get("Mounts", ())
    return sorted((mount["destination"], mount["type_"], *mount["options"]) for mount in mounts)


def _annotation(entry: Json, key: str) -> str:
    return str(entry["OCI"].get("Annotations", {}).get(key, ""))


def _user_annotations(entry: Json) -> dict[str, str]:
    """The annotations that come from the pod: all but the runtime's own, plus the names it must have."""
    annotations = entry["OCI"].get("Annotations", {})
    named = ("io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.sandbox-namespace")
    foreign = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")
    return {key: value for key, value in annotations.items() if key in named or not key.startswith(foreign)}
