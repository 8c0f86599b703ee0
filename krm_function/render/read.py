"""Read: parse the documents that can matter, and undo the changes of an earlier render.

Rule of this file: render = restore + render, so a second render starts where the first one did. An object carries the
inverse of its changes in its own annotation `contrast-krm.dev/original`; objects that a render added carry
`contrast-krm.dev/emitted`. Any author of the input can write both: `emitted` counts only on an object of the form that
a render adds, and `prove` checks the restored object.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.contrast.class_in_text import may_name_contrast
from krm_function.contrast.owned import emitted_objects
from krm_function.findings import Finding, Path, finding
from krm_function.kubernetes.kinds import KINDS, KINDS_BY_CONTENT, UNDONE, template_paths
from krm_function.kubernetes.objects import dig, mapping, reference
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.kubernetes.workload import EMITTED, ORIGINAL
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, parse, read_value

RUNTIME_CLASS = "runtimeClassName"


class ReadResources(NamedTuple):
    """The resources in their order, and the findings of reading them."""

    resources: tuple[Resource, ...]
    findings: tuple[Finding, ...] = ()


def read(
    resources: Iterable[Resource],
    kinds: Iterable[str] | None = None,
    *,
    further: Iterable[str] = (),
    keep_plain: bool = False,
) -> ReadResources:
    """Parse the resources of some kinds, those of uncertain kind, and those that may have an annotation of a render.

    kinds: None for those with pods, and those that may concern a render by their content. further: more kinds.
    keep_plain: pods without a runtime class may become Contrast's, so they are read like the others. Resources that
    were read before stay as they are. Objects that a controller made keep their records.
    """
    expected = (KINDS_BY_CONTENT if kinds is None else frozenset(kinds)).union(further)
    parsed: list[Resource] = []
    findings: list[Finding] = []
    for position, resource in enumerate(resources):
        is_expected = resource.may_be(expected) or (kinds is None and resource.may_have_pods)
        if resource.state == "unread" and (is_expected or may_have_render_annotation(resource)):
            read_resource, problems = _read_resource(resource, position, keep_plain)
            parsed.append(read_resource)
            findings += problems
        else:
            parsed.append(resource)
    return ReadResources(tuple(parsed), tuple(findings))


def _read_resource(resource: Resource, position: int, keep_plain: bool) -> tuple[Resource, Sequence[Finding]]:
    try:
        document = (not keep_plain and _parse_without_positions(resource)) or parse(resource.text, line=resource.line)
    except YamlError as problem:
        return resource, [yaml_finding(problem, resource)]
    added = dig(document.value, ("metadata", "annotations", EMITTED)) is not None
    marked = resource._replace(position=position, state="added" if added else "given", document=document)
    findings = _check_emitted(marked, document)
    if added:
        return marked, findings
    restored, problems = _restore(marked, document)
    return restored, (*findings, *problems) if findings else problems


def read_values(resources: Iterable[Resource]) -> Iterator[Any]:
    """Yield the objects of all resources that were read."""
    for resource in resources:
        if resource.document is not None:
            yield from (item.value for item in resource.objects)


def may_have_render_annotation(resource: Resource) -> bool:
    """Tell whether a resource may have an annotation of an earlier render; a render writes the key unescaped."""
    return resource.names_contrast and (EMITTED in resource.text or ORIGINAL in resource.text)


def _parse_without_positions(resource: Resource) -> Document | None:
    """Parse without positions if no finding can refer to it (no pod, or one without words of Contrast's); else None."""
    text = resource.text
    if resource.may_be(KINDS_BY_CONTENT) or may_have_render_annotation(resource):
        return None
    if RUNTIME_CLASS in text or may_name_contrast(text):
        return None
    try:
        value = read_value(resource.text)
    except YamlError:
        return None  # `parse` reports it with its position
    if resource.kind in KINDS:
        templates = template_paths(resource.kind, value)
        for template in templates:
            pod = value
            for part in (*template, "spec"):
                pod = _get_step(pod, part)
            if not isinstance(pod, dict) or RUNTIME_CLASS in pod:
                return None
        if len(templates) == 1:
            value = _reduce(value, resource.kind, templates[0])
    return Document(resource.text, None, value, resource.line)


def _get_step(value: Any, part: str | int) -> Any:
    """Return an entry of a map, {} if it is missing, or of a list; None for anything else."""
    if isinstance(value, dict):
        return value.get(part, {})
    return value[part] if isinstance(value, list) and isinstance(part, int) else None


def _reduce(value: dict[str, Any], kind: str, template: Path) -> dict[str, Any]:
    """Reduce a pod without runtime class to its identity: there may be thousands, and no stage needs more."""
    outline: Any = {}
    for part in reversed((*template, "spec")):
        outline = {part: outline} if isinstance(part, str) else [outline]
    full = mapping(value.get("metadata"))
    metadata = {key: full[key] for key in ("name", "namespace", "generateName") if key in full}
    return {"apiVersion": value.get("apiVersion"), "kind": kind, "metadata": metadata, **outline}


def _check_emitted(resource: Resource, document: Document) -> tuple[Finding, ...]:
    """Return CC0116 for each object that claims to be added by a render but has another form."""
    candidates = dict(emitted_objects(document.value))
    if dig(document.value, ("metadata", "annotations", EMITTED)) is not None:
        candidates[()] = document.value  # a `kind: List` as a whole, which no render adds
    if not candidates:
        return ()
    from krm_function.hosts.emitted import no_addition

    return tuple(
        resource.placed(finding(code, reference(value), _annotation_path(root, EMITTED)))
        for root, value in candidates.items()
        if (code := no_addition(value))
    )


def _annotation_path(root: Path, key: str) -> Path:
    return (*root, "metadata", "annotations", key)


def _restore(resource: Resource, document: Document) -> tuple[Resource, tuple[Finding, ...]]:
    """Restore the objects of a resource to their state before any render, the last first."""
    marked = [
        (root, reference(value), path)
        for root, value in reversed(
            {(): document.value, **{item.root: item.value for item in resource.objects}}.items()
        )
        if dig(document.value, path := _annotation_path(root, ORIGINAL)) is not None and root not in resource.copies
    ]
    if not marked:
        return resource, ()
    from krm_function.text.restore import MemberUndo, read_undo, restore_members

    members: list[MemberUndo] = []
    for root, ref, path in marked:
        try:
            undo = read_undo(document, path)
        except YamlError as problem:
            return resource, (yaml_finding(problem, resource, ref, path),)
        if undo is None:
            continue
        if ref.kind not in UNDONE and resource.kinds.of(ref) is None:
            stray = finding("CC0115.change", ref, path, field="a kind that no render edits")
            return resource, (resource.placed(stray),)
        members.append((root, undo))
    if not members:
        return resource, ()
    text, problems = restore_members(document, members)
    for (root, _), unreadable in zip(members, problems, strict=True):
        if unreadable is not None:
            ref = reference(dig(document.value, root))
            return resource, (yaml_finding(unreadable, resource, ref, _annotation_path(root, ORIGINAL)),)
    if text is not document.text:
        document = parse(text, line=document.line)
    undone = tuple(root for root, _ in members)
    return resource._replace(state="restored", document=document, undone=undone), ()
