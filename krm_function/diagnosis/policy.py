"""A denial by the policy: what was denied, and which field of pod, VM or Services is not what was sealed.

Sources: docs/facts/pod-status.md#policy, docs/facts/kata-rules.md#verdicts.

Rule of this file: the agent's message says which request; of what the rules print behind it only names are read. The
field is found by comparing the pod that runs with the policy that it carries, by the functions of `check`. The pod is
compared as one of the workload that it was made of, whose kind and name its policy has.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.checking.gather_pods import Pod, check_pod
from krm_function.checking.pod_as_created import in_its_owner
from krm_function.checking.seal_checks import Checked, check_workload
from krm_function.diagnosis.evidence import Evidence
from krm_function.diagnosis.statuses import containers
from krm_function.findings import Finding, Ref, finding
from krm_function.model.controller import controller_of
from krm_function.model.cpu_limits import vcpus
from krm_function.model.kinds import KINDS
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.workload import INITDATA, Workload, workloads_of
from krm_function.policy import References, decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.allowed_names import name_difference
from krm_function.policy.compare.pod_fields import IDENTITY
from krm_function.policy.controlled_fields import INDEX
from krm_function.policy.initdata import POLICY
from krm_function.policy.rules_mismatch import profile_of_data
from krm_function.policy.service_variables import denied_services, is_service
from krm_function.record import NamedTuple
from krm_function.replay.log_text import DENIED

NAMED = re.compile(r'io\.kubernetes\.cri\.container-name[\\"]+: [\\"]+([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)[\\"]')
COMMANDS = ("ExecProcessRequest", "WriteStreamRequest", "CloseStdinRequest")
ID_BLOCK = "CC1103"


class Sealed(NamedTuple):
    """The policy that a pod carries. digest: as the manifest has it."""

    workload: Workload
    checked: Checked
    digest: str
    data: Mapping[str, Any]


def sealed_policy(evidence: Evidence) -> Sealed | None:
    """Return the policy of the pod, None for a pod without one that can be read."""
    value = dig(evidence.pod, ("metadata", "annotations", INITDATA))
    if not isinstance(value, str):
        return None
    try:
        toml = from_annotation(value)
        data = read_policy_data(decode_toml(toml).data[POLICY])
    except (ValueError, KeyError):
        return None
    references = References(evidence.objects)
    tried = [(one, check_workload(one, references)) for one in _as_made(evidence)]
    workload, checked = min(tried, key=lambda one: len(one[1].moved))
    return Sealed(workload, checked, digest(toml), data)


def denied_requests(evidence: Evidence) -> list[tuple[str, str]]:
    """Return kind of request, and of what, for each that the policy denies by the latest words of the cluster."""
    messages = [(one.name, text) for one in containers(evidence.pod) for text in (one.message, one.last_message)]
    failed = ("Failed", "FailedCreatePodSandBox", "Unhealthy", "FailedPostStartHook", "FailedPreStopHook", "BackOff")
    messages += [("", one.message) for one in evidence.pod_events if one.reason in failed]
    out: dict[tuple[str, str], None] = {}
    for name, message in messages:
        match = DENIED.search(message)
        if match:
            inside = NAMED.search(message)
            sandbox = "start sandbox" in message or '"sandbox' in message or "pod sandbox" in message
            who = name or (inside[1] if inside else "")
            out[(match[1], f"container {who}" if who else "the sandbox" if sandbox else "a container")] = None
    known = {kind for kind, what in out if what != "a container"}
    return [(kind, what) for kind, what in out if what != "a container" or kind not in known]


def denials(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return what the policy denies, and the fields and Services that make it so."""
    denied = denied_requests(evidence)
    if not denied:
        return []
    differing = [*differences(evidence, sealed), *services(evidence, sealed)] if sealed else []
    out = []
    for kind, what in denied:
        code = "CC1164.exec" if kind in COMMANDS else "CC1164.known" if differing else "CC1164.unknown"
        out.append(finding(code, evidence.ref, (), kind=kind, what=what))
    return [*out, *differing]


def differences(evidence: Evidence, sealed: Sealed) -> Iterator[Finding]:
    """Yield the fields in which the pod is not what was sealed. The names that a controller gives are none."""
    path = ("metadata", "annotations", INITDATA)
    for field in sealed.checked.moved:
        if field not in IDENTITY.values() and field.rpartition(": ")[2] not in IDENTITY.values():
            yield finding("CC1165", evidence.ref, path, field=field)
    difference = name_difference(evidence.ref.name, sealed.checked.allowed_names)
    if difference:
        yield finding("CC1165", evidence.ref, path, field=difference)


def services(evidence: Evidence, sealed: Sealed) -> list[Finding]:
    """Return the Services whose variables the policy denies."""
    links = dig(evidence.pod, ("spec", "enableServiceLinks")) is not False
    seen = [one for one in evidence.services if is_service(one) and (links or _is_api_server(one))]
    whole = profile_of_data(sealed.data).narrowed
    return [
        finding(one.code, evidence.ref, ("spec",), service=one.service, variable=one.variable)
        for one in denied_services(seen, sealed.data, whole=whole)
    ]


def vm_differences(evidence: Evidence, sealed: Sealed) -> list[Finding]:
    """Return what makes the VM another one than was measured: vCPUs, or the ID block."""
    count = vcpus(sealed.workload)
    pod = Pod(sealed.workload, sealed.checked, count if isinstance(count, int) else 0, sealed.workload.ref)
    out: dict[str, Finding] = {}
    for manifest in evidence.manifests:
        found = [one for one in check_pod(pod, None, manifest) if one.code == ID_BLOCK]
        if not found:
            return []
        field = found[0].message.partition(": ")[2]
        out.setdefault(field, finding("CC1166.block", evidence.ref, ("spec",), field=field, by=""))
    return list(out.values())


def _is_api_server(service: Any) -> bool:
    ref = reference(service)
    return (ref.namespace, ref.name) == ("default", "kubernetes")


def _as_made(evidence: Evidence) -> Iterator[Workload]:
    """Yield the pod as one of each workload that it may have been made of: of the outermost owner, if any is known."""
    pod, template = evidence.pod, {key: evidence.pod.get(key) for key in ("metadata", "spec")}
    if evidence.owners:
        origin = evidence.owners[-1]
        yield from (in_its_owner(pod, one) for one in workloads_of(origin, (), reference(origin)))
        return
    yield Workload(pod, (), reference(pod), ())
    owner = controller_of(pod)
    for kind in _outer(owner.kind) if owner else ():
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


def _outer(kind: str) -> tuple[str, ...]:
    """Return the kinds of which a workload may be whose pods a controller of a kind owns."""
    outer = {"ReplicaSet": ("Deployment", "ReplicaSet"), "Job": ("Job", "CronJob")}
    return outer.get(kind, (kind,) if kind in mapping(KINDS) else ())
