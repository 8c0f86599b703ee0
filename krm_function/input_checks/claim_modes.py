"""Find claims of the input that a pod has as a block device, and that are file systems.

Rule of this file: the kubelet compares the two and never starts such a pod (docs/facts/kubernetes.md#claims), so it is
an error wherever the claim is in the input, whatever rules are on.
"""

from collections.abc import Iterator, Sequence

from krm_function.findings import Finding, finding
from krm_function.model.claim_objects import ClaimObject, claim_objects, claims_of, device_volumes
from krm_function.model.pods import claim_names, indexes_named, may_have_devices
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload


def claim_findings(resources: Sequence[Resource], workloads: Sequence[Workload]) -> list[Finding]:
    """Return CC0830 for all workloads of rendered output, with their places."""
    if not any(map(may_have_devices, workloads)):
        return []
    claims = claim_objects(resources)
    return [one.placed(found) for one in workloads for found in claim_modes(one, claims)]


def claim_modes(workload: Workload, claims: Sequence[ClaimObject], namespace: str = "") -> Iterator[Finding]:
    """Yield CC0830 for each such claim of one workload. namespace: of objects that name none, "" for any."""
    for volume in device_volumes(workload):
        for claim in claims_of(workload, volume, claims, namespace):
            if not claim.is_block:
                if volume in claim_names(workload):
                    index = claim_names(workload).index(volume)
                    path = (*workload.root, "spec", "volumeClaimTemplates", index)
                else:
                    index = indexes_named(workload.pod_spec.get("volumes"), volume)[0]
                    path = (*workload.spec_path, "volumes", index)
                yield finding("CC0830", workload.ref, path, volume=volume, claim=claim.ref.name)
