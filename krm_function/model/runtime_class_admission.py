"""Apply Kubernetes' RuntimeClass admission to a pod: node selector, tolerations, overhead.

Rule of this file: it follows the API server's own rules; the schedule stage decides what comes of the result. A pod or
toleration is plain data as parsed. Source: docs/facts/kubernetes.md#runtimeclass-admission.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import mapping
from krm_function.model.quantity import equal
from krm_function.model.runtime_class_objects import RuntimeClass, toleration_parts
from krm_function.record import NamedTuple


class Conflict(NamedTuple):
    """A nodeSelector key to which pod and class give different values."""

    key: str
    pod: str
    wanted: str


class MergedSelector(NamedTuple):
    """A pod's nodeSelector after admission, and every conflict (the API server names one of them at random)."""

    node_selector: dict[str, str]
    conflicts: tuple[Conflict, ...] = ()


def merge_node_selector(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> MergedSelector:
    """Merge the class's nodeSelector into the pod's as admission does.

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
        Conflict(key, merged[key], wanted)
        for key, wanted in cls.node_selector.items()
        if merged.setdefault(key, wanted) != wanted
    ]
    return MergedSelector(merged, tuple(sorted(conflicts)))


def merge_tolerations(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> tuple[Mapping[str, Any], ...]:
    """Merge tolerations as admission does: the pod's, then the class's, without those that another one covers.

    Dropped is a toleration that one already kept covers (an equal one included), or that a later, different one covers.
    So of equals the first stays; otherwise the order stays.
    """
    own = pod_spec.get("tolerations")
    every: list[Mapping[str, Any]] = (
        [entry for entry in own if isinstance(entry, dict)] if isinstance(own, list) else []
    )
    every += cls.tolerations
    kept: list[Mapping[str, Any]] = []
    for index, toleration in enumerate(every):
        later = every[index + 1 :]
        if any(covers(other, toleration) for other in kept) or any(
            toleration_parts(other) != toleration_parts(toleration) and covers(other, toleration) for other in later
        ):
            continue
        kept.append(toleration)
    return tuple(kept)


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
    own = pod_spec.get("overhead")
    if own is None or own == {}:
        return own is None or bool(cls.overhead)
    if not isinstance(own, dict) or own.keys() != cls.overhead.keys():
        return False
    return all(equal(own[key], cls.overhead[key]) for key in own)
