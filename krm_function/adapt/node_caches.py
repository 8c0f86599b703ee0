"""Replace a cache in a directory of the node by an emptyDir."""

from collections.abc import Iterator, Sequence

from krm_function.adapt.choices import RuleChoice, source_of, volume_finding, volume_path
from krm_function.config.generate import Generate
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import mapping, maps
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import (
    Draft,
    Workload,
    claim_names,
    covers,
    mount_point,
    mounts_of,
    volume_sources,
)
from krm_function.text.changes import ABSENT

# Truth table, first row that fits:
#
#     a hostPath volume of the pod                            becomes an emptyDir
#     that no container mounts                                no: it is left as it is
#     of a type other than DirectoryOrCreate and none         refused: the pod needs the files there
#     at or below a directory of the system                   refused: sockets, devices, configuration of the node
#     that every container mounts readOnly                    refused: it would always be empty
#     any other                                               yes: missing files are made anew


CODE = "CC0834"
HOST_PATH = "hostPath"
SYSTEM = ("/run", "/var/run", "/etc", "/proc", "/sys", "/dev", "/opt/cni", "/var/lib/kubelet")
MADE_ON_DEMAND = (None, "", "DirectoryOrCreate")


def host_paths(workload: Workload) -> dict[str, str]:
    """Return the hostPath volumes of a pod that a container mounts: name -> path."""
    return {
        name: str(mapping(volume.get(HOST_PATH)).get("path") or "")
        for volume in maps(workload.pod_spec.get("volumes"))
        if volume_sources(volume) == (HOST_PATH,)
        and (name := str(volume.get("name"))) not in claim_names(workload)
        and mounts_of(workload, name)
    }


def refused(workload: Workload, volume: str) -> Cause | None:
    """Return why a mounted hostPath volume does not become an emptyDir; None if it does."""
    source = source_of(workload, volume, HOST_PATH)
    kind = source.get("type")
    if kind not in MADE_ON_DEMAND:
        return Cause("CC0838.type", {"type": kind})
    path = mount_point(str(source.get("path")))
    if path == "/" or any(covers(directory, path) for directory in SYSTEM):
        return Cause("CC0838.system")
    if all(mount.mount.get("readOnly") for mount in mounts_of(workload, volume)):
        return Cause("CC0838.read-only")
    return None


def replace(draft: Draft, volume: str) -> None:
    """Write an emptyDir in place of the hostPath."""
    path = volume_path(draft.workload, volume)
    reason = f"cache {volume} is made anew in each pod, in place of a directory of the node"
    draft.edit("set", (*path, "emptyDir"), {}, CODE, reason)
    draft.edit("remove", (*path, HOST_PATH), ABSENT, CODE, reason)


# --- Host path caches: a hostPath volume of a path that the configuration names becomes an emptyDir
#
# Rule: the named paths and no others, compared as the kubelet cleans them.


def host_path_caches(workload: Workload, paths: Sequence[str]) -> Outcome:
    """Rewrite the caches of one workload. paths: as the configuration has them."""
    draft = Draft(workload)
    findings: list[Finding] = []
    cache_paths = set(map(mount_point, paths))
    for volume, path in host_paths(workload).items():
        if mount_point(path) not in cache_paths:
            continue
        cause = refused(workload, volume)
        if cause is None:
            replace(draft, volume)
        else:
            findings.append(volume_finding(workload, volume, cause, place=path))
    return Outcome(tuple(draft.edits), tuple(findings))


def idle_paths(workloads: Sequence[Workload], generate: Generate) -> Iterator[Finding]:
    """Yield CC0840 for each path of the configuration that no pod has."""
    present = {mount_point(path) for workload in workloads for path in host_paths(workload).values()}
    for index, path in enumerate(generate.volumes.cache_paths):
        if mount_point(path) not in present:
            at = ("spec", "volumes", "hostPathCaches", "paths", index)
            yield finding("CC0840.path", generate.ref, at, index=index, place=path)


def cache_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield the rule for each hostPath volume of a workload that could be a cache."""
    for volume, path in host_paths(workload).items():
        if path and refused(workload, volume) is None:
            lost = "each pod makes its content anew, on the disk of its VM, and shares it with no other pod"
            yield RuleChoice("hostPathCaches", path, f"hostPath {path} becomes the emptyDir {volume}: {lost}")
