"""Prove that an undo record of the input takes back what a render does, and nothing else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from krm_function.adapt.secure_pv import CLAIM_VERSION, MODE
from krm_function.adapt.undone import lost, made_again, may_become_block
from krm_function.config.generate import Scheduling
from krm_function.contrast.injected import (
    INITIALIZER,
    SECRETS,
    SERVICE_MESH,
    STATE_PATHS,
    asks_for_initializer,
    is_memory_volume,
    is_secrets_mount,
    read_secure_pv,
    secrets_mount,
)
from krm_function.contrast.mesh_annotations import asks_for_mesh
from krm_function.contrast.owned import (
    CLAIM_KIND,
    CONTAINERS,
    PROCESSES,
    REPLACED_CONTAINERS,
    SCHEDULING,
    VOLUMES,
    emitted_objects,
)
from krm_function.contrast.platforms import Bare, Platform, is_contrast_name, is_handler, parse_runtime_class
from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.krm.kube_object import ID, INDEX, PATH
from krm_function.kubernetes.image import Images
from krm_function.kubernetes.lookup import dig, is_dns_label, mapping, maps
from krm_function.kubernetes.objects import listed, objects, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.resource import Edit, Resource
from krm_function.kubernetes.runtime_classes import API_VERSION, KIND
from krm_function.kubernetes.workload import (
    EMITTED,
    ID_BLOCKS,
    INITDATA,
    ORIGINAL,
    Workload,
    volume_sources,
    workloads_of,
)
from krm_function.record import NamedTuple
from krm_function.text.changes import ABSENT, Change, apply, differing_places, same
from krm_function.text.parse import read_value

# --- Check that an object and its restored form differ only in what undoing a render can change
#
# Rule: it compares values, so the addresses in an undo record do not matter. A difference in a place that
# the table does not list is unexplained. `now` is the object of the input, `before` is the object with its record
# undone. What a render adds is known by its names (contrast/owned.py), not by what the present code would make of it:
# the input may be output of another version.
#
#     place                                     may go                           may come, or be another
#     the object's contrast-krm.dev/original    yes, and must                    no
#     the workload's metadata.namespace         yes                              no
#     RuntimeClass: scheduling                  node selectors, tolerations      nothing
#     pod template: annotations                 initdata, SNP ID blocks          initdata, SNP ID blocks
#     DaemonSet: nodeSelector, tolerations      yes                              no
#     runtimeClassName                          if `class_may_go`                its own placeholder, or a bare one
#     volumes                                   those of Contrast                no
#     initializer, service mesh                 `_is_removable`                  any
#     pvc-holder                                those with an injected process   no
#     volumeMounts of contrast-secrets          those that a render adds         any
#     Contrast's annotations, object to pod     model.rewriting.undone makes again what the rule does
#     resources: names of GPUs; memory of a pod model.rewriting.undone makes again what the rule does
#     volumes by rule: split, encrypted, of     model.rewriting.undone makes again what the rule does
#     an image, caches; their mounts
#     PersistentVolumeClaim: volumeMode         no                               a file system where Block is
#     image                                     no                               if `Images` allows it
#     anything else                             no                               no


POSITION_ANNOTATIONS = ("internal.config.kubernetes.io/", *PATH, *INDEX, *ID)  # where hosts keep an object's position
ANNOTATIONS: Path = ("metadata", "annotations")
RECORD: Path = (*ANNOTATIONS, ORIGINAL)
NAMESPACE: Path = ("metadata", "namespace")
ANYWHERE_ELSE: Path = ("**",)

Rule = Callable[[Any, Any], Path | None]  # now, before -> path of the first unexplained difference, None without one


def unexplained(
    now: Any, before: Any, images: Images, kinds: Kinds = SHIPPED, *, class_may_go: bool = False
) -> Path | None:
    """Find the path, from the object, of the first difference that no render makes; None if all are explained.

    kinds: those with pod templates. class_may_go: whether the pods of this object are given a runtime class by the
    configuration, or are not deployed. Volumes that a rule rewrote are compared as the rule makes them again of what
    the record restores.
    """
    path = _changed(now, before, images, kinds, class_may_go)
    if path is not None and (again := made_again(now, before, kinds)) is not before:
        path = _changed(now, again, images, kinds, class_may_go)
    return RECORD if path is None and dig(before, RECORD) is not None else path  # a record of a render removes itself


def _changed(now: Any, before: Any, images: Images, kinds: Kinds, class_may_go: bool) -> Path | None:
    """Find the first unexplained difference, without the rule for the undo record itself."""
    ref = reference(now)
    rules: dict[Path, Rule] = {ANNOTATIONS: _annotations((ORIGINAL,))}
    if ref.kind == KIND:
        if ref.api_version != API_VERSION or not is_handler(str(mapping(now).get("handler"))):
            return ("handler",)
        return _first_unexplained(now, before, rules | _below(("scheduling",), SCHEDULING_RULES))
    if (ref.api_version, ref.kind) == (CLAIM_VERSION, CLAIM_KIND):
        return _first_unexplained(now, before, rules | {MODE: may_become_block})
    if kinds.of(ref) is None:
        return ("kind",)
    workloads = workloads_of(now, (), ref, kinds=kinds)
    sealed = [one for one in workloads if is_contrast_name(one.runtime_class)]
    if not sealed:
        return (*(workloads[0].template if workloads else ()), "spec", "runtimeClassName")
    rules[NAMESPACE] = _namespace
    for workload in sealed:
        before_pod = mapping(dig(before, (*workload.template, "spec")))
        own = (INITDATA, *ID_BLOCKS, *(() if workload.template else (ORIGINAL,)))
        rules[*workload.template, *ANNOTATIONS] = _annotations(own)
        pod_rules = _pod_rules(workload, before_pod, images)
        if class_may_go:
            pod_rules["runtimeClassName"] = _chosen_class
        rules |= _below((*workload.template, "spec"), pod_rules)
    return _first_unexplained(now, before, rules)


def _pod_rules(workload: Workload, before: dict[str, Any], images: Images) -> dict[str, Rule]:
    """Return the rules for the fields of a pod spec. before: the pod spec with its record undone."""
    rules: dict[str, Rule] = {
        "runtimeClassName": _runtime_class,
        "volumes": _volumes(workload, before, images),
        "initContainers": _init_containers(workload, images),
        "containers": lambda left, right: _pairs(left, right, images),
    }
    return rules | SCHEDULING_RULES if workload.ref.kind == "DaemonSet" and not workload.made_by else rules


def _below(path: Path, rules: Mapping[str, Rule]) -> dict[Path, Rule]:
    """Return the rules for the fields of the map at a path."""
    return {(*path, field): rule for field, rule in rules.items()}


def _first_unexplained(now: Any, before: Any, rules: Mapping[Path, Rule]) -> Path | None:
    """Find the first difference at a place that the rules do not list, or that its rule does not explain."""
    in_lists = any(isinstance(part, int) for path in rules for part in path)
    pairs = _have_the_same_length if in_lists else None
    places = differing_places(now, before, {**rules, ANYWHERE_ELSE: _unexplained_here}, pairs=pairs)
    for path, left, right, rule in places:
        below = rule(left, right) if rule else ()
        if below is not None:
            return (*map(str, path), *below)
    return None


def _have_the_same_length(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before)


def _unexplained_here(_now: Any, _before: Any) -> Path:
    return ()


def is_same_container(now: Any, before: Any, images: Images) -> bool:
    """Whether two containers differ only in what a render changes."""
    return _container(now, before, images) is None


def containers_of(pod_spec: Any, field: str, *, own: bool) -> list[Any]:
    """Return a field's containers that have one of Contrast's names (own), or all others; `containers` has no own."""
    found = mapping(pod_spec).get(field)
    if not isinstance(found, list):
        return []
    return [one for one in found if (field == "initContainers" and _name(one) in CONTAINERS) == own]


def secrets_mounts(container: Any) -> list[Any]:
    """Return a container's mounts of the secrets volume."""
    return [mount for mount in maps(mapping(container).get("volumeMounts")) if mount.get("name") == SECRETS]


def _name(entry: Any) -> str:
    name = mapping(entry).get("name")
    return name if isinstance(name, str) else ""


def _annotations(own: tuple[str, ...]) -> Rule:
    """Make a rule for annotations. own: prefixes of the keys that a render writes.

    If there were none before, those in which a host keeps the object's position do not count.
    """

    def rule(now: Any, before: Any) -> Path | None:
        if not _all_of_type(dict, now, before):
            return ()
        left, right = mapping(now), mapping(before)
        if not right:
            left = {key: value for key, value in left.items() if not str(key).startswith(POSITION_ANNOTATIONS)}
        for key in left | right:
            if not (key in left and key in right and same(left[key], right[key])) and not str(key).startswith(own):
                return (str(key),)
        return None

    return rule


def _namespace(now: Any, before: Any) -> Path | None:
    """Compare the namespaces of a workload: a render gives it one where there was none."""
    return None if isinstance(now, str) and (before is ABSENT or before is None or before == "") else ()


def _all_of_type(kind: type, *values: Any) -> bool:
    """Whether each value is of a type, absent or null."""
    return all(one is ABSENT or one is None or isinstance(one, kind) for one in values)


def _fewer_keys(now: Any, before: Any) -> Path | None:
    if not _all_of_type(dict, now, before):
        return ()
    left, right = mapping(now), mapping(before)
    wrong = [key for key, value in right.items() if key not in left or not same(left[key], value)]
    return (str(wrong[0]),) if wrong else None


def _fewer_entries(now: Any, before: Any) -> Path | None:
    return _without(now, before, lambda _: True)


SCHEDULING_RULES: dict[str, Rule] = dict(zip(SCHEDULING, (_fewer_keys, _fewer_entries), strict=True))


def _without(now: Any, before: Any, removable: Callable[[Any], bool]) -> Path | None:
    """Compare two lists: the second is the first without some entries that may go."""
    if not _all_of_type(list, now, before):
        return ()
    left, right = (one if isinstance(one, list) else [] for one in (now, before))
    stays = 0
    for index, entry in enumerate(left):
        if stays < len(right) and same(entry, right[stays]):
            stays += 1
        elif not removable(entry):
            return (index,)
    return None if stays == len(right) else ()


def _runtime_class(now: Any, before: Any) -> Path | None:
    if not isinstance(now, str) or not isinstance(before, str) or not is_handler(now):
        return ()
    match parse_runtime_class(before):
        case Bare():
            return None
        case Platform() as platform:
            return None if parse_runtime_class(now) == platform else ()
        case _:
            return ()


def _chosen_class(now: Any, before: Any) -> Path | None:
    """Compare the classes of a pod that the configuration chooses: it had none, or one that is replaced anyway."""
    if before is ABSENT or before is None or before == "":
        return None if isinstance(now, str) and is_handler(now) else ()
    return _runtime_class(now, before)


def _volumes(workload: Workload, before: dict[str, Any], images: Images) -> Rule:
    """Make a rule for volumes: those of reserved names may go, and the one that shares an encrypted volume.

    The last one has the name in the annotation secure-pv, or is mounted by an initializer that goes. before: pod spec.
    """
    secure_pv = read_secure_pv(workload.annotations)
    shared = [] if secure_pv is None else [secure_pv.mount]
    back = containers_of(before, "initContainers", own=True)
    for container in containers_of(workload.pod_spec, "initContainers", own=True):
        if _name(container) == INITIALIZER and not _stays(container, back, images):
            mounts = maps(container.get("volumeMounts"))
            shared += [_name(mount) for mount in mounts if mount.get("mountPath") in STATE_PATHS]
    own = dict.fromkeys(shared, "emptyDir") | VOLUMES

    def removable(volume: Any) -> bool:
        source = own.get(_name(volume))
        if source is None or volume_sources(mapping(volume)) != (source,):
            return False
        return source != "emptyDir" or is_memory_volume(volume, _name(volume))

    return lambda now, before: _without(now, before, removable)


def _init_containers(workload: Workload, images: Images) -> Rule:
    """Make a rule for init containers: those of Contrast's names in any order, the others one by one."""

    def rule(now: Any, before: Any) -> Path | None:
        if not _all_of_type(list, now, before):
            return ()
        present, back = (containers_of({"initContainers": one}, "initContainers", own=True) for one in (now, before))
        for entry in back:
            stays = any(is_same_container(one, entry, images) for one in present)
            if _name(entry) not in REPLACED_CONTAINERS and not stays:
                return (f"({_name(entry)})",)
        for entry in present:
            if not _is_removable(entry, workload) and not _stays(entry, back, images):
                return (f"({_name(entry)})",)
        left, right = (containers_of({"initContainers": one}, "initContainers", own=False) for one in (now, before))
        return _pairs(left, right, images)

    return rule


def _stays(container: Any, back: Sequence[Any], images: Images) -> bool:
    """Whether a container is still there, but for what a render changes in it."""
    return any(is_same_container(container, one, images) for one in back)


def _is_removable(container: Any, workload: Workload) -> bool:
    """Whether a render may have added a container of one of Contrast's names.

    It runs what some version makes it run, or the pod asks for it: then a render replaces it, whatever it runs.
    """
    if runs_injected_process(container):
        return True
    asked = {INITIALIZER: asks_for_initializer(workload.annotations), SERVICE_MESH: asks_for_mesh(workload.annotations)}
    return asked.get(_name(container), False) and not workload.is_coordinator


def runs_injected_process(container: Any) -> bool:
    """Whether a container of one of Contrast's names runs what a version makes it run; images and settings vary."""
    process = [mapping(container).get(key) for key in ("command", "args")]
    return any(all(map(same, process, known)) for known in PROCESSES[_name(container)])


def _pairs(now: Any, before: Any, images: Images) -> Path | None:
    """Compare containers one by one."""
    if not isinstance(now, list) or not isinstance(before, list) or len(now) != len(before):
        return ()
    for index, (left, right) in enumerate(zip(now, before, strict=True)):
        below = _container(left, right, images)
        if below is not None:
            return (_name(left) or index, *below)
    return None


def _container(now: Any, before: Any, images: Images) -> Path | None:
    def image(now: Any, before: Any) -> Path | None:
        return None if isinstance(now, str) and isinstance(before, str) and images(now, before) else ()

    return _first_unexplained(now, before, {("image",): image, ("volumeMounts",): _mounts})


def _mounts(now: Any, before: Any) -> Path | None:
    """Compare mounts: any of the secrets volume may come, the one that a render adds may go; the others stay."""
    if not _all_of_type(list, now, before):
        return ()
    left, right = (one if isinstance(one, list) else [] for one in (now, before))
    others = [[mount for mount in side if _name(mount) != SECRETS] for side in (left, right)]
    if not same(*others):
        return ()
    for index, mount in enumerate(left):
        gone = _name(mount) == SECRETS and not any(same(mount, one) for one in right)
        if gone and not is_secrets_mount(mount):
            return (index,)
    return None


# --- Prove: refuse an undo record of the input that reverts anything but a render
#
# Rule: any author of the input can write a record, so it is only a claim. It is accepted if the render
# returns the object exactly as it was in the input, so that the record changes nothing. Otherwise `render.proof`
# must explain all differences between the object and its restored form, and nothing that the record restored may remain
# in the output. An error names the path that would change, never a value.


EMITTED_PATH: Path = ("metadata", "annotations", EMITTED)
CLASS = "runtimeClassName"


class RenderOutcome(NamedTuple):
    """What proves records besides the resources that a render made.

    images: the rule from an image in the input to that in the output. seals: whether the render wrote initdata.
    scheduling: what it adds to the RuntimeClass of a platform.
    """

    images: Images
    seals: bool
    scheduling: Mapping[str, Scheduling]


def _never(_: Ref) -> bool:
    return False


def prove(
    resource: Resource,
    given: Resource,
    images: Images,
    made: RenderOutcome | None = None,
    *,
    class_may_go: Callable[[Ref], bool] = _never,
) -> list[Finding]:
    """Return an error for every record of one resource that is not proven.

    given: the same resource as it stands in the input. made: None if nothing was rendered. class_may_go: whether a
    record may take the runtime class away from the pods of an object: of one as its record restores it.
    """
    unproven = _unproven_objects(resource, given.value, images, made, class_may_go)
    return [given.placed(_wrong(given.value, resource.value, root, path)) for root, path in unproven]


def taken_namespaces(resources: Iterable[Resource], namespace: str | None) -> tuple[Finding, ...]:
    """Return what is to be said of the records that take a namespace away, where nothing is rendered.

    namespace: the one that the render is said to have given, None if that is not said: CC0117, a warning for each
    namespace. A record that takes another one is CC0115.
    """
    findings: list[Finding] = []
    unproven: dict[str, list[str]] = {}
    for resource in resources:
        for root in resource.undone:
            if dig(resource.value, (*root, *NAMESPACE)) not in (None, ""):
                continue
            ref = reference(dig(read_value(resource.text), root))
            if namespace is None and ref.namespace:
                unproven.setdefault(ref.namespace, []).append(f"{ref.kind}/{ref.name}")
            elif ref.namespace not in ("", namespace):
                wrong = finding("CC0115.namespace", ref, (*root, *RECORD), namespace=ref.namespace)
                findings.append(resource.given().placed(wrong))
    for taken, names in unproven.items():
        findings.append(finding("CC0117", namespace=taken, names=listed(names)))
    return tuple(findings)


def taken_classes(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0256 if records take runtime classes away, where nothing is rendered."""
    names: list[str] = []
    for resource in resources:
        given = read_value(resource.text) if resource.undone else None
        for root in resource.undone:
            now, before = dig(given, root), dig(resource.value, root)
            ref = reference(now)
            paths = [(*template, "spec", CLASS) for template in resource.kinds.paths(ref, now)]
            if any(dig(now, path) and not dig(before, path) for path in paths):
                names.append(f"{ref.kind}/{ref.name}")
    return (finding("CC0256", names=listed(names)),) if names else ()


def _wrong(now: Any, before: Any, root: Path, path: Path) -> Finding:
    """Make the finding about one record. path: from the object to the first place that is not explained."""
    ref = reference(dig(now, root))
    taken = path == NAMESPACE and dig(before, (*root, *NAMESPACE)) in (None, "") and is_dns_label(ref.namespace)
    if taken:
        return finding("CC0115.namespace", ref, (*root, *RECORD), namespace=ref.namespace)
    if path[-1:] == (CLASS,) and dig(before, (*root, *path)) in (None, ""):
        return finding("CC0115.class", ref, (*root, *RECORD), kind=ref.kind, name=ref.name)
    return finding("CC0115.change", ref, (*root, *RECORD), field=dotted(path) or "the object")


def _unproven_objects(
    resource: Resource, now: Any, images: Images, made: RenderOutcome | None, class_may_go: Callable[[Ref], bool]
) -> list[tuple[Path, Path]]:
    """Find the objects of one document whose record is not proven, each with the first path that is not explained."""
    before, roots = resource.value, resource.undone
    if _object_paths(now) != _object_paths(before) or not same(_masked(now, roots), _masked(before, roots)):
        return [(roots[0], ())]  # a record reaches out of its object
    if brought := [(root, EMITTED_PATH) for root in roots if dig(before, (*root, *EMITTED_PATH)) is not None]:
        return brought  # an object that a render adds has no record, so restoring never yields one
    text = resource.output if made is not None else None
    after = dict(zip(_user_objects(now), _user_objects(read_value(text)).values(), strict=True)) if text else {}
    edits = {one.root: one.edits for one in resource.edits}
    wrong: list[tuple[Path, Path]] = []
    for root in roots:
        was, is_ = dig(before, root), dig(now, root)
        if root in after and same(_without_record(is_), _without_record(after[root])):
            continue
        path = unexplained(is_, was, images, resource.kinds, class_may_go=class_may_go(reference(was)))
        if path is None and made is not None and root in after:
            path = _due_to_record(is_, after[root], edits.get(root, ()), made, resource.kinds)
            path = path or lost(is_, was, after[root], resource.kinds)
        if path is not None:
            wrong.append((root, path))
    return wrong


def _object_paths(document: Any) -> list[Path]:
    return [root for root, _ in objects(document)]


def _masked(document: Any, roots: tuple[Path, ...]) -> Any:
    """Return a document without the objects that may have changed."""
    return apply(document, [Change(root, "set", None) for root in roots])


def _user_objects(document: Any) -> dict[Path, Any]:
    """Return the objects of a document that no render added, in order."""
    added = {root for root, _ in emitted_objects(document)}
    return {root: value for root, value in objects(document) if root not in added}


def _without_record(value: Any) -> Any:
    return apply(value, [Change(RECORD, "remove")]) if dig(value, RECORD) is not None else value


def _due_to_record(now: Any, after: Any, edits: Sequence[Edit], made: RenderOutcome, kinds: Kinds) -> Path | None:
    """Find what a rendered object has only because a record added it, or lacks only because a record removed it."""
    if reference(now).kind == KIND:
        return _scheduling_lost(now, after, made.scheduling)
    if dig(now, NAMESPACE) not in (None, "") and not same(dig(now, NAMESPACE), dig(after, NAMESPACE)):
        return NAMESPACE  # this render gives it another namespace, or none
    for template in kinds.paths(reference(after), after):
        named = (*template, "spec", CLASS)
        if is_handler(str(dig(now, named))) and not is_handler(str(dig(after, named))):
            return named  # which stood there by the record alone
        if not made.seals:
            place = (*template, "metadata", "annotations", INITDATA)
            if (value := dig(after, place)) is not None and not same(dig(now, place), value):
                return place
        specs = [mapping(dig(value, (*template, "spec"))) for value in (now, after)]
        path = _added_by_record(specs[0], specs[1], edits, made.images)
        if path is not None:
            return (*template, "spec", *path)
    return None


def _added_by_record(now: dict[str, Any], after: dict[str, Any], edits: Sequence[Edit], images: Images) -> Path | None:
    """Find an injected container, or a mount of the secrets, that this render did not write and that is new.

    Or a container that is gone: what runs something else than injected containers goes only if another is written.
    """
    written = [one for edit in edits for one in (edit.after if isinstance(edit.after, list) else [edit.after])]
    present, left = (containers_of(spec, "initContainers", own=True) for spec in (now, after))
    for container in left:
        stood = any(is_same_container(one, container, images) for one in present)
        if not stood and not _is_in(container, written):
            return "initContainers", str(container["name"])
    replaced = [container["name"] for container in left if _is_in(container, written)]
    for container in present:
        stays = container["name"] in replaced or any(is_same_container(container, one, images) for one in left)
        if not stays and not runs_injected_process(container):
            return "initContainers", str(container["name"])
    mounted = any(edit.code == "CC0804" for edit in edits)
    for field in ("initContainers", "containers"):
        sides = [{str(one.get("name")): one for one in maps(spec.get(field))} for spec in (now, after)]
        kept = [
            [name for name in side if name in sides[0] and not _is_in(sides[1].get(name), written)] for side in sides
        ]
        if [name for name in kept[0] if name in sides[1]] != kept[1]:
            return (field,)  # in another order
        for name in kept[1]:
            for mount in secrets_mounts(sides[1][name]):
                known = _is_in(mount, secrets_mounts(sides[0][name]))
                if not known and not (mounted and same(mount, secrets_mount())):
                    return field, name, "volumeMounts"
    return None


def _is_in(value: Any, values: Sequence[Any]) -> bool:
    return any(same(value, one) for one in values)


def _scheduling_lost(now: Any, after: Any, configured: Mapping[str, Scheduling]) -> Path | None:
    """Find scheduling of a RuntimeClass that is gone, though the configuration is not what added it."""
    platform = parse_runtime_class(str(mapping(now).get("handler")))
    wanted = configured.get(platform.name, Scheduling()) if isinstance(platform, Platform) else Scheduling()
    for key, value in mapping(dig(now, ("scheduling", "nodeSelector"))).items():
        if dig(after, ("scheduling", "nodeSelector", key)) != value and wanted.node_selector.get(key) != value:
            return "scheduling", "nodeSelector", key
    kept = [*maps(dig(after, ("scheduling", "tolerations"))), *map(dict, wanted.tolerations)]
    for index, toleration in enumerate(maps(dig(now, ("scheduling", "tolerations")))):
        if not any(same(toleration, one) for one in kept):
            return "scheduling", "tolerations", index
    return None
