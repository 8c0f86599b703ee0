"""Replace an emptyDir that is mounted by subPath only by one emptyDir for each subPath."""

from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any

from krm_function.adapt.choices import RuleChoice, free_name, source_of, taken_names, volume_finding, volume_path
from krm_function.config.generate import DIVIDE
from krm_function.contrast.injected import read_secure_pv
from krm_function.contrast.owned import VOLUMES
from krm_function.findings import Cause, Finding
from krm_function.kubernetes.objects import maps
from krm_function.kubernetes.quantity import units
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import (
    Draft,
    MountOf,
    Workload,
    claim_names,
    indexes_named,
    mounts_of,
    volume_sources,
)
from krm_function.text.changes import ABSENT

# The kubelet makes each subPath a directory of the volume and mounts that (docs/facts/kubernetes.md#parts-of-volumes).
# Containers with the same subPath share a directory, and containers with another one do not see it: the same holds for
# one volume for each. Truth table, first row that fits:
#
#     an emptyDir of the pod                                 is
#     of a name that Contrast gives a meaning                left: the initializer mounts it
#     without a mount by subPath                             left: there is nothing to split
#     mounted with a subPathExpr                             refused: known only in the running container
#     mounted as a whole as well, or at `.`                  refused: the whole has all parts
#     mounted at a path that Kubernetes refuses              refused
#     mounted at a path and at one below it                  refused: the second is in the first
#     named by an annotation that tools read                 refused: it would name nothing
#     with a sizeLimit, several paths, no `divide`           refused: the limit is for all of them together
#     any other                                              split


CODE = "CC0831"
EMPTY_DIR = "emptyDir"
MEBIBYTE = 2**20
# annotations whose values are lists of volumes by name: docs/facts/kubernetes.md#parts-of-volumes
NAMING_VOLUMES = (
    "backup.velero.io/backup-volumes",
    "backup.velero.io/backup-volumes-excludes",
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
)


def is_split(workload: Workload, volume: str) -> bool:
    """Tell whether a volume is an emptyDir of the pod that is mounted by subPath somewhere."""
    indexes = indexes_named(workload.pod_spec.get("volumes"), volume)
    reserved = (*claim_names(workload), *VOLUMES, *(read_secure_pv(workload.annotations) or ()))
    if len(indexes) != 1 or volume in reserved:
        return False
    if volume_sources(maps(workload.pod_spec.get("volumes"))[indexes[0]]) != (EMPTY_DIR,):
        return False
    return any(mount.mount.get("subPath") or mount.mount.get("subPathExpr") for mount in mounts_of(workload, volume))


def sub_path(mount: Mapping[str, Any]) -> str:
    """Return the directory of the volume that a mount shows, "." for all of it."""
    return normpath(str(mount.get("subPath") or "."))


def sub_paths(workload: Workload, volume: str) -> tuple[str, ...]:
    """Return the different directories of a volume that are mounted, in the order of containers' start."""
    return tuple(dict.fromkeys(sub_path(mount.mount) for mount in mounts_of(workload, volume)))


def refused(workload: Workload, volume: str, *, divide: bool) -> Cause | None:
    """Return why a volume of which `is_split` is true is not split; None if it is. divide: a sizeLimit is divided."""
    return _refuse_mounts(mounts_of(workload, volume)) or _refuse_volume(workload, volume, divide=divide)


def _refuse_mounts(mounts: Sequence[MountOf]) -> Cause | None:
    for mount in mounts:
        if mount.mount.get("subPathExpr"):
            return Cause("CC0836.expression", {"container": mount.container.name})
    for mount in mounts:
        if sub_path(mount.mount) == ".":
            return Cause("CC0836.whole", {"container": mount.container.name})
        written = str(mount.mount["subPath"])
        if written.startswith("/") or ".." in written.split("/"):
            return Cause("CC0836.path", {"place": written})
    paths = [sub_path(mount.mount) for mount in mounts]
    for path in paths:
        for below in paths:
            if below.startswith(f"{path}/"):
                return Cause("CC0836.nested", {"place": path, "below": below})
    return None


def _refuse_volume(workload: Workload, volume: str, *, divide: bool) -> Cause | None:
    for key in NAMING_VOLUMES:
        names = str(workload.annotations.get(key) or "").split(",")
        if volume in map(str.strip, names):
            return Cause("CC0836.named", {"key": key})
    count = len(sub_paths(workload, volume))
    if has_limit(workload, volume) and not divide:
        return Cause("CC0836.limit", {"count": count})
    if has_limit(workload, volume) and divided(source_of(workload, volume, EMPTY_DIR).get("sizeLimit"), count) is None:
        return Cause("CC0836.small", {"count": count})
    return None


def has_limit(workload: Workload, volume: str) -> bool:
    """Tell whether several paths share a sizeLimit; zero and less count as none (docs/facts/kubernetes.md)."""
    limit = source_of(workload, volume, EMPTY_DIR).get("sizeLimit")
    try:
        return limit is not None and len(sub_paths(workload, volume)) > 1 and units(limit) > 0
    except ValueError:
        return True


def divided(limit: Any, count: int) -> str | None:
    """Return the size of each of some volumes, so that together they keep within the limit; None for nothing.

    Whole mebibytes, or bytes if it is less than one.

    >>> divided("1Gi", 3), divided("1Mi", 2), divided("1", 2), divided("much", 2)
    ('341Mi', '524288', None, None)
    """
    try:
        size = units(limit) // count
    except ValueError:
        return None
    if size < 1:
        return None
    return f"{size // MEBIBYTE}Mi" if size >= MEBIBYTE else str(size)


def split(draft: Draft, volume: str, names: Mapping[str, str]) -> None:
    """Put the new volumes in place of the old one, and mount each where its directory was mounted.

    names: of the new volumes, in order, by subPath as `sub_paths` has it.
    """
    reason = f"emptyDir {volume} is mounted by subPath, which would be a directory of the node"
    limited = has_limit(draft.workload, volume)
    for mount in mounts_of(draft.workload, volume):
        path = (*mount.container.path, "volumeMounts", mount.position)
        draft.edit("set", (*path, "name"), names[sub_path(mount.mount)], CODE, reason)
        draft.edit("remove", (*path, "subPath"), ABSENT, CODE, reason)
    empty_dir = dict(source_of(draft.workload, volume, EMPTY_DIR))
    if limited:
        empty_dir["sizeLimit"] = divided(empty_dir["sizeLimit"], len(names))
    *volumes, index = volume_path(draft.workload, volume)
    for at, name in enumerate(names.values()):
        entry = {"name": name, EMPTY_DIR: dict(empty_dir)}
        draft.edit("insert" if at else "set", (*volumes, int(index) + at), entry, CODE, reason)


# --- Split sub paths: an emptyDir that is mounted by subPath only becomes one emptyDir for each subPath
#
# Rule: which volumes, and their names; what forbids it, and what a pod becomes, is in
# adapt/split_sub_paths.py. With a refusal of one volume the others are split.


def split_sub_paths(workload: Workload, *, divide: bool) -> Outcome:
    """Split the volumes of one workload. divide: a sizeLimit is divided, else CC0836."""
    draft = Draft(workload)
    findings: list[Finding] = []
    for volume in _find_candidates(workload):
        cause = refused(draft.workload, volume, divide=divide)
        if cause is not None:
            findings.append(volume_finding(workload, volume, cause))
            continue
        in_use = taken_names(draft.workload)
        names: dict[str, str] = {}
        for part in sub_paths(draft.workload, volume):
            names[part] = free_name(volume, part, in_use)
            in_use.add(names[part])
        split(draft, volume, names)
    return Outcome(tuple(draft.edits), tuple(findings))


def split_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield what the rule would do for a workload, for each of its volumes that it would split."""
    for volume in _find_candidates(workload):
        if refused(workload, volume, divide=True) is None:
            count = len(sub_paths(workload, volume))
            limited = has_limit(workload, volume)
            size = ", each with its part of the sizeLimit" if limited else ""
            result = "one emptyDir without subPath" if count == 1 else f"{count} emptyDirs, one for each subPath{size}"
            yield RuleChoice("splitSubPaths", DIVIDE if limited else True, f"emptyDir {volume} becomes {result}")


def _find_candidates(workload: Workload) -> list[str]:
    names = [str(volume.get("name")) for volume in maps(workload.pod_spec.get("volumes"))]
    return [name for name in dict.fromkeys(names) if is_split(workload, name)]
