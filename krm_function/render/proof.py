"""Prove that an undo record of the input reverts only changes of a render."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from krm_function.adapt.secure_pv import CLAIM_VERSION, MODE
from krm_function.adapt.undone import lost, made_again, may_become_block
from krm_function.config.generate import Scheduling
from krm_function.contrast.annotations import asks_for_mesh
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
from krm_function.contrast.owned import (
    CLAIM_KIND,
    CONTAINERS,
    PROCESSES,
    REPLACED_CONTAINERS,
    SCHEDULING,
    VOLUMES,
    emitted_objects,
)
from krm_function.contrast.platforms import Platform, is_contrast_name, is_handler, parse_runtime_class
from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.krm.kube_object import ID, INDEX, PATH
from krm_function.kubernetes.image import Images
from krm_function.kubernetes.objects import dig, is_dns_label, listed, mapping, maps, objects, reference
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
# Rule: the comparison is of values, so the addresses in an undo record do not matter. A difference in a place that the
# table does not list is unexplained. `now` is the object of the input, `restored` is the object with its record undone.
# Additions of a render are recognised by their names (contrast/owned.py), not by rendering again: another version may
# have made the input.
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
#     Contrast's annotations, object to pod     adapt/undone.py applies the rule again
#     resources: names of GPUs; memory of a pod adapt/undone.py applies the rule again
#     volumes by rule: split, encrypted, of     adapt/undone.py applies the rule again
#     an image, caches; their mounts and owner
#     PersistentVolumeClaim: volumeMode         no                               a file system where Block is
#     image                                     no                               if `Images` allows it
#     anything else                             no                               no


POSITION_ANNOTATIONS = ("internal.config.kubernetes.io/", *PATH, *INDEX, *ID)  # where hosts keep an object's position
ANNOTATIONS: Path = ("metadata", "annotations")
RECORD: Path = (*ANNOTATIONS, ORIGINAL)
NAMESPACE: Path = ("metadata", "namespace")
ANYWHERE_ELSE: Path = ("**",)

Rule = Callable[[Any, Any], Path | None]  # now, restored -> path of the first unexplained difference, None without one


def find_unexplained(
    now: Any, restored: Any, images: Images, kinds: Kinds = SHIPPED, *, class_may_go: bool = False
) -> Path | None:
    """Return the path, from the object, of the first difference that no render makes; None if all are explained.

    kinds: those with pod templates. class_may_go: whether the configuration gives a runtime class to the pods of this
    object, or they are not deployed. Volumes that a rule rewrote are compared after applying the rule again to the
    restored object.
    """
    path = _find_change(now, restored, images, kinds, class_may_go)
    if path is not None and (again := made_again(now, restored, kinds)) is not restored:
        path = _find_change(now, again, images, kinds, class_may_go)
    return RECORD if path is None and dig(restored, RECORD) is not None else path  # a record of a render removes itself


def _find_change(now: Any, restored: Any, images: Images, kinds: Kinds, class_may_go: bool) -> Path | None:
    ref = reference(now)
    rules: dict[Path, Rule] = {ANNOTATIONS: _annotations_rule((ORIGINAL,))}
    if ref.kind == KIND:
        if ref.api_version != API_VERSION or not is_handler(str(mapping(now).get("handler"))):
            return ("handler",)
        return _find_first(now, restored, rules | _prefix_paths(("scheduling",), SCHEDULING_RULES))
    if (ref.api_version, ref.kind) == (CLAIM_VERSION, CLAIM_KIND):
        return _find_first(now, restored, rules | {MODE: may_become_block})
    if kinds.of(ref) is None:
        return ("kind",)
    workloads = workloads_of(now, (), ref, kinds=kinds)
    sealed = [workload for workload in workloads if is_contrast_name(workload.runtime_class)]
    if not sealed:
        return (*(workloads[0].template if workloads else ()), "spec", "runtimeClassName")
    rules[NAMESPACE] = _compare_namespaces
    for workload in sealed:
        restored_pod = mapping(dig(restored, (*workload.template, "spec")))
        keys = (INITDATA, *ID_BLOCKS, *(() if workload.template else (ORIGINAL,)))
        rules[*workload.template, *ANNOTATIONS] = _annotations_rule(keys)
        pod_rules = _make_pod_rules(workload, restored_pod, images)
        if class_may_go:
            pod_rules["runtimeClassName"] = _compare_chosen_classes
        rules |= _prefix_paths((*workload.template, "spec"), pod_rules)
    return _find_first(now, restored, rules)


def _make_pod_rules(workload: Workload, restored: dict[str, Any], images: Images) -> dict[str, Rule]:
    rules: dict[str, Rule] = {
        "runtimeClassName": _compare_classes,
        "volumes": _volumes_rule(workload, restored, images),
        "initContainers": _init_containers_rule(workload, images),
        "containers": lambda now, restored: _compare_pairs(now, restored, images),
    }
    return rules | SCHEDULING_RULES if workload.ref.kind == "DaemonSet" and not workload.made_by else rules


def _prefix_paths(path: Path, rules: Mapping[str, Rule]) -> dict[Path, Rule]:
    return {(*path, field): rule for field, rule in rules.items()}


def _find_first(now: Any, restored: Any, rules: Mapping[Path, Rule]) -> Path | None:
    """Return the path of the first difference at a place without a rule, or that its rule does not explain."""
    in_lists = any(isinstance(part, int) for path in rules for part in path)
    pairs = _have_equal_length if in_lists else None
    places = differing_places(now, restored, {**rules, ANYWHERE_ELSE: _unexplained_here}, pairs=pairs)
    for path, value, original, rule in places:
        below = rule(value, original) if rule else ()
        if below is not None:
            return (*map(str, path), *below)
    return None


def _unexplained_here(_now: Any, _before: Any) -> Path:
    return ()


def _have_equal_length(now: list[Any], restored: list[Any]) -> bool:
    return len(now) == len(restored)


def is_same_container(now: Any, restored: Any, images: Images) -> bool:
    """Tell whether two containers differ only in fields that a render changes."""
    return _compare_containers(now, restored, images) is None


def _list_init_containers(containers: Any, *, reserved: bool) -> list[Any]:
    """Return the init containers with a reserved name, or all others."""
    entries = containers if isinstance(containers, list) else []
    return [entry for entry in entries if (_name(entry) in CONTAINERS) == reserved]


def _list_secrets_mounts(container: Any) -> list[Any]:
    """Return a container's mounts of the secrets volume."""
    return [mount for mount in maps(mapping(container).get("volumeMounts")) if mount.get("name") == SECRETS]


def _name(entry: Any) -> str:
    name = mapping(entry).get("name")
    return name if isinstance(name, str) else ""


def _annotations_rule(prefixes: tuple[str, ...]) -> Rule:
    """Make a rule for annotations. prefixes: of the keys that a render writes.

    If the restored object has no annotations, the host's annotations about the object's position do not count.
    """

    def rule(now: Any, restored: Any) -> Path | None:
        if not _are_all_of_type(dict, now, restored):
            return ()
        current, original = mapping(now), mapping(restored)
        if not original:
            current = {key: value for key, value in current.items() if not str(key).startswith(POSITION_ANNOTATIONS)}
        for key in current | original:
            if not (key in current and key in original and same(current[key], original[key])) and not str(
                key
            ).startswith(prefixes):
                return (str(key),)
        return None

    return rule


def _compare_namespaces(now: Any, restored: Any) -> Path | None:
    """Compare the namespaces of a workload: a render only sets a missing one."""
    return None if isinstance(now, str) and (restored is ABSENT or restored is None or restored == "") else ()


def _are_all_of_type(kind: type, *values: Any) -> bool:
    return all(value is ABSENT or value is None or isinstance(value, kind) for value in values)


def _compare_fewer_keys(now: Any, restored: Any) -> Path | None:
    if not _are_all_of_type(dict, now, restored):
        return ()
    current, original = mapping(now), mapping(restored)
    keys = [key for key, value in original.items() if key not in current or not same(current[key], value)]
    return (str(keys[0]),) if keys else None


def _compare_removals(now: Any, restored: Any, removable: Callable[[Any], bool] = lambda _: True) -> Path | None:
    """Compare two lists: the second must be the first without some removable entries."""
    if not _are_all_of_type(list, now, restored):
        return ()
    current, original = (value if isinstance(value, list) else [] for value in (now, restored))
    stays = 0
    for index, entry in enumerate(current):
        if stays < len(original) and same(entry, original[stays]):
            stays += 1
        elif not removable(entry):
            return (index,)
    return None if stays == len(original) else ()


SCHEDULING_RULES: dict[str, Rule] = dict(zip(SCHEDULING, (_compare_fewer_keys, _compare_removals), strict=True))


def _compare_classes(now: Any, restored: Any) -> Path | None:
    if not isinstance(now, str) or not isinstance(restored, str) or not is_handler(now):
        return ()
    match parse_runtime_class(restored):
        case "bare":
            return None
        case Platform() as platform:
            return None if parse_runtime_class(now) == platform else ()
        case _:
            return ()


def _compare_chosen_classes(now: Any, restored: Any) -> Path | None:
    """Compare the classes of a pod that the configuration selects: it had none, or one that a render replaces."""
    if restored is ABSENT or restored is None or restored == "":
        return None if isinstance(now, str) and is_handler(now) else ()
    return _compare_classes(now, restored)


def _volumes_rule(workload: Workload, restored: dict[str, Any], images: Images) -> Rule:
    """Make a rule for volumes: those of reserved names may go, and the one that shares an encrypted volume.

    The annotation secure-pv names the latter, or an initializer that goes mounts it. restored: pod spec.
    """
    secure_pv = read_secure_pv(workload.annotations)
    shared = [] if secure_pv is None else [secure_pv.mount]
    back = _list_init_containers(restored.get("initContainers"), reserved=True)
    for container in _list_init_containers(workload.pod_spec.get("initContainers"), reserved=True):
        if _name(container) == INITIALIZER and not _is_among(container, back, images):
            mounts = maps(container.get("volumeMounts"))
            shared += [_name(mount) for mount in mounts if mount.get("mountPath") in STATE_PATHS]
    reserved = dict.fromkeys(shared, "emptyDir") | VOLUMES

    def removable(volume: Any) -> bool:
        source = reserved.get(_name(volume))
        if source is None or volume_sources(mapping(volume)) != (source,):
            return False
        return source != "emptyDir" or is_memory_volume(volume, _name(volume))

    return lambda now, restored: _compare_removals(now, restored, removable)


def _init_containers_rule(workload: Workload, images: Images) -> Rule:
    """Make a rule for init containers: those with Contrast's names in any order, the others one by one."""

    def rule(now: Any, restored: Any) -> Path | None:
        if not _are_all_of_type(list, now, restored):
            return ()
        present, back = (_list_init_containers(containers, reserved=True) for containers in (now, restored))
        for entry in back:
            stays = any(is_same_container(container, entry, images) for container in present)
            if _name(entry) not in REPLACED_CONTAINERS and not stays:
                return (f"({_name(entry)})",)
        for entry in present:
            if not _is_removable(entry, workload) and not _is_among(entry, back, images):
                return (f"({_name(entry)})",)
        current, original = (_list_init_containers(containers, reserved=False) for containers in (now, restored))
        return _compare_pairs(current, original, images)

    return rule


def _is_among(container: Any, back: Sequence[Any], images: Images) -> bool:
    return any(is_same_container(container, candidate, images) for candidate in back)


def _is_removable(container: Any, workload: Workload) -> bool:
    """Tell whether a render may have added a container with one of Contrast's names.

    Either it runs the process of some version, or the pod asks for it: then a render replaces it, whatever it runs.
    """
    if runs_injected_process(container):
        return True
    asked = {INITIALIZER: asks_for_initializer(workload.annotations), SERVICE_MESH: asks_for_mesh(workload.annotations)}
    return asked.get(_name(container), False) and not workload.is_coordinator


def runs_injected_process(container: Any) -> bool:
    """Tell whether a container with one of Contrast's names runs the process of a version; images and settings vary."""
    process = [mapping(container).get(key) for key in ("command", "args")]
    return any(all(map(same, process, expected)) for expected in PROCESSES[_name(container)])


def _compare_pairs(now: Any, restored: Any, images: Images) -> Path | None:
    if not isinstance(now, list) or not isinstance(restored, list) or len(now) != len(restored):
        return ()
    for index, (container, original) in enumerate(zip(now, restored, strict=True)):
        below = _compare_containers(container, original, images)
        if below is not None:
            return (_name(container) or index, *below)
    return None


def _compare_containers(now: Any, restored: Any, images: Images) -> Path | None:
    def image(now: Any, restored: Any) -> Path | None:
        return None if isinstance(now, str) and isinstance(restored, str) and images(now, restored) else ()

    return _find_first(now, restored, {("image",): image, ("volumeMounts",): _compare_mounts})


def _compare_mounts(now: Any, restored: Any) -> Path | None:
    """Compare mounts: any of the secrets volume may come, the one that a render adds may go; the rest stays."""
    if not _are_all_of_type(list, now, restored):
        return ()
    current, original = (mounts if isinstance(mounts, list) else [] for mounts in (now, restored))
    rest = [[mount for mount in side if _name(mount) != SECRETS] for side in (current, original)]
    if not same(*rest):
        return ()
    gone = (index for index, mount in enumerate(current) if _name(mount) == SECRETS and not _is_in(mount, original))
    foreign = next((index for index in gone if not is_secrets_mount(current[index])), None)
    return None if foreign is None else (foreign,)


# --- Prove: refuse an undo record of the input that reverts anything but a render
#
# Rule: any author of the input can write a record, so it is only a claim. It is accepted if the render returns the
# object exactly as in the input, so that the record changes nothing. Otherwise the table above must explain all
# differences between the object and its restored form, and nothing that the record restored may remain in the output.
# An error names the path that would change, never a value.


EMITTED_PATH: Path = (*ANNOTATIONS, EMITTED)
CLASS = "runtimeClassName"


class RenderOutcome(NamedTuple):
    """The evidence for records beside the rendered resources.

    images: the rule from an image in the input to that in the output. seals: whether the render wrote initdata.
    scheduling: its additions to the RuntimeClass of a platform.
    """

    images: Images
    seals: bool
    scheduling: Mapping[str, Scheduling]


def prove(
    resource: Resource,
    source: Resource,
    images: Images,
    outcome: RenderOutcome | None,
    *,
    class_may_go: Callable[[Ref], bool],
) -> list[Finding]:
    """Return an error for every record of a resource that is not proven.

    source: the same resource in the input. outcome: None if nothing was rendered. class_may_go: whether a record may
    remove the runtime class from the pods of an object, given the restored object's reference.
    """
    unproven = _find_unproven(resource, source.value, images, outcome, class_may_go)
    return [source.placed(_report(source.value, resource.value, root, path)) for root, path in unproven]


def check_removed_namespaces(resources: Iterable[Resource], namespace: str | None) -> tuple[Finding, ...]:
    """Report the records that remove a namespace, where nothing is rendered.

    namespace: the one that the caller expects the render to have set; None for no expectation: CC0117, a warning for
    each removed namespace. A record that removes an unexpected one is CC0115.
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
                stray = finding("CC0115.namespace", ref, (*root, *RECORD), namespace=ref.namespace)
                findings.append(resource.given().placed(stray))
    for removed, names in unproven.items():
        findings.append(finding("CC0117", namespace=removed, names=listed(names)))
    return tuple(findings)


def check_removed_classes(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0256 if records remove runtime classes, where nothing is rendered."""
    names: list[str] = []
    for resource in resources:
        source = read_value(resource.text) if resource.undone else None
        for root in resource.undone:
            now, restored = dig(source, root), dig(resource.value, root)
            ref = reference(now)
            paths = [(*template, "spec", CLASS) for template in resource.kinds.paths(ref, now)]
            if any(dig(now, path) and not dig(restored, path) for path in paths):
                names.append(f"{ref.kind}/{ref.name}")
    return (finding("CC0256", names=listed(names)),) if names else ()


def _report(now: Any, restored: Any, root: Path, path: Path) -> Finding:
    """Make the finding about a record. path: from the object to the first unexplained place."""
    ref = reference(dig(now, root))
    if path == NAMESPACE and dig(restored, (*root, *NAMESPACE)) in (None, "") and is_dns_label(ref.namespace):
        return finding("CC0115.namespace", ref, (*root, *RECORD), namespace=ref.namespace)
    if path[-1:] == (CLASS,) and dig(restored, (*root, *path)) in (None, ""):
        return finding("CC0115.class", ref, (*root, *RECORD), kind=ref.kind, name=ref.name)
    return finding("CC0115.change", ref, (*root, *RECORD), field=dotted(path) or "the object")


def _find_unproven(
    resource: Resource, now: Any, images: Images, outcome: RenderOutcome | None, class_may_go: Callable[[Ref], bool]
) -> list[tuple[Path, Path]]:
    """Find the objects of a document whose record is not proven, each with the first unexplained path."""
    restored, roots = resource.value, resource.undone
    if list(_list_objects(now)) != list(_list_objects(restored)) or not same(_mask(now, roots), _mask(restored, roots)):
        return [(roots[0], ())]  # a record reaches out of its object
    if brought := [(root, EMITTED_PATH) for root in roots if dig(restored, (*root, *EMITTED_PATH)) is not None]:
        return brought  # an object that a render adds has no record, so restoring never yields one
    text = resource.output if outcome is not None else None
    rendered = (
        dict(zip(_list_user_objects(now), _list_user_objects(read_value(text)).values(), strict=True)) if text else {}
    )
    edits = {object_edits.root: object_edits.edits for object_edits in resource.edits}
    unproven: list[tuple[Path, Path]] = []
    for root in roots:
        was, is_ = dig(restored, root), dig(now, root)
        if root in rendered and same(_drop_record(is_), _drop_record(rendered[root])):
            continue
        path = find_unexplained(is_, was, images, resource.kinds, class_may_go=class_may_go(reference(was)))
        if path is None and outcome is not None and root in rendered:
            path = _find_effect(is_, rendered[root], edits.get(root, ()), outcome, resource.kinds)
            path = path or lost(is_, was, rendered[root], resource.kinds)
        if path is not None:
            unproven.append((root, path))
    return unproven


def _list_objects(document: Any) -> dict[Path, Any]:
    return dict(objects(document))


def _mask(document: Any, roots: tuple[Path, ...]) -> Any:
    return apply(document, [Change(root, "set", None) for root in roots])


def _list_user_objects(document: Any) -> dict[Path, Any]:
    added = {root for root, _ in emitted_objects(document)}
    return {root: value for root, value in _list_objects(document).items() if root not in added}


def _drop_record(value: Any) -> Any:
    return apply(value, [Change(RECORD, "remove")]) if dig(value, RECORD) is not None else value


def _find_effect(now: Any, rendered: Any, edits: Sequence[Edit], outcome: RenderOutcome, kinds: Kinds) -> Path | None:
    """Return the path of a part that a rendered object has or lacks only because of a record."""
    if reference(now).kind == KIND:
        return _find_lost_scheduling(now, rendered, outcome.scheduling)
    if dig(now, NAMESPACE) not in (None, "") and not same(dig(now, NAMESPACE), dig(rendered, NAMESPACE)):
        return NAMESPACE  # this render gives it another namespace, or none
    for template in kinds.paths(reference(rendered), rendered):
        class_path = (*template, "spec", CLASS)
        if is_handler(str(dig(now, class_path))) and not is_handler(str(dig(rendered, class_path))):
            return class_path  # only the record put it there
        if not outcome.seals:
            place = (*template, "metadata", "annotations", INITDATA)
            if (value := dig(rendered, place)) is not None and not same(dig(now, place), value):
                return place
        specs = [mapping(dig(value, (*template, "spec"))) for value in (now, rendered)]
        path = _find_addition(specs[0], specs[1], edits, outcome.images)
        if path is not None:
            return (*template, "spec", *path)
    return None


def _find_addition(now: dict[str, Any], rendered: dict[str, Any], edits: Sequence[Edit], images: Images) -> Path | None:
    """Return the path of a new injected container, or a new mount of the secrets, that this render did not write.

    Or of a removed container: if it runs anything but an injected process, it goes only if another is written.
    """
    written = [value for edit in edits for value in (edit.after if isinstance(edit.after, list) else [edit.after])]
    present, remaining = (_list_init_containers(spec.get("initContainers"), reserved=True) for spec in (now, rendered))
    for container in remaining:
        stood = any(is_same_container(entry, container, images) for entry in present)
        if not stood and not _is_in(container, written):
            return "initContainers", str(container["name"])
    replaced = [container["name"] for container in remaining if _is_in(container, written)]
    for container in present:
        stays = container["name"] in replaced or any(is_same_container(container, entry, images) for entry in remaining)
        if not stays and not runs_injected_process(container):
            return "initContainers", str(container["name"])
    mounted = any(edit.code == "CC0804" for edit in edits)
    for field in ("initContainers", "containers"):
        sides = [{str(entry.get("name")): entry for entry in maps(spec.get(field))} for spec in (now, rendered)]
        orders = [
            [name for name in side if name in sides[0] and not _is_in(sides[1].get(name), written)] for side in sides
        ]
        if [name for name in orders[0] if name in sides[1]] != orders[1]:
            return (field,)  # in another order
        for name in orders[1]:
            for mount in _list_secrets_mounts(sides[1][name]):
                was_mounted = _is_in(mount, _list_secrets_mounts(sides[0][name]))
                if not was_mounted and not (mounted and same(mount, secrets_mount())):
                    return field, name, "volumeMounts"
    return None


def _is_in(value: Any, values: Sequence[Any]) -> bool:
    return any(same(value, item) for item in values)


def _find_lost_scheduling(now: Any, rendered: Any, configured: Mapping[str, Scheduling]) -> Path | None:
    """Find scheduling that a RuntimeClass lost although the configuration did not add it."""
    platform = parse_runtime_class(str(mapping(now).get("handler")))
    scheduling = configured.get(platform.name, Scheduling()) if isinstance(platform, Platform) else Scheduling()
    for key, value in mapping(dig(now, ("scheduling", "nodeSelector"))).items():
        if dig(rendered, ("scheduling", "nodeSelector", key)) != value and scheduling.node_selector.get(key) != value:
            return "scheduling", "nodeSelector", key
    remaining = [*maps(dig(rendered, ("scheduling", "tolerations"))), *map(dict, scheduling.tolerations)]
    for index, toleration in enumerate(maps(dig(now, ("scheduling", "tolerations")))):
        if not _is_in(toleration, remaining):
            return "scheduling", "tolerations", index
    return None
