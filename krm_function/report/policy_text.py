"""The permissions of a sealed policy, its open variables, and the differences between policies."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from krm_function.findings import REF_NAMES
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.pod_kinds import OF_CONTROLLER
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.compare import WorkloadDifferences
from krm_function.policy.compare_values import Difference
from krm_function.policy.initdata import POLICY, decode_toml, from_annotation, read_policy_data
from krm_function.record import NamedTuple
from krm_function.report.findings import on_one_line

# --- The open variables of a workload in one line: the host may choose their values
#
# Rule: names only; the value of an open variable is unknown here.


def variables_text(workload: Workload, *, of_controller: bool | None = None) -> str:
    """Write `web DB_PASSWORD (Secret db, key password), web DB_USER (Secret db, key user)`; "" if there are none.

    of_controller: only those that the controller of a custom resource writes, each with its form, or only the others.
    """
    sources = [(variable, variable.source.removeprefix(OF_CONTROLLER)) for variable in workload.open]
    return ", ".join(
        f"{variable.container} {variable.name} ({source if of_controller else variable.source})"
        for variable, source in sources
        if of_controller is None or (source != variable.source) is of_controller
    )


# --- Summarise what a sealed policy allows, container by container
#
# Rule: the policy is read from the annotation, so the summary contains only facts from there. Names of variables are
# shown, never their values; of a command line, only the program.


NAME = "io.kubernetes.cri.container-name"
IMAGE = "io.kubernetes.cri.image-name"

# mounts that the container runtime and the kubelet add to every container
STANDARD = frozenset(
    (
        *("/proc", "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", "/sys", "/sys/fs/cgroup"),  # noqa: S108 - not ours
        *("/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/dev/termination-log"),
        *("/var/run/secrets/kubernetes.io/serviceaccount", "/var/run/secrets/azure/tokens"),
    )
)


class Allowed(NamedTuple):
    """One container of a policy.

    user: `uid:gid`. mounts: those beyond STANDARD. exec: the number of commands that may be started later, such as
    probes.
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


def allowed(workload: Workload) -> tuple[Allowed, ...]:
    """Return the containers of a workload's policy without the sandbox; none if no policy can be read."""
    value = workload.annotations.get(INITDATA)
    if not isinstance(value, str):
        return ()
    try:
        sealed = read_policy_data(decode_toml(from_annotation(value)).data.get(POLICY, ""))
    except ValueError:
        return ()
    entries = [_read_container(entry) for entry in maps(sealed["containers"])]
    return tuple(entry for entry in entries if entry.name)


def _read_container(entry: dict[str, Any]) -> Allowed:
    annotations = mapping(dig(entry, ("OCI", "Annotations")))
    process = mapping(dig(entry, ("OCI", "Process")))
    user = mapping(process.get("User"))
    arguments = [str(word) for word in process.get("Args") or ()]
    mounts = [str(mount.get("destination", "")) for mount in maps(dig(entry, ("OCI", "Mounts")))]
    return Allowed(
        str(annotations.get(NAME, "")),
        str(annotations.get(IMAGE, "")),
        arguments[0] if arguments else "",
        f"{user.get('UID', 0)}:{user.get('GID', 0)}",
        max(0, len(arguments) - 1),
        tuple(dict.fromkeys(str(variable).partition("=")[0] for variable in process.get("Env") or ())),
        tuple(path for path in mounts if path not in STANDARD),
        len(entry.get("devices") or ()),
        len(entry.get("exec_commands") or ()),
        dig(entry, ("OCI", "Root", "Readonly")) is True,
        process.get("NoNewPrivileges") is not True,
    )


# --- Differences between policies as text and JSON: one line each, with a verdict and its reason
#
#     Deployment shop/web
#       weaker    web: capabilities added NET_ADMIN (Bounding, Effective, Permitted): the process may do more
#
# Rule: names come from the input, so their control characters are made visible.


VERDICTS = ("weaker", "stronger", "different")


def policy_diff_text(compared: Sequence[WorkloadDifferences]) -> str:
    """Write one block per workload and a line with totals."""
    lines: list[str] = []
    for workload in compared:
        lines.append(on_one_line(f"{workload.ref.kind} {workload.ref}"))
        lines += [f"  {line.verdict:<9} {on_one_line(sentence(line))}" for line in workload.lines]
    counts = verdict_counts(compared)
    totals = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    return "".join(f"{line}\n" for line in (*lines, totals if lines else "no difference"))


def policy_diff_json(compared: Sequence[WorkloadDifferences]) -> str:
    """Write `{"version": 1, "workloads": [...], "totals": {...}}` with a final newline."""
    workloads = [
        {"resource": _resource_data(workload), "differences": [_difference_data(line) for line in workload.lines]}
        for workload in compared
    ]
    return json.dumps({"version": 1, "workloads": workloads, "totals": verdict_counts(compared)}, indent=2) + "\n"


def sentence(line: Difference) -> str:
    """Write a difference without its verdict, such as `web: env added DEBUG: the host may set one more variable`."""
    return f"{changed(line)}: {line.why}"


def changed(line: Difference) -> str:
    """Write the difference alone: `web: env added DEBUG`."""
    where = f"{line.container}: " if line.container else ""
    return where + " ".join(filter(None, (line.field, line.op, line.what)))


def verdict_counts(compared: Sequence[WorkloadDifferences]) -> dict[str, int]:
    """Return the number of lines for each verdict."""
    counts = Counter(line.verdict for workload in compared for line in workload.lines)
    return {verdict: counts[verdict] for verdict in VERDICTS}  # type: ignore[index]


def _resource_data(workload: WorkloadDifferences) -> dict[str, str]:
    return {name: on_one_line(value) for name, value in zip(REF_NAMES, workload.ref, strict=True) if value}


def _difference_data(line: Difference) -> dict[str, Any]:
    parts = {name: getattr(line, name) for name in ("container", "field", "op", "what", "verdict", "why")}
    return {name: on_one_line(value) for name, value in parts.items() if value}
