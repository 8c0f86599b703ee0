"""What a pod's conditions, phase and container statuses say, each as findings.

Sources: docs/facts/pod-status.md#scheduling, docs/facts/pod-status.md#images, docs/facts/pod-status.md#containers.

Rule of this file: one reader for each part of a status; a reader that has nothing to say returns nothing.
"""

import re
from collections.abc import Iterator
from typing import Any

from krm_function.diagnosis.evidence import Evidence
from krm_function.diagnosis.words import (
    ADMISSION,
    CONFIG,
    GUEST_PULL,
    IMAGES,
    KEY,
    REFUSED,
    SANDBOX,
    SCHEDULING,
    cause_of,
    quoted,
)
from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.record import NamedTuple
from krm_function.replay.log_text import DENIED

INITIALIZER = "contrast-initializer"
PULLS = re.compile(r"ErrImage|ImagePull|InvalidImageName|ImageInspectError|RegistryUnavailable|SignatureValidation")
SANDBOX_REASONS = ("FailedCreatePodSandBox", "FailedCreatePodContainer", "FailedSandboxCreate")


class Container(NamedTuple):
    """A container's status. state: waiting | running | terminated, or "" for none yet."""

    name: str
    image: str
    state: str
    reason: str
    message: str
    exit: int
    last_reason: str
    last_message: str
    last_exit: int
    restarts: int
    ready: bool


def containers(pod: Any) -> Iterator[Container]:
    """Yield the statuses of a pod's containers, init containers first."""
    status = mapping(mapping(pod).get("status"))
    for key in ("initContainerStatuses", "containerStatuses"):
        for one in maps(status.get(key)):
            state, inside = next(iter(mapping(one.get("state")).items()), ("", {}))
            last = mapping(mapping(one.get("lastState")).get("terminated"))
            within = mapping(inside)
            yield Container(
                str(one.get("name") or ""),
                str(one.get("image") or ""),
                state,
                str(within.get("reason") or ""),
                " ".join(str(within.get("message") or "").split()),
                _number(within.get("exitCode")),
                str(last.get("reason") or ""),
                " ".join(str(last.get("message") or "").split()),
                _number(last.get("exitCode")),
                _number(one.get("restartCount")),
                one.get("ready") is True,
            )


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def admission(evidence: Evidence) -> list[Finding]:
    """Return why controllers could not create a pod: of their events and conditions the latest that is no success."""
    for event in evidence.owner_events:
        if event.reason == "SuccessfulCreate":
            return []
        if event.reason in ("FailedCreate", "ReplicaFailure"):
            return _told(evidence, event.message, ADMISSION)
    for owner in evidence.owners:
        for condition in maps(dig(owner, ("status", "conditions"))):
            if condition.get("type") == "ReplicaFailure" and condition.get("status") == "True":
                return _told(evidence, " ".join(str(condition.get("message") or "").split()), ADMISSION)
    return []


def scheduling(evidence: Evidence) -> list[Finding]:
    """Return why the scheduler found no node."""
    status = mapping(mapping(evidence.pod).get("status"))
    condition = next((one for one in maps(status.get("conditions")) if one.get("type") == "PodScheduled"), {})
    if condition.get("status") == "True" or dig(evidence.pod, ("spec", "nodeName")):
        return []
    if condition.get("reason") == "SchedulingGated":
        return [finding("CC1161.gated", evidence.ref, ("spec", "schedulingGates"))]
    told = str(condition.get("message") or "")
    if not told:
        told = next((one.message for one in evidence.pod_events if one.reason == "FailedScheduling"), "")
    if not told:
        return []
    reasons = _reasons(" ".join(told.split()))
    return _told(evidence, reasons, SCHEDULING)


def _reasons(message: str) -> str:
    """Return the scheduler's words without what it says of preemption, which asks the same once more."""
    return re.split(r"\.?\s+(preemption:|no new claims to deallocate)", message, maxsplit=1)[0].rstrip(". ")


def refused_by_node(evidence: Evidence) -> list[Finding]:
    """Return why a kubelet, or a controller, ended the pod."""
    status = mapping(mapping(evidence.pod).get("status"))
    reason = str(status.get("reason") or "")
    if status.get("phase") != "Failed" or not reason:
        return []
    cause = cause_of(reason, REFUSED)
    said = quoted(" ".join(str(status.get("message") or "").split())) or "nothing more"
    return [finding(cause.code, evidence.ref, ("status",), reason=reason, said=said)] if cause else []


def images(evidence: Evidence) -> list[Finding]:
    """Return which image cannot be had, on the node or in the VM."""
    out = []
    for one in containers(evidence.pod):
        if one.state == "waiting" and PULLS.search(one.reason):
            # a back-off has no words of the registry; the event before it does
            words = next(
                (
                    e.message
                    for e in evidence.pod_events
                    if "Failed to pull image" in e.message and one.image in e.message
                ),
                "",
            )
            message = f"{one.reason}: {one.message} {words}"
            cause = cause_of(message, IMAGES)
            if cause:
                out.append(finding(cause.code, evidence.ref, (), image=one.image, container=one.name))
    return out


def created(evidence: Evidence) -> list[Finding]:
    """Return why the runtime could not make the VM or a container in it, denials by the policy left out."""
    for one in containers(evidence.pod):
        message = one.message if one.state == "waiting" else ""
        if one.reason == "CreateContainerConfigError" or (one.reason == "CreateContainerError" and _missing(message)):
            return [_config(evidence, one.name, message)]
        if one.reason in ("CreateContainerError", "RunContainerError") and message and not DENIED.search(message):
            if GUEST_PULL.search(message):
                return [finding("CC1163.guest", evidence.ref, (), image=one.image, container=one.name)]
            return _told(evidence, message, SANDBOX)
    latest = next(
        (e for e in evidence.pod_events if e.reason in (*SANDBOX_REASONS, "FailedMount", "Failed", "Started")), None
    )
    if latest is None or latest.reason in ("Started", "Failed") or DENIED.search(latest.message):
        return []
    if latest.reason == "FailedMount":
        missing = _missing(latest.message)
        values: dict[str, Any] = {"container": "of the pod", "said": quoted(latest.message)}
        if missing:
            return [finding("CC1168.mount", evidence.ref, (), **values, **missing)]
        return [finding("CC1168.volume", evidence.ref, (), **values)]
    return _told(evidence, latest.message, SANDBOX)


def _missing(message: str) -> dict[str, Any]:
    match = CONFIG.search(message) or KEY.search(message)
    if not match:
        return {}
    kind = {"configmap": "ConfigMap", "secret": "Secret"}.get(match["kind"].lower(), match["kind"])
    key = match.groupdict().get("key")
    return {"kind": f"key {key} in {kind}" if key else kind, "name": match["name"]}


def _config(evidence: Evidence, container: str, message: str) -> Finding:
    missing = _missing(message) or {"kind": "configuration", "name": "that the node can use"}
    return finding("CC1168.config", evidence.ref, (), container=container, **missing)


def own_process(evidence: Evidence) -> list[Finding]:
    """Return which container runs in its VM and ends, or does not become ready, by its own doing."""
    out = []
    for one in containers(evidence.pod):
        if one.name == INITIALIZER or DENIED.search(one.message) or DENIED.search(one.last_message):
            continue
        ended = one.state == "terminated" and one.exit != 0
        if ended or (one.state == "waiting" and one.reason == "CrashLoopBackOff"):
            reason, code = (one.reason, one.exit) if ended else (one.last_reason, one.last_exit)
            variant = "CC1169.oom" if reason == "OOMKilled" else "CC1169.exit"
            out.append(finding(variant, evidence.ref, (), container=one.name, exit=code))
        elif one.state == "running" and not one.ready:
            probe = next((e for e in evidence.pod_events if e.reason == "Unhealthy"), None)
            if probe and not DENIED.search(probe.message):
                name = probe.message.partition(" ")[0].lower()
                out.append(finding("CC1169.probe", evidence.ref, (), container=one.name, probe=name))
    return out


def _told(evidence: Evidence, message: str, table: tuple[tuple[str, str], ...]) -> list[Finding]:
    cause = cause_of(message, table)
    return [finding(cause.code, evidence.ref, (), **cause.values)] if cause else []
