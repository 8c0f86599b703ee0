"""Name the fields by which two RuntimeClasses differ.

Rule of this file: what admission takes for the same is no difference: `250m` and `0.25`, an absent map and an empty
one, tolerations in another order, an operator that is absent and `Equal`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.model.quantity import equal
from krm_function.model.runtime_class_objects import RuntimeClass, toleration_parts


def differing_fields(first: RuntimeClass, second: RuntimeClass) -> list[str]:
    """Return the fields of the object, such as `scheduling.nodeSelector`; [] if both classes do the same."""
    return list(_fields(first, second))


def _fields(first: RuntimeClass, second: RuntimeClass) -> Iterator[str]:
    if first.handler != second.handler:
        yield "handler"
    if not _same_amounts(first.overhead, second.overhead):
        yield "overhead.podFixed"
    if dict(first.node_selector) != dict(second.node_selector):
        yield "scheduling.nodeSelector"
    if _tolerations(first) != _tolerations(second):
        yield "scheduling.tolerations"


def _same_amounts(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return first.keys() == second.keys() and all(equal(first[name], second[name]) for name in first)


def _tolerations(one: RuntimeClass) -> set[tuple[str, str, str, str, int | None]]:
    parts = map(toleration_parts, one.tolerations)
    return {(key, operator or "Equal", value, effect, seconds) for key, operator, value, effect, seconds in parts}
