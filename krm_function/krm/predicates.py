"""Choose objects of a list: `where(items, is_kind("Deployment"), not_(is_name("web")))`.

Rule of this file: a predicate is a function from an object to a bool, so any lambda fits in.
"""

from collections.abc import Callable, Iterable, Mapping

from krm_function.krm.kube_object import KubeObject
from krm_function.krm.result import MisuseError

Predicate = Callable[[KubeObject], bool]


def where(items: Iterable[KubeObject], *predicates: Predicate) -> tuple[KubeObject, ...]:
    """Select the objects for which all predicates hold, in order."""
    _check(predicates)
    return tuple(item for item in items if all(predicate(item) for predicate in predicates))


def where_not(items: Iterable[KubeObject], *predicates: Predicate) -> tuple[KubeObject, ...]:
    """Select the objects for which none of the predicates holds, in order."""
    _check(predicates)
    return tuple(item for item in items if not any(predicate(item) for predicate in predicates))


def not_(predicate: Predicate) -> Predicate:
    """Tell whether `predicate` does not hold."""
    _check((predicate,))
    return lambda item: not predicate(item)


def is_gvk(group: str, version: str, kind: str) -> Predicate:
    """Tell whether it is exactly that group (core: ""), version and kind."""
    return lambda item: item.is_gvk(group, version, kind)


def is_kind(*kinds: str) -> Predicate:
    """Tell whether the kind is one of `kinds`, of any group; does not parse the object."""
    return lambda item: item.kind in kinds


def is_name(*names: str) -> Predicate:
    """Tell whether the name is one of `names`."""
    return lambda item: item.name in names


def is_namespace(*namespaces: str) -> Predicate:
    """Tell whether the namespace is one of `namespaces`; "" stands for none."""
    return lambda item: item.namespace in namespaces


def has_labels(labels: Mapping[str, str]) -> Predicate:
    """Tell whether the object has all of `labels`."""
    return lambda item: labels.items() <= item.labels.items()


def has_annotations(annotations: Mapping[str, str]) -> Predicate:
    """Tell whether the object has all of `annotations`."""
    return lambda item: annotations.items() <= item.annotations.items()


_MAKERS = (not_, is_gvk, is_kind, is_name, is_namespace, has_labels, has_annotations)


def _check(predicates: Iterable[object]) -> None:
    """Raise MisuseError for a non-predicate: `is_kind` without its call would hold for every object."""
    for predicate in predicates:
        name = getattr(predicate, "__name__", "")
        if predicate in _MAKERS:
            raise MisuseError(f"{name} makes a predicate: call it, {name}(...)")
        if not callable(predicate):
            raise MisuseError(f"a predicate is a function of an object, not {type(predicate).__name__}")
