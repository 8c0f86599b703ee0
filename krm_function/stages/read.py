"""Read: parse what can matter, and take back what an earlier render did.

Rule of this file: render = restore + render, so a second render starts where the first one did. What a render did to an
object is in the object's own annotation `contrast-krm.dev/original` as inverse changes; objects that a render added
carry `contrast-krm.dev/emitted`. Anybody can write both: `emitted` counts only on an object of the form that a
render adds, and what a record restores is a claim, which `prove` judges.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.kinds import EDITED, KINDS, LOOKED_INTO
from krm_function.model.located import placed, yaml_finding
from krm_function.model.objects import emitted_objects, objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED, ORIGINAL, dig, mapping
from krm_function.record import NamedTuple
from krm_function.yamltext import Document, MemberUndo, YamlError, parse, read_undo, read_value, restore_members

POD_KINDS = LOOKED_INTO.union(KINDS)
RUNTIME_CLASS = "runtimeClassName"
NO_CLAIMS: Mapping[int, tuple[Path, ...]] = MappingProxyType({})


class Read(NamedTuple):
    """By position of their resource: documents, restored, and those that an earlier render added (emitted).

    claims: the objects of a document whose undo records were applied and are not proven yet.
    """

    documents: dict[int, Document]
    emitted: dict[int, Document]
    findings: tuple[Finding, ...] = ()
    claims: Mapping[int, tuple[Path, ...]] = NO_CLAIMS


def read(resources: Sequence[Resource], kinds: Iterable[str] = POD_KINDS, known: Read | None = None) -> Read:
    """Parse the resources of some kinds, those of uncertain kind, and those that may have an annotation of a render.

    known: what was read before; it is taken over as it is, without its findings.
    """
    wanted = frozenset(kinds)
    before: dict[int, Document] = known.documents if known else {}
    documents: dict[int, Document] = {}
    emitted: dict[int, Document] = dict(known.emitted) if known else {}
    findings: list[Finding] = []
    claims: dict[int, tuple[Path, ...]] = {}
    for index, resource in enumerate(resources):
        if index in emitted:
            continue
        if index in before:
            documents[index] = before[index]
            continue
        if not resource.may_be(wanted) and not marked(resource):
            continue
        try:
            document = _by_value(resource) or parse(resource.text, line=resource.line)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource.file))
            continue
        findings += _not_emitted(resource, document)
        if dig(document.value, ("metadata", "annotations", EMITTED)) is not None:
            emitted[index] = document
        else:
            documents[index], problems, roots = _restored(resource, document)
            findings += problems
            if roots:
                claims[index] = roots
    return Read(documents, emitted, tuple(findings), claims)


def marked(resource: Resource) -> bool:
    """Whether it may have an annotation of an earlier render, which a render writes without escapes."""
    return EMITTED in resource.text or ORIGINAL in resource.text


def _by_value(resource: Resource) -> Document | None:
    """The document without places, where nobody will point into it: no pod, or one that names no runtime class."""
    if resource.may_be(LOOKED_INTO) or RUNTIME_CLASS in resource.text or marked(resource):
        return None
    try:
        value = read_value(resource.text)
    except YamlError:
        return None  # `parse` says where
    if resource.kind in KINDS:
        pod = value
        for part in (*KINDS[resource.kind][1], "spec"):
            pod = pod.get(part, {}) if isinstance(pod, dict) else None
        if not isinstance(pod, dict) or RUNTIME_CLASS in pod:
            return None
        value = _outline(value, resource.kind)
    return Document(resource.text, None, value, resource.line)


def _outline(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """What an object is, and that it has no runtime class; there may be thousands, and no stage needs more."""
    outline: dict[str, Any] = {}
    for part in reversed((*KINDS[kind][1], "spec")):
        outline = {part: outline}
    named = mapping(value.get("metadata"))
    metadata = {key: named[key] for key in ("name", "namespace", "generateName") if key in named}
    return {"apiVersion": value.get("apiVersion"), "kind": kind, "metadata": metadata, **outline}


def _not_emitted(resource: Resource, document: Document) -> tuple[Finding, ...]:
    """CC0116 for each object that claims to be added by a render, and has another form."""
    found = dict(emitted_objects(document.value))
    if dig(document.value, ("metadata", "annotations", EMITTED)) is not None:
        found[()] = document.value  # a `kind: List` as a whole, which no render adds
    if not found:
        return ()
    from krm_function.hosts.additions import no_addition

    return tuple(
        placed(finding(wrong, reference(value), _annotation(root, EMITTED)), resource, document)
        for root, value in found.items()
        if (wrong := no_addition(value))
    )


def _annotation(root: Path, key: str) -> Path:
    return (*root, "metadata", "annotations", key)


def _restored(resource: Resource, document: Document) -> tuple[Document, tuple[Finding, ...], tuple[Path, ...]]:
    """The document before any render, and which objects of it were undone, the last one first."""
    members: list[MemberUndo] = []
    refs: list[Ref] = []
    for root, value in reversed(list({(): document.value, **dict(objects(document.value))}.items())):
        path, ref = _annotation(root, ORIGINAL), reference(value)
        if dig(document.value, path) is None:
            continue
        try:
            undo = read_undo(document, path)
        except YamlError as problem:
            return document, (yaml_finding(problem, resource.file, ref, path),), ()
        if undo is None:
            continue
        if ref.kind not in EDITED:
            wrong = finding("CC0115", ref, path, field="a kind that no render edits")
            return document, (placed(wrong, resource, document),), ()
        members.append(MemberUndo(root, undo))
        refs.append(ref)
    restored = restore_members(document, members)
    for (root, _), ref, unreadable in zip(members, refs, restored.problems, strict=True):
        if unreadable is not None:
            return document, (yaml_finding(unreadable, resource.file, ref, _annotation(root, ORIGINAL)),), ()
    if restored.text is not document.text:
        document = parse(restored.text, line=document.line)
    return document, (), tuple(member.root for member in members)
