"""Edit a document, or several objects of one, in place.

Rule of this file: the value of the new text is `apply(value, changes)`, which `proof` checks. The undo records of an
object are stored in that object.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.record import NamedTuple
from krm_function.yamltext.changes import Change, ChangeError, Path, apply, same
from krm_function.yamltext.document import Document, parse
from krm_function.yamltext.edit.anchors import foreign_aliases
from krm_function.yamltext.edit.apply_changes import apply_change
from krm_function.yamltext.edit.members import in_groups
from krm_function.yamltext.edit.pointer import pointer
from krm_function.yamltext.edit.proof import UndoPlace, rewrite
from krm_function.yamltext.edit.tree import Part
from krm_function.yamltext.edit.undo_records import Undo
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.nodes import Node


class Spliced(NamedTuple):
    """A new text, and the records by which `restore` restores the old one."""

    text: str
    undo: Undo


class MemberChanges(NamedTuple):
    """The changes of one object of a document, in order.

    root: the path of the object. changes, keep_undo_at: as for `splice`, their paths start at the object.
    """

    root: Path
    changes: Sequence[Change]
    keep_undo_at: Path


class EditedMember(NamedTuple):
    """An object after its changes, and the undo records to store in it; none if the changes have no effect."""

    value: Any
    undo: Undo


class SplicedMembers(NamedTuple):
    """A text in which every object that can be edited is; for each object its outcome, or why it cannot be edited."""

    text: str
    outcomes: tuple[EditedMember | YamlError, ...]


def splice(document: Document, changes: Sequence[Change], keep_undo_at: Path | None = None) -> Spliced:
    """Apply `changes` in order to the text of `document`; bytes that no change concerns stay as they are.

    keep_undo_at: where to keep the records as a string of JSON, usually an annotation; maps that are missing above it
    are created, and undone with the rest. Without any effective change nothing is kept and the text is returned as is.
    Raises ChangeError for a path that does not exist, YamlError (splice) should no edit read back as meant.
    """
    if keep_undo_at is not None:
        text, (edited,) = _spliced(document, [MemberChanges((), changes, keep_undo_at)])
        return Spliced(text, edited.undo)
    wanted = apply(document.value, list(changes))
    if same(wanted, document.value):
        return Spliced(document.text, [])
    text, (undo,) = rewrite(document, lambda node, _: _edited(node, (), changes), lambda _: wanted)
    return Spliced(text, undo)


def splice_members(document: Document, members: Sequence[MemberChanges]) -> SplicedMembers:
    """Splice several objects of one document, in one edit of its text unless they share an anchor that is edited.

    Addresses of the records start at the object, so that they stay right when a host moves it. Objects with an alias of
    an anchor in another object come last: by then it is written out if the edit of the other object takes the anchor.
    Raises ChangeError for a path that does not exist.
    """
    aliased = _with_foreign_alias(document, members)
    text, outcomes = document.text, dict[int, EditedMember | YamlError]()
    groups = [index for index in range(len(members)) if index not in aliased], sorted(aliased)
    for group in filter(None, groups):
        if text is not document.text:
            document = parse(text, line=document.line)
        text, found = in_groups(document, [members[index] for index in group], _spliced_together, _spliced_alone)
        outcomes.update(zip(group, found, strict=True))
    return SplicedMembers(text, tuple(outcomes[index] for index in range(len(members))))


def _with_foreign_alias(document: Document, members: Sequence[MemberChanges]) -> set[int]:
    """Return the indexes of the objects with an alias whose anchor stands in no or another object."""
    if "*" not in document.text or document.node is None:
        return set()
    nodes = [(node, index) for index, one in enumerate(members) if (node := node_at(document.node, one.root))]
    nodes.sort(key=lambda one: one[0].start)
    return {nodes[at][1] for at, _ in foreign_aliases(document.node, [node for node, _ in nodes])}


def _spliced_alone(document: Document, member: MemberChanges) -> tuple[str, EditedMember | YamlError]:
    try:
        text, (outcome,) = _spliced(_written_out(document, member.root), [member])
    except YamlError as problem:
        return document.text, problem
    return text, outcome


def _written_out(document: Document, root: Path) -> Document:
    """Replace an alias on the path to an object by what it stands for, which no undo record takes back."""
    behind = next((root[:size] for size in range(1, len(root)) if node_at(document.node, root[: size + 1]) is None), ())
    if document.node is None or not behind:
        return document
    value = document.value
    for part in behind:
        value = value[part]
    changes = [Change(behind, "set", None), Change(behind, "set", value)]  # the same value alone is no change
    text, _ = rewrite(document, lambda node, _: _edited(node, (), changes), lambda _: document.value)
    return parse(text, line=document.line)


def _spliced_together(
    document: Document, members: Sequence[MemberChanges]
) -> tuple[str, list[EditedMember | YamlError]]:
    text, outcomes = _spliced(document, members)
    return text, [*outcomes]


def _spliced(document: Document, members: Sequence[MemberChanges]) -> tuple[str, list[EditedMember]]:
    """Edit some objects at once. Raises YamlError (splice) if editing them one by one would give another text."""
    objects = [_changed(document, member) for member in members]
    effective = [one for one in objects if one.is_changed]
    if not effective:
        return document.text, [EditedMember(one.value, []) for one in objects]
    if len(effective) > 1:
        effective.sort(key=lambda one: one.undo_place.node.start if one.undo_place.node else 0)
        roots = {one.root for one in effective}
        if len(roots) < len(effective) or any(root[:size] in roots for root in roots for size in range(len(root))):
            raise YamlError("an object that is edited stands in another", document.line, 1, "splice")

    def make(node: Node, records: Sequence[str]) -> Part:
        part: Part = node
        for one, kept in zip(effective, records, strict=True):
            part = _edited(part, one.root, [*one.changes, *one.parents, Change(one.at, "set", kept)])
        return part

    def wanted(records: Sequence[str]) -> Any:
        values = {one.root: one.with_undo(kept) for one, kept in zip(effective, records, strict=True)}
        return _with_values(document.value, values)

    undo_places = [one.undo_place for one in effective]
    text, undo = rewrite(document, make, wanted, undo_places, smallest=len(effective) > 1)
    records = {one.root: mine for one, mine in zip(effective, undo, strict=True)}
    return text, [EditedMember(one.value, records.get(one.root, [])) for one in objects]


class _Object(NamedTuple):
    """An object and its changes. at: where the records go.

    value: the object after the changes that are not made for the records. parents: those that create the maps.
    """

    root: Path
    changes: list[Change]
    at: Path
    value: Any
    parents: list[Change]
    is_changed: bool
    undo_place: UndoPlace

    def with_undo(self, records: str) -> Any:
        """Return the value with its undo records."""
        return apply(self.value, [*self.parents, Change(self.at, "set", records)])


def _changed(document: Document, member: MemberChanges) -> _Object:
    """Apply the changes of an object to its value.

    Raises ChangeError if the path of a change, or of the records, does not exist, YamlError (splice) for an object
    behind an alias.
    """
    root, changes, at = member
    before = document.value
    for part in root:
        before = before[part]
    after = apply(before, list(changes))
    place = UndoPlace(node_at(document.node, root), pointer(at))
    if place.node is None and document.node is not None:
        raise YamlError("an object that cannot be edited without what is around it", document.line, 1, "splice")
    if same(after, before):
        return _Object(root, [], at, after, [], False, place)
    if not isinstance(after, dict):
        raise ChangeError("an object that is not a map")
    return _Object(root, list(changes), at, after, _parents(after, at), True, place)


def _parents(value: Any, path: Path) -> list[Change]:
    """Make the changes that create the missing maps above `path`. Raises ChangeError where no map can stand."""
    missing = []
    for size in range(1, len(path)):
        value = value.get(path[size - 1])
        if value is None:
            missing.append(Change(path[:size], "set", value := {}))
        elif not isinstance(value, dict):
            raise ChangeError(f"{'/'.join(map(str, path[:size]))}: not a map")
    return missing


def node_at(node: Node | None, path: Path) -> Node | None:
    """Find the node at a path; None if an alias or a merge key is on the path."""
    for part in path:
        if node is None or node.kind not in ("map", "seq"):
            return None
        if node.kind == "seq":
            node = node.parts[int(part)]
        else:
            node = next((value for _, value, name in node.parts if name == part), None)
    return node


def _edited(part: Part, root: Path, changes: Sequence[Change]) -> Part:
    """Return the tree after changes whose paths start at `root`."""
    if root:
        changes = [Change((*root, *path), op, value) for path, op, value in changes]
    for change in changes:
        part = apply_change(part, change)
    return part


def _with_values(value: Any, replaced: Mapping[Path, Any]) -> Any:
    """Return `value` with other values at some paths, none of which leads through another."""
    if () in replaced:
        return replaced[()]
    below: dict[str | int, dict[Path, Any]] = {}
    for path, new in replaced.items():
        below.setdefault(path[0], {})[path[1:]] = new
    if isinstance(value, dict):
        return {key: _with_values(item, below[key]) if key in below else item for key, item in value.items()}
    return [_with_values(item, below[at]) if at in below else item for at, item in enumerate(value)]
