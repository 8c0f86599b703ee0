"""Summarise what a sealed policy allows, container by container.

Rule of this file: the policy is read back from the annotation, so the summary holds nothing that is not in it. Names of
variables are shown, never their values; of a command line, the program alone.
"""

from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import decode_toml, from_annotation, read_policy_data
from krm_function.policy.initdata import POLICY
from krm_function.record import NamedTuple

NAME = "io.kubernetes.cri.container-name"
IMAGE = "io.kubernetes.cri.image-name"

# what the container runtime and the kubelet mount into every container
STANDARD = frozenset(
    (
        *("/proc", "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", "/sys", "/sys/fs/cgroup"),  # noqa: S108 - not ours
        *("/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/dev/termination-log"),
        *("/var/run/secrets/kubernetes.io/serviceaccount", "/var/run/secrets/azure/tokens"),
    )
)


class Allowed(NamedTuple):
    """One container of a policy.

    user: `uid:gid`. mounts: those beyond STANDARD. exec: how many commands may be started in it later, such as probes.
    """

    name: str
    image: str
    program: str
    user: str
    arguments: int
    variables: tuple[str, ...]
    mounts: tuple[str, ...]
    devices: int
    exec: int
    readonly: bool
    privileges: bool  # whether the process may gain more of them


def allowed(workload: Workload | None) -> tuple[Allowed, ...]:
    """Return the containers of a workload's policy without the sandbox; none if there is no policy to read."""
    value = workload.annotations.get(INITDATA) if workload is not None else None
    if not isinstance(value, str):
        return ()
    try:
        sealed = read_policy_data(decode_toml(from_annotation(value)).data.get(POLICY, ""))
    except ValueError:
        return ()
    entries = [_allowed(entry) for entry in maps(sealed["containers"])]
    return tuple(entry for entry in entries if entry.name)


def _allowed(entry: dict[str, Any]) -> Allowed:
    annotations = mapping(dig(entry, ("OCI", "Annotations")))
    process = mapping(dig(entry, ("OCI", "Process")))
    user = mapping(process.get("User"))
    arguments = [str(word) for word in process.get("Args") or ()]
    mounts = [str(one.get("destination", "")) for one in maps(dig(entry, ("OCI", "Mounts")))]
    return Allowed(
        str(annotations.get(NAME, "")),
        str(annotations.get(IMAGE, "")),
        arguments[0] if arguments else "",
        f"{user.get('UID', 0)}:{user.get('GID', 0)}",
        max(0, len(arguments) - 1),
        tuple(dict.fromkeys(str(one).partition("=")[0] for one in process.get("Env") or ())),
        tuple(path for path in mounts if path not in STANDARD),
        len(entry.get("devices") or ()),
        len(entry.get("exec_commands") or ()),
        dig(entry, ("OCI", "Root", "Readonly")) is True,
        process.get("NoNewPrivileges") is not True,
    )
