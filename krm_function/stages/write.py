"""Write: splice the edits of every object into its text, and store the undo records of them.

Rule of this file: text that no edit touches stays byte for byte; the undo records are stored in the object itself, on
its own metadata, so that `uninject` needs no configuration. An object that an earlier render added is updated in its
place, or dropped if this render does not add it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.hosts.emitted_annotations import without_added_separator
from krm_function.model.annotations import TOTAL, annotations_size
from krm_function.model.edits import ObjectEdits
from krm_function.model.finding_position import yaml_finding
from krm_function.model.objects import emitted_objects, objects, reference
from krm_function.model.owned import ADDED_OBJECTS
from krm_function.model.resource import Resource
from krm_function.model.workload import LOCAL_CONFIG, ORIGINAL, RESOURCE_POLICY, dig, mapping
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, Document, MemberChanges, YamlError, parse, splice, splice_members
from krm_function.yamltext.edit.proof import to_json
from krm_function.yamltext.edit.splice import EditedMember

EMITTED_FIELDS: tuple[Path, ...] = (
    *((field,) for fields in ADDED_OBJECTS.values() for field in fields),
    ("metadata", "annotations", LOCAL_CONFIG),  # hosts keep their own annotations beside it
)

KEPT: Path = ("metadata", "annotations", RESOURCE_POLICY)  # set where it lacks, never removed: it may be the host's
RECORD: Path = ("metadata", "annotations", ORIGINAL)
Predecessors = dict[Ref, tuple[int, Path]]  # an object that a render added -> its document and path in it


class WriteResult(NamedTuple):
    """A text for every resource, None for a dropped one, and the objects that are new."""

    texts: tuple[str | None, ...]
    added: tuple[Any, ...] = ()
    findings: tuple[Finding, ...] = ()


def write(
    resources: Sequence[Resource],
    documents: Mapping[int, Document],
    emitted: Mapping[int, Document],
    edits: Iterable[ObjectEdits],
    additions: Iterable[Mapping[str, Any]],
) -> WriteResult:
    """Make the text of every resource after its edits. documents, emitted: as `read` returns them."""
    texts: list[str | None] = [resource.text for resource in resources]
    for index, document in documents.items():
        texts[index] = document.text
    findings: list[Finding] = []
    for index, changed in _by_document(edits).items():
        texts[index], problems = _edited(resources[index], documents[index], changed)
        findings += problems
    predecessors = _predecessors(documents, emitted)
    taken = _collisions(resources, documents, emitted, predecessors, additions := tuple(additions))
    added = () if taken else _add(documents, emitted, texts, predecessors, additions)
    return WriteResult(tuple(texts), added, (*findings, *taken))


def _by_document(edits: Iterable[ObjectEdits]) -> dict[int, list[ObjectEdits]]:
    """Group the edits by position of their document, without objects that have none."""
    found: dict[int, list[ObjectEdits]] = {}
    for one in edits:
        if one.edits:
            found.setdefault(one.resource, []).append(one)
    return found


def _edited(resource: Resource, document: Document, edits: Sequence[ObjectEdits]) -> tuple[str, list[Finding]]:
    """Return the text of one document after the edits of its objects, and a finding for each that cannot be made."""
    members = [MemberChanges(one.root, [edit.change_in(one.root) for edit in one.edits], RECORD) for one in edits]
    text, outcomes = splice_members(document, members)
    findings: list[Finding] = []
    for one, outcome in zip(edits, outcomes, strict=True):
        if isinstance(outcome, YamlError):
            findings.append(yaml_finding(outcome, resource, one.ref))
        elif 4 * len(text) > TOTAL:  # in a shorter text no annotations can be too large
            findings += _too_large(one, outcome)
    return text, findings


def collisions(
    resources: Sequence[Resource],
    documents: Mapping[int, Document],
    emitted: Mapping[int, Document],
    additions: Iterable[Mapping[str, Any]],
) -> tuple[Finding, ...]:
    """Report every addition whose identity is that of an object that no render added."""
    return _collisions(resources, documents, emitted, _predecessors(documents, emitted), additions)


def _collisions(
    resources: Sequence[Resource],
    documents: Mapping[int, Document],
    emitted: Mapping[int, Document],
    predecessors: Predecessors,
    additions: Iterable[Mapping[str, Any]],
) -> tuple[Finding, ...]:
    others = [(index, resource) for index, resource in enumerate(resources) if index not in emitted]
    refs = [reference(value) for value in additions]
    return tuple(
        finding("CC0710", ref, name=f"{ref.kind}/{ref}")
        for ref in refs
        if ref not in predecessors and any(_contains(one, documents.get(index), ref) for index, one in others)
    )


def _predecessors(documents: Mapping[int, Document], emitted: Mapping[int, Document]) -> Predecessors:
    """Find the objects that an earlier render added; a host may have put them into a `kind: List` since."""
    marked = [(index, *one) for index, document in documents.items() for one in emitted_objects(document.value)]
    listed = {reference(value): (index, root) for index, root, value in marked if root}
    return listed | {reference(document.value): (index, ()) for index, document in emitted.items()}


def _too_large(edits: ObjectEdits, edited: EditedMember) -> list[Finding]:
    """Report an object whose annotations are larger than Kubernetes allows; its undo records count, too."""
    path: Path = ("metadata", "annotations")
    kept = {ORIGINAL: to_json(edited.undo)} if edited.undo else {}
    found = annotations_size(mapping(dig(edited.value, path)) | kept)
    return [finding("CC0611", edits.ref, edits.root + path, size=found, limit=TOTAL)] if found > TOTAL else []


def _add(
    documents: Mapping[int, Document],
    emitted: Mapping[int, Document],
    texts: list[str | None],
    predecessors: Predecessors,
    additions: Iterable[Mapping[str, Any]],
) -> tuple[Any, ...]:
    """Write every addition over its predecessor and drop other predecessors; returns the additions without one."""
    successors: dict[tuple[int, Path], Mapping[str, Any]] = {}
    new: list[Any] = []
    for value in additions:
        place = predecessors.get(reference(value))
        if place is None:
            new.append(value)
        else:
            successors[place] = value
    for index in emitted:
        texts[index] = None
    in_lists: dict[int, list[Change]] = {}
    for place in sorted(predecessors.values(), reverse=True):  # the last member of a list first
        index, root = place
        successor = successors.get(place)
        if root:
            in_lists.setdefault(index, []).extend(_update(documents[index].value, root, successor))
        elif successor is not None:
            texts[index] = splice(emitted[index], _update(emitted[index].value, root, successor)).text
    texts[:] = without_added_separator(texts, {index: document.value for index, document in emitted.items()})
    for index, changes in in_lists.items():
        texts[index] = splice(parse(str(texts[index]), line=documents[index].line), changes).text
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


def _contains(resource: Resource, document: Document | None, ref: Ref) -> bool:
    """Tell whether a resource is the object `ref`, or contains it in a `kind: List`. A missing namespace may be any."""
    if not resource.may_be(("List",)) and (resource.kind, resource.name) != (ref.kind, ref.name):
        return False
    try:
        value = document.value if document is not None else parse(resource.text).value
    except YamlError:
        return True  # fail closed: it cannot be known
    found = [reference(one) for _, one in objects(value)]
    alike = [one for one in found if one._replace(namespace="") == ref._replace(namespace="")]
    return any(not one.namespace or not ref.namespace or one.namespace == ref.namespace for one in alike)
