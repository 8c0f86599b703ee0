"""Find which webhooks and admission policies of a cluster may change a pod when it is created.

Rule of this file: pure, and it only narrows down. Operations, resources and both selectors are evaluated; conditions in
CEL are not, so what is named may have let the pod alone. What a LimitRange has set stands in the pod itself.
Source: docs/facts/kubernetes.md#dry-run.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.model.label_selectors import selects
from krm_function.model.lookup import dig, mapping, maps

LIMIT_RANGER = "kubernetes.io/limit-ranger"  # the annotation in which that plugin lists what it has set
GROUPS = {"", "*"}
RESOURCES = {"pods", "*", "*/*", "pods/*"}
OPERATIONS = {"CREATE", "*"}


def changed_by(
    webhooks: Sequence[Any], policies: Sequence[Any], bindings: Sequence[Any], pod: Any, namespace: Any
) -> list[str]:
    """Name what may have changed a pod. webhooks, policies, bindings: all of the cluster.

    pod: as it was sent. namespace: its Namespace object, None if it is not known; then its labels rule nothing out.
    """
    labels = mapping(dig(pod, ("metadata", "labels")))
    about = None if namespace is None else mapping(dig(namespace, ("metadata", "labels")))
    names = [f"webhook {name}" for name in _webhooks(webhooks, labels, about)]
    bound = {
        dig(one, ("spec", "policyName"))
        for one in bindings
        if _chosen(_constraints(one, "matchResources"), labels, about)
    }
    for policy in policies:
        name = dig(policy, ("metadata", "name"))
        constraints = _constraints(policy, "matchConstraints")
        if name in bound and _chosen(constraints, labels, about) and _asks(maps(constraints.get("resourceRules"))):
            names.append(f"MutatingAdmissionPolicy {name}")
    return names


def set_by_limit_ranges(pod: Any) -> bool:
    """Tell whether a LimitRange has filled in requests or limits of a pod."""
    return bool(dig(pod, ("metadata", "annotations", LIMIT_RANGER)))


def _constraints(value: Any, field: str) -> dict[str, Any]:
    return mapping(dig(value, ("spec", field)))


def _webhooks(configurations: Sequence[Any], labels: dict[str, Any], namespace: dict[str, Any] | None) -> Iterator[str]:
    for configuration in configurations:
        for one in maps(configuration.get("webhooks")):
            if _asks(maps(one.get("rules"))) and _chosen(one, labels, namespace):
                yield f"{one.get('name')} of {dig(configuration, ('metadata', 'name'))}"


def _asks(rules: Sequence[dict[str, Any]]) -> bool:
    """Tell whether a rule is about pods that are created."""
    return any(
        GROUPS & {*_texts(rule, "apiGroups")}
        and RESOURCES & {*_texts(rule, "resources")}
        and OPERATIONS & {*_texts(rule, "operations")}
        for rule in rules
    )


def _chosen(selectors: dict[str, Any], labels: dict[str, Any], namespace: dict[str, Any] | None) -> bool:
    """Tell whether both selectors of a webhook or policy may choose a pod."""
    own = selects(mapping(selectors.get("objectSelector")), labels)
    return own and (namespace is None or selects(mapping(selectors.get("namespaceSelector")), namespace))


def _texts(value: dict[str, Any], key: str) -> list[str]:
    entries = value.get(key)
    return [one for one in entries if isinstance(one, str)] if isinstance(entries, list) else []
