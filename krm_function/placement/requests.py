"""The resource requests of a pod, added up as the scheduler does.

Rule of this file: amounts are integers in nano units (model.quantity), and the rules are those of Kubernetes'
component-helpers (resource.PodRequests) and of the API server's defaults. A quantity that cannot be read counts as 0:
the stages report it.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.quantity import nano

Amounts = dict[str, int]
POD_LEVEL = ("cpu", "memory")  # and huge pages: the resources that spec.resources may name


def pod_requests(pod_spec: Mapping[str, Any], overhead: Mapping[str, Any]) -> Amounts:
    """Sum up what one pod takes from its node: resource name -> nano units.

    overhead: of the pod after admission, as written. The steps, per resource:

    1. a container's request; where it has only a limit, the limit (API defaults)
    2. sum of all containers and of the native sidecars (init containers with restartPolicy Always)
    3. at least the peak of the init phase: each init container plus the sidecars started before it
    4. spec.resources, if it says anything about cpu, memory or huge pages, in place of that
    5. plus the overhead
    """
    spec = dict(pod_spec)
    total = _containers(spec)
    for name, amount in _pod_level(spec, total).items():
        total[name] = amount
    _add(total, amounts(overhead))
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


def _containers(spec: dict[str, Any]) -> Amounts:
    """Take steps 1 to 3 of the module's list."""
    total: Amounts = {}
    for container in maps(spec.get("containers")):
        _add(total, _effective(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in maps(spec.get("initContainers")):
        mine = _effective(container)
        if container.get("restartPolicy") == "Always":
            _add(total, mine)
            _add(sidecars, mine)
            mine = sidecars
        else:
            _add(mine, sidecars)
        _raise(peak, mine)
    _raise(total, peak)
    return total


def _effective(container: Mapping[str, Any]) -> Amounts:
    """Return the requests of one container: its own, and its limits where it has none."""
    resources = mapping(container.get("resources"))
    return {**amounts(mapping(resources.get("limits"))), **amounts(mapping(resources.get("requests")))}


def _pod_level(spec: dict[str, Any], containers: Amounts) -> Amounts:
    """Return what spec.resources puts in place of the sum: its requests; for a lone limit the containers', or it."""
    requests = amounts(dig(spec, ("resources", "requests")))
    limits = amounts(dig(spec, ("resources", "limits")))
    demanded = {**limits, **{name: amount for name, amount in containers.items() if name in limits}, **requests}
    return {name: amount for name, amount in demanded.items() if name in POD_LEVEL or name.startswith("hugepages-")}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: Amounts, least: Mapping[str, int]) -> None:
    for name, amount in least.items():
        total[name] = max(total.get(name, 0), amount)
