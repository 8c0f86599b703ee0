"""Taints of a node, and the tolerations with which a pod passes them.

Rule of this file: it answers as Kubernetes' scheduler does (component-helpers, scheduling/corev1; core/v1 helpers), its
oddities included. A toleration is plain data as parsed. Only NoSchedule and NoExecute keep a pod away;
PreferNoSchedule is a wish. Which of the tolerations that Kubernetes adds a pod gets, `demand` of placement/fit.py says.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.model.runtime_class_objects import toleration_parts
from krm_function.record import NamedTuple

HARD = frozenset({"NoSchedule", "NoExecute"})
EFFECTS = HARD | {"PreferNoSchedule"}

# What the DefaultTolerationSeconds admission plugin gives a pod, for five minutes; see `given_by_default`.
BY_DEFAULT: tuple[Mapping[str, Any], ...] = tuple(
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
)
# What the DaemonSet controller gives each of its pods, for good.
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


UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")  # what `kubectl cordon` amounts to


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

    One of the pod's with the same or no key, and the effect NoExecute or none, prevents it: whatever its operator and
    value say, and so even if it tolerates nothing.
    """
    named = [toleration_parts(one) for one in tolerations]
    taken = {key for key, _, _, effect, _ in named if effect in {"", "NoExecute"}}
    return [one for one in BY_DEFAULT if "" not in taken and one["key"] not in taken]


def untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Mapping[str, Any]], effects: frozenset[str] = HARD
) -> list[Taint]:
    """Return the taints of these effects that no toleration passes."""
    return [
        taint for taint in taints if taint.effect in effects and not any(tolerates(one, taint) for one in tolerations)
    ]
