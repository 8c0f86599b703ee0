"""Undo an edit by `splice`, by its undo records, in the present text."""

from collections.abc import Sequence
from json import loads
from typing import Any

from krm_function.text.changes import Path
from krm_function.text.edit_tree import EditedCollection, EditedEntry, NewValue, Part, value_of
from krm_function.text.errors import LIMITS, YamlError
from krm_function.text.parse import Document, Node, locate
from krm_function.text.splice import in_groups, rewrite
from krm_function.text.undo_records import Undo, entry_of, from_document, read_raw, unescape

# --- Read the undo records of a document and check their form; `restore` applies them
#
# Rule: any author of the input can write the annotation with the records, so every other form is refused.
#
# A record is a list. `["-", at]`: remove an added entry; `["-", at, n]`: and then up to n empty maps around it.
# `["=", at, before]`, `["~", at, raw]` or `["=", at, before, raw]`: restore a value; `raw` are the bytes after its
# colon or dash (kept if writing the value would not give them; alone if they give the value). `["+", at, before, raw,
# next, gap]`: insert a removed entry before the sibling `next` ("" for last), `gap` lines of comments away from it. See
# `pointer` for addresses.


_SHAPES: dict[str, tuple[tuple[type, ...], int]] = {
    "-": ((str, str, int), 2),
    "~": ((str, str, str), 3),
    "=": ((str, str, object, str), 3),
    "+": ((str, str, object, str, str, int), 3),
}


def read_undo(document: Document, path: Path) -> Undo | None:
    """Read the records stored at `path`; None if there are none. Raises YamlError (shape) for malformed ones."""
    value = document.value
    try:
        for part in path:
            value = value[part]
    except (KeyError, IndexError, TypeError):
        return None
    try:
        undo = loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):  # not JSON, or a number of thousands of digits
        undo = None
    if not isinstance(undo, list) or not _is_shallow(undo, LIMITS.depth) or not all(map(_is_record, undo)):
        raise YamlError("these are not undo records", *locate(document, path), "shape")
    return undo


def _is_shallow(value: Any, depth: int) -> bool:
    """Tell whether at most `depth` collections are nested, as in a document."""
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(part, depth - 1) for part in inside)


def _is_record(record: Any) -> bool:
    if not isinstance(record, list) or not record or not isinstance(record[0], str) or record[0] not in _SHAPES:
        return False
    types, least = _SHAPES[record[0]]
    if len(record) > 1 and isinstance(record[1], str) and record[1] and not record[1].startswith("/"):
        return False  # with the address of its object before it, it would name another object
    return least <= len(record) <= len(types) and all(
        isinstance(part, kind) and not (kind is int and isinstance(part, bool))
        for part, kind in zip(record, types, strict=False)
    )


# --- Undo an edit by `splice`, by its undo records, in the present text
#
# Rule: a host may have sorted the keys, dropped the comments and changed the quotes since. So a record has an address,
# is skipped if its target has gone, and old bytes are used only if they read back as the old value.


_FARTHEST = 1000  # lines of comments: bounds the memory that a record can take


MemberUndo = tuple[Path, Undo]
"""An object: its present path in its document, and its undo records."""


def restore(document: Document, undo: Undo, root: Path = ()) -> str:
    """Return the text before `splice`: the same bytes if nothing was changed since, always the same values.

    root: the present path of the object that has the records.
    Raises YamlError (splice) if the restored text does not read back as the restored value.
    """
    if document.node is None or not undo:
        return document.text
    undo = from_document(undo, root)
    try:
        return _restore_text(document, undo, exact=True)
    except YamlError:
        return _restore_text(document, undo, exact=False)


def restore_members(document: Document, members: Sequence[MemberUndo]) -> tuple[str, Sequence[YamlError | None]]:
    """Restore several objects of one document, in one edit of its text unless one of them needs a separate edit.

    Returns a text with all objects restored that can be, and for each object its problem, None if it is restored.
    """
    return in_groups(document, members, _restore_together, _restore_alone)


def _restore_together(document: Document, members: Sequence[MemberUndo]) -> tuple[str, list[YamlError | None]]:
    records = [record for root, undo in members for record in from_document(undo, root)]
    return _restore_text(document, records, exact=True), [None] * len(members)


def _restore_alone(document: Document, member: MemberUndo) -> tuple[str, YamlError | None]:
    try:
        root, undo = member
        return restore(document, undo, root), None
    except YamlError as problem:
        return document.text, problem


def _restore_text(document: Document, undo: Undo, *, exact: bool) -> str:
    """Restore the text. exact: with the old bytes, and without larger edits. Raises YamlError (splice)."""
    if document.node is None or not undo:
        return document.text
    old_value = value_of(_revert(document.node, undo, exact=False))

    def make(root: Node, _: Sequence[str]) -> Part:
        return _revert(root, undo, exact=exact)

    return rewrite(document, make, lambda _: old_value, recorded=False, smallest=exact)[0]


Chain = list[tuple[EditedCollection, EditedEntry]]


class _Root:
    """The top of the tree, which makes its root an entry like all others."""

    def __init__(self, node: Node) -> None:
        self.entry = EditedEntry("", 0, node)

    def reach(self, segments: list[str]) -> Chain | None:
        """Find the collections and entries on the path of an address; None if it has gone."""
        entry = self.entry
        chain: Chain = []
        for segment in segments:
            edited = self.open(entry)
            next_entry = entry_of(edited, segment) if edited is not None else None
            if edited is None or next_entry is None:
                return None
            chain.append((edited, next_entry))
            entry = next_entry
        return chain

    def open(self, entry: EditedEntry) -> EditedCollection | None:
        """Make the collection in an entry editable; None if there is none."""
        if isinstance(entry.child, Node) and entry.child.kind in ("map", "seq"):
            entry.child = EditedCollection(entry.child)
        return entry.child if isinstance(entry.child, EditedCollection) else None


def _revert(node: Node, undo: Undo, *, exact: bool) -> Part:
    """Build the tree with all records undone. All addresses are resolved before the first record is undone."""
    root = _Root(node)
    targets = [(record, _find_target(root, record)) for record in undo]
    for record, target in targets:
        if target is None:
            continue
        chain, entry, follower = target
        if record[0] == "=":
            entry.child = NewValue(record[2], None, record[3] if exact and len(record) > 3 else None)
        elif record[0] == "~":
            entry.child = NewValue(read_raw(record[2]), None, record[2] if exact else None)
        elif record[0] == "+":
            _insert_again(root, chain, record, follower, exact=exact)
    for record, target in targets:
        if target is not None and record[0] == "-":
            _remove_added(target[0], record[2] if len(record) > 2 else 0)
    return root.entry.child


def _find_target(root: _Root, record: list[Any]) -> tuple[Chain, EditedEntry, EditedEntry | None] | None:
    segments = record[1].split("/")[1:]
    if record[0] != "+":
        chain = root.reach(segments)
        if chain is None or (record[0] == "-" and not chain):
            return None
        return chain, chain[-1][1] if chain else root.entry, None
    chain = root.reach(segments[:-1])
    if chain is None or not segments:
        return None
    parent = chain[-1][1] if chain else root.entry
    edited = root.open(parent)
    if edited is None:
        return None
    follower = entry_of(edited, record[4]) if len(record) > 4 and record[4] else None
    return chain, parent, follower


def _insert_again(root: _Root, chain: Chain, record: list[Any], follower: EditedEntry | None, *, exact: bool) -> None:
    parent = chain[-1][1] if chain else root.entry
    edited = parent.child
    if not isinstance(edited, EditedCollection):
        return
    key = None
    if edited.node.kind == "map":
        key = unescape(record[1].rsplit("/", 1)[1])
        present = edited.find(key)
        if present is not None:
            present.child = NewValue(record[2])
            return
    entry = EditedEntry(key, -1, NewValue(record[2]))
    if exact and len(record) > 3 and record[3]:
        entry.raw = record[3]
        entry.gap = min(record[5], _FARTHEST) if len(record) > 5 else 0
    edited.entries.insert(edited.entries.index(follower) if follower in edited.entries else len(edited.entries), entry)


def _remove_added(chain: Chain, around: int) -> None:
    while chain:
        edited, entry = chain.pop()
        if entry in edited.entries:
            edited.entries.remove(entry)
        if edited.entries or around <= 0:
            return
        around -= 1
