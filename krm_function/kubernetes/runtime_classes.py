"""RuntimeClass objects, and their admission of a pod."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.findings import Path
from krm_function.kubernetes.objects import (
    is_dns_label,
    is_dns_subdomain,
    is_label_key,
    is_label_value,
    listed,
    mapping,
    maps,
)
from krm_function.kubernetes.quantity import MILLI, NANO, equal, nano
from krm_function.record import NamedTuple
from krm_function.schema.values import Problems

# --- Parse RuntimeClass objects, and find the values that the API server would refuse
#
# Rule: it follows the API server's own rules. What admission does with a class is in
# kubernetes/runtime_classes.py; which objects a render edits or emits, in render/classes.py. A toleration is plain
# data as parsed. Source: docs/facts/kubernetes.md#runtimeclass-objects.


API_VERSION = "node.k8s.io/v1"
KIND = "RuntimeClass"
EMPTY: Mapping[str, Any] = MappingProxyType({})

# Labels that Kubernetes warns about in a RuntimeClass, and what replaced them.
DEPRECATED_NODE_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "beta.kubernetes.io/arch": "kubernetes.io/arch",
        "beta.kubernetes.io/os": "kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
        "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
        "node-role.kubernetes.io/master": "node-role.kubernetes.io/control-plane",
    }
)
HUGE_PAGES = "hugepages-"
UNQUALIFIED_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
TOLERATION_FIELDS = frozenset({"key", "operator", "value", "effect", "tolerationSeconds"})


class RuntimeClass(NamedTuple):
    """A RuntimeClass. overhead: resource name -> quantity as written. tolerations: maps as written."""

    name: str
    handler: str
    overhead: Mapping[str, Any] = EMPTY
    node_selector: Mapping[str, str] = EMPTY
    tolerations: tuple[Mapping[str, Any], ...] = ()


Problem = tuple[Path, str]
"""A path, which starts at the checked object, and what is wrong there: lower case, without the value."""


class ParsedClass(NamedTuple):
    """A parsed RuntimeClass; parts that are not valid are left out of it and named in `problems`."""

    runtime_class: RuntimeClass
    problems: Problems = ()


def parse_runtime_class_object(value: Any) -> ParsedClass:
    """Parse a RuntimeClass object and validate it as the API server would. Never raises."""
    root = mapping(value)
    problems: list[Problem] = []
    name = mapping(root.get("metadata")).get("name")
    if not isinstance(name, str) or not is_dns_subdomain(name):
        problems.append((("metadata", "name"), "must be a DNS subdomain"))
        name = ""
    if not isinstance(mapping(root.get("metadata")).get("annotations"), dict | None):
        problems.append((("metadata", "annotations"), "must be a map"))
    handler = root.get("handler")
    if not isinstance(handler, str) or not is_dns_label(handler):
        problems.append((("handler",), "must be a DNS label of at most 63 characters"))
        handler = ""
    overhead = _read_map(root, ("overhead", "podFixed"), problems)
    node_selector = _read_map(root, ("scheduling", "nodeSelector"), problems)
    tolerations = _read_tolerations(root, problems)
    wrong_overhead = overhead_problems(overhead)
    wrong_selector = selector_problems(node_selector)
    wrong_tolerations = toleration_problems(tolerations)
    problems += [(("overhead", "podFixed", *path), text) for path, text in wrong_overhead]
    problems += [(("scheduling", "nodeSelector", *path), text) for path, text in wrong_selector]
    problems += [(("scheduling", "tolerations", *path), text) for path, text in wrong_tolerations]
    return ParsedClass(
        RuntimeClass(
            name,
            handler,
            _drop_problems(overhead, wrong_overhead),
            _drop_problems(node_selector, wrong_selector),
            tuple(_drop_problems(dict(enumerate(tolerations)), wrong_tolerations).values()),
        ),
        tuple(problems),
    )


def _drop_problems(entries: dict[Any, Any], problems: Problems) -> dict[Any, Any]:
    keys = {path[0] for path, _ in problems}
    return {key: value for key, value in entries.items() if key not in keys}


def _read_map(root: dict[str, Any], path: tuple[str, str], problems: list[Problem]) -> dict[str, Any]:
    """Add a problem for a value that is not a map."""
    value: Any = root
    for depth, part in enumerate(path, 1):
        value = value.get(part)
        if value is None:
            return {}
        if not isinstance(value, dict):
            problems.append((path[:depth], "must be a map"))
            return {}
    return mapping(value)


def _read_tolerations(root: dict[str, Any], problems: list[Problem]) -> list[dict[str, Any]]:
    value = mapping(root.get("scheduling")).get("tolerations")
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append((("scheduling", "tolerations"), "must be a list"))
        return []
    return [entry if isinstance(entry, dict) else {"": entry} for entry in value]


def overhead_problems(overhead: Mapping[Any, Any]) -> Problems:
    """Find values that Kubernetes would refuse in `overhead.podFixed`, by the rules of resource limits."""
    problems: list[Problem] = []
    for key, value in overhead.items():
        if not isinstance(key, str) or not is_label_key(key):
            problems.append(((key,), "is not a resource name"))
            continue
        if key.startswith("requests.") and "/" in key:
            problems.append(((key,), "must not begin with requests."))
            continue
        if "/" not in key and key not in UNQUALIFIED_RESOURCES and not key.startswith(HUGE_PAGES):
            problems.append(((key,), "must be cpu, memory, ephemeral-storage or a name with a domain"))
            continue
        try:
            amount = nano(value)
        except ValueError as error:
            problems.append(((key,), str(error)))
            continue
        if amount < 0:
            problems.append(((key,), "must not be negative"))
        elif "/" in key and -(-amount // MILLI) % 1000:  # the server looks at thousandths, rounded up
            problems.append(((key,), "must be a whole number"))
        elif key.startswith(HUGE_PAGES):
            problems += _huge_page_problems(key, amount, overhead)
    return tuple(problems)


def _huge_page_problems(key: str, amount: int, overhead: Mapping[Any, Any]) -> list[Problem]:
    """Find values that Kubernetes would refuse. amount: of huge pages, in nano units."""
    try:
        page = nano(key.removeprefix(HUGE_PAGES))
    except ValueError:
        page = 0
    problems: list[Problem] = []
    if page <= 0 or page % NANO or -(-amount // NANO) * NANO % page:
        problems.append(((key,), "must be a multiple of the page size"))
    if not overhead.keys() & {"cpu", "memory"}:
        problems.append(((key,), "needs cpu or memory beside it"))
    return problems


def selector_problems(node_selector: Mapping[Any, Any]) -> Problems:
    """Find values that Kubernetes would refuse in a nodeSelector: keys and values must be labels."""
    problems: list[Problem] = []
    for key, value in node_selector.items():
        if not isinstance(key, str) or not is_label_key(key):
            problems.append(((key,), "is not a label key"))
        elif not isinstance(value, str):
            problems.append(((key,), "must be a string"))
        elif not is_label_value(value):
            problems.append(((key,), "is not a label value"))
    return tuple(problems)


def toleration_problems(tolerations: "list[dict[str, Any]] | tuple[Mapping[str, Any], ...]") -> Problems:
    """Find values that Kubernetes would refuse in a class's tolerations, each at its first fault.

    Unique on key, operator, value and effect, as RuntimeClass validation requires. The operators Lt and Gt need a
    feature gate and count as refused.
    """
    problems: list[Problem] = []
    seen: set[tuple[str, str, str, str]] = set()
    for index, toleration in enumerate(tolerations):
        problem = _toleration_type_problem(toleration) or _toleration_value_problem(toleration)
        identity = toleration_parts(toleration)[:4]
        if problem is None and identity in seen:
            problem = ((), "is there twice")
        if problem is not None:
            path, text = problem
            problems.append(((index, *path), text))
        seen.add(identity)
    return tuple(problems)


def _toleration_type_problem(toleration: Mapping[str, Any]) -> Problem | None:
    for field, value in toleration.items():
        if field not in TOLERATION_FIELDS:
            return ((field,), "is not a field of a toleration") if field else ((), "must be a map")
        if value is None:
            continue
        if field == "tolerationSeconds":
            if isinstance(value, bool) or not isinstance(value, int):
                return ((field,), "must be an integer")
        elif not isinstance(value, str):
            return ((field,), "must be a string")
    return None


def _toleration_value_problem(toleration: Mapping[str, Any]) -> Problem | None:
    key, operator, value, effect, seconds = toleration_parts(toleration)
    if key and not is_label_key(key):
        return (("key",), "is not a label key")
    if not key and operator != "Exists":
        return (("operator",), "must be Exists when key is empty, which means all keys")
    if seconds is not None and effect != "NoExecute":
        return (("effect",), "must be NoExecute when tolerationSeconds is set")
    if operator not in {"", "Equal", "Exists"}:
        return (("operator",), "must be Equal or Exists")
    if operator == "Exists" and value:
        return (("value",), "must be empty when operator is Exists")
    if not is_label_value(value):
        return (("value",), "is not a label value")
    if effect not in {"", "NoSchedule", "PreferNoSchedule", "NoExecute"}:
        return (("effect",), "must be NoSchedule, PreferNoSchedule or NoExecute")
    return None


def toleration_parts(toleration: Mapping[str, Any]) -> tuple[str, str, str, str, int | None]:
    """Return key, operator, value, effect, tolerationSeconds; "" or None for an absent value or one of another type."""

    def text(field: str) -> str:
        value = toleration.get(field)
        return value if isinstance(value, str) else ""

    seconds = toleration.get("tolerationSeconds")
    return text("key"), text("operator"), text("value"), text("effect"), seconds if isinstance(seconds, int) else None


# --- Apply Kubernetes' RuntimeClass admission to a pod: node selector, tolerations, overhead
#
# Rule: it follows the API server's own rules; the schedule stage decides about the result. A pod
# or toleration is plain data as parsed. Source: docs/facts/kubernetes.md#runtimeclass-admission.


def merge_node_selector(
    pod_spec: Mapping[str, Any], cls: RuntimeClass
) -> tuple[dict[str, str], tuple[tuple[str, str, str], ...]]:
    """Merge the class's nodeSelector into the pod's as admission does.

    Returns the merged one, and every conflict: the key, the pod's value and the class's. The API server names one of
    them at random.

    Truth table, per key of the class:

    pod has the key    value            merged              conflict
    no                                  the class's value   no
    yes                the same         that value          no
    yes                another          the pod's value     yes: the API server refuses the pod

    The pod's keys come first, in its order; conflicts are sorted by key. Nothing else of the pod is consulted:
    affinity, nodeName and topology spread may contradict the class and leave the pod Pending.
    """
    merged = {str(key): str(value) for key, value in mapping(pod_spec.get("nodeSelector")).items()}
    conflicts = [
        (key, merged[key], value) for key, value in cls.node_selector.items() if merged.setdefault(key, value) != value
    ]
    return merged, tuple(sorted(conflicts))


def merge_tolerations(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> tuple[Mapping[str, Any], ...]:
    """Merge tolerations as admission does: the pod's, then the class's, without those that another one covers.

    A toleration is dropped if one already kept covers it (an equal one included), or a later, different one does.
    So the first of equals stays; otherwise the order stays.
    """
    of_pod = pod_spec.get("tolerations")
    all_entries: list[Mapping[str, Any]] = (
        [entry for entry in of_pod if isinstance(entry, dict)] if isinstance(of_pod, list) else []
    )
    all_entries += cls.tolerations
    merged: list[Mapping[str, Any]] = []
    for index, toleration in enumerate(all_entries):
        parts = toleration_parts(toleration)
        different = [cover for cover in all_entries[index + 1 :] if toleration_parts(cover) != parts]
        if not any(covers(cover, toleration) for cover in (*merged, *different)):
            merged.append(toleration)
    return tuple(merged)


def covers(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Tell whether `first` tolerates all that `second` does (Kubernetes' isSuperset, pkg/util/tolerations).

    Truth table; equal tolerations cover each other, otherwise all three columns must hold:

    key                                effect                             operator of first
    equal                              equal                              Equal or "": second has Equal itself (not
    or first's is "" with Exists       or first's is ""                     ""), and the values are equal
                                       and, if first's is NoExecute with  Exists: always
                                       seconds: second has seconds,       any other, such as Lt and Gt: never
                                       and not more

    An empty operator means Equal, but as `second` it is not recognised as such: that is Kubernetes' own oddity.
    """
    key, operator, value, effect, seconds = toleration_parts(first)
    other_key, other_operator, other_value, other_effect, other_seconds = toleration_parts(second)
    if toleration_parts(first) == toleration_parts(second):
        return True
    if key != other_key and (key or operator != "Exists"):
        return False
    if effect not in {"", other_effect}:
        return False
    if effect == "NoExecute" and seconds is not None and (other_seconds is None or other_seconds > seconds):
        return False
    match operator:
        case "Equal" | "":
            return other_operator == "Equal" and other_value == value
        case "Exists":
            return True
        case _:
            return False


def overhead_agrees(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> bool:
    """Tell whether admission accepts the pod's `overhead`.

    pod's overhead     class's overhead    answer
    absent             any                 yes: admission fills it in
    empty              absent or empty     no: it is there, and the class has none
    empty              set                 yes: admission fills it in
    set                absent or empty     no
    set                set                 when both name the same resources with equal values (250m is 0.25)
    """
    of_pod = pod_spec.get("overhead")
    if of_pod is None or of_pod == {}:
        return of_pod is None or bool(cls.overhead)
    if not isinstance(of_pod, dict) or of_pod.keys() != cls.overhead.keys():
        return False
    return all(equal(of_pod[key], cls.overhead[key]) for key in of_pod)


# --- Compare the nodeSelector and tolerations of a pod template with those of its RuntimeClass
#
# Rule: the DaemonSet controller chooses nodes by the pod template alone; admission adds the class's
# entries after that, so a DaemonSet needs all of it in its template. A pod or toleration is plain data as parsed.
# Source: docs/facts/kubernetes.md#scheduling.


class Lacking(NamedTuple):
    """Entries that one pod spec lacks and another place has. False without entries."""

    node_selector: dict[str, str]
    tolerations: tuple[Mapping[str, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.node_selector or self.tolerations)

    def __str__(self) -> str:
        """Write `nodeSelector tee=snp, toleration gpu:NoSchedule`."""
        parts = [f"nodeSelector {key}={value}" for key, value in sorted(self.node_selector.items())]
        return listed([*parts, *(f"toleration {_toleration_text(toleration)}" for toleration in self.tolerations)])


def lacking(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> Lacking:
    """Find the entries of its class that a pod template lacks; a key with another value is a conflict, not lacking.

    A toleration is lacking if none of the template, and none before it in the class, covers it.
    """
    present = mapping(pod_spec.get("nodeSelector"))
    selector = {key: value for key, value in cls.node_selector.items() if key not in present}
    return Lacking(selector, _uncovered(cls.tolerations, maps(pod_spec.get("tolerations"))))


def lost(earlier: Mapping[str, Any], new: Mapping[str, Any]) -> Lacking:
    """Find entries of a pod spec that a later one lacks; a nodeSelector key with another value is not lost."""
    new_selector = mapping(new.get("nodeSelector"))
    old = mapping(earlier.get("nodeSelector"))
    selector = {str(key): str(value) for key, value in old.items() if key not in new_selector}
    return Lacking(selector, _uncovered(maps(earlier.get("tolerations")), maps(new.get("tolerations"))))


def _uncovered(tolerations: Iterable[Mapping[str, Any]], present: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Return the tolerations that are covered neither by `present` nor by an earlier one."""
    uncovered: list[Mapping[str, Any]] = []
    for toleration in tolerations:
        if not any(covers(cover, toleration) for cover in (*present, *uncovered)):
            uncovered.append(toleration)
    return tuple(uncovered)


def _toleration_text(toleration: Mapping[str, Any]) -> str:
    """Write a toleration as kubectl writes a taint: `key=value:effect`; `*` for any key or any effect."""
    key, _, value, effect, _ = toleration_parts(toleration)
    return f"{key or '*'}{'=' if value else ''}{value}:{effect or '*'}"
