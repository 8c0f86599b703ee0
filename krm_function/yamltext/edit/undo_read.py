"""Take back what `splice` did: from its records, on the text of today.

Rule of this file: a host may have sorted the keys, dropped the comments and changed the quotes since. So a record goes
by address, is skipped when its target is gone, and old bytes are used only where they read back as the old value.

A record is a list. `["-", at]`: remove what was added; `["-", at, n]`: and then up to n maps around it that are empty.
`["=", at, before]`, `["~", at, raw]` or `["=", at, before, raw]`: put a value back, `raw` being the bytes that stood
behind its colon or dash (kept when the value does not give them, and alone when they give the value).
`["+", at, before, raw, next, gap]`: insert what was removed, in front of the sibling `next` ("" for last), `gap` lines
of comments away from it. See `pointer` for addresses.
"""

from json import loads
from typing import Any

from krm_function.yamltext.changes import Path
from krm_function.yamltext.document import Document, locate
from krm_function.yamltext.edit.pointer import entry_of, unescape
from krm_function.yamltext.edit.splice import rewrite
from krm_function.yamltext.edit.tree import Entry, Fresh, Live, Part, value_of
from krm_function.yamltext.edit.undo_write import Undo, read_raw, within
from krm_function.yamltext.errors import LIMITS, YamlError
from krm_function.yamltext.nodes import Node

_FARTHEST = 1000  # lines of comments: bounds the memory that a record can take
_SHAPES: dict[str, tuple[tuple[type, ...], int]] = {
    "-": ((str, str, int), 2),
    "~": ((str, str, str), 3),
    "=": ((str, str, object, str), 3),
    "+": ((str, str, object, str, str, int), 3),
}


def read_undo(document: Document, path: Path) -> Undo | None:
    """The records kept at `path`; None when there is nothing. Raises YamlError (shape) when they are malformed."""
    value = document.value
    try:
        for part in path:
            value = value[part]
    except (KeyError, IndexError, TypeError):
        return None
    try:
        undo = loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
        undo = None
    if not isinstance(undo, list) or not _is_shallow(undo, LIMITS.depth) or not all(map(_is_record, undo)):
        raise YamlError("these are no undo records", *locate(document, path), "shape")
    return undo


def _is_shallow(value: Any, depth: int) -> bool:
    """Whether at most `depth` collections stand inside each other, as in a document."""
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(one, depth - 1) for one in inside)


def _is_record(record: Any) -> bool:
    if not isinstance(record, list) or not record or not isinstance(record[0], str) or record[0] not in _SHAPES:
        return False
    types, least = _SHAPES[record[0]]
    if len(record) > 1 and isinstance(record[1], str) and record[1] and not record[1].startswith("/"):
        return False  # appended to the address of its object, it would name another one
    return least <= len(record) <= len(types) and all(
        isinstance(part, kind) and not (kind is int and isinstance(part, bool))
        for part, kind in zip(record, types, strict=False)
    )


def restore(document: Document, undo: Undo, root: Path = ()) -> str:
    """The text that `splice` was given: the same bytes if nothing was touched since, in any case the same values.

    root: the object in the document that the records are about, wherever it stands by now.
    Raises YamlError (splice) should the restored text not read back as the restored value.
    """
    if document.node is None or not undo:
        return document.text
    undo = within(undo, root)
    wanted = value_of(_reverted(document.node, undo, exact=False))
    try:
        return rewrite(document, lambda root, _: _reverted(root, undo, exact=True), lambda _: wanted, strict=True).text
    except YamlError:
        return rewrite(document, lambda root, _: _reverted(root, undo, exact=False), lambda _: wanted).text


Chain = list[tuple[Live, Entry]]


class _Root:
    """The top of the tree, so that the root has a place like any other entry."""

    def __init__(self, node: Node) -> None:
        self.entry = Entry("", 0, node)

    def reach(self, segments: list[str]) -> Chain | None:
        """The collections and entries on the way to an address; None when it is gone."""
        entry = self.entry
        chain: Chain = []
        for segment in segments:
            live = self.open(entry)
            found = entry_of(live, segment) if live is not None else None
            if live is None or found is None:
                return None
            chain.append((live, found))
            entry = found
        return chain

    def open(self, entry: Entry) -> Live | None:
        """Make the collection in an entry editable; None when there is none."""
        if isinstance(entry.child, Node) and entry.child.kind in ("map", "seq"):
            entry.child = Live(entry.child)
        return entry.child if isinstance(entry.child, Live) else None


def _reverted(node: Node, undo: Undo, *, exact: bool) -> Part:
    """The edited tree in which all records are undone. Addresses are those of the text as it is, so they come first."""
    root = _Root(node)
    targets = [(record, _target(root, record)) for record in undo]
    for record, target in targets:
        if target is None:
            continue
        chain, entry, follower = target
        if record[0] == "=":
            entry.child = Fresh(record[2], None, record[3] if exact and len(record) > 3 else None)
        elif record[0] == "~":
            entry.child = Fresh(read_raw(record[2]), None, record[2] if exact else None)
        elif record[0] == "+":
            _put_back(root, chain, record, follower, exact=exact)
    for record, target in targets:
        if target is not None and record[0] == "-":
            _take_away(target[0], record[2] if len(record) > 2 else 0)
    return root.entry.child


def _target(root: _Root, record: list[Any]) -> tuple[Chain, Entry, Entry | None] | None:
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
    live = root.open(parent)
    if live is None:
        return None
    follower = entry_of(live, record[4]) if len(record) > 4 and record[4] else None
    return chain, parent, follower


def _put_back(root: _Root, chain: Chain, record: list[Any], follower: Entry | None, *, exact: bool) -> None:
    parent = chain[-1][1] if chain else root.entry
    live = parent.child
    if not isinstance(live, Live):
        return
    key = None
    if live.node.kind == "map":
        key = unescape(record[1].rsplit("/", 1)[1])
        there = live.find(key)
        if there is not None:
            there.child = Fresh(record[2])
            return
    entry = Entry(key, -1, Fresh(record[2]))
    if exact and len(record) > 3 and record[3]:
        entry.raw = record[3]
        entry.gap = min(record[5], _FARTHEST) if len(record) > 5 else 0
    live.entries.insert(live.entries.index(follower) if follower in live.entries else len(live.entries), entry)


def _take_away(chain: Chain, around: int) -> None:
    while chain:
        live, entry = chain.pop()
        if entry in live.entries:
            live.entries.remove(entry)
        if live.entries or around <= 0:
            return
        around -= 1
