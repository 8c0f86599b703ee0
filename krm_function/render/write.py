"""Write: splice the edits of every object into its text, and store the undo records of them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.contrast.annotations import TOTAL, annotations_size
from krm_function.contrast.owned import ADDED_OBJECTS, emitted_objects
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.hosts.emitted import without_added_separator
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.resource import ObjectEdits, Resource, yaml_finding
from krm_function.kubernetes.workload import LOCAL_CONFIG, ORIGINAL, RESOURCE_POLICY, Workload
from krm_function.record import NamedTuple
from krm_function.text.changes import Change
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse
from krm_function.text.splice import EditedMember, MemberChanges, splice, splice_members, to_json

# --- Measure an object as `kubectl apply` keeps it in an annotation, and as etcd stores it
#
# Rule: a warning from nine tenths of a limit on, and one for each object: of the larger limit that it
# comes near. kubectl writes the object as Go writes JSON, with `<`, `>` and `&` as six characters each; etcd gets less
# than that, so its limit is met a little later than here. Source: docs/facts/kubernetes.md#limits.


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STORED = 3 << 19  # bytes of a request that etcd takes, unless it is told otherwise
NEARLY = 90  # per cent
ESCAPED = "<>&\u2028\u2029"  # which Go writes as six characters


def size_findings(ref: Ref, path: Path, value: Any) -> Iterator[Finding]:
    """Yield CC0715 if an object comes near a limit. path: of its metadata, in its document."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    size = len(text.encode("utf-8", "replace"))
    name = f"{ref.kind}/{ref.name}"
    if size * 100 >= STORED * NEARLY:
        yield finding("CC0715.etcd", ref, path, name=name, size=size, limit=STORED)
        return
    size += sum((6 - len(one.encode("utf-8"))) * text.count(one) for one in ESCAPED) + len("\n")
    annotations = mapping(dig(value, ("metadata", "annotations")))
    size += annotations_size({**annotations, LAST_APPLIED: ""})
    if size * 100 >= TOTAL * NEARLY:
        yield finding("CC0715.apply", ref, path, name=name, size=size, limit=TOTAL)


# --- Write: splice the edits of every object into its text, and store the undo records of them
#
# Rule: text that no edit touches stays byte for byte; the undo records are stored in the object itself, on
# its own metadata, so that `uninject` needs no configuration. An object that an earlier render added is updated in its
# place, or dropped if this render does not add it.


EMITTED_FIELDS: tuple[Path, ...] = (
    *((field,) for fields in ADDED_OBJECTS.values() for field in fields),
    ("metadata", "annotations", LOCAL_CONFIG),  # hosts keep their own annotations beside it
)

KEPT: Path = ("metadata", "annotations", RESOURCE_POLICY)  # set where it lacks, never removed: it may be the host's
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
        one, problems = _edited(resource)
        written.append(one)
        findings += problems
    predecessors = _predecessors(resources)
    taken = _collisions(resources, predecessors, additions := tuple(additions))
    added = () if taken else _add(written, predecessors, additions)
    return WriteResult(tuple(written), added, (*findings, *taken))


def object_edits(workload: Workload) -> tuple[int, ObjectEdits]:
    """Return the edits of one workload to its object, with the position of its resource."""
    position, root = workload.place
    return position, ObjectEdits(root, workload.ref, workload.edits)


def with_edits(resources: Iterable[Resource], edits: Iterable[tuple[int, ObjectEdits]]) -> tuple[Resource, ...]:
    """Return the resources with the edits of their objects. edits: each with the position of its resource.

    The workloads of one object each have its own edits, such as that of the namespace: these are made once.
    """
    found: dict[int, dict[Path, ObjectEdits]] = {}
    for position, one in edits:
        if one.edits:
            objects_of = found.setdefault(position, {})
            before = objects_of[one.root].edits if one.root in objects_of else ()
            more = tuple(edit for edit in one.edits if edit not in before)
            objects_of[one.root] = one._replace(edits=before + more)
    return tuple(
        one._replace(edits=tuple(found[one.position].values())) if one.position in found else one for one in resources
    )


def _edited(resource: Resource) -> tuple[Resource, list[Finding]]:
    """Return a resource with its text after the edits of its objects, and a finding for each that cannot be made."""
    document, edits = resource.document, resource.edits
    if document is None or resource.state == "added":
        return resource, []
    if not edits:
        return (resource if document.text is resource.text else resource._replace(rendered=document.text)), []
    members = [MemberChanges(one.root, [edit.change_in(one.root) for edit in one.edits], RECORD) for one in edits]
    text, outcomes = splice_members(document, members)
    findings: list[Finding] = []
    for one, outcome in zip(edits, outcomes, strict=True):
        if isinstance(outcome, YamlError):
            findings.append(yaml_finding(outcome, resource, one.ref))
        elif 4 * len(text) > TOTAL:  # in a shorter text no annotations can be too large, and hardly an object
            findings += _too_large(one, outcome) or _large(one, outcome)
    return resource._replace(rendered=text), findings


def collisions(resources: Sequence[Resource], additions: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Report every addition whose identity is that of an object that no render added."""
    return _collisions(resources, _predecessors(resources), additions)


def _collisions(
    resources: Sequence[Resource], predecessors: Predecessors, additions: Iterable[Mapping[str, Any]]
) -> tuple[Finding, ...]:
    others = [resource for resource in resources if resource.state != "added"]
    refs = [reference(value) for value in additions]
    return tuple(
        finding("CC0710", ref, name=f"{ref.kind}/{ref}")
        for ref in refs
        if ref not in predecessors and any(_contains(one, ref) for one in others)
    )


def _predecessors(resources: Sequence[Resource]) -> Predecessors:
    """Find the objects that an earlier render added; a host may have put them into a `kind: List` since."""
    listed: Predecessors = {}
    alone: Predecessors = {}
    for resource in resources:
        if resource.state == "added":
            alone[reference(resource.value)] = (resource.position, ())
        elif resource.document is not None:
            marked = emitted_objects(resource.document.value)
            listed |= {reference(value): (resource.position, root) for root, value in marked if root}
    return listed | alone


def _too_large(edits: ObjectEdits, edited: EditedMember) -> list[Finding]:
    """Report an object whose annotations are larger than Kubernetes allows; its undo records count, too."""
    path: Path = ("metadata", "annotations")
    kept = {ORIGINAL: to_json(edited.undo)} if edited.undo else {}
    found = annotations_size(mapping(dig(edited.value, path)) | kept)
    return [finding("CC0611", edits.ref, edits.root + path, size=found, limit=TOTAL)] if found > TOTAL else []


def _large(edits: ObjectEdits, edited: EditedMember) -> list[Finding]:
    """Report an object that `kubectl apply` or etcd hardly takes, with its undo records."""
    value = edited.value
    if edited.undo:
        annotations = {**mapping(dig(value, ("metadata", "annotations"))), ORIGINAL: to_json(edited.undo)}
        value = {**mapping(value), "metadata": {**mapping(dig(value, ("metadata",))), "annotations": annotations}}
    return list(size_findings(edits.ref, (*edits.root, "metadata"), value))


def _add(
    written: list[Resource], predecessors: Predecessors, additions: Iterable[Mapping[str, Any]]
) -> tuple[Any, ...]:
    """Write every addition over its predecessor and drop other predecessors; returns the additions without one.

    written: changed in place.
    """
    successors: dict[tuple[int, Path], Mapping[str, Any]] = {}
    new: list[Any] = []
    for value in additions:
        place = predecessors.get(reference(value))
        if place is None:
            new.append(value)
        else:
            successors[place] = value
    for index, resource in enumerate(written):
        if resource.state == "added":
            written[index] = resource._replace(dropped=True)
    in_lists: dict[int, list[Change]] = {}
    for place in sorted(predecessors.values(), reverse=True):  # the last member of a list first
        index, root = place
        successor, document = successors.get(place), written[index].document
        if root:
            in_lists.setdefault(index, []).extend(_update(written[index].value, root, successor))
        elif successor is not None and document is not None:
            text = splice(document, _update(document.value, root, successor)).text
            written[index] = written[index]._replace(rendered=text, dropped=False)
    written[:] = without_added_separator(written)
    for index, changes in in_lists.items():
        text = splice(parse(str(written[index].output), line=written[index].line), changes).text
        written[index] = written[index]._replace(rendered=text)
    return tuple(new)


def _update(document: Any, root: Path, successor: Mapping[str, Any] | None) -> list[Change]:
    """Return the changes that give an emitted object the fields of its successor, or remove it if it has none."""
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
    """Tell whether a resource is the object `ref`, or contains it in a `kind: List`. A missing namespace may be any."""
    if not resource.may_be(("List",)) and (resource.kind, resource.name) != (ref.kind, ref.name):
        return False
    try:
        items = resource.parsed().objects
    except YamlError:
        return True  # fail closed: it cannot be known
    alike = [item.ref for item in items if item.ref._replace(namespace="") == ref._replace(namespace="")]
    return any(not near.namespace or not ref.namespace or near.namespace == ref.namespace for near in alike)
