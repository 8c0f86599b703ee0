"""Compare the nodeSelector and tolerations of a pod template with those of its RuntimeClass.

Rule of this file: the DaemonSet controller chooses nodes by the pod template alone; what admission adds from the class
comes after that, so a DaemonSet needs all of it in its template. A pod or toleration is plain data as parsed. Source:
docs/facts/kubernetes.md#scheduling.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.model.listed_names import listed
from krm_function.model.lookup import mapping, maps
from krm_function.model.runtime_class_admission import covers
from krm_function.model.runtime_class_objects import RuntimeClass, toleration_parts
from krm_function.record import NamedTuple


class Lacking(NamedTuple):
    """Entries that one pod spec lacks and another place has. False if there are none."""

    node_selector: dict[str, str]
    tolerations: tuple[Mapping[str, Any], ...]

    def __bool__(self) -> bool:
        """Tell whether anything is lacking."""
        return bool(self.node_selector or self.tolerations)

    def __str__(self) -> str:
        """Write `nodeSelector tee=snp, toleration gpu:NoSchedule`."""
        parts = [f"nodeSelector {key}={value}" for key, value in sorted(self.node_selector.items())]
        return listed([*parts, *(f"toleration {_text(one)}" for one in self.tolerations)])


def lacking(pod_spec: Mapping[str, Any], cls: RuntimeClass) -> Lacking:
    """Find what a pod template lacks of its class; a key that it has with another value is a conflict, not lacking.

    A toleration is lacking if none of the template, and none before it in the class, covers it.
    """
    present = mapping(pod_spec.get("nodeSelector"))
    selector = {key: value for key, value in cls.node_selector.items() if key not in present}
    return Lacking(selector, _uncovered(cls.tolerations, maps(pod_spec.get("tolerations"))))


def lost(before: Mapping[str, Any], after: Mapping[str, Any]) -> Lacking:
    """Find what one pod spec has and a later one lacks; a nodeSelector key with another value is there."""
    kept = mapping(after.get("nodeSelector"))
    old = mapping(before.get("nodeSelector"))
    selector = {str(key): str(value) for key, value in old.items() if key not in kept}
    return Lacking(selector, _uncovered(maps(before.get("tolerations")), maps(after.get("tolerations"))))


def _uncovered(wanted: Iterable[Mapping[str, Any]], present: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Return the tolerations of `wanted` that neither one of `present` covers nor an earlier one of `wanted`."""
    found: list[Mapping[str, Any]] = []
    for toleration in wanted:
        if not any(covers(other, toleration) for other in (*present, *found)):
            found.append(toleration)
    return tuple(found)


def _text(toleration: Mapping[str, Any]) -> str:
    """Write a toleration as kubectl writes a taint: `key=value:effect`; `*` for any key or any effect."""
    key, _, value, effect, _ = toleration_parts(toleration)
    return f"{key or '*'}{'=' if value else ''}{value}:{effect or '*'}"
