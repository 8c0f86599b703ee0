"""The effects of a rule on a pod that does not use it yet, and the names of new volumes."""

import re
from collections.abc import Collection, Sequence
from typing import Any, Literal

from krm_function.contrast.injected import LONGEST_NAME, read_secure_pv
from krm_function.contrast.owned import VOLUMES
from krm_function.findings import Cause, Finding, Path, finding
from krm_function.kubernetes.objects import mapping, maps
from krm_function.kubernetes.workload import Draft, Workload, claim_names, indexes_named
from krm_function.record import NamedTuple

# --- The effects of a rewriting rule on a pod that does not use it yet: for commands that offer it
#
# Rule: a record only. A choice is an offer: it changes nothing, and its consequence is for the reader.


RuleName = Literal[
    "moveAnnotations",
    "renameGPUs",
    "splitSubPaths",
    "securePV",
    "imageVolumes",
    "hostPathCaches",
    "memory",
    "leastVCPUs",
]


class RuleChoice(NamedTuple):
    """A rule that would change a pod. value: the value to write; for a rule with a list, one entry of the list.

    consequence: gains and losses of the pod, as a sentence without a full stop; "" if this pod forbids the value.
    """

    rule: RuleName
    value: Any
    consequence: str


# --- A volume of a pod by its name, which the pod has


def volume_path(workload: Workload, name: str) -> Path:
    """Return the path of a volume, or of the claim template in place of it."""
    if name in claim_names(workload):
        return (*workload.root, "spec", "volumeClaimTemplates", claim_names(workload).index(name))
    return (*workload.spec_path, "volumes", indexes_named(workload.pod_spec.get("volumes"), name)[0])


def source_of(workload: Workload, name: str, source: str) -> dict[str, Any]:
    """Return the fields of a volume's source."""
    return mapping(mapping(workload.at(volume_path(workload, name))).get(source))


def volume_finding(workload: Workload, volume: str, cause: Cause, **values: Any) -> Finding:
    """Make the finding about a volume that a rule leaves as it is."""
    return finding(cause.code, workload.ref, volume_path(workload, volume), volume=volume, **values, **cause.values)


# --- An amount of a resource of the pod as a whole, in spec.resources


def write_amount(draft: Draft, fields: Sequence[str], resource: str, figure: str, code: str, reason: str) -> None:
    """Write an amount into some fields, requests or limits, and leave other resources there."""
    path = (*draft.workload.spec_path, "resources")
    if not isinstance(draft.workload.at(path), dict):
        draft.edit("set", path, {field: {resource: figure} for field in fields}, code, reason)
        return
    for field in fields:
        present = draft.workload.at((*path, field))
        if not isinstance(present, dict):
            draft.edit("set", (*path, field), {resource: figure}, code, reason)
        elif present.get(resource) != figure:
            draft.edit("set", (*path, field, resource), figure, code, reason)


# --- Names of new volumes: readable, the same in every render, and never one that the pod has
#
# Rule: a name is `<owner>-<part>`, the part in lower-case letters, digits and hyphens. If that is taken, or too long
# for a volume's name, it is shortened and gets a digest of owner and part.


DIGITS = 8  # of the digest


def taken_names(workload: Workload) -> set[str]:
    """Return the names that no new volume of a pod may have: its volumes and claims, and those that a render adds."""
    names = {str(volume.get("name")) for volume in maps(workload.pod_spec.get("volumes"))}
    mounted = {str(mount.get("name")) for container in workload.all_containers for mount in container.mounts}
    secure_pv = read_secure_pv(workload.annotations)
    return names.union(claim_names(workload), mounted, VOLUMES, secure_pv or ())


def free_name(owner: str, part: str, in_use: Collection[str]) -> str:
    """Make the name of a new volume.

    >>> free_name("tmp", "/var/Cache", ()), free_name("tmp", "a", {"tmp-a"})
    ('tmp-var-cache', 'tmp-a-0c81a1fb')
    """
    plain = re.sub("-+", "-", f"{owner}-{re.sub('[^a-z0-9]+', '-', part.lower())}").strip("-")
    if len(plain) <= LONGEST_NAME and plain != owner and plain not in in_use:
        return plain
    import hashlib

    for number in range(len(in_use) + 1):
        digest = hashlib.sha256(f"{owner}\0{part}\0{number}".encode()).hexdigest()[:DIGITS]
        name = f"{plain[: LONGEST_NAME - DIGITS - 1].rstrip('-')}-{digest}"
        if name not in in_use:
            return name
    raise AssertionError("more names are taken than there are")
