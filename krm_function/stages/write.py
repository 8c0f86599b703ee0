"""Write: splice the edits of every object into its text and keep the way back.

Rule of this file: text that no edit touches leaves byte for byte as it came; the way back is stored in the object
itself, on its own metadata, so that `uninject` needs no configuration. An object that an earlier render added is
updated where it stands, or dropped if this render does not add it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.annotations import TOTAL, size
from krm_function.model.edits import Edit
from krm_function.model.located import yaml_finding
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import ORIGINAL, dig, mapping
from krm_function.yamltext import Change, Document, Spliced, YamlError, apply, parse, splice
from krm_function.yamltext.splice import to_json

EMITTED_FIELDS: tuple[Path, ...] = (
    ("handler",),
    ("overhead",),
    ("scheduling",),
    ("data",),
    ("metadata", "annotations", "config.kubernetes.io/local-config"),  # hosts keep their own annotations beside it
)


class ObjectEdits(NamedTuple):
    """All edits of one object: resource says which document, root where in it the object stands."""

    resource: int
    root: Path
    ref: Ref
    edits: tuple[Edit, ...]


class Written(NamedTuple):
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
) -> Written:
    """The text of every resource after its edits. documents, emitted: as `read` gives them."""
    texts: list[str | None] = [resource.text for resource in resources]
    findings: list[Finding] = []
    current = dict(documents)
    for index, document in documents.items():
        texts[index] = document.text
    for change in edits:
        if not change.edits:
            continue
        document = current[change.resource]
        if texts[change.resource] is not document.text:  # another object of the same `kind: List` was edited before
            document = parse(str(texts[change.resource]), line=document.line)
            current[change.resource] = document
        keep = (*change.root, "metadata", "annotations", ORIGINAL)
        try:
            spliced = splice(document, [edit.change for edit in change.edits], keep_undo_at=keep, root=change.root)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resources[change.resource].file, change.ref))
            continue
        texts[change.resource] = spliced.text
        if 4 * len(spliced.text) > TOTAL:  # in a shorter text no annotations can be too large
            findings += _too_large(change, apply(document.value, [edit.change for edit in change.edits]), spliced)
    added, collisions = _add(resources, documents, emitted, texts, additions)
    return Written(tuple(texts), added, (*findings, *collisions))


def _too_large(change: ObjectEdits, document: Any, spliced: Spliced) -> list[Finding]:
    """Whether an object has more annotations than Kubernetes allows; what is kept for the way back counts, too."""
    path: Path = (*change.root, "metadata", "annotations")
    kept = {ORIGINAL: to_json(spliced.undo)} if spliced.undo else {}
    found = size(mapping(dig(document, path)) | kept)
    return [finding("CC0611", change.ref, path, size=found, limit=TOTAL)] if found > TOTAL else []


def _add(
    resources: Sequence[Resource],
    documents: Mapping[int, Document],
    emitted: Mapping[int, Document],
    texts: list[str | None],
    additions: Iterable[Mapping[str, Any]],
) -> tuple[tuple[Any, ...], tuple[Finding, ...]]:
    """Put every addition where its predecessor stands; the rest is new. Predecessors without successor are dropped."""
    predecessors = {reference(document.value): index for index, document in emitted.items()}
    others = [(index, resource) for index, resource in enumerate(resources) if index not in emitted]
    for index in emitted:
        texts[index] = None
    new: list[Any] = []
    findings: list[Finding] = []
    for value in additions:
        ref = reference(value)
        if ref in predecessors:
            texts[predecessors[ref]] = _updated(emitted[predecessors[ref]], value)
        elif any(_holds(one, documents.get(index), ref) for index, one in others):
            findings.append(finding("CC0710", ref, name=f"{ref.kind}/{ref}"))
        else:
            new.append(value)
    return tuple(new), tuple(findings)


def _holds(resource: Resource, document: Document | None, ref: Ref) -> bool:
    """Whether a resource is the object `ref`, or holds it in a `kind: List`. A missing namespace may be any."""
    if resource.kind != "List" and (resource.kind, resource.name) != (ref.kind, ref.name):
        return False
    try:
        value = document.value if document is not None else parse(resource.text).value
    except YamlError:
        return True  # nobody can tell
    found = [reference(one) for _, one in objects(value)]
    alike = [one for one in found if one._replace(namespace="") == ref._replace(namespace="")]
    return any(not one.namespace or not ref.namespace or one.namespace == ref.namespace for one in alike)


def _updated(document: Document, value: Mapping[str, Any]) -> str:
    """The text of an emitted object with the fields of its successor."""
    changes = [
        Change(path, "remove") if dig(value, path) is None else Change(path, "set", dig(value, path))
        for path in EMITTED_FIELDS
        if dig(document.value, path) != dig(value, path)
    ]
    return splice(document, changes).text if changes else document.text
