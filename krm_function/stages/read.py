"""Read: parse the documents that can matter, and undo what an earlier render did.

Rule of this file: render = restore + render, so a second render starts where the first one did. What a render did to an
object is in the object's own annotation `contrast-krm.dev/original` as inverse changes; objects that a render added
carry `contrast-krm.dev/emitted`. Any author of the input can write both: `emitted` counts only on an object of the form
that a render adds, and what a record restores is a claim, which `prove` checks.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.finding_position import with_position, yaml_finding
from krm_function.model.kinds import EDITED, KINDS, KINDS_BY_CONTENT
from krm_function.model.objects import emitted_objects, objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED, ORIGINAL, dig, mapping
from krm_function.record import NamedTuple
from krm_function.yamltext import Document, MemberUndo, YamlError, parse, read_undo, read_value, restore_members

POD_KINDS = KINDS_BY_CONTENT.union(KINDS)
RUNTIME_CLASS = "runtimeClassName"
NO_CLAIMS: Mapping[int, tuple[Path, ...]] = MappingProxyType({})


class ReadDocuments(NamedTuple):
    """Documents by position of their resource: restored ones, and those that an earlier render added (emitted).

    claims: the objects of a document whose undo records were applied and are not proven yet.
    """

    documents: dict[int, Document]
    emitted: dict[int, Document]
    findings: tuple[Finding, ...] = ()
    claims: Mapping[int, tuple[Path, ...]] = NO_CLAIMS


def read(
    resources: Sequence[Resource],
    kinds: Iterable[str] = POD_KINDS,
    known: ReadDocuments | None = None,
    left: Collection[tuple[int, Path]] = (),
) -> ReadDocuments:
    """Parse the resources of some kinds, those of uncertain kind, and those that may have an annotation of a render.

    known: what was read before; its documents are kept as they are, its findings are not repeated. left: objects that
    stay as they are, by position of their resource and path.
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
        if not resource.may_be(wanted) and not may_have_render_annotation(resource):
            continue
        try:
            document = _parse_without_positions(resource) or parse(resource.text, line=resource.line)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        findings += _not_emitted(resource, document)
        if dig(document.value, ("metadata", "annotations", EMITTED)) is not None:
            emitted[index] = document
        else:
            documents[index], problems, roots = _restored(
                resource, document, {root for at, root in left if at == index}
            )
            findings += problems
            if roots:
                claims[index] = roots
    return ReadDocuments(documents, emitted, tuple(findings), claims)


def may_have_render_annotation(resource: Resource) -> bool:
    """Tell whether a resource may have an annotation of an earlier render; a render writes the key unescaped."""
    return EMITTED in resource.text or ORIGINAL in resource.text


def _parse_without_positions(resource: Resource) -> Document | None:
    """Parse without positions if no finding can refer to it (no pod, or one without runtimeClassName); else None."""
    if resource.may_be(KINDS_BY_CONTENT) or RUNTIME_CLASS in resource.text or may_have_render_annotation(resource):
        return None
    try:
        value = read_value(resource.text)
    except YamlError:
        return None  # `parse` reports it with its position
    if resource.kind in KINDS:
        pod = value
        for part in (*KINDS[resource.kind][1], "spec"):
            pod = pod.get(part, {}) if isinstance(pod, dict) else None
        if not isinstance(pod, dict) or RUNTIME_CLASS in pod:
            return None
        value = _outline(value, resource.kind)
    return Document(resource.text, None, value, resource.line)


def _outline(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Reduce a pod without runtime class to its identity: there may be thousands, and no stage needs more."""
    outline: dict[str, Any] = {}
    for part in reversed((*KINDS[kind][1], "spec")):
        outline = {part: outline}
    named = mapping(value.get("metadata"))
    metadata = {key: named[key] for key in ("name", "namespace", "generateName") if key in named}
    return {"apiVersion": value.get("apiVersion"), "kind": kind, "metadata": metadata, **outline}


def _not_emitted(resource: Resource, document: Document) -> tuple[Finding, ...]:
    """Return CC0116 for each object that claims to be added by a render, and has another form."""
    found = dict(emitted_objects(document.value))
    if dig(document.value, ("metadata", "annotations", EMITTED)) is not None:
        found[()] = document.value  # a `kind: List` as a whole, which no render adds
    if not found:
        return ()
    from krm_function.hosts.emitted_objects import no_addition

    return tuple(
        with_position(finding(wrong, reference(value), _annotation(root, EMITTED)), resource, document)
        for root, value in found.items()
        if (wrong := no_addition(value))
    )


def _annotation(root: Path, key: str) -> Path:
    return (*root, "metadata", "annotations", key)


def _restored(
    resource: Resource, document: Document, left: Collection[Path]
) -> tuple[Document, tuple[Finding, ...], tuple[Path, ...]]:
    """Restore a document to its state before any render; also returns which objects were restored, the last first."""
    members: list[MemberUndo] = []
    refs: list[Ref] = []
    for root, value in reversed(list({(): document.value, **dict(objects(document.value))}.items())):
        path, ref = _annotation(root, ORIGINAL), reference(value)
        if dig(document.value, path) is None or root in left:
            continue
        try:
            undo = read_undo(document, path)
        except YamlError as problem:
            return document, (yaml_finding(problem, resource, ref, path),), ()
        if undo is None:
            continue
        if ref.kind not in EDITED:
            wrong = finding("CC0115.change", ref, path, field="a kind that no render edits")
            return document, (with_position(wrong, resource, document),), ()
        members.append(MemberUndo(root, undo))
        refs.append(ref)
    restored = restore_members(document, members)
    for (root, _), ref, unreadable in zip(members, refs, restored.problems, strict=True):
        if unreadable is not None:
            return document, (yaml_finding(unreadable, resource, ref, _annotation(root, ORIGINAL)),), ()
    if restored.text is not document.text:
        document = parse(restored.text, line=document.line)
    return document, (), tuple(member.root for member in members)
