"""Limit ranges: the resources that the API server gives to containers, and those that it refuses.

Rule of this file: amounts are compared in nano units; resources are cpu and memory; only items of type Container, and
of these defaults, minimum and maximum (no ratios). Source: docs/facts/kubernetes.md#quotas-and-limit-ranges.

    a container without     gets, first that is set
    a limit                 default, max
    a request               its own limit, defaultRequest, default, max, min
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.quantity import nano
from krm_function.model.workload import Workload
from krm_function.yamltext import Change, apply

COMPUTE = ("cpu", "memory")
Amounts = dict[str, Any]  # resource -> quantity as written


def container_items(limit_range: Any) -> list[dict[str, Any]]:
    """Return the items of a LimitRange that hold for each container."""
    return [item for item in maps(dig(limit_range, ("spec", "limits"))) if item.get("type") == "Container"]


def admitted_resources(container: Mapping[str, Any], limit_ranges: Sequence[Any]) -> tuple[Amounts, Amounts]:
    """Return the requests and limits of a container after admission.

    Of several ranges the first one counts, of several items in one range the last one.
    """
    resources = mapping(container.get("resources"))
    limits = _compute(resources.get("limits"))
    requests = limits | _compute(resources.get("requests"))
    for limit_range in limit_ranges:
        default: Amounts = {}
        defaults: Amounts = {}
        for item in container_items(limit_range):
            own = _compute(item.get("max")) | _compute(item.get("default"))
            default |= own
            defaults |= _compute(item.get("min")) | own | _compute(item.get("defaultRequest"))
        limits = default | limits
        requests = defaults | requests
    return requests, limits


def with_default_limits(workload: Workload, limit_range: Any) -> Workload:
    """Return the workload with the CPU limits that the API server gives to its containers."""
    changes: list[Change] = []
    for each in workload.all_containers:
        resources = mapping(each.container.get("resources"))
        _, limits = admitted_resources(each.container, [limit_range])
        if "cpu" in limits:
            changed = {**resources, "limits": {**mapping(resources.get("limits")), "cpu": limits["cpu"]}}
            changes.append(Change((*each.path[len(workload.root) :], "resources"), "set", changed))
    return workload._replace(object=apply(workload.object, changes)) if changes else workload


def refused_amounts(container: Mapping[str, Any], limit_ranges: Sequence[Any], limit_range: Any) -> Iterator[str]:
    """Say which amounts of a container are outside of the minimum and maximum of one of the ranges."""
    requests, limits = admitted_resources(container, limit_ranges)
    for item in container_items(limit_range):
        for resource in COMPUTE:
            for bound, sign in (("min", -1), ("max", 1)):
                edge = _compute(item.get(bound)).get(resource)
                values = [side.get(resource) for side in (requests, limits)]
                refused = [value for value in values if None not in (edge, value) and _exceeds(value, edge, sign)]
                if refused:
                    yield f"{resource} {refused[0]}, {bound} {edge}"


def _exceeds(value: Any, edge: Any, sign: int) -> bool:
    """Tell whether a quantity is beyond an edge; one that is no quantity is left to its own finding."""
    try:
        return sign * nano(value) > sign * nano(edge)
    except ValueError:
        return False


def _compute(amounts: Any) -> Amounts:
    return {name: value for name, value in mapping(amounts).items() if name in COMPUTE and value is not None}
