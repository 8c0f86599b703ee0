"""Find the nodes that can take each pod, and why the others do not."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.kubernetes.nodes import (
    EVERY_DAEMON,
    UNSCHEDULABLE,
    Node,
    Taint,
    given_by_default,
    pod_requests,
    required_terms,
    unmatched,
    untolerated,
)
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.quantity import MILLI, NANO
from krm_function.kubernetes.runtime_classes import (
    RuntimeClass,
    merge_node_selector,
    merge_tolerations,
    overhead_agrees,
)
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# --- Which nodes take a pod, and why the others do not
#
# Rule: it is the filter half of Kubernetes' scheduler for one pod on empty nodes: unschedulable, nodeName,
# nodeSelector, required node affinity, taints, resources. Two pods are never weighed against each other; what other
# pods take from a node, volumes, host ports, pod affinity and topology spread are not modelled. Source:
# docs/facts/kubernetes.md#scheduling.


NOTHING: Mapping[str, int] = MappingProxyType({})
UNITS = ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


class Demand(NamedTuple):
    """The requirements of a pod on a node after admission. requests: resource name -> nano units."""

    node_selector: Mapping[str, str]
    terms: list[dict[str, Any]] | None
    tolerations: tuple[Mapping[str, Any], ...]
    requests: Mapping[str, int]
    node_name: str = ""


class Fit(NamedTuple):
    """Whether one node takes a pod. reasons: why not, () if it does. capacity: how many such pods the empty node holds.

    capacity is None if the node's resources are unknown. admitted: whether everything but its resources allows
    the pod. Of a DaemonSet (`daemon_fits`): whether its controller makes a pod for the node, even if it cannot run.
    lacks: whether the node has nothing of a resource that the pod needs, such as a GPU.
    """

    node: str
    reasons: tuple[str, ...] = ()
    capacity: int | None = None
    admitted: bool = True
    lacks: bool = False


def demand(kind: str, pod_spec: Mapping[str, Any], cls: RuntimeClass | None) -> Demand:
    """Return the demand of a pod of this template after RuntimeClass admission. kind: of the workload.

    cls: None if no class is known. Admission and controllers add tolerations: DefaultTolerationSeconds to every pod,
    the DaemonSet controller to its.
    """
    cls = cls or RuntimeClass("", "")
    added = EVERY_DAEMON if kind == "DaemonSet" else given_by_default(maps(pod_spec.get("tolerations")))
    overhead = mapping(pod_spec.get("overhead")) or cls.overhead
    name = pod_spec.get("nodeName")
    return Demand(
        merge_node_selector(pod_spec, cls)[0],
        required_terms(pod_spec),
        (*merge_tolerations(pod_spec, cls), *added),
        pod_requests(pod_spec, overhead),
        name if isinstance(name, str) else "",
    )


def fits(demand: Demand, node: Node) -> Fit:
    """Tell whether a node takes the pod: every reason against it, not only the first.

    A pod with nodeName passes by the scheduler; its kubelet still looks at all but NoSchedule taints and cordons.
    """
    if demand.node_name and demand.node_name != node.name:
        return Fit(node.name, (f"nodeName is {demand.node_name}",), admitted=False)
    reasons = [*_label_reasons(demand, node), *_taint_reasons(demand, node)]
    lacking, capacity = _shortages(demand.requests, node.allocatable)
    all_reasons = (*reasons, *lacking)
    lacks = node.allocatable is not None and any(
        amount and not node.allocatable.get(name) for name, amount in demand.requests.items()
    )
    return Fit(node.name, all_reasons, 0 if all_reasons else capacity, admitted=not reasons, lacks=lacks)


def daemon_fits(demand: Demand, template: Demand, nodes: Sequence[Node]) -> tuple[Fit, ...]:
    """Return the fit of a DaemonSet on each node: its controller looks at the template, the scheduler at the pod.

    demand: of the pod, after admission. template: the demand without the class.

    the template allows the node    the pod fits    answer
    yes                             yes             it fits
    yes                             no              its pod stays Pending: admitted, with the reasons
    no                              no              no pod is made: the reasons of both
    no                              yes             no pod is made: the taints that only the class tolerates
    """
    fitted: list[Fit] = []
    for node in nodes:
        fit, of_template = fits(demand, node), fits(template._replace(requests=NOTHING), node)
        refused = () if of_template.admitted else of_template.reasons  # its controller does not count resources
        only = [f"{reason}, tolerated by the class only" for reason in refused if reason not in fit.reasons]
        fitted.append(fit._replace(reasons=(*fit.reasons, *only), admitted=of_template.admitted))
    return tuple(fit._replace(capacity=0) if fit.reasons else fit for fit in fitted)


def _label_reasons(demand: Demand, node: Node) -> list[str]:
    reasons = []
    for key, value in sorted(demand.node_selector.items()):
        if key not in node.labels:
            reasons.append(f"no label {key}")
        elif node.labels[key] != value:
            reasons.append(f"label {key} is {node.labels[key] or 'empty'}, not {value or 'empty'}")
    missed = unmatched(demand.terms, node.name, node.labels)
    return [*reasons, f"affinity requires {missed}"] if missed else reasons


def _taint_reasons(demand: Demand, node: Node) -> list[str]:
    if demand.node_name:
        not_tolerated = untolerated(node.taints, demand.tolerations, frozenset({"NoExecute"}))
        return [f"taint {taint}" for taint in not_tolerated]
    # a cordon is both: the flag, and the taint that the node controller adds for it
    taints: list[Taint] = [taint for taint in node.taints if taint != UNSCHEDULABLE]
    cordoned = node.unschedulable or len(taints) < len(node.taints)
    reasons = ["cordoned"] if cordoned and untolerated([UNSCHEDULABLE], demand.tolerations) else []
    return reasons + [f"taint {taint}" for taint in untolerated(taints, demand.tolerations)]


def _shortages(requests: Mapping[str, int], allocatable: Mapping[str, int] | None) -> tuple[list[str], int | None]:
    """Return the reasons of short resources, and the number of such pods on the empty node.

    A resource that the node does not name is 0, but for `pods`, which a hand-written Node leaves out.
    """
    if allocatable is None:
        return [], None
    reasons = []
    capacity = allocatable.get("pods", 110 * NANO) // NANO
    if capacity < 1:
        reasons.append("takes no pods")
    for name, amount in sorted(requests.items()):
        needs, has = _round_up(name, amount), _round_up(name, allocatable.get(name, 0))
        if not needs:
            continue
        if needs > has:
            reasons.append(_shortage(name, amount, allocatable.get(name, 0)))
        capacity = min(capacity, max(0, has) // needs)
    return reasons, capacity


def _round_up(name: str, amount: int) -> int:
    """Round as the scheduler does: to thousandths of a CPU, to whole units of anything else."""
    return -(-amount // (MILLI if name == "cpu" else NANO))


def amount_text(name: str, amount: int) -> str:
    """Write an amount to be read: `1.5`, `682Mi`, `1.46Gi`. Memory is cut to two decimals, nothing else is rounded."""
    units = _round_up(name, amount)
    if name == "cpu":
        return f"{units / 1000:.3f}".rstrip("0").rstrip(".")
    for size, suffix in UNITS if _is_bytes(name) else ():
        if units >= size:
            return f"{units / size:.2f}".rstrip("0").rstrip(".") + suffix
    return str(units)


def _exact_text(name: str, amount: int) -> str:
    """Write `1500Mi` or `2147483649`, as Kubernetes does."""
    units = _round_up(name, amount)
    for size, suffix in UNITS if _is_bytes(name) else ():
        if units and units % size == 0:
            return f"{units // size}{suffix}"
    return amount_text(name, amount) if name == "cpu" else str(units)


def _shortage(name: str, needed: int, has: int) -> str:
    """Round the two amounts only as long as they still differ."""
    form = _exact_text if amount_text(name, needed) == amount_text(name, has) else amount_text
    return f"{form(name, needed)} {name} needed, node has {form(name, has)}"


def _is_bytes(name: str) -> bool:
    return name in {"memory", "ephemeral-storage"} or name.startswith("hugepages-")


# --- Find the nodes that can take each pod; used by `plan`, as a render knows no nodes
#
# Rule: the pod is that of the render, after RuntimeClass admission; but the template of a DaemonSet alone
# decides which nodes get one of its pods. A pod that fits no node is an error: it would stay Pending.


# kind -> field with the number of pods that run at once; a DaemonSet runs one a node
REPLICAS: dict[str, tuple[str, ...]] = {
    "Deployment": ("spec", "replicas"),
    "StatefulSet": ("spec", "replicas"),
    "ReplicaSet": ("spec", "replicas"),
    "ReplicationController": ("spec", "replicas"),
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
}
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
        return tuple(fit.node for fit in self.fits if not fit.reasons)

    @property
    def pending(self) -> tuple[Refusal, ...]:
        """The nodes for which the DaemonSet controller makes a pod that does not run there; () for other kinds."""
        return () if self.replicas is not None else grouped([fit for fit in self.fits if fit.admitted])

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The other nodes and their reasons, the closest first."""
        return grouped(self.fits)


def place(workload: Workload, cls: RuntimeClass | None, nodes: Sequence[Node]) -> tuple[Placement, tuple[Finding, ...]]:
    """Find the nodes for the pods of one workload; there must be a node. cls: None when its class is not known."""
    spec = workload.pod_spec
    demanded = demand(workload.ref.kind, spec, cls)
    replicas = replicas_of(workload)
    if cls is not None and (merge_node_selector(spec, cls)[1] or not overhead_agrees(spec, cls)):
        return Placement((), demanded.requests, replicas, refused=True), ()  # CC0304 and CC0305 report it
    if workload.ref.kind == "DaemonSet":
        fits_of_nodes = daemon_fits(demanded, demand(workload.ref.kind, spec, None), nodes)
    else:
        fits_of_nodes = tuple(fits(demanded, node) for node in nodes)
    placement = Placement(fits_of_nodes, demanded.requests, replicas)
    return placement, tuple(_placement_findings(workload, cls, placement, nodes))


def replicas_of(workload: Workload) -> int | None:
    """Return how many pods run at once; None for a DaemonSet, 1 without a number in the object."""
    if workload.ref.kind == "DaemonSet":
        return None
    path = REPLICAS.get(workload.ref.kind)
    if path is None:
        return 1
    count = _count_or(dig(workload.object, path), 1)
    if path[-1] == "parallelism":  # a Job never runs more pods than it needs completions
        count = min(count, _count_or(dig(workload.object, (*path[:-1], "completions")), count))
    return count


def _count_or(count: Any, default: int) -> int:
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else default


def _placement_findings(
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
    capacities = [fit.capacity for fit in placement.fits if fit.node in fitting]
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
        silent = [] if _chooses_nodes(workload, cls) else [node.name for node in taking if node.handlers is None]
        lacking = [node.name for node in taking if node.handlers is not None and cls.handler not in node.handlers]
        for code, names in (("CC0313.missing", lacking), ("CC0313.unknown", silent)):
            if names:
                findings.append(finding(code, ref, at, handler=cls.handler, nodes=first_and_more(names)))
    return findings


def _chooses_nodes(workload: Workload, cls: RuntimeClass) -> bool:
    """Pods choose nodes by a label, an affinity or a name."""
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    spec = workload.pod_spec
    return bool(merge_node_selector(spec, cls)[0] or dig(spec, required) or spec.get("nodeName"))


def grouped(fits: Sequence[Fit]) -> tuple[Refusal, ...]:
    """Group nodes that refuse a pod for the same reasons; the closest to taking it come first."""
    nodes: dict[tuple[str, ...], list[str]] = {}
    for fit in fits:
        if fit.reasons:
            nodes.setdefault(fit.reasons, []).append(fit.node)
    refusals = [Refusal(tuple(names), reasons) for reasons, names in nodes.items()]
    without = {fit.node for fit in fits if fit.lacks}  # a label or toleration can be added to the pod, a device not
    return tuple(
        sorted(
            refusals, key=lambda group: (group.nodes[0] in without, len(group.reasons), -len(group.nodes), group.nodes)
        )
    )


def first_and_more(words: Sequence[str]) -> str:
    """Write `a, b and 3 more`."""
    if len(words) <= NAMED + 1:
        return ", ".join(words)
    return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
