"""Write: splice the edits of every object into its text, and store the undo records of them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.contrast.annotations import TOTAL, annotations_size
from krm_function.contrast.owned import ADDED_OBJECTS, emitted_objects
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.hosts.emitted import without_added_separator
from krm_function.kubernetes.objects import dig, mapping, reference
from krm_function.kubernetes.resource import ObjectEdits, Resource, yaml_finding
from krm_function.kubernetes.workload import LOCAL_CONFIG, ORIGINAL, RESOURCE_POLICY, Workload
from krm_function.record import NamedTuple
from krm_function.text.changes import Change
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.splice import EditedMember, MemberChanges, splice, splice_members, to_json

# --- Measure an object as `kubectl apply` keeps it in an annotation, and as etcd stores it
#
# Rule: a warning from nine tenths of a limit on, one for each object: about the larger limit it comes near. kubectl
# writes the object as Go writes JSON, with `<`, `>` and `&` as six characters each; etcd gets less than that, so its
# limit is a little further than assumed here. Source: docs/facts/kubernetes.md#limits.


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STORED = 3 << 19  # bytes of a request that etcd accepts by default
NEARLY = 90  # per cent
ESCAPED = "<>&\u2028\u2029"  # Go writes each as six characters


def check_object_size(ref: Ref, path: Path, value: Any) -> Iterator[Finding]:
    """Yield CC0715 if an object comes near a limit. path: of its metadata, in its document."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    size = len(text.encode("utf-8", "replace"))
    name = f"{ref.kind}/{ref.name}"
    if size * 100 >= STORED * NEARLY:
        yield finding("CC0715.etcd", ref, path, name=name, size=size, limit=STORED)
        return
    size += sum((6 - len(character.encode("utf-8"))) * text.count(character) for character in ESCAPED) + len("\n")
    annotations = mapping(dig(value, ("metadata", "annotations")))
    size += annotations_size({**annotations, LAST_APPLIED: ""})
    if size * 100 >= TOTAL * NEARLY:
        yield finding("CC0715.apply", ref, path, name=name, size=size, limit=TOTAL)


# --- Write: splice the edits of every object into its text, and store the undo records of them
#
# Rule: text that no edit touches stays byte for byte; an object stores its undo records in its own metadata, so that
# `uninject` needs no configuration. An object that an earlier render added is updated in its place, or dropped if this
# render does not add it.


EMITTED_FIELDS: tuple[Path, ...] = (
    *((field,) for fields in ADDED_OBJECTS.values() for field in fields),
    ("metadata", "annotations", LOCAL_CONFIG),  # hosts keep their own annotations beside it
)

KEPT: Path = ("metadata", "annotations", RESOURCE_POLICY)  # set if missing, never removed: it may be the host's
RECORD: Path = ("metadata", "annotations", ORIGINAL)
Predecessors = dict[Ref, tuple[int, Path]]  # an object that a render added -> its resource and path in it


class WriteResult(NamedTuple):
    """The resources with their new texts, and the objects that are new."""

    resources: tuple[Resource, ...]
    added: tuple[Any, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def texts(self) -> tuple[str | None, ...]:
        """A text for every resource, None for a dropped one."""
        return tuple(resource.output for resource in self.resources)


def write(resources: Sequence[Resource], additions: Iterable[Mapping[str, Any]]) -> WriteResult:
    """Make the text of every resource after its edits."""
    findings: list[Finding] = []
    written: list[Resource] = []
    for resource in resources:
        edited, problems = _apply_edits(resource)
        written.append(edited)
        findings += problems
    predecessors = _find_predecessors(resources)
    collisions = find_collisions(resources, additions := tuple(additions), predecessors)
    added = () if collisions else _add_objects(written, predecessors, additions)
    return WriteResult(tuple(written), added, (*findings, *collisions))


def collect_edits(workload: Workload) -> tuple[int, ObjectEdits]:
    """Return the edits of a workload to its object, with the position of its resource."""
    position, root = workload.place
    return position, ObjectEdits(root, workload.ref, workload.edits)


def with_edits(resources: Iterable[Resource], edits: Iterable[tuple[int, ObjectEdits]]) -> tuple[Resource, ...]:
    """Return the resources with the edits of their objects. edits: each with the position of its resource.

    The workloads of one object each have its own edits, such as the namespace's: these are made once.
    """
    by_position: dict[int, dict[Path, ObjectEdits]] = {}
    for position, added in edits:
        if added.edits:
            objects_of = by_position.setdefault(position, {})
            old = objects_of[added.root].edits if added.root in objects_of else ()
            new = tuple(edit for edit in added.edits if edit not in old)
            objects_of[added.root] = added._replace(edits=old + new)
    return tuple(
        resource._replace(edits=tuple(by_position[resource.position].values()))
        if resource.position in by_position
        else resource
        for resource in resources
    )


def _apply_edits(resource: Resource) -> tuple[Resource, list[Finding]]:
    document, edits = resource.document, resource.edits
    if document is None or resource.state == "added":
        return resource, []
    if not edits:
        return (resource if document.text is resource.text else resource._replace(rendered=document.text)), []
    members = [MemberChanges(item.root, [edit.change_in(item.root) for edit in item.edits], RECORD) for item in edits]
    text, outcomes = splice_members(document, members)
    findings: list[Finding] = []
    for item, outcome in zip(edits, outcomes, strict=True):
        if isinstance(outcome, YamlError):
            findings.append(yaml_finding(outcome, resource, item.ref))
        elif 4 * len(text) > TOTAL:  # in a shorter text annotations cannot be too large, and an object hardly
            findings += _check_sizes(item, outcome)
    return resource._replace(rendered=text), findings


def find_collisions(
    resources: Sequence[Resource], additions: Iterable[Mapping[str, Any]], predecessors: Predecessors | None = None
) -> tuple[Finding, ...]:
    """Report every addition with the identity of an object that no render added. predecessors: if they are known."""
    predecessors = _find_predecessors(resources) if predecessors is None else predecessors
    rest = [resource for resource in resources if resource.state != "added"]
    refs = [reference(value) for value in additions]
    return tuple(
        finding("CC0710", ref, name=f"{ref.kind}/{ref}")
        for ref in refs
        if ref not in predecessors and any(_contains(resource, ref) for resource in rest)
    )


def _find_predecessors(resources: Sequence[Resource]) -> Predecessors:
    """Find the objects that an earlier render added; a host may have put them into a `kind: List` since."""
    listed: Predecessors = {}
    single: Predecessors = {}
    for resource in resources:
        if resource.state == "added":
            single[reference(resource.value)] = (resource.position, ())
        elif resource.document is not None:
            marked = emitted_objects(resource.document.value)
            listed |= {reference(value): (resource.position, root) for root, value in marked if root}
    return listed | single


def _check_sizes(edits: ObjectEdits, edited: EditedMember) -> list[Finding]:
    """Report an object with its undo records: annotations that Kubernetes refuses, or else a size near a limit."""
    path: Path = ("metadata", "annotations")
    record = {ORIGINAL: to_json(edited.undo)} if edited.undo else {}
    annotations = mapping(dig(edited.value, path)) | record
    if (size := annotations_size(annotations)) > TOTAL:
        return [finding("CC0611", edits.ref, edits.root + path, size=size, limit=TOTAL)]
    value = edited.value
    if record:
        value = {**mapping(value), "metadata": {**mapping(dig(value, ("metadata",))), "annotations": annotations}}
    return list(check_object_size(edits.ref, (*edits.root, "metadata"), value))


def _add_objects(
    written: list[Resource], predecessors: Predecessors, additions: Iterable[Mapping[str, Any]]
) -> tuple[Any, ...]:
    """Write every addition over its predecessor and drop other predecessors; returns the additions without one.

    written: changed in place.
    """
    by_ref = {reference(value): value for value in additions}
    for index, resource in enumerate(written):
        if resource.state == "added":
            written[index] = resource._replace(dropped=True)
    in_lists: dict[int, list[Change]] = {}
    places = sorted(((place, ref) for ref, place in predecessors.items()), reverse=True)
    for (index, root), ref in places:  # the last member of a list first
        successor, document = by_ref.get(ref), written[index].document
        if root:
            in_lists.setdefault(index, []).extend(_update(written[index].value, root, successor))
        elif successor is not None and document is not None:
            text = splice(document, _update(document.value, root, successor)).text
            written[index] = written[index]._replace(rendered=text, dropped=False)
    written[:] = without_added_separator(written)
    for index, changes in in_lists.items():
        text = splice(parse(str(written[index].output), line=written[index].line), changes).text
        written[index] = written[index]._replace(rendered=text)
    return tuple(value for ref, value in by_ref.items() if ref not in predecessors)


def _update(document: Any, root: Path, successor: Mapping[str, Any] | None) -> list[Change]:
    """Return the changes that give an emitted object the fields of its successor, or remove it without one."""
    if successor is None:
        return [Change(root, "remove")]
    changes = [
        Change(root + path, "remove") if (value := dig(successor, path)) is None else Change(root + path, "set", value)
        for path in EMITTED_FIELDS
        if dig(document, root + path) != dig(successor, path)
    ]
    if dig(successor, KEPT) is not None and dig(document, root + KEPT) is None:
        changes.append(Change(root + KEPT, "set", dig(successor, KEPT)))
    return changes


def _contains(resource: Resource, ref: Ref) -> bool:
    """Tell whether a resource is or contains the object `ref`, in a `kind: List`. A missing namespace may be any."""
    if not resource.may_be(("List",)) and (resource.kind, resource.name) != (ref.kind, ref.name):
        return False
    try:
        items = resource.parsed().objects
    except YamlError:
        return True  # fail closed
    alike = [item.ref for item in items if item.ref._replace(namespace="") == ref._replace(namespace="")]
    return any(not near.namespace or not ref.namespace or near.namespace == ref.namespace for near in alike)
