"""Objects that controllers made of others in the input, and objects that occur more than once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from krm_function.contrast.platforms import contrast_names_in, is_contrast_name
from krm_function.findings import Finding, Path, finding, position_text
from krm_function.kubernetes.kinds import KINDS_BY_CONTENT
from krm_function.kubernetes.objects import OWNERS, Controller, controller_of, dig, maps, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.resource import Copy, ObjectAt, Resource, Retired, yaml_finding
from krm_function.kubernetes.workload import EMITTED, INITDATA, LOCAL_CONFIG
from krm_function.text.errors import YamlError

# --- Find the objects that controllers made of workloads of the same input, as `kubectl get all -o yaml` prints them
#
# Rule: anybody can write an ownerReference, so one counts only if its owner (kind, name, uid) is in the input, with the
# same sealed policy and the same runtime class. The same holds for the owner's own owner, and so on, up to an object
# that no controller owns. A pod that owns (the leader of a group owns the StatefulSet of its workers) has a policy of
# its own, so beyond a pod only the last owner counts. `generate` asks `controller_of` alone: it refuses an owned object
# and skips none.
#
# An object that an owner made of an earlier template has another policy and is not a copy of the owner: in a rolling
# update its pods serve. Only a policy that an owner once had counts as earlier, so a pod of a ReplicaSet or Job needs
# the policy of that owner. `check` judges such objects by their own policy and warns with CC1133; the manifest of this
# render need not have their policies.
#
# An object that runs no pod may have another policy: an upgrade leaves objects of the previous render behind, a repair
# leaves objects that were changed. Only the cluster proves a status, and anybody can write one into a file, so `check`
# treats an object that has ended by its status as a copy if it has the same policy, and warns with CC1122 otherwise.
#
#     object        runs no pod if                             by its
#     ReplicaSet    its spec.replicas is 0                     spec
#     Job           it has the condition Complete or Failed    status
#     Pod           its phase is Succeeded or Failed           status


ENDED = ("Succeeded", "Failed")  # phases of a Pod
OVER = ("Complete", "Failed")  # conditions of a Job
WITH_ONE_TEMPLATE = ("Job", "ReplicaSet")  # made anew, or kept, when an owner's template changes


def add_copies(resources: Sequence[Resource]) -> tuple[Resource, ...]:
    """Return the resources with their copies, found by the unchanged objects, policies included.

    Another stage reports a document that cannot be parsed.
    """
    if not any(OWNERS in resource.text for resource in resources):
        return tuple(resources)
    places = [(resource, root, value) for resource in resources for root, value in _workloads(resource)]
    by_resource: dict[int, dict[Path, Copy]] = {}
    for (resource, root, _), copy in zip(
        places, find_copies([value for _, _, value in places], resources[0].kinds), strict=True
    ):
        if copy is not None:
            by_resource.setdefault(id(resource), {})[root] = copy
    return tuple(item._replace(copies=by_resource[id(item)]) if id(item) in by_resource else item for item in resources)


def find_copies(
    values: Sequence[Any], kinds: Kinds = SHIPPED, controllers: Mapping[Controller, Any] | None = None
) -> list[Copy | None]:
    """Return a copy for each object that is one, None for each of the others. kinds: those with pod templates.

    controllers: the candidates, if there are more than these objects.
    """
    controllers = index_controllers(values, kinds) if controllers is None else controllers
    return [
        _find_copy(value, controllers, kinds) if _is_workload(value, kinds) and controller_of(value) else None
        for value in values
    ]


def _workloads(resource: Resource) -> Iterator[tuple[Path, Any]]:
    if resource.may_have_pods or resource.kind == "List":
        yield from ((item.root, item.value) for item in resource.objects if resource.kinds.of(item.ref) is not None)


def index_controllers(values: Iterable[Any], kinds: Kinds = SHIPPED) -> Mapping[Controller, Any]:
    """Map the workloads that have a uid, as an ownerReference would name them."""
    controllers: dict[Controller, Any] = {}
    for value in values:
        ref, uid = reference(value), dig(value, ("metadata", "uid"))
        if _is_workload(value, kinds) and isinstance(uid, str) and uid:
            controllers[Controller(ref.namespace, ref.kind, ref.name, uid)] = value
    return controllers


def find_owners(value: Any, controllers: Mapping[Controller, Any]) -> list[Any] | None:
    """Return the controllers of an object, up to the one without an owner; None if any is missing."""
    owners = list_owners(value, controllers)
    return owners if controller_of([value, *owners][-1]) is None else None


def list_owners(value: Any, controllers: Mapping[Controller, Any]) -> list[Any]:
    """Return the controllers of an object as far as they are known; a circle has no end."""
    owners: list[Any] = []
    while (owner := controller_of(value)) is not None and owner in controllers and len(owners) < len(controllers):
        value = controllers[owner]
        owners.append(value)
    return owners


def _select_owners(owners: Sequence[Any]) -> list[Any]:
    below = [*takewhile(lambda owner: reference(owner).kind != "Pod", owners)]
    return below if len(below) == len(owners) else [*below, owners[-1]]


def _is_workload(value: Any, kinds: Kinds) -> bool:
    return kinds.of(reference(value)) is not None


def _find_copy(value: Any, controllers: Mapping[Controller, Any], kinds: Kinds) -> Copy | None:
    """Return the copy for an owned object; None if it is not one, or a controller is missing."""
    owners, sealed = find_owners(value, controllers), _find_seals(value, kinds)
    if not owners:
        return None
    retired = find_retirement(value)
    policies = [_find_seals(owner, kinds) for owner in _select_owners(owners)]
    if retired != "spec" and sealed and all(policy is not None and sealed <= policy for policy in policies):
        return Copy(owners[-1])
    if retired:
        return Copy(owners[-1], retired)
    is_earlier = bool(sealed) and None not in policies and all(policy == sealed for policy in policies[:-1])
    if policies[-1] != sealed and reference(owners[-1]).kind in WITH_ONE_TEMPLATE:
        is_earlier = False
    return Copy(owners[-1], "earlier") if is_earlier else None


def find_retirement(value: Any) -> Retired:
    """Return the part of an object that shows that it has ended or makes no pods, "" if none does."""
    match reference(value).kind:
        case "ReplicaSet":
            replicas = dig(value, ("spec", "replicas"))
            return "spec" if replicas == 0 and replicas is not False else ""
        case "Job":
            conditions = maps(dig(value, ("status", "conditions")))
            over = any(condition.get("type") in OVER and condition.get("status") == "True" for condition in conditions)
            return "status" if over else ""
        case "Pod":
            return "status" if dig(value, ("status", "phase")) in ENDED else ""
        case _:
            return ""


def _find_seals(value: Any, kinds: Kinds) -> set[tuple[str, str]] | None:
    """Return the runtime class and the initdata of each pod of an object, None if one has none.

    An object that a controller made has one pod, which is one of the pods of its owner.
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
#     two objects                                                               answer
#     have no name, as with generateName alone                                  two objects
#     one is Contrast's, and one gets its namespace when it is applied          as in one namespace
#     have different namespaces ("" is `default`; a RuntimeClass has none)      two objects
#     have kpt's name for package contexts, both local to the package           two objects
#     are not Contrast's, and of just these two one is a Helm hook              two objects, as Helm makes them apart
#     anything else                                                             one object twice: CC0118 at each place


CLUSTER_WIDE = frozenset(("RuntimeClass",))  # no list of these kinds is complete: there are custom resources
PACKAGE_CONTEXT = "kptfile.kpt.dev"  # the ConfigMap that kpt puts into every package and subpackage

Named = tuple[str, str]  # kind and name
Identity = tuple[str, str, str]  # group, kind, name: with a namespace, all of an identity


def find_duplicates(resources: Sequence[Resource]) -> tuple[Finding, ...]:
    """Return CC0118 for every object that occurs again."""
    alike: dict[Named, list[int]] = {}
    for index, resource in enumerate(resources):
        if not resource.may_be(KINDS_BY_CONTENT) or resource.document is None:
            if resource.name:
                alike.setdefault((resource.kind, resource.name), []).append(index)
            continue
        for item in resource.objects:
            alike.setdefault((item.ref.kind, _name_of(item.value)), []).append(index)
    suspects = {pair for pair, indexes in alike.items() if len(indexes) > 1 and all(pair)}
    by_identity: dict[Identity, list[ObjectAt]] = {}
    findings: list[Finding] = []
    for resource in (resources[index] for index in sorted({index for pair in suspects for index in alike[pair]})):
        try:
            source = resource.given()
        except YamlError as problem:  # its identity is unknown
            findings.append(yaml_finding(problem, resource))
            continue
        for item in source.objects:
            if (item.ref.kind, name := _name_of(item.value)) in suspects:
                by_identity.setdefault((item.ref.api_version.rpartition("/")[0], item.ref.kind, name), []).append(item)
    outputs = {resource.file for resource in resources if suspects and resource.file and INITDATA in resource.text}
    for group in (group for items in by_identity.values() for group in _by_namespace(items)):
        if len(group) > 1 and not _are_distinct(group):
            findings += _duplicate_findings(group, outputs)
    return tuple(findings)


def _by_namespace(items: list[ObjectAt]) -> Iterable[list[ObjectAt]]:
    if any(not item.ref.namespace for item in items) and any(map(_is_contrast_object, items)):
        return [items]
    spaces: dict[str, list[ObjectAt]] = {}
    for item in items:
        namespace = "" if item.ref.kind in CLUSTER_WIDE else item.ref.namespace or "default"
        spaces.setdefault(namespace, []).append(item)
    return spaces.values()


def _name_of(value: Any) -> str:
    """Return the name of an object, "" without one; a generateName does not count."""
    name = dig(value, ("metadata", "name"))
    return name if isinstance(name, str) else ""


def _are_distinct(group: list[ObjectAt]) -> bool:
    """Tell whether objects of one identity are different objects all the same."""
    if group[0].ref.name == PACKAGE_CONTEXT and group[0].ref.kind == "ConfigMap":
        return all(dig(item.value, ("metadata", "annotations", LOCAL_CONFIG)) == "true" for item in group)
    from krm_function.kubernetes.objects import hook_of

    hooks = [bool(hook_of(item.value)) for item in group]
    return sorted(hooks) == [False, True] and not any(map(_is_contrast_object, group))


def _is_contrast_object(item: ObjectAt) -> bool:
    if item.ref.kind == "RuntimeClass" and is_contrast_name(item.ref.name):
        return True
    added = dig(item.value, ("metadata", "annotations", EMITTED)) is not None
    return added or any(True for _ in contrast_names_in(item.value))


def _duplicate_findings(group: list[ObjectAt], outputs: set[str]) -> list[Finding]:
    """Make a finding for each occurrence; each names another occurrence, the first one if possible.

    outputs: files with sealed pods. If only some occurrences are in such a file, it is an earlier output.
    """
    files = {item.resource.file for item in group}
    code = "CC0118.rendered" if files & outputs and files - outputs else "CC0118"
    places = []
    for item in group:
        first = next(iter(item.value), "") if isinstance(item.value, dict) else ""  # of a document: behind its comments
        path = item.root or (str(first),)
        places.append(
            item.resource.given().placed(finding("CC0118", item.ref, path, kind=item.ref.kind, name=item.ref, other=""))
        )
    findings = []
    for index, (item, place) in enumerate(zip(group, places, strict=True)):
        example = places[0 if index else 1]
        position = position_text(example.file, example.line, 0, example.origin)
        values: dict[str, Any] = {"kind": item.ref.kind, "name": item.ref, "other": position}
        duplicate = finding(code, item.ref, **values, output=min(files & outputs, default=""))
        findings.append(duplicate._replace(file=place.file, line=place.line, column=place.column, origin=place.origin))
    return findings
