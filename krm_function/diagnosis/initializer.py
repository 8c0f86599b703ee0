"""Why an initializer waits: its policy is in no manifest, or the coordinator has none that is set.

Source: docs/facts/pod-status.md#initializer.

Rule of this file: which manifest a coordinator has cannot be read out of objects; so a manifest among them says what is
to be set, and whether its pod is ready says whether any is.

    policy in a manifest   coordinator's pod   cause
    no manifest known      not ready           not-ready
    no manifest known      ready or unknown    unknown
    in none                any                 not-in-manifest
    in one                 none, all pods seen no-coordinator
    in one                 not ready           not-ready
    in one                 ready or unknown    set
"""

from typing import Any

from krm_function.diagnosis.evidence import Evidence, is_ready
from krm_function.diagnosis.policy import Sealed
from krm_function.diagnosis.statuses import INITIALIZER, containers
from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.workload import POD_ROLE

SHORT = 16  # digits of a digest in a sentence


def initializer(evidence: Evidence, sealed: Sealed | None) -> list[Finding]:
    """Return why the pod's initializer has not ended."""
    one = next((each for each in containers(evidence.pod) if each.name == INITIALIZER), None)
    if one is None:
        return []
    failed = one.exit if one.state == "terminated" else one.last_exit if one.reason == "CrashLoopBackOff" else 0
    waits = one.state == "running"
    if not waits and not failed:
        return []
    code, values = _cause(evidence, sealed.digest if sealed else "")
    out = [finding(code, evidence.ref, (), **values)]
    if failed:
        out.insert(0, finding("CC1167.failed", evidence.ref, (), exit=failed))
    return out


def _cause(evidence: Evidence, digest: str) -> tuple[str, dict[str, Any]]:
    where = f"namespace {evidence.ref.namespace}" if evidence.ref.namespace else "what was looked at"
    values: dict[str, Any] = {"digest": digest[:SHORT], "where": where}
    coordinators = [
        one
        for one in evidence.objects
        if reference(one).kind == "Pod" and dig(one, ("metadata", "labels", POD_ROLE)) == "coordinator"
    ]
    idle = next((reference(one).name for one in coordinators if not is_ready(one)), "")
    if evidence.manifests and not any(digest in mapping(one.get("Policies")) for one in evidence.manifests):
        return "CC1167.not-in-manifest", values
    if idle:
        return "CC1167.not-ready", {**values, "name": idle}
    if not evidence.manifests:
        return "CC1167.unknown", values
    many = sum(reference(one).kind == "Pod" for one in evidence.objects) > 1
    return ("CC1167.set" if coordinators or not many else "CC1167.no-coordinator"), values
