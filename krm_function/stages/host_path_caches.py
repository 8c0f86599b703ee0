"""Host path caches: a hostPath volume of a path that the configuration names becomes an emptyDir.

Rule of this file: the named paths and no others, compared as the kubelet cleans them. What of a volume forbids it is in
model/rewriting/node_cache.py.
"""

from collections.abc import Iterator, Sequence

from krm_function.api.records import Generate
from krm_function.findings import Finding, finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.mount_points import mount_point
from krm_function.model.pods import indexes_named
from krm_function.model.rewriting.node_cache import host_paths, refused, replace
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload


def host_path_caches(workload: Workload, paths: Sequence[str]) -> Outcome:
    """Rewrite the caches of one workload. paths: as the configuration has them."""
    draft = Draft(workload)
    findings: list[Finding] = []
    wanted = set(map(mount_point, paths))
    for volume, path in host_paths(workload).items():
        if mount_point(path) not in wanted:
            continue
        cause = refused(workload, volume)
        if cause is None:
            replace(draft, volume)
        else:
            at = (*workload.spec_path, "volumes", indexes_named(workload.pod_spec.get("volumes"), volume)[0])
            findings.append(finding(cause.code, workload.ref, at, volume=volume, place=path, **cause.values))
    return Outcome(tuple(draft.edits), tuple(findings))


def idle_paths(workloads: Sequence[Workload], generate: Generate) -> Iterator[Finding]:
    """Yield CC0840 for each path of the configuration that no pod has."""
    present = {mount_point(path) for one in workloads for path in host_paths(one).values()}
    for index, path in enumerate(generate.volumes.cache_paths):
        if mount_point(path) not in present:
            at = ("spec", "volumes", "hostPathCaches", "paths", index)
            yield finding("CC0840.path", generate.ref, at, index=index, place=path)


def cache_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield what the rule would do for each hostPath volume of a workload that could be a cache."""
    for volume, path in host_paths(workload).items():
        if path and refused(workload, volume) is None:
            lost = "each pod makes its content anew, on the disk of its VM, and shares it with no other pod"
            yield RuleChoice("hostPathCaches", path, f"hostPath {path} becomes the emptyDir {volume}: {lost}")
