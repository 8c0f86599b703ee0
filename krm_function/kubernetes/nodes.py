"""Nodes, and the rules that decide where a pod may run: taints, affinity, requests."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Cause, Path
from krm_function.kubernetes.objects import dig, mapping, maps, objects
from krm_function.kubernetes.quantity import nano
from krm_function.kubernetes.runtime_classes import toleration_parts
from krm_function.record import NamedTuple

# --- Taints of a node, and the tolerations that let a pod pass them
#
# Rule: it answers as Kubernetes' scheduler does (component-helpers, scheduling/corev1; core/v1 helpers),
# its oddities included. A toleration is plain data as parsed. Only NoSchedule and NoExecute keep a pod away;
# PreferNoSchedule is a wish. `demand` of kubernetes/placement.py decides which
# tolerations Kubernetes adds to a pod.


HARD = frozenset({"NoSchedule", "NoExecute"})
EFFECTS = HARD | {"PreferNoSchedule"}

# The DefaultTolerationSeconds admission plugin adds them to a pod, for five minutes; see `given_by_default`.
BY_DEFAULT: tuple[Mapping[str, Any], ...] = tuple(
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
)
# The DaemonSet controller adds them to each of its pods, for good.
EVERY_DAEMON: tuple[Mapping[str, Any], ...] = tuple(
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)


class Taint(NamedTuple):
    """A taint. effect: one of EFFECTS."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Write `key=value:effect`, as kubectl writes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")  # as after `kubectl cordon`


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """Tell whether one toleration passes one taint.

    Truth table, all columns must hold:

    key                 effect              operator
    equal               equal               Exists: whatever the value
    or absent: any key  or absent: any one  absent or Equal: the values are equal, absent being ""
                                            any other, such as Lt and Gt: never

    tolerationSeconds does not count: such a pod is placed, and evicted later.
    """
    key, operator, value, effect, _ = toleration_parts(toleration)
    if (effect and effect != taint.effect) or (key and key != taint.key):
        return False
    match operator:
        case "" | "Equal":
            return value == taint.value
        case "Exists":
            return True
        case _:
            return False


def given_by_default(tolerations: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tolerations that DefaultTolerationSeconds adds to a pod with these of its own.

    A toleration of the pod with the same or no key, and the effect NoExecute or none, prevents it: whatever its
    operator and value are, and so even if it tolerates nothing.
    """
    parts = [toleration_parts(toleration) for toleration in tolerations]
    keys = {key for key, _, _, effect, _ in parts if effect in {"", "NoExecute"}}
    return [default for default in BY_DEFAULT if "" not in keys and default["key"] not in keys]


def untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Mapping[str, Any]], effects: frozenset[str] = HARD
) -> list[Taint]:
    """Return the taints of these effects that no toleration passes."""
    return [
        taint
        for taint in taints
        if taint.effect in effects and not any(tolerates(toleration, taint) for toleration in tolerations)
    ]


# --- Required node affinity: which nodes its terms match, and why they do not match another one
#
# Rule: it answers as Kubernetes' scheduler does (component-helpers, nodeaffinity; apimachinery, labels).
# Terms are alternatives, the requirements of a term must all hold, and whatever the API server would refuse matches
# nothing. Preferred affinity never keeps a pod away, so it is not read.


TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
NAME_FIELD = "metadata.name"  # the one field that matchFields knows


def required_terms(pod_spec: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the alternatives of the required node affinity, None without one. An empty list matches no node."""
    required = dig(dict(pod_spec), TERMS[:3])
    return None if required is None else maps(mapping(required).get(TERMS[3]))


def unmatched(terms: list[dict[str, Any]] | None, name: str, labels: Mapping[str, str]) -> str:
    """Return the first requirement that fails in each term; "" if a term matches the node, or without terms."""
    if terms is None:
        return ""
    failed: list[str] = []
    for term in terms:
        problem = _first_failed(term, name, labels)
        if not problem:
            return ""
        failed.append(problem)
    return " or ".join(dict.fromkeys(failed)) or "at least one term"


def ruled_out(terms: list[dict[str, Any]] | None, selector: Mapping[str, str]) -> str:
    """Return a requirement of each term that no node with these labels meets; "" if a node may match a term.

    Other labels of the node are unknown, so only requirements on these keys count.
    """
    failed: list[str] = []
    for term in terms or ():
        expressions = maps(term.get("matchExpressions"))
        on_selector = [expression for expression in expressions if expression.get("key") in selector]
        impossible = [expression for expression in on_selector if not holds(expression, selector)]
        if not impossible:
            return ""
        failed.append(requirement_text(impossible[0]))
    return " or ".join(dict.fromkeys(failed))


def _first_failed(term: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> str:
    """Return the requirement as text. A term without requirements matches no node."""
    expressions, fields = maps(term.get("matchExpressions")), maps(term.get("matchFields"))
    if not expressions and not fields:
        return "an empty term, which matches no node"
    failed = [requirement for requirement in expressions if not holds(requirement, labels)]
    failed += [requirement for requirement in fields if not _field_holds(requirement, name)]
    return requirement_text(failed[0]) if failed else ""


def holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a node's labels satisfy one of matchExpressions.

    Truth table:
    operator        node has the label                              node lacks it
    In              its value is one of values                      no
    NotIn           its value is not in values                      yes
    Exists          yes (values must be absent)                     no
    DoesNotExist    no                                              yes (values must be absent)
    Gt, Lt          both are integers of 64 bits, and the label's   no
                      is greater, or less, than the one value
    any other       no                                              no
    """
    key, values = requirement.get("key"), _requirement_values(requirement)
    if not isinstance(key, str) or not key or values is None:
        return False
    value = labels.get(key)
    match requirement.get("operator"):
        case "In":
            return bool(values) and value in values
        case "NotIn":
            return bool(values) and value not in values
        case "Exists":
            return not values and value is not None
        case "DoesNotExist":
            return not values and value is None
        case "Gt" | "Lt" as operator:
            mine, bound = _parse_integer(value), _parse_integer(values[0]) if len(values) == 1 else None
            if mine is None or bound is None:
                return False
            return mine > bound if operator == "Gt" else mine < bound
        case _:
            return False


def _field_holds(requirement: Mapping[str, Any], name: str) -> bool:
    """Tell whether a node's name satisfies one of matchFields: In or NotIn, with one value."""
    is_known = requirement.get("key") == NAME_FIELD and requirement.get("operator") in ("In", "NotIn")
    return is_known and len(_requirement_values(requirement) or ()) == 1 and holds(requirement, {NAME_FIELD: name})


def _requirement_values(requirement: Mapping[str, Any]) -> list[str] | None:
    values = requirement.get("values")
    if values is None:
        return []
    return values if isinstance(values, list) and all(isinstance(value, str) for value in values) else None


def _parse_integer(text: str | None) -> int | None:
    """Read a label as Go's strconv.ParseInt does, in base 10 and 64 bits; None for an error."""
    if text is None or not INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def requirement_text(requirement: Mapping[str, Any]) -> str:
    """Write a requirement as label selectors do, such as `zone in (a, b)`, `tee exists`, `cores > 8`."""
    key = requirement.get("key")
    values = ", ".join(_requirement_values(requirement) or ())
    match requirement.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} not in ({values})"
        case "Exists":
            return f"{key} exists"
        case "DoesNotExist":
            return f"{key} does not exist"
        case "Gt":
            return f"{key} > {values}"
        case "Lt":
            return f"{key} < {values}"
        case operator:
            return f"{key} {operator or 'without operator'}, which is not an operator"


# --- The resource requests of a pod, added up as the scheduler does
#
# Rule: amounts are integers in nano units (model.quantity), and the rules are those of Kubernetes'
# component-helpers (resource.PodRequests) and of the API server's defaults. A quantity that cannot be read counts as 0:
# the stages report it.


Amounts = dict[str, int]
POD_LEVEL = ("cpu", "memory")  # and huge pages: the resources that spec.resources may name


def pod_requests(pod_spec: Mapping[str, Any], overhead: Mapping[str, Any]) -> Amounts:
    """Sum up what one pod takes from its node: resource name -> nano units.

    overhead: of the pod after admission, as written. The steps, per resource:

    1. a container's request; where it has only a limit, the limit (API defaults)
    2. sum of all containers and of the native sidecars (init containers with restartPolicy Always)
    3. at least the peak of the init phase: each init container plus the sidecars started before it
    4. spec.resources instead, if it has cpu, memory or huge pages
    5. plus the overhead
    """
    spec = dict(pod_spec)
    total = _sum_containers(spec)
    total |= _pod_level_requests(spec, total)
    _add_amounts(total, amounts(overhead))
    return total


def amounts(quantities: Any) -> Amounts:
    """Read quantities as written into nano units; what cannot be read is 0."""
    read: Amounts = {}
    for name, quantity in mapping(dict(quantities) if isinstance(quantities, Mapping) else None).items():
        try:
            read[str(name)] = max(0, nano(quantity))
        except ValueError:
            read[str(name)] = 0
    return read


def _sum_containers(spec: dict[str, Any]) -> Amounts:
    """Take steps 1 to 3 of `pod_requests`."""
    total: Amounts = {}
    for container in maps(spec.get("containers")):
        _add_amounts(total, _container_requests(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in maps(spec.get("initContainers")):
        mine = _container_requests(container)
        if container.get("restartPolicy") == "Always":
            _add_amounts(total, mine)
            _add_amounts(sidecars, mine)
            mine = sidecars
        else:
            _add_amounts(mine, sidecars)
        _raise_to(peak, mine)
    _raise_to(total, peak)
    return total


def _container_requests(container: Mapping[str, Any]) -> Amounts:
    # A limit counts as the request where the container has only a limit
    resources = mapping(container.get("resources"))
    return {**amounts(mapping(resources.get("limits"))), **amounts(mapping(resources.get("requests")))}


def _pod_level_requests(spec: dict[str, Any], containers: Amounts) -> Amounts:
    """Return the requests of spec.resources; for a limit alone, the containers' requests, or else the limit."""
    requests = amounts(dig(spec, ("resources", "requests")))
    limits = amounts(dig(spec, ("resources", "limits")))
    demanded = {**limits, **{name: amount for name, amount in containers.items() if name in limits}, **requests}
    return {name: amount for name, amount in demanded.items() if name in POD_LEVEL or name.startswith("hugepages-")}


def _add_amounts(total: Amounts, amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, least: Mapping[str, int]) -> None:
    for name, amount in least.items():
        total[name] = max(total.get(name, 0), amount)


# --- Nodes as `kubectl get nodes -o yaml` prints them: the parts that decide where a pod may run
#
# Rule: it reads and never judges. What a hand-written Node leaves out is unknown, not zero: without
# `allocatable` and `capacity` nothing is known about resources, without `runtimeHandlers` nothing about handlers.


KINDS = frozenset({"Node", "NodeList"})


class Node(NamedTuple):
    """One node. allocatable: resource name -> nano units, None when unknown. handlers: None when unknown."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: Mapping[str, int] | None = None
    handlers: frozenset[str] | None = None


NodeProblem = tuple[str, Path, Cause]
"""The name of a node, the path in the document, and CC0314 with a variant."""


def read_nodes(document: Any) -> tuple[tuple[Node, ...], tuple[NodeProblem, ...]]:
    """Read the nodes of a document: a Node, a NodeList, or a List that holds some. Never raises.

    Parts that are not valid are left out of the nodes and named in the problems.
    """
    nodes: list[Node] = []
    problems: list[NodeProblem] = []
    for path, value in _find_nodes(document):
        name = dig(value, ("metadata", "name"))
        if not isinstance(name, str) or not name:
            problems.append(("", (*path, "metadata", "name"), Cause("CC0314.string")))
            continue
        faults: list[tuple[Path, Cause]] = []
        labels = _read_labels(value, faults)
        allocatable = _read_allocatable(value, faults)
        taints = tuple(_read_taints(value, faults))
        unschedulable = dig(value, ("spec", "unschedulable"))
        if unschedulable is not None and not isinstance(unschedulable, bool):
            faults.append((("spec", "unschedulable"), Cause("CC0314.boolean")))
        nodes.append(Node(name, labels, taints, unschedulable is True, allocatable, _read_handlers(value)))
        problems += [(name, path + where, cause) for where, cause in faults]
    return tuple(nodes), tuple(problems)


def _find_nodes(document: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every node with its path; the members of a NodeList need no kind."""
    for path, value in objects(document):
        around = mapping(dig(document, path[:-2])) if path else {}
        if mapping(value).get("kind") == "Node" or around.get("kind") == "NodeList":
            yield path, mapping(value)


def _read_labels(value: Any, faults: list[tuple[Path, Cause]]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for key, label in _read_map(value, ("metadata", "labels"), faults).items():
        if isinstance(label, str):
            labels[str(key)] = label
        else:
            faults.append((("metadata", "labels", str(key)), Cause("CC0314.string")))
    return labels


def _read_allocatable(value: Any, faults: list[tuple[Path, Cause]]) -> dict[str, int] | None:
    """Return the amounts that pods may take: the capacity where `allocatable` is absent, as in the API server."""
    for field in ("allocatable", "capacity"):
        quantities = _read_map(value, ("status", field), faults)
        if not quantities:
            continue
        amounts: dict[str, int] = {}
        for key, quantity in quantities.items():
            try:
                amounts[str(key)] = nano(quantity)
            except ValueError as problem:
                faults.append((("status", field, str(key)), Cause("CC0314.quantity", {"error": str(problem)})))
        return amounts
    return None


def _read_taints(value: Any, faults: list[tuple[Path, Cause]]) -> Iterator[Taint]:
    entries = dig(value, ("spec", "taints"))
    if entries is not None and not isinstance(entries, list):
        faults.append((("spec", "taints"), Cause("CC0314.list")))
        return
    for index, entry in enumerate(entries or ()):
        taint = mapping(entry)
        key, mark, effect = taint.get("key"), taint.get("value") or "", taint.get("effect")
        path: Path = ("spec", "taints", index)
        if not isinstance(key, str) or not key:
            faults.append(((*path, "key"), Cause("CC0314.string")))
        elif not isinstance(mark, str):
            faults.append(((*path, "value"), Cause("CC0314.string")))
        elif not isinstance(effect, str) or effect not in EFFECTS:
            faults.append(((*path, "effect"), Cause("CC0314.effect")))
        else:
            yield Taint(key, mark, effect)


def _read_handlers(value: Any) -> frozenset[str] | None:
    # Kubernetes 1.30 and later report them
    handlers = dig(value, ("status", "runtimeHandlers"))
    if not isinstance(handlers, list) or not handlers:
        return None
    return frozenset(str(mapping(entry).get("name") or "") for entry in handlers)


def _read_map(value: Any, path: Path, faults: list[tuple[Path, Cause]]) -> dict[Any, Any]:
    content = dig(value, path)
    if content is not None and not isinstance(content, dict):
        faults.append((path, Cause("CC0314.map")))
    return mapping(content)
