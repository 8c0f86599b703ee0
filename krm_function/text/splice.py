"""Edit a document, or several objects of one, in place, and prove the result."""

from collections.abc import Callable, Mapping, Sequence
from json import JSONEncoder
from typing import Any, TypeVar

from krm_function.record import NamedTuple
from krm_function.text import edit_text as offsets
from krm_function.text import writer
from krm_function.text.anchors import foreign_aliases, shares_lost_anchor, write_out_aliases
from krm_function.text.changes import Change, ChangeError, Path, apply, same
from krm_function.text.edit_text import Replacements, collect_replacements, rewrite_uneditable
from krm_function.text.edit_tree import EditedCollection, EditedEntry, NewValue, Part, apply_change
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, Node, parse, read_value
from krm_function.text.undo_records import NoUndoRecords, Undo, UndoRecords, pointer

# --- Edit several objects of one document: all at once if that can be proven, else in halves, and finally one by one
#
# Rule: the result is the same as editing one object after the other, each in the text after the previous edit. Objects
# are independent unless they share an anchor, so one edit of the whole text nearly always suffices; an object that
# needs more than the smallest edit costs the others a few more edits, but none of their bytes.


Member = TypeVar("Member")
Answer = TypeVar("Answer")


def in_groups(
    document: Document,
    members: Sequence[Member],
    together: Callable[[Document, Sequence[Member]], tuple[str, Sequence[Answer]]],
    alone: Callable[[Document, Member], tuple[str, Answer]],
) -> tuple[str, Sequence[Answer]]:
    """Return the text after all edits, and an answer for each member.

    together: edits several members; raises YamlError if editing them one by one would give another text. alone: edits
    one member, and returns its problem as its answer.
    """
    if not members:
        return document.text, []
    if len(members) == 1:
        text, answer = alone(document, members[0])
        return text, [answer]
    try:
        return together(document, members)
    except YamlError:
        half = len(members) // 2
    text, first = in_groups(document, members[:half], together, alone)
    rest = document if text is document.text else parse(text, line=document.line)
    text, second = in_groups(rest, members[half:], together, alone)
    return text, [*first, *second]


# --- Edit texts whose last line has no line end
#
# Rule: appended text begins with its own line end. A block scalar at the end of the old text would own that line end,
# so its header is changed to strip it (`|-`); a block scalar at the end of the new text keeps its line end.


def guard_end(part: Part, text: str) -> bool:
    """Prepare an edited tree for the end of its text; return whether the new text also ends without a line end."""
    if (
        text.endswith("\n")
        or not isinstance(part, EditedCollection)
        or "\n" in text[offsets.leaf_end(text, part.node) :]
    ):
        return False
    if _appends(part):
        _strip_last(part, text)
    return not _ends_with_block_scalar(part)


def _find_last(edited: EditedCollection) -> EditedEntry | None:
    """Return the entry of the last pair or item of the text, if it still exists."""
    last = len(edited.node.parts) - 1
    return next((entry for entry in edited.entries if entry.origin == last), None)


def _appends(part: Part) -> bool:
    while isinstance(part, EditedCollection) and part.node.style == "block":
        if part.entries and part.entries[-1].origin < 0:
            return True
        entry = _find_last(part)
        if entry is None:
            return False
        part = entry.child
    return False


def _strip_last(part: Part, text: str) -> None:
    edited = part if isinstance(part, EditedCollection) else None
    while edited is not None and edited.node.style == "block":
        entry = _find_last(edited)
        if entry is None:
            return
        child = entry.child
        if isinstance(child, Node) and child.kind == "scalar" and child.style in ("|", ">"):
            if edited.node.kind == "map":
                start = offsets.after_colon(text, edited.node.parts[entry.origin][0])
            else:
                start = offsets.entry_spans(text, edited.node)[0][entry.origin] + 1
            raw = offsets.stripped(text, child, start, offsets.leaf_end(text, child))
            entry.child = NewValue(child.data, None, raw)
            return
        if isinstance(child, Node) and child.style == "block" and child.parts:
            child = entry.child = EditedCollection(child)
        edited = child if isinstance(child, EditedCollection) else None


def _ends_with_block_scalar(part: Part) -> bool:
    while True:
        if isinstance(part, EditedCollection) and part.node.style == "block":
            part = part.entries[-1].child
        elif isinstance(part, Node) and part.style == "block" and part.parts:
            part = part.parts[-1][1] if part.kind == "map" else part.parts[-1]
        else:
            return isinstance(part, Node) and part.kind == "scalar" and part.style in ("|", ">")


# --- Write an edited tree as text, and prove that it reads back as intended
#
# Rule: every returned text was parsed again and compared with the value after the changes. If the smallest edit does
# not read back (an odd line end, a comment in an odd place), the value around it is rewritten, then the value around
# that.


_WHOLE = 1000  # deeper than any document: only edited values are rewritten
_STAND_IN = '["records"]'  # JSON of its own kind, so that it is written as the records will be
_compact = JSONEncoder(separators=(",", ":")).encode


# The place of one object's undo records: its node, and the address, relative to the node, of the string with them. The
# node is None for a text without content.
UndoPlace = tuple[Node | None, str]


def to_json(undo: Undo) -> str:
    """Encode records as they are stored in a document: compact, plain ASCII."""
    return _compact(undo)


def rewrite(
    document: Document,
    make: Callable[[Node, Sequence[str]], Part],
    expected: Callable[[Sequence[str]], Any],
    undo_places: Sequence[UndoPlace] = (),
    *,
    recorded: bool = True,
    smallest: bool = False,
) -> tuple[str, tuple[Undo, ...]]:
    """Write the tree that `make` builds, by the smallest edits that read back as `expected`.

    Returns the text, and the undo records of each object that stores them; of the whole document if none does.

    Both functions get the encoded undo records of each object of `undo_places`, in its order, which is document order.
    The records are known only once the text is written, so `make` gets stand-ins first.
    recorded: whether undo records are made at all. smallest: try no larger edit.
    Raises YamlError (splice) if nothing reads back, or if several objects store records and are not independent.
    """
    root = document.node
    if root is None:
        return _write_first_value(document, expected([to_json([])] * len(undo_places)))
    depth = _WHOLE
    while depth >= 0:
        part, replacements, undo = _attempt(
            document, root, make(root, [_STAND_IN] * len(undo_places)), depth, undo_places, recorded=recorded
        )
        records = [to_json(undo_of_object) for undo_of_object in undo] if undo_places else []
        if undo_places and not _fill_in(replacements, records):
            _, replacements, _ = _attempt(document, root, make(root, records), depth, undo_places, recorded=recorded)
        new = replacements.result()
        if _reads_as(new, expected(records)):
            return new, undo
        depth = -1 if smallest else min(depth, _count_levels(part)) - 1
    raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")


def _attempt(
    document: Document, root: Node, part: Part, depth: int, undo_places: Sequence[UndoPlace], *, recorded: bool
) -> tuple[Part, Replacements, tuple[Undo, ...]]:
    """Write a tree; return the edited tree, the replacements that write it, and the undo records of each object.

    Raises YamlError (splice) if several objects store records and are not independent.
    """
    text = document.text
    for _ in range(2 if "*" in text else 1):  # writing out a value may remove another anchor
        part = write_out_aliases(rewrite_uneditable(part, text, depth), root, text)
    replacements = Replacements(text, max(0, _find_dash_offset(text, root)))
    replacements.open_end = guard_end(part, text)
    if not undo_places:
        records = UndoRecords() if recorded else NoUndoRecords()
        collect_replacements(replacements, records, part, root, document.item)
        return part, replacements, (records.undo,)
    members = {id(node): UndoRecords(address) for node, address in undo_places}
    # an alias written out in another object stays so: no object undoes another
    around = NoUndoRecords(members)
    collect_replacements(replacements, around, part, root, document.item)
    if len(around.entered) < len(undo_places):
        raise YamlError("an object that cannot be edited without the text around it", document.line, 1, "splice")
    nodes = [node for node, _ in undo_places if node]
    if len(nodes) > 1 and "*" in text and shares_lost_anchor(part, root, nodes):
        raise YamlError("objects that cannot be edited together", document.line, 1, "splice")
    return part, replacements, tuple(records.undo for records in members.values())


def _fill_in(replacements: Replacements, records: Sequence[str]) -> bool:
    """Replace the stand-ins by the records of each object; False if a stand-in occurs in other text."""
    in_block, in_flow = writer.scalar(_STAND_IN), writer.quoted(_STAND_IN)
    at = [
        index
        for index, (_, _, new, _) in enumerate(replacements.edits)
        for _ in range(new.count(in_block) + new.count(in_flow))
    ]
    if len(at) != len(records) or len(set(at)) != len(at):
        return False
    for index, text in zip(at, records, strict=True):
        start, end, new, lines = replacements.edits[index]
        stand_in, token = (in_block, writer.scalar(text)) if in_block in new else (in_flow, writer.quoted(text))
        replacements.edits[index] = (start, end, new.replace(stand_in, token), lines)
    return True


def _count_levels(part: Part) -> int:
    if not isinstance(part, EditedCollection):
        return 0
    return 1 + max((_count_levels(entry.child) for entry in part.entries), default=0)


def _reads_as(text: str, expected: Any) -> bool:
    try:
        return same(read_value(text), expected)
    except YamlError:
        return False


def _find_dash_offset(text: str, node: Node) -> int:
    """Return the indent of lists from their key in this document: the first block list's, -1 without any."""
    if node.style == "block":
        for part in node.parts:
            child = part[1] if node.kind == "map" else part
            if child.style != "block":
                continue
            if node.kind == "map" and child.kind == "seq":
                dash = offsets.column_of(text, offsets.content(text, child))
                return max(0, dash - offsets.column_of(text, offsets.content(text, node)))
            if (offset := _find_dash_offset(text, child)) >= 0:
                return offset
    return -1


def _write_first_value(document: Document, value: Any) -> tuple[str, tuple[Undo, ...]]:
    text = document.text
    newline = offsets.newline_at(text, len(text))
    gap = "" if not text or text.endswith("\n") else newline
    new = text + gap + writer.block(value, 0, writer.Style(newline)) + newline
    if not _reads_as(new, value):
        raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")
    return new, ([["=", "", None, ""]],)


# --- Edit a document, or several objects of one, in place
#
# Rule: the value of the new text is `apply(value, changes)`, which `rewrite` checks. The undo records of an object are
# stored in that object.


class Spliced(NamedTuple):
    """A new text, and the records from which `restore` restores the old one."""

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


def splice(document: Document, changes: Sequence[Change], keep_undo_at: Path | None = None) -> Spliced:
    """Apply `changes` in order to the text of `document`; all other bytes stay.

    keep_undo_at: where to keep the records as a string of JSON, usually an annotation; missing maps above it are
    created, and undone with the rest. Without any effective change no records are kept and the text is returned as is.
    Raises ChangeError for a path that does not exist, YamlError (splice) if no edit reads back as intended.
    """
    if keep_undo_at is not None:
        text, (edited,) = _splice_group(document, [MemberChanges((), changes, keep_undo_at)])
        return Spliced(text, edited.undo)
    new_value = apply(document.value, list(changes))
    if same(new_value, document.value):
        return Spliced(document.text, [])
    text, (undo,) = rewrite(document, lambda node, _: _apply_changes(node, (), changes), lambda _: new_value)
    return Spliced(text, undo)


def splice_members(
    document: Document, members: Sequence[MemberChanges]
) -> tuple[str, tuple[EditedMember | YamlError, ...]]:
    """Splice several objects of one document, in one edit of its text unless they share an anchor that is edited.

    Returns a text with all objects edited that can be, and for each object its outcome, or why it cannot be edited.
    Addresses of the records start at the object, so that they stay right when a host moves it. Objects with an alias of
    an anchor in another object come last: by then it is written out if the other object's edit removes the anchor.
    Raises ChangeError for a path that does not exist.
    """
    aliased = _find_foreign(document, members)
    text, outcomes = document.text, dict[int, EditedMember | YamlError]()
    groups = [index for index in range(len(members)) if index not in aliased], sorted(aliased)
    for group in filter(None, groups):
        if text is not document.text:
            document = parse(text, line=document.line)
        text, edited = in_groups(document, [members[index] for index in group], _splice_group, _splice_alone)
        outcomes.update(zip(group, edited, strict=True))
    return text, tuple(outcomes[index] for index in range(len(members)))


def _find_foreign(document: Document, members: Sequence[MemberChanges]) -> set[int]:
    """Return the indexes of the objects with an alias whose anchor is outside of that object."""
    if "*" not in document.text or document.node is None:
        return set()
    nodes = [(node, index) for index, member in enumerate(members) if (node := node_at(document.node, member.root))]
    nodes.sort(key=lambda pair: pair[0].start)
    return {nodes[at][1] for at, _ in foreign_aliases(document.node, [node for node, _ in nodes])}


def _splice_alone(document: Document, member: MemberChanges) -> tuple[str, EditedMember | YamlError]:
    try:
        text, (outcome,) = _splice_group(_write_out_alias(document, member.root), [member])
    except YamlError as problem:
        return document.text, problem
    return text, outcome


def _write_out_alias(document: Document, root: Path) -> Document:
    """Replace an alias on the path to an object by its value; undo records do not restore the alias."""
    behind = next((root[:size] for size in range(1, len(root)) if node_at(document.node, root[: size + 1]) is None), ())
    if document.node is None or not behind:
        return document
    value = document.value
    for part in behind:
        value = value[part]
    changes = [Change(behind, "set", None), Change(behind, "set", value)]  # the same value alone is not a change
    text, _ = rewrite(document, lambda node, _: _apply_changes(node, (), changes), lambda _: document.value)
    return parse(text, line=document.line)


def _splice_group(document: Document, members: Sequence[MemberChanges]) -> tuple[str, list[EditedMember]]:
    """Edit some objects at once. Raises YamlError (splice) if editing them one by one would give another text."""
    objects = [_apply_to_object(document, member) for member in members]
    effective = [edited for edited in objects if edited.is_changed]
    if not effective:
        return document.text, [EditedMember(edited.value, []) for edited in objects]
    if len(effective) > 1:
        effective.sort(key=lambda edited: edited.node.start if edited.node else 0)
        roots = {edited.root for edited in effective}
        if len(roots) < len(effective) or any(root[:size] in roots for root in roots for size in range(len(root))):
            raise YamlError("an edited object is inside another one", document.line, 1, "splice")

    def make(node: Node, records: Sequence[str]) -> Part:
        part: Part = node
        for edited, record in zip(effective, records, strict=True):
            changes = [*edited.changes, *edited.parents, Change(edited.at, "set", record)]
            part = _apply_changes(part, edited.root, changes)
        return part

    def wanted(records: Sequence[str]) -> Any:
        values = {edited.root: edited.with_undo(record) for edited, record in zip(effective, records, strict=True)}
        return _replace_values(document.value, values)

    undo_places = [(edited.node, pointer(edited.at)) for edited in effective]
    text, undo = rewrite(document, make, wanted, undo_places, smallest=len(effective) > 1)
    records = {edited.root: mine for edited, mine in zip(effective, undo, strict=True)}
    return text, [EditedMember(edited.value, records.get(edited.root, [])) for edited in objects]


class _Object(NamedTuple):
    """An object and its changes. at: where the records go.

    value: the object after the changes, without those for the records. parents: the changes that create the maps.
    """

    root: Path
    changes: list[Change]
    at: Path
    value: Any
    parents: list[Change]
    is_changed: bool
    node: Node | None

    def with_undo(self, records: str) -> Any:
        """Return the value with its undo records."""
        return apply(self.value, [*self.parents, Change(self.at, "set", records)])


def _apply_to_object(document: Document, member: MemberChanges) -> _Object:
    """Apply the changes of an object to its value.

    Raises ChangeError if the path of a change, or of the records, does not exist, YamlError (splice) for an object
    inside the value of an alias.
    """
    root, changes, at = member
    old = document.value
    for part in root:
        old = old[part]
    new = apply(old, list(changes))
    node = node_at(document.node, root)
    if node is None and document.node is not None:
        raise YamlError("an object that cannot be edited without the text around it", document.line, 1, "splice")
    if same(new, old):
        return _Object(root, [], at, new, [], False, node)
    if not isinstance(new, dict):
        raise ChangeError("an object that is not a map")
    return _Object(root, list(changes), at, new, _make_parents(new, at), True, node)


def _make_parents(value: Any, path: Path) -> list[Change]:
    """Make the changes that create the missing maps above `path`. Raises ChangeError where a map cannot be."""
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


def _apply_changes(part: Part, root: Path, changes: Sequence[Change]) -> Part:
    if root:
        changes = [Change((*root, *path), op, value) for path, op, value in changes]
    for change in changes:
        part = apply_change(part, change)
    return part


def _replace_values(value: Any, replaced: Mapping[Path, Any]) -> Any:
    if () in replaced:
        return replaced[()]
    below: dict[str | int, dict[Path, Any]] = {}
    for path, new in replaced.items():
        below.setdefault(path[0], {})[path[1:]] = new
    if isinstance(value, dict):
        return {key: _replace_values(item, below[key]) if key in below else item for key, item in value.items()}
    return [_replace_values(item, below[at]) if at in below else item for at, item in enumerate(value)]
