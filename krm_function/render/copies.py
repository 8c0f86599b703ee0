"""Objects that controllers made of others in the input, and objects that occur more than once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from krm_function.contrast.platforms import contrast_names_in, is_contrast_name
from krm_function.findings import Finding, Path, Ref, finding, position_text
from krm_function.kubernetes.kinds import KINDS_BY_CONTENT
from krm_function.kubernetes.lookup import dig, maps
from krm_function.kubernetes.objects import OWNERS, Controller, controller_of, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.resource import Copy, ObjectAt, Resource, Retired, yaml_finding
from krm_function.kubernetes.workload import EMITTED, INITDATA, LOCAL_CONFIG
from krm_function.text.errors import YamlError

# --- Find the objects that controllers made of workloads of the same input, as `kubectl get all -o yaml` prints them
#
# Rule: anybody can write an ownerReference, so one counts only if its owner (kind, name, uid) is in the
# input, with the same sealed policy and the same runtime class. The same is asked of the owner's own owner, and so on,
# up to an object that no controller owns; a pod that owns (the leader of a group owns the StatefulSet of its workers)
# has a policy of its own, so that beyond it only the last owner is asked. `generate` asks `controller_of` alone: it
# refuses an owned object and skips none.
#
# What an owner made of an earlier template has another policy, and is no copy of it: during a rolling update its pods
# serve. Only a policy that an owner once had counts as one, so a pod of a ReplicaSet or Job needs that one's. They are
# judged by their own policy, and no manifest of this render has to know them: a warning in `check`, CC1133.
#
# What runs no pod may have another policy: an upgrade leaves objects of the render before it behind, a repair those
# that somebody had changed. A status is proven by the cluster alone and anybody can write one into a file, so what has
# ended by its status is checked as a copy if it has the same policy, and a warning in `check` if it has another,
# CC1122.
#
#     object        runs no pod if                             known by
#     ReplicaSet    its spec.replicas is 0                     spec
#     Job           it has the condition Complete or Failed    status
#     Pod           its phase is Succeeded or Failed           status


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
    if resource.may_have_pods or resource.kind == "List":
        yield from ((item.root, item.value) for item in resource.objects if resource.kinds.of(item.ref) is not None)


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


# --- Identity: report objects that occur more than once in the input
#
# Rule: a cluster identifies an object by group, kind, namespace and name, not by the version. Of two
# objects with one identity it keeps the one that is applied last, whichever was sealed. Only objects that share kind
# and name are parsed, so that an input without such pairs costs only a comparison of headers.
#
# Truth table, first row that holds:
#
#     two objects have                                                          answer
#     no name, as with generateName alone                                       two objects
#     one is Contrast's, and one gets its namespace when it is applied          as in one namespace
#     another namespace ("" is `default`; a RuntimeClass has none)              two objects
#     the name that kpt gives its package contexts, both local to the package   two objects
#     nothing of Contrast's, and of just these two one is a Helm hook           two objects, as Helm makes them apart
#     anything else                                                             one object twice: CC0118 at each place


CLUSTER_WIDE = frozenset(("RuntimeClass",))  # more of these kinds cannot be known: there are custom resources
PACKAGE_CONTEXT = "kptfile.kpt.dev"  # the ConfigMap that kpt puts into every package and subpackage

Named = tuple[str, str]  # kind and name
Identity = tuple[str, str, str]  # group, kind, name: with a namespace, all of an identity


def duplicates(resources: Sequence[Resource]) -> tuple[Finding, ...]:
    """Return CC0118 for every object that occurs again."""
    alike: dict[Named, list[int]] = {}
    for index, resource in enumerate(resources):
        if not resource.may_be(KINDS_BY_CONTENT) or resource.document is None:
            if resource.name:
                alike.setdefault((resource.kind, resource.name), []).append(index)
            continue
        for item in resource.objects:
            alike.setdefault((item.ref.kind, _name(item.value)), []).append(index)
    suspects = {named for named, indexes in alike.items() if len(indexes) > 1 and all(named)}
    standing: dict[Identity, list[ObjectAt]] = {}
    findings: list[Finding] = []
    for resource in (resources[index] for index in sorted({index for named in suspects for index in alike[named]})):
        try:
            given = resource.given()
        except YamlError as problem:  # its identity is unknown
            findings.append(yaml_finding(problem, resource))
            continue
        for item in given.objects:
            if (item.ref.kind, name := _name(item.value)) in suspects:
                standing.setdefault((_group(item.ref.api_version), item.ref.kind, name), []).append(item)
    for group in (group for named in standing.values() for group in _by_namespace(named)):
        if len(group) > 1 and not _are_distinct(group):
            findings += _duplicate_findings(group)
    return tuple(findings)


def _by_namespace(named: list[ObjectAt]) -> Iterable[list[ObjectAt]]:
    """Group objects of one name by the namespace that they can come into."""
    if any(not one.ref.namespace for one in named) and any(map(_is_contrast_object, named)):
        return [named]
    spaces: dict[str, list[ObjectAt]] = {}
    for one in named:
        spaces.setdefault(_namespace(one.ref), []).append(one)
    return spaces.values()


def _name(value: Any) -> str:
    """Return the name of an object, "" without one; a generateName is no name."""
    name = dig(value, ("metadata", "name"))
    return name if isinstance(name, str) else ""


def _group(api_version: str) -> str:
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def _namespace(ref: Ref) -> str:
    return "" if ref.kind in CLUSTER_WIDE else ref.namespace or "default"


def _are_distinct(group: list[ObjectAt]) -> bool:
    """Tell whether objects of one identity are different ones all the same."""
    if group[0].ref.name == PACKAGE_CONTEXT and group[0].ref.kind == "ConfigMap":
        return all(dig(one.value, ("metadata", "annotations", LOCAL_CONFIG)) == "true" for one in group)
    from krm_function.kubernetes.helm_hooks import hook_of

    hooks = [bool(hook_of(one.value)) for one in group]
    return sorted(hooks) == [False, True] and not any(map(_is_contrast_object, group))


def _is_contrast_object(one: ObjectAt) -> bool:
    """Tell whether an object names a class of Contrast's, is one, or was added by a render."""
    if one.ref.kind == "RuntimeClass" and is_contrast_name(one.ref.name):
        return True
    added = dig(one.value, ("metadata", "annotations", EMITTED)) is not None
    return added or any(True for _ in contrast_names_in(one.value))


def _duplicate_findings(group: list[ObjectAt]) -> list[Finding]:
    """Make a finding for each occurrence; each names another occurrence, the first one if possible."""
    placed = []
    for one in group:
        first = next(iter(one.value), "") if isinstance(one.value, dict) else ""  # of a document: behind its comments
        path = one.root or (str(first),)
        placed.append(
            one.resource.given().placed(finding("CC0118", one.ref, path, kind=one.ref.kind, name=one.ref, other=""))
        )
    said = []
    for index, (one, here) in enumerate(zip(group, placed, strict=True)):
        there = placed[0 if index else 1]
        other = position_text(there.file, there.line, 0, there.origin)
        found = finding("CC0118", one.ref, kind=one.ref.kind, name=one.ref, other=other)
        said.append(found._replace(file=here.file, line=here.line, column=here.column, origin=here.origin))
    return said
