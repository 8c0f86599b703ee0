"""Pod Security Standards: the controls that a container breaks at the levels baseline and restricted.

Rule of this file: one table has the controls that look at a container; what the others look at (host namespaces,
hostPath, sysctls) is the user's own. They are those of the latest standard. Older versions ask for less, but each of
them forbids privileged containers and NET_ADMIN. Source: docs/facts/kubernetes.md#pod-security.

    level        control                       a container must
    baseline     Privileged Containers         not be privileged
    baseline     Capabilities                  add only the default ones of container runtimes
    baseline     Host Ports                    use none
    baseline     Host Probes / Lifecycle Hooks name no host
    baseline     AppArmor, Seccomp             not be Unconfined
    baseline     SELinux                       have one of four types, no user, no role
    baseline     /proc Mount Type              have the default one
    restricted   all of baseline, and
    restricted   Privilege Escalation          set allowPrivilegeEscalation: false
    restricted   Running as Non-root           set runAsNonRoot: true, or the pod does
    restricted   Running as Non-root user      not set runAsUser: 0
    restricted   Seccomp                       set RuntimeDefault or Localhost, or the pod does
    restricted   Capabilities                  drop ALL, and add NET_BIND_SERVICE only
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from krm_function.model.lookup import dig, mapping, maps

Level = Literal["baseline", "restricted"]
LABEL = "pod-security.kubernetes.io/enforce"

CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
SELINUX_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"))
CONFINED = frozenset(("RuntimeDefault", "Localhost"))
HANDLERS = (
    *(("livenessProbe",), ("readinessProbe",), ("startupProbe",)),
    *(("lifecycle", "postStart"), ("lifecycle", "preStop")),
)


def level_of(namespace: Any) -> Level | None:
    """Return the level that a Namespace object enforces; None for `privileged` and for none."""
    match dig(namespace, ("metadata", "labels", LABEL)):
        case "baseline":
            return "baseline"
        case "restricted":
            return "restricted"
        case _:
            return None


def violations(container: Mapping[str, Any], pod_spec: Mapping[str, Any], level: Level) -> list[str]:
    """Say what a container has that the level forbids, or lacks that it asks for; [] if it is admitted."""
    security, pod = (mapping(one.get("securityContext")) for one in (container, pod_spec))
    refused = [*_baseline(container, security)]
    if level == "restricted":
        refused += [one for one in _restricted(security, pod) if one not in refused]
    return refused


def _baseline(container: Mapping[str, Any], security: Mapping[str, Any]) -> Iterator[str]:
    if security.get("privileged") is True:
        yield "privileged: true"
    for name in _capabilities(security, "add"):
        if name not in CAPABILITIES:
            yield f"capability {name}"
    for port in maps(container.get("ports")):
        if port.get("hostPort"):
            yield f"hostPort {port['hostPort']}"
    for path in HANDLERS:
        handler = mapping(dig(dict(container), path))
        if any(mapping(handler.get(kind)).get("host") for kind in ("httpGet", "tcpSocket")):
            yield f"a host in {'.'.join(path)}"
    for field in ("appArmorProfile", "seccompProfile"):
        kind = mapping(security.get(field)).get("type")
        if kind is not None and kind not in CONFINED:
            yield f"{field}.type {kind}"
    linux = mapping(security.get("seLinuxOptions"))
    if (linux.get("type") or "") not in SELINUX_TYPES or linux.get("user") or linux.get("role"):
        yield "seLinuxOptions"
    if (security.get("procMount") or "Default") != "Default":
        yield f"procMount {security['procMount']}"


def _restricted(security: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    if security.get("allowPrivilegeEscalation") is not False:
        yield "no allowPrivilegeEscalation: false"
    non_root = security.get("runAsNonRoot")
    if (pod.get("runAsNonRoot") if non_root is None else non_root) is not True:
        yield "no runAsNonRoot: true"
    if security.get("runAsUser") == 0:
        yield "runAsUser 0"
    profiles = [mapping(one.get("seccompProfile")).get("type") for one in (security, pod)]
    if (profiles[1] if profiles[0] is None else profiles[0]) not in CONFINED:
        yield "no seccompProfile"
    if "ALL" not in _capabilities(security, "drop"):
        yield "capabilities that do not drop ALL"
    for name in _capabilities(security, "add"):
        if name != "NET_BIND_SERVICE":
            yield f"capability {name}"


def _capabilities(security: Mapping[str, Any], field: str) -> list[str]:
    names = mapping(security.get("capabilities")).get(field)
    return [str(name) for name in names] if isinstance(names, list) else []
