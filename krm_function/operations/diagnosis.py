"""Explain why a pod does not start: the stages of its start, and the first one with a cause."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.check.drift import IDENTITY
from krm_function.check.pods import Checked, Pod, check_pod, check_workload, place_in_owner
from krm_function.config.references import References
from krm_function.contrast.platforms import Platform, parse_runtime_class
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import controller_of, dig, listed, mapping, maps, reference
from krm_function.kubernetes.workload import COORDINATOR, INITDATA, POD_ROLE, Workload, workloads_of
from krm_function.operations.evidence import API_SERVER, Evidence, is_ready
from krm_function.operations.replay_log import DENIED
from krm_function.policy.expansion import INDEX
from krm_function.policy.initdata import POLICY, decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.made_pod import name_difference
from krm_function.policy.rules import profile_of_data
from krm_function.policy.service_variables import denied_services, is_service
from krm_function.record import NamedTuple
from krm_function.report.findings import on_one_line

# --- Tables of a cluster's messages: pattern of the message -> code of the cause
#
# Sources: docs/facts/pod-status.md#admission, docs/facts/pod-status.md#scheduling, docs/facts/pod-status.md#images,
# docs/facts/pod-status.md#sandbox, docs/facts/pod-status.md#volumes.
#
# Rule: data, and the one function that reads it. The first row that matches counts, and the last one always does; a
# group `by` is the name of the refuser.


LONGEST = 300  # characters of a server's message in a sentence

Table = tuple[tuple[str, str], ...]

# why the API server refused to create a pod
ADMISSION: Table = (
    (r'admission webhook "(?P<by>[^"]{1,253})" denied the request', "CC1160.webhook"),
    (r"ValidatingAdmissionPolicy '(?P<by>[^']{1,253})' (with binding '[^']*' )?denied request", "CC1160.policy"),
    (r'failed calling webhook "(?P<by>[^"]{1,253})"', "CC1160.webhook-down"),
    (r'violates PodSecurity "(?P<by>[^"]{1,253})"', "CC1160.pod-security"),
    (r"exceeded quota: (?P<by>[^, ]{1,253})", "CC1160.quota"),
    (r"failed quota: (?P<by>[^: ]{1,253})", "CC1160.quota-unset"),
    (r"(maximum|minimum) \S+ usage per (Container|Pod) is", "CC1160.limit-range"),
    (r'RuntimeClass "(?P<by>[^"]{1,253})" not found', "CC1160.no-class"),
    (r"pod rejected: .*(RuntimeClass|[Oo]verhead)|conflict: runtimeClass\.", "CC1160.class"),
    (r'serviceaccount "(?P<by>[^"]{1,253})" not found', "CC1160.account"),
    (r"no PriorityClass with name (?P<by>\S{1,253}) was found", "CC1160.priority"),
    (r"", "CC1160.other"),
)

# why the scheduler found no node: its reasons, each with a number of nodes
SCHEDULING: Table = (
    (r"node affinity/selector|node selector", "CC1161.selector"),
    (r"untolerated taint", "CC1161.taint"),
    (r"volume node affinity|persistentvolumeclaim|PersistentVolumeClaim|available persistent volumes", "CC1161.volume"),
    (r"Insufficient |Too many pods", "CC1161.resources"),
    (r"", "CC1161.other"),
)

# reason of a pod in phase Failed, which the kubelet or a controller gave
REFUSED: Table = (
    (r"UnexpectedAdmissionError", "CC1162.device"),
    (r"NodeAffinity|NodeName|OutOf[a-z]+|NodePorts|TopologyAffinityError", "CC1162.fit"),
    (r"Evicted|NodeShutdown|Terminated|Preempting", "CC1162.evicted"),
    (r"DeadlineExceeded", "CC1162.deadline"),
    (r"", "CC1162.other"),
)

FULL = "no space left on device"
# `reason: message` of a container that waits for its image
IMAGES: Table = (
    (r"^InvalidImageName", "CC1163.name"),
    (r"^ErrImageNeverPull", "CC1163.never"),
    (
        r"unexpected (commit )?digest|digest mismatch|does not match.*digest|content digest .* not found",
        "CC1163.digest",
    ),
    (r"\b(401|403)\b|[Uu]nauthorized|authorization failed|denied|no basic auth credentials", "CC1163.login"),
    (r"manifest unknown|not found|\b404\b|does not exist", "CC1163.absent"),
    (FULL, "CC1163.space"),
    (r"dial tcp|no such host|timeout|connection refused|i/o|TLS|x509|EOF", "CC1163.network"),
    (r"", "CC1163.other"),
)

# messages of the runtime about a sandbox or a container
SANDBOX: Table = (
    (r'no runtime for "(?P<by>[^"]{1,253})" is configured', "CC1166.handler"),
    (r'RuntimeHandler "(?P<by>[^"]{1,253})" not supported', "CC1166.handler"),
    (r'runtimeclass\.node\.k8s\.io "(?P<by>[^"]{1,253})" not found', "CC1166.class"),
    (r'RuntimeClass "(?P<by>[^"]{1,253})" not found', "CC1166.class"),
    (r"fw_error=0x1f|[Rr]esource limit", "CC1166.ids"),
    (
        r"SNP_LAUNCH|LAUNCH_FINISH|LAUNCH_UPDATE|[Ii][Dd][- _]?[Bb]lock|SEV-SNP.*(fail|error)|TDX.*(fail|error)",
        "CC1166.measured",
    ),
    (r"[Cc]annot allocate memory|set up guest memory|not enough memory|os error 12|ENOMEM", "CC1166.memory"),
    (r"vfio|VFIO|no such device|cold.?plug", "CC1166.device"),
    (
        (
            r"failed to create shim( task)?: not found|containerd-shim-\S+\":"
            r" (file|executable file)? ?(does not exist|not found)|invalid runtime name"
        ),
        "CC1166.shim",
    ),
    (r"vsock|grpc server is working|DeadlineExceeded|deadline exceeded|[Tt]imed out|timeout", "CC1166.timeout"),
    (r"failed to (setup|set up) network|plugin type=|\bcni\b|CNI", "CC1166.network"),
    (r"", "CC1166.other"),
)
# a pull inside the VM fails when the container is made
GUEST_PULL = re.compile(
    r"(image_guest_pull|guest.?pull|pull(ing)? (the )?image|pull manifest|image-rs|confidential-data-hub)",
    re.IGNORECASE,
)

CONSEQUENCE = re.compile(
    "failed to reserve sandbox name"
)  # an attempt before it has not ended; its event has the cause
CONFIG = re.compile(r'(?P<kind>configmap|secret) "(?P<name>[^"]{1,253})" not found')
KEY = re.compile(r"couldn't find key (?P<key>\S{1,253}) in (?P<kind>ConfigMap|Secret) (?P<name>\S{1,507})")


def _match_table(evidence: Evidence, message: str, table: Table, path: Path = (), **values: Any) -> list[Finding]:
    """Return the finding that a table has for a message. values: in place of the message as `said`, or more."""
    code, match = next((code, match) for pattern, code in table if (match := re.search(pattern, message)))
    values = {"by": match.groupdict().get("by") or "", "said": quoted(message), **values}
    return [finding(code, evidence.ref, path, **values)]


def _read_message(value: Any) -> str:
    """Return the message of a condition, a state or a status on one line."""
    return " ".join(str(mapping(value).get("message") or "").split())


def quoted(message: str) -> str:
    """Return a server's message, cut; the text after a denial by a policy is left out, because it may have values."""
    text = re.sub(r"(is blocked by policy).*", r"\1", message)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


# --- Findings from a pod's conditions, phase and container statuses
#
# Sources: docs/facts/pod-status.md#scheduling, docs/facts/pod-status.md#images, docs/facts/pod-status.md#containers.
#
# Rule: one reader for each part of a status; without a cause there, it returns nothing.


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
        for container in maps(status.get(key)):
            state, inside = next(iter(mapping(container.get("state")).items()), ("", {}))
            last = mapping(dig(container, ("lastState", "terminated")))
            within = mapping(inside)
            yield Container(
                str(container.get("name") or ""),
                str(container.get("image") or ""),
                state,
                str(within.get("reason") or ""),
                _read_message(within),
                _read_number(within.get("exitCode")),
                str(last.get("reason") or ""),
                _read_message(last),
                _read_number(last.get("exitCode")),
                _read_number(container.get("restartCount")),
                container.get("ready") is True,
            )


def _read_number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def admission(evidence: Evidence) -> list[Finding]:
    """Return why controllers could not create a pod: their latest event or condition that is not a success."""
    for event in evidence.owner_events:
        if event.reason == "SuccessfulCreate":
            return []
        if event.reason in ("FailedCreate", "ReplicaFailure"):
            return _match_table(evidence, event.message, ADMISSION)
    for owner in evidence.owners:
        for condition in maps(dig(owner, ("status", "conditions"))):
            if condition.get("type") == "ReplicaFailure" and condition.get("status") == "True":
                return _match_table(evidence, _read_message(condition), ADMISSION)
    return []


# field of an object -> its value if the object wants no pod, or no further one
WANTS_NONE: dict[tuple[str, ...], Any] = {
    ("spec", "replicas"): 0,
    ("spec", "parallelism"): 0,
    ("status", "desiredNumberScheduled"): 0,
    ("spec", "suspend"): True,
    ("spec", "paused"): True,
}


def wants_none(evidence: Evidence) -> list[Finding]:
    """Return what the object in question states itself: it is being deleted, wants no pod, or its rollout has ended."""
    asked = evidence.pod or next((owner for owner in evidence.owners if reference(owner) == evidence.ref), None)
    ref = evidence.ref
    since, finalizers = (dig(asked, ("metadata", key)) for key in ("deletionTimestamp", "finalizers"))
    if since:
        names = listed(list(map(str, finalizers)) if isinstance(finalizers, list) and finalizers else ["none"])
        return [finding("CC1177.deleted", ref, kind=ref.kind, name=ref.name, since=str(since), finalizers=names)]
    for path, value in WANTS_NONE.items():
        actual = dig(asked, path)
        if evidence.pod is None and type(actual) is type(value) and actual == value:
            text = str(value).lower()
            return [finding("CC1177.none", ref, path, kind=ref.kind, name=ref.name, field=dotted(path), value=text)]
    for condition in maps(dig(asked, ("status", "conditions"))):
        if condition.get("reason") == "ProgressDeadlineExceeded":
            message = quoted(_read_message(condition))
            return [finding("CC1177.deadline", ref, kind=ref.kind, name=ref.name, said=message)]
    return []


def scheduling(evidence: Evidence) -> list[Finding]:
    """Return why the scheduler found no node."""
    conditions = maps(dig(evidence.pod, ("status", "conditions")))
    condition = next((entry for entry in conditions if entry.get("type") == "PodScheduled"), {})
    if condition.get("status") == "True" or dig(evidence.pod, ("spec", "nodeName")):
        return []
    if condition.get("reason") == "SchedulingGated":
        return [finding("CC1161.gated", evidence.ref, ("spec", "schedulingGates"))]
    told = [event.message for event in evidence.pod_events if event.reason == "FailedScheduling"]
    message = _read_message(condition) or next(iter(told), "")
    # without its remarks on preemption, which repeat the reasons
    reasons = re.split(r"\.?\s+(preemption:|no new claims to deallocate)", message, maxsplit=1)[0].rstrip(". ")
    return _match_table(evidence, reasons, SCHEDULING) if message else []


def refused_by_node(evidence: Evidence) -> list[Finding]:
    """Return why a kubelet, or a controller, ended the pod."""
    status = mapping(mapping(evidence.pod).get("status"))
    reason = str(status.get("reason") or "")
    if status.get("phase") != "Failed" or not reason:
        return []
    message = quoted(_read_message(status)) or "nothing more"
    return _match_table(evidence, reason, REFUSED, ("status",), reason=reason, said=message)


def images(evidence: Evidence) -> list[Finding]:
    """Return which image cannot be pulled, on the node or in the VM."""
    out = []
    for container in containers(evidence.pod):
        if container.state == "waiting" and PULLS.search(container.reason):
            # a back-off lacks the registry's message; the event before it has it
            messages = (event.message for event in evidence.pod_events if "Failed to pull image" in event.message)
            words = next((message for message in messages if container.image in message), "")
            message = f"{container.reason}: {container.message} {words}"
            text, image = quoted(" ".join(message.split())), container.image
            out += _match_table(evidence, message, IMAGES, said=text, image=image, container=container.name)
    return out


def created(evidence: Evidence) -> list[Finding]:
    """Return why the runtime could not make the VM or a container in it, except for denials by the policy."""
    for container in containers(evidence.pod):
        message = container.message if container.state == "waiting" else ""
        if container.reason == "CreateContainerConfigError" or (
            container.reason == "CreateContainerError" and _find_missing(message)
        ):
            return [_report_missing_config(evidence, container.name, message)]
        if container.reason in ("CreateContainerError", "RunContainerError") and message and not DENIED.search(message):
            if GUEST_PULL.search(message):
                code = "CC1163.space" if FULL in message else "CC1163.guest"
                return [finding(code, evidence.ref, (), image=container.image, container=container.name)]
            return _match_table(evidence, message, SANDBOX)
    events = [e for e in evidence.pod_events if e.reason in (*SANDBOX_REASONS, "FailedMount", "Failed", "Started")]
    latest = next((e for e in events if not CONSEQUENCE.search(e.message)), next(iter(events), None))
    if latest is None or latest.reason in ("Started", "Failed") or DENIED.search(latest.message):
        return []
    if latest.reason == "FailedMount":
        missing = _find_missing(latest.message)
        code, text = "CC1168.mount" if missing else "CC1168.volume", quoted(latest.message)
        return [finding(code, evidence.ref, (), container="of the pod", said=text, **missing)]
    return _match_table(evidence, latest.message, SANDBOX)


def _find_missing(message: str) -> dict[str, Any]:
    match = CONFIG.search(message) or KEY.search(message)
    if not match:
        return {}
    kind = {"configmap": "ConfigMap", "secret": "Secret"}.get(match["kind"].lower(), match["kind"])
    key = match.groupdict().get("key")
    return {"kind": f"key {key} in {kind}" if key else kind, "name": match["name"]}


def _report_missing_config(evidence: Evidence, container: str, message: str) -> Finding:
    missing = _find_missing(message) or {"kind": "configuration", "name": "that the node can use"}
    return finding("CC1168.config", evidence.ref, (), container=container, **missing)


def own_process(evidence: Evidence) -> list[Finding]:
    """Return which container runs in its VM and ends, or does not become ready, because of its own process."""
    out = []
    for container in containers(evidence.pod):
        if container.name == INITIALIZER or DENIED.search(container.message) or DENIED.search(container.last_message):
            continue
        ended = container.state == "terminated" and container.exit != 0
        if ended or (container.state == "waiting" and container.reason == "CrashLoopBackOff"):
            reason, code = (container.reason, container.exit) if ended else (container.last_reason, container.last_exit)
            variant = "CC1169.oom" if reason == "OOMKilled" else "CC1169.exit"
            out.append(finding(variant, evidence.ref, (), container=container.name, exit=code))
        elif container.state == "running" and not container.ready:
            probe = next((e for e in evidence.pod_events if e.reason == "Unhealthy"), None)
            if probe and not DENIED.search(probe.message):
                name = probe.message.partition(" ")[0].lower()
                out.append(finding("CC1169.probe", evidence.ref, (), container=container.name, probe=name))
    return out


# --- A denial by the policy: the denied request, and the field of pod, VM or Services that differs from the sealed one
#
# Sources: docs/facts/pod-status.md#policy, docs/facts/kata-rules.md#verdicts.
#
# Rule: the agent's message names the request; of the rules' own output after it only names are read. The functions of
# `check` find the field by comparing the running pod with its policy. The pod is compared as a pod of the workload that
# it was made from, whose kind and name its policy has.


NAMED = re.compile(r'io\.kubernetes\.cri\.container-name[\\"]+: [\\"]+([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)[\\"]')
COMMANDS = ("ExecProcessRequest", "WriteStreamRequest", "CloseStdinRequest")
ID_BLOCK = "CC1103"


class Sealed(NamedTuple):
    """The policy of a pod. digest: as the manifest has it."""

    workload: Workload
    checked: Checked
    digest: str
    data: Mapping[str, Any]


def sealed_policy(evidence: Evidence) -> Sealed | None:
    """Return the policy of the pod, None if it has no readable one."""
    value = dig(evidence.pod, ("metadata", "annotations", INITDATA))
    if not isinstance(value, str):
        return None
    try:
        toml = from_annotation(value)
        data = read_policy_data(decode_toml(toml).data[POLICY])
    except (ValueError, KeyError):
        return None
    references = References(evidence.objects)
    tried = [(workload, check_workload(workload, references)) for workload in _list_origins(evidence)]
    workload, checked = min(tried, key=lambda attempt: len(attempt[1].changed))
    return Sealed(workload, checked, digest(toml), data)


def denied_requests(evidence: Evidence) -> list[tuple[str, str]]:
    """Return kind and subject of each request that the policy denies by the cluster's latest messages."""
    messages = [
        (container.name, text)
        for container in containers(evidence.pod)
        for text in (container.message, container.last_message)
    ]
    failed = ("Failed", "FailedCreatePodSandBox", "Unhealthy", "FailedPostStartHook", "FailedPreStopHook", "BackOff")
    messages += [("", event.message) for event in evidence.pod_events if event.reason in failed]
    out: dict[tuple[str, str], None] = {}
    for name, message in messages:
        match = DENIED.search(message)
        if match:
            inside = NAMED.search(message)
            name_of_container = name or (inside[1] if inside else "")
            is_sandbox = any(words in message for words in ("start sandbox", '"sandbox', "pod sandbox"))
            target = "the sandbox" if is_sandbox else "a container"
            out[match[1], f"container {name_of_container}" if name_of_container else target] = None
    named_kinds = {kind for kind, target in out if target != "a container"}
    return [(kind, target) for kind, target in out if target != "a container" or kind not in named_kinds]


def denials(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return the denied requests, and the fields and Services that cause the denials."""
    denied = denied_requests(evidence)
    if not denied:
        return []
    differing = [*differences(evidence, sealed), *services(evidence, sealed)] if sealed else []
    out = []
    for kind, target in denied:
        code = "CC1164.exec" if kind in COMMANDS else "CC1164.known" if differing else "CC1164.unknown"
        out.append(finding(code, evidence.ref, (), kind=kind, what=target))
    return [*out, *differing]


def differences(evidence: Evidence, sealed: Sealed) -> Iterator[Finding]:
    """Yield the fields in which the pod differs from the sealed one, except for names that a controller gives."""
    path = ("metadata", "annotations", INITDATA)
    for field in sealed.checked.changed:
        if field not in IDENTITY.values() and field.rpartition(": ")[2] not in IDENTITY.values():
            yield finding("CC1165", evidence.ref, path, field=field)
    difference = name_difference(evidence.ref.name, sealed.checked.allowed_names)
    if difference:
        yield finding("CC1165", evidence.ref, path, field=difference)


def services(evidence: Evidence, sealed: Sealed) -> list[Finding]:
    """Return the Services whose variables the policy denies."""
    pod = Workload(evidence.pod, (), evidence.ref, ())
    return find_denied_services(pod, evidence.ref.namespace, sealed.data, evidence.objects)


def find_denied_services(workload: Workload, namespace: str, data: Any, objects: Iterable[Any]) -> list[Finding]:
    """Return the Services among some objects whose variables the policy of a workload denies. data: of the policy."""
    links = dig(workload.pod_spec, ("enableServiceLinks",)) is not False
    near = [value for value in objects if is_service(value) and _reaches(reference(value), namespace, links=links)]
    return [
        finding(denied.code, workload.ref, workload.spec_path, service=denied.service, variable=denied.variable)
        for denied in denied_services(near, data, whole=profile_of_data(data).narrowed)
    ]


def _reaches(service: Ref, namespace: str, *, links: bool) -> bool:
    return (service.namespace, service.name) == API_SERVER or (links and service.namespace in ("", namespace))


def vm_differences(evidence: Evidence, sealed: Sealed) -> list[Finding]:
    """Return why the VM differs from the measured one: vCPUs, or the ID block."""
    count = vcpus(sealed.workload)
    pod = Pod(sealed.workload, sealed.checked, count if isinstance(count, int) else 0, sealed.workload.ref)
    out: dict[str, Finding] = {}
    for manifest in evidence.manifests():
        problems = [problem for problem in check_pod(pod, None, manifest) if problem.code == ID_BLOCK]
        if not problems:
            return []
        field = problems[0].message.partition(": ")[2]
        out.setdefault(field, finding("CC1166.block", evidence.ref, ("spec",), field=field, by=""))
    return list(out.values())


def _list_origins(evidence: Evidence) -> Iterator[Workload]:
    """Yield the pod as a pod of each workload that may have made it: of the outermost owner, if one is known."""
    pod, template = evidence.pod, {key: evidence.pod.get(key) for key in ("metadata", "spec")}
    if evidence.owners:
        origin = evidence.owners[-1]
        yield from (place_in_owner(pod, item) for item in workloads_of(origin, (), reference(origin)))
        return
    yield Workload(pod, (), reference(pod), ())
    owner = controller_of(pod)
    for kind in _find_owner_kinds(owner.kind) if owner else ():
        version, path, *_ = KINDS[kind]
        name = owner.name if owner and kind == owner.kind else (owner.name if owner else "").rpartition("-")[0]
        ref = Ref(version, kind, evidence.ref.namespace, name)
        *outer, last = path
        value: Any = {last: template}
        if dig(pod, ("metadata", "annotations", INDEX)) is not None:
            value["completionMode"] = "Indexed"
        for step in reversed(outer):
            value = {step: value}
        whole = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": ref.namespace}, **value}
        yield Workload(whole, (), ref, tuple(path))


def _find_owner_kinds(kind: str) -> tuple[str, ...]:
    """Return the kinds of workload whose pods a controller of this kind may own."""
    outer = {"ReplicaSet": ("Deployment", "ReplicaSet"), "Job": ("Job", "CronJob")}
    return outer.get(kind, (kind,) if kind in mapping(KINDS) else ())


# --- Why an initializer waits: its policy is in no manifest, or the coordinator has no manifest set
#
# Source: docs/facts/pod-status.md#initializer.
#
# Rule: objects do not show which manifest a coordinator has. So a manifest among them counts as the one to set, and a
# ready coordinator counts as one with a manifest.
#
#     policy in a manifest   coordinator's pod   cause
#     no manifest known      not ready           not-ready
#     no manifest known      ready or unknown    unknown
#     in none                any                 not-in-manifest
#     in one                 none, all pods seen no-coordinator
#     in one                 not ready           not-ready
#     in one                 ready or unknown    set


SHORT = 16  # digits of a digest in a sentence


def initializer(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return why the pod's initializer has not ended."""
    container = next((status for status in containers(evidence.pod) if status.name == INITIALIZER), None)
    if container is None:
        return []
    failed = container.last_exit if container.reason == "CrashLoopBackOff" else 0
    if container.state == "terminated":
        failed = container.exit
    if container.state != "running" and not failed:
        return []
    code, values = _find_cause(evidence, sealed.digest if sealed else "")
    out = [finding(code, evidence.ref, (), **values)]
    if failed:
        out.insert(0, finding("CC1167.failed", evidence.ref, (), exit=failed))
    return out


def _find_cause(evidence: Evidence, digest: str) -> tuple[str, dict[str, Any]]:
    where = f"namespace {evidence.ref.namespace}" if evidence.ref.namespace else "what was looked at"
    values: dict[str, Any] = {"digest": digest[:SHORT], "where": where}
    pods = [value for value in evidence.objects if reference(value).kind == "Pod"]
    coordinators = [pod for pod in pods if dig(pod, ("metadata", "labels", POD_ROLE)) == COORDINATOR]
    idle = next((reference(pod).name for pod in coordinators if not is_ready(pod)), "")
    manifests = list(evidence.manifests())
    if manifests and not any(digest in mapping(manifest.get("Policies")) for manifest in manifests):
        return "CC1167.not-in-manifest", values
    if idle:
        return "CC1167.not-ready", {**values, "name": idle}
    if not manifests:
        return "CC1167.unknown", values
    return ("CC1167.set" if coordinators or len(pods) < 2 else "CC1167.no-coordinator"), values


# --- The stages of a pod's start in their order, and the first one with a cause
#
#     stage                        looked at                                        findings
#     the pod is made              events and conditions of its controllers         CC1160
#     a node takes it              condition PodScheduled, events                   CC1161, CC1162
#     its VM and containers start  container statuses, events, policy, Services     CC1163 to CC1168
#     the coordinator accepts it   the initializer's status, manifests              CC1167
#     its programs run             container statuses                               CC1169
#     a pod is wanted              spec and status of the object in question        CC1177
#
# Rule: a later stage is examined only if the earlier ones have no cause, because its messages are then older.


def why(evidence: Evidence) -> list[Finding]:
    """Return the causes, or one finding of severity info for a pod that runs."""
    if evidence.pod is None:
        causes = admission(evidence) or scheduling(evidence) or created(evidence)
        return causes or wants_none(evidence) or [_report_unknown(evidence)]
    if is_ready(evidence.pod):
        return [finding("CC1171", evidence.ref, ("status",), state=state_of(evidence))]
    sealed = sealed_policy(evidence)
    return (
        refused_by_node(evidence)
        or scheduling(evidence)
        or images(evidence)
        or denials(evidence, sealed)
        or _find_start_causes(evidence, sealed)
        or initializer(evidence, sealed)
        or own_process(evidence)
        or _find_suspects(evidence, sealed)
        or wants_none(evidence)
        or plain(evidence)
        or [_report_unknown(evidence)]
    )


def _find_start_causes(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    causes = created(evidence)
    if sealed and any(cause.code == "CC1166" for cause in causes):
        return [*causes, *vm_differences(evidence, sealed)]
    return causes


def _find_suspects(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return the faults that will keep the pod from starting and have no message yet; nothing if its containers run."""
    if sealed is None or any(
        container.state == "running" or container.restarts for container in containers(evidence.pod)
    ):
        return []
    return [*differences(evidence, sealed), *services(evidence, sealed), *vm_differences(evidence, sealed)]


def plain(evidence: Evidence) -> list[Finding]:
    """Return CC1173 for a pod that is not confidential, or not sealed: Contrast causes nothing else there."""
    name = str(dig(evidence.pod, ("spec", "runtimeClassName")) or "")
    if not isinstance(parse_runtime_class(name), Platform):
        return [finding("CC1173.no-class", evidence.ref, ("spec", "runtimeClassName"))]
    if not dig(evidence.pod, ("metadata", "annotations", INITDATA)):
        return [finding("CC1173.no-policy", evidence.ref, ("metadata", "annotations", INITDATA), name=name)]
    return []


def _report_unknown(evidence: Evidence) -> Finding:
    return finding("CC1170", evidence.ref, ("status",), state=state_of(evidence))


def state_of(evidence: Evidence) -> str:
    """Describe the pod in the words of its status."""
    if evidence.pod is None:
        return "there is no pod" if not evidence.pod_events else "the pod is gone"
    phase = str(mapping(evidence.pod.get("status")).get("phase") or "no phase")
    waiting = [
        f"{container.name} {container.reason or container.state or 'waiting'}"
        for container in containers(evidence.pod)
        if not container.ready
    ]
    return f"{phase}{', ' if waiting else ''}{', '.join(waiting)}"


# --- Why a pod does not start, as text and JSON: the pod with its state, and a block for each cause
#
#     Pod shop/web-7c5ddbdf54-x2v9k: Pending, web CreateContainerError
#
#     CC1164 the policy denies CreateContainerRequest of container web
#       remedy: the findings beside this one say by which field; render again with what the cluster really runs
#
# Rule: names and messages come from the cluster, so their control characters are made visible.


def diagnosis_text(ref: Ref, state: str, causes: Sequence[Finding]) -> str:
    """Write a heading, and each cause with its remedy."""
    lines = [f"{ref.kind} {ref}: {state}"]
    for cause in causes:
        where = f" [{dotted(cause.path)}]" if cause.path and cause.path != ("status",) else ""
        lines += ["", f"{cause.code}{where} {cause.message}"]
        lines += [f"  remedy: {cause.hint}"] if cause.hint else []
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def diagnosis_json(ref: Ref, state: str, causes: Sequence[Finding]) -> str:
    """Write `{"version": 1, "pod": {...}, "state": ..., "causes": [{"code", "message", "remedy", "path"}]}`."""
    told = [
        {"code": cause.code, "message": on_one_line(cause.message), "remedy": cause.hint, "path": dotted(cause.path)}
        for cause in causes
    ]
    pod = {"kind": ref.kind, "namespace": ref.namespace, "name": on_one_line(ref.name)}
    return json.dumps({"version": 1, "pod": pod, "state": on_one_line(state), "causes": told}, indent=2) + "\n"
