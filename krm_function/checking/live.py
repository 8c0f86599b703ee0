"""Compares the Contrast workloads and the manifest of rendered output with those that a cluster has.

Rule of this file: pure; the objects of the cluster come in as plain data. Policies are compared by their digests, and
where these differ, the fields are named; no value is shown.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.checking.drift import differing_fields
from krm_function.checking.seal_checks import check_workload
from krm_function.findings import Finding, Ref, finding
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import References, decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.initdata import POLICY
from krm_function.stages.manifest_config_map import manifest_of

SHORT = 16  # digits of a digest in a sentence


def compare_live(
    workloads: Iterable[Workload], manifests: Iterable[tuple[Ref, Any]], live: Mapping[Ref, Any], references: References
) -> list[Finding]:
    """A finding for each difference. live: the objects of the cluster by what they are in the output; None: absent."""
    findings: list[Finding] = []
    for workload in workloads:
        findings += _compared(workload, live.get(workload.ref), references)
    for ref, value in manifests:
        there = live.get(ref)
        if there is None:
            findings.append(finding("CC1120.absent", ref))
        elif manifest_of(value) != manifest_of(there):
            findings.append(finding("CC1120.manifest", ref))
    return findings


def _compared(workload: Workload, value: Any, references: References) -> list[Finding]:
    """Compare one workload with the one in the cluster, of the same kind and name."""
    if value is None:
        return [finding("CC1120.absent", workload.ref)]
    there = Workload(value, (), workload.ref)
    if there.runtime_class != workload.runtime_class:
        return [finding("CC1120.class", workload.ref, found=there.runtime_class, wanted=workload.runtime_class)]
    ours, theirs = (str(one.annotations.get(INITDATA)) for one in (workload, there))
    try:
        wanted, found = (from_annotation(text) for text in (ours, theirs))
        if wanted == found:
            return list(check_workload(there, references).findings)
        data = [read_policy_data(decode_toml(toml).data[POLICY]) for toml in (wanted, found)]
        fields = ", ".join(differing_fields(data[0], data[1]))
        digests = [digest(toml)[:SHORT] for toml in (wanted, found)]
    except (ValueError, KeyError):
        return [finding("CC1120.unreadable", workload.ref)]
    return [finding("CC1120.policy", workload.ref, wanted=digests[0], found=digests[1], fields=fields)]
