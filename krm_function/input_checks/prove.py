"""Prove: refuse an undo record of the input that reverts anything but a render.

Rule of this file: any author of the input can write a record, so it is only a claim. It is accepted if the render
returns the object exactly as it was in the input, so that the record changes nothing. Otherwise `model.undo_rules` must
explain all differences between the object and its restored form, and nothing that the record restored may remain in
the output. An error names the path that would change, never a value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from krm_function.api.records import Scheduling
from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.model.edits import Edit
from krm_function.model.injected import secrets_mount
from krm_function.model.labels import is_dns_label
from krm_function.model.listed_names import listed
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.objects import emitted_objects, objects, reference
from krm_function.model.platforms import Platform
from krm_function.model.pod_kinds import Kinds
from krm_function.model.replaced_images import Images
from krm_function.model.resource import Resource
from krm_function.model.rewriting.undone import lost
from krm_function.model.runtime_class_names import is_handler, parse_runtime_class
from krm_function.model.runtime_class_objects import KIND
from krm_function.model.undo_rules import (
    RECORD,
    containers_of,
    is_same_container,
    runs_injected_process,
    secrets_mounts,
    unexplained,
)
from krm_function.model.workload import EMITTED, INITDATA
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, apply, same
from krm_function.yamltext.fast.values import read_value

EMITTED_PATH: Path = ("metadata", "annotations", EMITTED)
NAMESPACE: Path = ("metadata", "namespace")
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
