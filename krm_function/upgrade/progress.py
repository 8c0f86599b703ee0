"""How far an upgrade is, by what a cluster shows.

    wave          done                                              open
    runtime       each node with an old handler has the new one     one has not
    classes       each new class is there                           one is not
    coordinator   its template has the new class, all pods run it   otherwise
    workloads     the same of all the others                        otherwise

`render`, `manifest` and `prune` leave nothing in a cluster by which they could be told: "unknown". So is what the
cluster does not show.

Rule of this file: pure, and by handlers alone; policies are what `check --cluster` compares.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from krm_function.findings import Finding, Ref, finding
from krm_function.input_checks.copies import controllers, known_controllers
from krm_function.model.kinds import KINDS, template_paths
from krm_function.model.listed_names import listed
from krm_function.model.lookup import dig
from krm_function.model.objects import reference
from krm_function.placement.node import Node
from krm_function.record import NamedTuple
from krm_function.upgrade.change import Change

State = Literal["done", "open", "unknown"]
ENDED = ("Succeeded", "Failed")


class Seen(NamedTuple):
    """The state of one wave, and a sentence about it."""

    state: State
    text: str = ""


class ClusterState(NamedTuple):
    """What a cluster shows; None: it does not. classes: names of its RuntimeClasses. objects: of the namespaces.

    namespace: of the workloads that name none.
    """

    nodes: Sequence[Node] | None = None
    classes: Iterable[str] | None = None
    objects: Sequence[Any] | None = None
    namespace: str = "default"


def progress(change: Change, cluster: ClusterState) -> tuple[dict[str, Seen], list[Finding]]:
    """Return the state of the waves by their names, and a finding for a wave that has begun too early."""
    if not change.handlers or (cluster.nodes is None and cluster.classes is None and cluster.objects is None):
        return {}, []
    runs = _runs(change, cluster.objects, cluster.namespace) if cluster.objects is not None else None
    coordinator = {change.coordinator} if change.coordinator else set()
    seen = {
        "runtime": _runtime(change, cluster.nodes),
        "classes": _there(change, cluster.classes),
        "coordinator": _rolled_out(runs, coordinator),
        "workloads": _rolled_out(runs, {*change.workloads} - coordinator),
    }
    begun = [ref for ref, (_, new) in (runs or {}).items() if new]
    if not begun:
        return seen, []
    handlers = set(change.handlers.values())
    nowhere = [] if cluster.nodes is None else sorted(handlers - _known(cluster.nodes))
    early = []
    if nowhere and seen["runtime"].state == "open":
        early.append(finding("CC1379.runtime", begun[0], after=change.after, names=listed(nowhere)))
    if seen["classes"].state == "open":
        names = listed(sorted(handlers - set(cluster.classes or ())))
        early.append(finding("CC1379.classes", begun[0], after=change.after, names=names))
    return seen, early


def _known(nodes: Sequence[Node]) -> set[str]:
    """Return the handlers that some node has."""
    return {handler for node in nodes for handler in node.handlers or ()}


def _runtime(change: Change, nodes: Sequence[Node] | None) -> Seen:
    told = [node for node in nodes or () if node.handlers is not None]
    if not told:
        return Seen("unknown", "no node says which handlers it has")
    lacking = [
        node.name
        for node in told
        if any(
            old in (node.handlers or ()) and new not in (node.handlers or ()) for old, new in change.handlers.items()
        )
    ]
    having = [node.name for node in told if any(new in (node.handlers or ()) for new in change.handlers.values())]
    if lacking or not having:
        return Seen("open", f"not yet on {listed(lacking) if lacking else 'any node'}; on {len(having)} of them")
    return Seen("done", f"on {listed(having)}")


def _there(change: Change, classes: Iterable[str] | None) -> Seen:
    if classes is None:
        return Seen("unknown", "the cluster does not show its RuntimeClasses")
    lacking = sorted(set(change.handlers.values()) - set(classes))
    return (
        Seen("open", f"the cluster has no RuntimeClass {listed(lacking)}") if lacking else Seen("done", "all are there")
    )


def _runs(change: Change, objects: Sequence[Any], namespace: str) -> dict[Ref, tuple[int, int]]:
    """Return how many templates and pods of each workload have an old handler, and how many a new one."""
    old, new = change.handlers.keys(), set(change.handlers.values())
    found: dict[Ref, tuple[int, int]] = {}
    names = {(ref.kind, ref.namespace or namespace, ref.name): ref for ref in change.workloads}
    by_owner = known_controllers(objects)
    for value in objects:
        ref = reference(value)
        made_by = reference((controllers(value, by_owner) or [value])[-1])
        owner = names.get((made_by.kind, made_by.namespace, made_by.name))
        if owner is None or ref.kind not in KINDS or _is_over(ref.kind, value):
            continue
        for path in template_paths(ref.kind, value):
            name = dig(value, (*path, "spec", "runtimeClassName"))
            before = found.get(owner, (0, 0))
            found[owner] = (before[0] + (name in old), before[1] + (name in new))
    return found


def _is_over(kind: str, value: Any) -> bool:
    if kind == "ReplicaSet":
        return bool(dig(value, ("spec", "replicas")) == 0)
    return kind == "Pod" and str(dig(value, ("status", "phase"))) in ENDED


def _rolled_out(runs: Mapping[Ref, tuple[int, int]] | None, of: set[Ref]) -> Seen:
    """Return whether some workloads are of the new release alone."""
    if runs is None or not of:
        return Seen("unknown", "the cluster does not show it" if of else "")
    there = {ref: runs[ref] for ref in of if ref in runs}
    old = sorted(str(ref) for ref, (before, _) in there.items() if before)
    if old:
        return Seen("open", f"of the present release: {listed(old)}")
    if len(there) < len(of):
        return Seen("open", f"not there: {listed(sorted(str(ref) for ref in of - there.keys()))}")
    return Seen("done", "all are of the next release")
