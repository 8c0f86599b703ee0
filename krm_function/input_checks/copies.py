"""Find the objects that controllers made of workloads of the same input, as `kubectl get all -o yaml` prints them.

Rule of this file: anybody can write an ownerReference, so one counts only if its owner (kind, name, uid) is in the
input, with the same sealed policy and the same runtime class. The same is asked of the owner's own owner, and so on, up
to an object that no controller owns; a pod that owns (the leader of a group owns the StatefulSet of its workers) has a
policy of its own, so that beyond it only the last owner is asked. `generate` asks `controller_of` alone: it refuses an
owned object and skips none.

What an owner made of an earlier template has another policy, and is no copy of it: during a rolling update its pods
serve. Only a policy that an owner once had counts as one, so a pod of a ReplicaSet or Job needs that one's. They are
judged by their own policy, and no manifest of this render has to know them: a warning in `check`, CC1133.

What runs no pod may have another policy: an upgrade leaves objects of the render before it behind, a repair those that
somebody had changed. A status is proven by the cluster alone and anybody can write one into a file, so what has ended
by its status is checked as a copy if it has the same policy, and a warning in `check` if it has another, CC1122.

    object        runs no pod if                             known by
    ReplicaSet    its spec.replicas is 0                     spec
    Job           it has the condition Complete or Failed    status
    Pod           its phase is Succeeded or Failed           status
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from krm_function.findings import Path
from krm_function.model.controller import OWNERS, Controller, controller_of
from krm_function.model.lookup import dig, maps
from krm_function.model.objects import objects, reference
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.resource import Copy, Resource, Retired
from krm_function.model.workload import INITDATA
from krm_function.yamltext import YamlError

ENDED = ("Succeeded", "Failed")  # phases of a Pod
OVER = ("Complete", "Failed")  # conditions of a Job
WITH_ONE_TEMPLATE = ("Job", "ReplicaSet")  # made anew, or kept, when an owner's template changes


def with_copies(resources: Sequence[Resource]) -> tuple[Resource, ...]:
    """Return the resources with the copies in them; they are looked for as they stand, policies included.

    What cannot be parsed is reported elsewhere.
    """
    if not any(OWNERS in resource.text for resource in resources):
        return tuple(resources)
    places = [(resource, root, value) for resource in resources for root, value in _workloads(resource)]
    found: dict[int, dict[Path, Copy]] = {}
    for (resource, root, _), copy in zip(
        places, copies([value for _, _, value in places], _kinds(resources)), strict=True
    ):
        if copy is not None:
            found.setdefault(id(resource), {})[root] = copy
    return tuple(one._replace(copies=found[id(one)]) if id(one) in found else one for one in resources)


def _kinds(resources: Sequence[Resource]) -> Kinds:
    """Return the kinds with pods that are known; all resources of a call know the same."""
    return resources[0].kinds if resources else SHIPPED


def copies(
    values: Sequence[Any], kinds: Kinds = SHIPPED, known: Mapping[Controller, Any] | None = None
) -> list[Copy | None]:
    """Return what each of some objects was made of, None for what is no copy. kinds: those with pod templates.

    known: the controllers, if there are more than these objects.
    """
    known = known_controllers(values, kinds) if known is None else known
    return [
        _copy(value, known, kinds) if _is_workload(value, kinds) and controller_of(value) else None for value in values
    ]


def _workloads(resource: Resource) -> Iterator[tuple[Path, Any]]:
    """Yield the objects with pods of a resource."""
    if not resource.may_have_pods and resource.kind != "List":
        return
    try:
        value = resource.value
    except YamlError:
        return
    yield from ((root, one) for root, one in objects(value) if _is_workload(one, resource.kinds))


def known_controllers(values: Iterable[Any], kinds: Kinds = SHIPPED) -> Mapping[Controller, Any]:
    """Return the workloads among some objects that have a uid, as an ownerReference would name them."""
    known: dict[Controller, Any] = {}
    for value in values:
        ref, uid = reference(value), dig(value, ("metadata", "uid"))
        if _is_workload(value, kinds) and isinstance(uid, str) and uid:
            known[Controller(ref.namespace, ref.kind, ref.name, uid)] = value
    return known


def controllers(value: Any, known: Mapping[Controller, Any]) -> list[Any] | None:
    """Return the controllers of an object, up to the one that none owns; None if one is not known."""
    found: list[Any] = []
    while (owner := controller_of(value)) is not None:
        value = known.get(owner)
        if value is None or len(found) >= len(known):  # a circle has no end
            return None
        found.append(value)
    return found


def _of_one_template(owners: Sequence[Any]) -> list[Any]:
    """Return the controllers of an object that have its template: of those beyond a pod the last one alone."""
    below = [*takewhile(lambda owner: reference(owner).kind != "Pod", owners)]
    return below if len(below) == len(owners) else [*below, owners[-1]]


def _is_workload(value: Any, kinds: Kinds) -> bool:
    return kinds.of(reference(value)) is not None


def _copy(value: Any, known: Mapping[Controller, Any], kinds: Kinds) -> Copy | None:
    """Return what an owned object was made of; None if its controllers are not all known, or have another policy."""
    owners, sealed = controllers(value, known), _sealed(value, kinds)
    if not owners:
        return None
    retired = _retired(value)
    policies = [_sealed(owner, kinds) for owner in _of_one_template(owners)]
    if retired != "spec" and sealed and all(policy is not None and sealed <= policy for policy in policies):
        return Copy(owners[-1])
    if retired:
        return Copy(owners[-1], retired)
    is_earlier = bool(sealed) and None not in policies and all(policy == sealed for policy in policies[:-1])
    if policies[-1] != sealed and reference(owners[-1]).kind in WITH_ONE_TEMPLATE:
        is_earlier = False
    return Copy(owners[-1], "earlier") if is_earlier else None


def _retired(value: Any) -> Retired:
    """Return what says that an object has ended, or makes no pods."""
    match reference(value).kind:
        case "ReplicaSet":
            replicas = dig(value, ("spec", "replicas"))
            return "spec" if replicas == 0 and replicas is not False else ""
        case "Job":
            conditions = maps(dig(value, ("status", "conditions")))
            over = any(one.get("type") in OVER and one.get("status") == "True" for one in conditions)
            return "status" if over else ""
        case "Pod":
            return "status" if dig(value, ("status", "phase")) in ENDED else ""
        case _:
            return ""


def _sealed(value: Any, kinds: Kinds) -> set[tuple[str, str]] | None:
    """Return the runtime class and the initdata of each pod of an object, None if one has none.

    What a controller made has one pod, which is one of those of the object.
    """
    pods: set[tuple[str, str]] = set()
    for template in kinds.paths(reference(value), value):
        name = dig(value, (*template, "spec", "runtimeClassName"))
        initdata = dig(value, (*template, "metadata", "annotations", INITDATA))
        if not isinstance(name, str) or not isinstance(initdata, str) or not initdata:
            return None
        pods.add((name, initdata))
    return pods or None
