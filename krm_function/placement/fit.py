"""Which nodes take a pod, and why the others do not.

Rule of this file: it is the filter half of Kubernetes' scheduler for one pod on empty nodes: unschedulable, nodeName,
nodeSelector, required node affinity, taints, resources. Two pods are never weighed against each other; what other pods
take from a node, volumes, host ports, pod affinity and topology spread are not modelled. Source:
docs/facts/kubernetes.md#scheduling.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.model.lookup import mapping, maps
from krm_function.model.node_affinity import required_terms, unmatched
from krm_function.model.quantity import MILLI, NANO
from krm_function.model.runtime_class_admission import merge_node_selector, merge_tolerations
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.placement.node import Node
from krm_function.placement.requests import pod_requests
from krm_function.placement.taints import EVERY_DAEMON, UNSCHEDULABLE, Taint, given_by_default, untolerated
from krm_function.record import NamedTuple

NOTHING: Mapping[str, int] = MappingProxyType({})
UNITS = ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


class Demand(NamedTuple):
    """What a pod requires of a node after admission. requests: resource name -> nano units."""

    node_selector: Mapping[str, str]
    terms: list[dict[str, Any]] | None
    tolerations: tuple[Mapping[str, Any], ...]
    requests: Mapping[str, int]
    node_name: str = ""


class Fit(NamedTuple):
    """Whether one node takes a pod. reasons: why not, () if it does. capacity: how many such pods the empty node holds.

    capacity is None when the node does not say what it can hold. admitted: whether everything but its resources allows
    the pod. Of a DaemonSet (`daemon_fits`): whether its controller makes a pod for the node, even if it cannot run.
    """

    node: str
    reasons: tuple[str, ...] = ()
    capacity: int | None = None
    admitted: bool = True


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
        merge_node_selector(pod_spec, cls).node_selector,
        required_terms(pod_spec),
        (*merge_tolerations(pod_spec, cls), *added),
        pod_requests(pod_spec, overhead),
        name if isinstance(name, str) else "",
    )


def fits(wanted: Demand, node: Node) -> Fit:
    """Tell whether a node takes the pod: every reason against it, not only the first.

    A pod with nodeName passes by the scheduler; its kubelet still looks at all but NoSchedule taints and cordons.
    """
    if wanted.node_name and wanted.node_name != node.name:
        return Fit(node.name, (f"nodeName is {wanted.node_name}",), admitted=False)
    reasons = [*_labels(wanted, node), *_taints(wanted, node)]
    lacking, capacity = _resources(wanted.requests, node.allocatable)
    every = (*reasons, *lacking)
    return Fit(node.name, every, 0 if every else capacity, admitted=not reasons)


def all_fits(wanted: Demand, nodes: Sequence[Node]) -> tuple[Fit, ...]:
    """Return the fit of each node, in the order of the nodes."""
    return tuple(fits(wanted, node) for node in nodes)


def daemon_fits(wanted: Demand, template: Demand, nodes: Sequence[Node]) -> tuple[Fit, ...]:
    """Return what becomes of a DaemonSet on each node: its controller looks at the template, the scheduler at the pod.

    wanted: of the pod, after admission. template: the demand without the class.

    the template allows the node    the pod fits    answer
    yes                             yes             it fits
    yes                             no              its pod stays Pending: admitted, with the reasons
    no                              no              no pod is made: the reasons of both
    no                              yes             no pod is made: the taints that only the class tolerates
    """
    fitted: list[Fit] = []
    for node in nodes:
        fit, of_template = fits(wanted, node), fits(template._replace(requests=NOTHING), node)
        refused = () if of_template.admitted else of_template.reasons  # its controller does not count resources
        only = [f"{reason}, tolerated by the class only" for reason in refused if reason not in fit.reasons]
        fitted.append(fit._replace(reasons=(*fit.reasons, *only), admitted=of_template.admitted))
    return tuple(one._replace(capacity=0) if one.reasons else one for one in fitted)


def _labels(wanted: Demand, node: Node) -> list[str]:
    reasons = []
    for key, value in sorted(wanted.node_selector.items()):
        if key not in node.labels:
            reasons.append(f"no label {key}")
        elif node.labels[key] != value:
            reasons.append(f"label {key} is {node.labels[key] or 'empty'}, not {value or 'empty'}")
    missed = unmatched(wanted.terms, node.name, node.labels)
    return [*reasons, f"affinity wants {missed}"] if missed else reasons


def _taints(wanted: Demand, node: Node) -> list[str]:
    if wanted.node_name:
        left = untolerated(node.taints, wanted.tolerations, frozenset({"NoExecute"}))
        return [f"taint {taint}" for taint in left]
    # a cordon is both: the flag, and the taint that the node controller adds for it
    taints: list[Taint] = [taint for taint in node.taints if taint != UNSCHEDULABLE]
    cordoned = node.unschedulable or len(taints) < len(node.taints)
    reasons = ["cordoned"] if cordoned and untolerated([UNSCHEDULABLE], wanted.tolerations) else []
    return reasons + [f"taint {taint}" for taint in untolerated(taints, wanted.tolerations)]


def _resources(requests: Mapping[str, int], allocatable: Mapping[str, int] | None) -> tuple[list[str], int | None]:
    """Return what the node has too little of, and how many such pods it holds when it is empty.

    A resource that the node does not name is 0, but for `pods`, which a hand-written Node leaves out.
    """
    if allocatable is None:
        return [], None
    reasons = []
    capacity = allocatable.get("pods", 110 * NANO) // NANO
    if capacity < 1:
        reasons.append("takes no pods")
    for name, amount in sorted(requests.items()):
        needs, has = _rounded(name, amount), _rounded(name, allocatable.get(name, 0))
        if not needs:
            continue
        if needs > has:
            reasons.append(_compared(name, amount, allocatable.get(name, 0)))
        capacity = min(capacity, max(0, has) // needs)
    return reasons, capacity


def _rounded(name: str, amount: int) -> int:
    """Round an amount up as the scheduler does: to thousandths of a CPU, to whole units of anything else."""
    return -(-amount // (MILLI if name == "cpu" else NANO))


def amount_text(name: str, amount: int) -> str:
    """Write an amount to be read: `1.5`, `682Mi`, `1.46Gi`. Memory is cut to two decimals, nothing else is rounded."""
    units = _rounded(name, amount)
    if name == "cpu":
        return f"{units / 1000:.3f}".rstrip("0").rstrip(".")
    for size, suffix in UNITS if _is_bytes(name) else ():
        if units >= size:
            return f"{units / size:.2f}".rstrip("0").rstrip(".") + suffix
    return str(units)


def _exact(name: str, amount: int) -> str:
    """Write an amount without rounding, as Kubernetes does: `1500Mi`, `2147483649`."""
    units = _rounded(name, amount)
    for size, suffix in UNITS if _is_bytes(name) else ():
        if units and units % size == 0:
            return f"{units // size}{suffix}"
    return amount_text(name, amount) if name == "cpu" else str(units)


def _compared(name: str, wanted: int, has: int) -> str:
    """Return why an amount is too much; rounded only as long as the two still differ."""
    form = _exact if amount_text(name, wanted) == amount_text(name, has) else amount_text
    return f"{form(name, wanted)} {name} needed, node has {form(name, has)}"


def _is_bytes(name: str) -> bool:
    return name in {"memory", "ephemeral-storage"} or name.startswith("hugepages-")
