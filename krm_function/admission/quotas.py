"""Resource quotas: what a quota on cpu or memory asks of every container of a pod.

Rule of this file: only what each container must set; how much is used already, only the cluster knows. Source:
docs/facts/kubernetes.md#quotas-and-limit-ranges.

    the quota has          every container must have, after the defaults of limit ranges
    cpu, requests.cpu      a request of cpu
    limits.cpu             a limit of cpu
    memory, ...            the same of memory
    a scope                only pods of that scope
    any                    nothing, if the pod itself has resources (Kubernetes 1.34)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.admission.limit_ranges import COMPUTE, admitted_resources
from krm_function.model.lookup import dig, mapping, maps


def wanted_of_containers(quota: Any) -> list[str]:
    """Return what a quota asks of each container, as `requests.cpu`, in a fixed order."""
    hard = mapping(dig(quota, ("spec", "hard")))
    return [
        f"{side}.{resource}"
        for side in ("requests", "limits")
        for resource in COMPUTE
        if f"{side}.{resource}" in hard or (side == "requests" and resource in hard)
    ]


def missing(container: Mapping[str, Any], counted: Sequence[str], limit_ranges: Sequence[Any]) -> list[str]:
    """Return what a container does not set although a quota asks for it."""
    requests, limits = admitted_resources(container, limit_ranges)
    sides = {"requests": requests, "limits": limits}
    return [name for name in counted if name.partition(".")[2] not in sides[name.partition(".")[0]]]


def applies(quota: Any, pod_spec: Mapping[str, Any]) -> bool:
    """Tell whether a quota asks anything of a pod's containers. A scope that is not known here counts as the pod's."""
    resources = mapping(pod_spec.get("resources"))
    if any(name in mapping(resources.get(side)) for side in ("requests", "limits") for name in COMPUTE):
        return False
    spec = mapping(mapping(quota).get("spec"))
    scopes = spec.get("scopes")
    scopes_asked: list[tuple[str, str, tuple[str, ...]]]
    scopes_asked = [(str(scope), "Exists", ()) for scope in scopes] if isinstance(scopes, list) else []
    for expression in maps(mapping(spec.get("scopeSelector")).get("matchExpressions")):
        values = expression.get("values")
        listed = tuple(map(str, values)) if isinstance(values, list) else ()
        scopes_asked.append((str(expression.get("scopeName")), str(expression.get("operator")), listed))
    return all(_is_in_scope(pod_spec, *expression) for expression in scopes_asked)


def _is_in_scope(pod_spec: Mapping[str, Any], scope: str, operator: str, values: tuple[str, ...]) -> bool:
    match scope:
        case "Terminating":
            return pod_spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return pod_spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return False  # injected containers ask for memory
        case "PriorityClass":
            name = pod_spec.get("priorityClassName") or ""
            match operator:
                case "In":
                    return name in values
                case "NotIn":
                    return name not in values
                case "DoesNotExist":
                    return not name
                case _:
                    return bool(name)
        case _:
            return True
