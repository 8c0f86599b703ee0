"""Find the nodes that can take each pod; used by `plan`, as a render knows no nodes.

Rule of this file: the pod is that of the render, after RuntimeClass admission; but the template of a DaemonSet alone
decides which nodes get one of its pods. A pod that fits no node is an error: it would stay Pending.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig
from krm_function.model.runtime_class_admission import merge_node_selector, overhead_agrees
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import Workload
from krm_function.placement.fit import Fit, all_fits, daemon_fits, demand
from krm_function.placement.node import Node
from krm_function.record import NamedTuple

# kind -> where the object says how many pods run at once; a DaemonSet runs one a node
REPLICAS: dict[str, tuple[str, ...]] = {
    "Deployment": ("spec", "replicas"),
    "StatefulSet": ("spec", "replicas"),
    "ReplicaSet": ("spec", "replicas"),
    "ReplicationController": ("spec", "replicas"),
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
}
NOTHING: Mapping[str, int] = MappingProxyType({})
NAMED = 4  # nodes that a sentence lists before it only counts


class Refusal(NamedTuple):
    """Nodes that do not take a pod, and all reasons of each."""

    nodes: tuple[str, ...]
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """Write `snp-1, snp-2: no label gpu, cordoned`."""
        return f"{first_and_more(self.nodes)}: {', '.join(self.reasons)}"


class Placement(NamedTuple):
    """Where one workload can run. requests: resource name -> nano units of one pod, overhead included.

    refused: admission refuses the pod, so no node is tried. replicas: pods at a time, None for one on every node.
    """

    fits: tuple[Fit, ...] = ()
    requests: Mapping[str, int] = NOTHING
    replicas: int | None = 1
    refused: bool = False

    @property
    def fitting(self) -> tuple[str, ...]:
        """The names of the nodes that take the pod."""
        return tuple(one.node for one in self.fits if not one.reasons)

    @property
    def pending(self) -> tuple[Refusal, ...]:
        """The nodes for which the DaemonSet controller makes a pod that does not run there; () for other kinds."""
        return () if self.replicas is not None else grouped([one for one in self.fits if one.admitted])

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The other nodes and their reasons, the closest first."""
        return grouped(self.fits)


class Placed(NamedTuple):
    """A placement and the findings about it."""

    placement: Placement
    findings: tuple[Finding, ...] = ()


def place(workload: Workload, cls: RuntimeClass | None, nodes: Sequence[Node]) -> Placed:
    """Find the nodes for the pods of one workload; there must be a node. cls: None when its class is not known."""
    spec = workload.pod_spec
    demanded = demand(workload.ref.kind, spec, cls)
    replicas = replicas_of(workload)
    if cls is not None and (merge_node_selector(spec, cls).conflicts or not overhead_agrees(spec, cls)):
        return Placed(Placement((), demanded.requests, replicas, refused=True))  # CC0304 and CC0305 say so
    if workload.ref.kind == "DaemonSet":
        fits = daemon_fits(demanded, demand(workload.ref.kind, spec, None), nodes)
    else:
        fits = all_fits(demanded, nodes)
    placement = Placement(fits, demanded.requests, replicas)
    return Placed(placement, tuple(_findings(workload, cls, placement, nodes)))


def replicas_of(workload: Workload) -> int | None:
    """Return how many pods run at once; None for a DaemonSet, 1 where the object does not say."""
    if workload.ref.kind == "DaemonSet":
        return None
    path = REPLICAS.get(workload.ref.kind)
    if path is None:
        return 1
    count = _count(dig(workload.object, path), 1)
    if path[-1] == "parallelism":  # a Job never runs more pods than it needs completions
        count = min(count, _count(dig(workload.object, (*path[:-1], "completions")), count))
    return count


def _count(count: Any, default: int) -> int:
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else default


def _findings(
    workload: Workload, cls: RuntimeClass | None, placement: Placement, nodes: Sequence[Node]
) -> list[Finding]:
    ref, path = workload.ref, workload.spec_path
    fitting = set(placement.fitting)
    if not fitting:
        count = f"{len(nodes)} nodes" if len(nodes) != 1 else "1 node"
        closest = placement.refusals[0]
        reasons = ", ".join(closest.reasons)
        return [finding("CC0311", ref, path, count=count, node=closest.nodes[0], reasons=reasons)]
    findings = []
    capacities = [one.capacity for one in placement.fits if one.node in fitting]
    if placement.replicas is not None and None not in capacities:
        capacity = sum(filter(None, capacities))
        if capacity < placement.replicas:
            findings.append(finding("CC0312.replicas", ref, path, replicas=placement.replicas, room=capacity))
    for small in placement.pending:
        nodes_named, reasons = first_and_more(small.nodes), ", ".join(small.reasons)
        findings.append(finding("CC0312.daemon-set", ref, path, nodes=nodes_named, reasons=reasons))
    if cls is not None:
        at = (*path, "runtimeClassName")
        taking = [node for node in nodes if node.name in fitting]
        silent = [] if _selects(workload, cls) else [node.name for node in taking if node.handlers is None]
        lacking = [node.name for node in taking if node.handlers is not None and cls.handler not in node.handlers]
        for code, names in (("CC0313.missing", lacking), ("CC0313.unknown", silent)):
            if names:
                findings.append(finding(code, ref, at, handler=cls.handler, nodes=first_and_more(names)))
    return findings


def _selects(workload: Workload, cls: RuntimeClass) -> bool:
    """Tell whether anything chooses nodes for the pods: a label, an affinity, or a name."""
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    spec = workload.pod_spec
    return bool(merge_node_selector(spec, cls).node_selector or dig(spec, required) or spec.get("nodeName"))


def grouped(fits: Sequence[Fit]) -> tuple[Refusal, ...]:
    """Group nodes that refuse a pod for the same reasons; those that come closest to taking it stand first."""
    nodes: dict[tuple[str, ...], list[str]] = {}
    for fit in fits:
        if fit.reasons:
            nodes.setdefault(fit.reasons, []).append(fit.node)
    refusals = [Refusal(tuple(names), reasons) for reasons, names in nodes.items()]
    return tuple(sorted(refusals, key=lambda refusal: (len(refusal.reasons), -len(refusal.nodes), refusal.nodes)))


def first_and_more(words: Sequence[str]) -> str:
    """Write `a, b and 3 more`."""
    if len(words) <= NAMED + 1:
        return ", ".join(words)
    return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
