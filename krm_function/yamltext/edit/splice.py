"""Edit a document in place, and prove it.

Rule of this file: the new text is parsed, and its value must be `apply(value, changes)`. Where the smallest edit does
not read back (an odd line end, a comment in an odd place), the value around it is rewritten, then the one around that.
"""

from collections.abc import Callable, Sequence
from json import JSONEncoder
from typing import Any

from krm_function.record import NamedTuple
from krm_function.yamltext import offsets, writer
from krm_function.yamltext.changes import Change, Path, apply, same
from krm_function.yamltext.document import Document
from krm_function.yamltext.edit.anchors import unshare
from krm_function.yamltext.edit.apply_changes import edit, settle
from krm_function.yamltext.edit.pointer import pointer
from krm_function.yamltext.edit.replacements import Canvas
from krm_function.yamltext.edit.rewrite import emit
from krm_function.yamltext.edit.tree import Live, Part
from krm_function.yamltext.edit.undo_write import Records, Undo, below
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.fast.values import read_value
from krm_function.yamltext.final_newline import guard_end
from krm_function.yamltext.nodes import Node

_WHOLE = 1000  # deeper than any document: nothing is rewritten but what was edited
_compact = JSONEncoder(separators=(",", ":")).encode
_STAND_IN = '["records"]'  # JSON of its own kind, so that it is written as the records will be


class Spliced(NamedTuple):
    """A new text, and the records by which `restore` makes the old one of it."""

    text: str
    undo: Undo


def splice(document: Document, changes: Sequence[Change], keep_undo_at: Path | None = None, root: Path = ()) -> Spliced:
    """Apply `changes` in order to the text of `document`; bytes that no change concerns stay as they are.

    keep_undo_at: where to keep the records as a string of JSON, usually an annotation; maps that are missing above it
    are created, and undone with the rest. Without any effective change nothing is kept and the text is returned as is.
    root: the object that the changes are about, if it is a member of a list; addresses of the records start there, so
    that they stay right when a host moves the object.
    Raises ChangeError for a path that does not exist, YamlError (splice) should no edit read back as meant.
    """
    wanted = apply(document.value, list(changes))
    if same(wanted, document.value):
        return Spliced(document.text, [])
    if keep_undo_at is None:
        return rewrite(document, lambda node, _: _replay(node, changes), lambda _: wanted)
    parents = _parents(wanted, keep_undo_at)

    def kept(records: str) -> list[Change]:
        return [*parents, Change(keep_undo_at, "set", records)]

    with_place = apply(wanted, kept(""))  # raises when there is no such place
    new, undo = rewrite(
        document,
        lambda node, records: _replay(node, [*changes, *kept(records)]),
        lambda records: apply(with_place, [Change(keep_undo_at, "set", records)]),
        pointer(keep_undo_at),
        root,
    )
    return Spliced(new, below(undo, root))


def to_json(undo: Undo) -> str:
    """The records as they are kept in a document: compact, plain ASCII."""
    return _compact(undo)


def _replay(root: Part, changes: Sequence[Change]) -> Part:
    for change in changes:
        root = edit(root, change)
    return root


def _parents(value: Any, path: Path) -> list[Change]:
    """The changes that create the maps above `path`."""
    missing = []
    for index, part in enumerate(path[:-1]):
        if isinstance(value, list) and isinstance(part, int):  # a member of a `kind: List`
            value = value[part] if part < len(value) else []
            continue
        value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            missing.append(Change(path[: index + 1], "set", {}))
    return missing


def rewrite(
    document: Document,
    make: Callable[[Node, str], Part],
    wanted: Callable[[str], Any],
    keep: str = "",
    below_root: Path = (),
    *,
    strict: bool = False,
) -> Spliced:
    """Emit the tree that `make` builds, the smallest edits first, until the text reads back as `wanted`.

    Both are given the undo records as they are kept, if `keep` is the address of the string that is to hold them; what
    they are is known only once the text is written, so `make` is given a stand-in. `below_root`: where their addresses
    start. `strict`: no second try with larger edits.
    """
    root = document.node
    if root is None:
        return _from_nothing(document, wanted(to_json([])))
    depth = _WHOLE
    while depth >= 0:
        new, undo, part = _emit(document, root, make(root, _STAND_IN), depth, keep)
        records = to_json(below(undo, below_root)) if keep else ""
        if keep:
            new = _filled(new, records) or _emit(document, root, make(root, records), depth, keep)[0]
        if _reads_as(new, wanted(records)):
            return Spliced(new, undo)
        depth = -1 if strict else min(depth, _levels(part)) - 1
    raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")


def _filled(text: str, records: str) -> str:
    """The text with the records in the place of their stand-in; "" if that cannot be told from other text."""
    in_block, in_flow = writer.scalar(_STAND_IN), writer.quoted(_STAND_IN)
    if text.count(in_block) + text.count(in_flow) != 1:
        return ""
    if in_block in text:
        return text.replace(in_block, writer.scalar(records))
    return text.replace(in_flow, writer.quoted(records))


def _emit(document: Document, root: Node, part: Part, depth: int, keep: str) -> tuple[str, Undo, Part]:
    text = document.text
    for _ in range(2 if "*" in text else 1):  # what is written out may take another anchor with it
        part = unshare(settle(part, text, depth), root, text)
    canvas = Canvas(text, max(0, _dash_offset(text, root)))
    canvas.open_end = guard_end(part, text)
    records = Records(keep)
    emit(canvas, records, part, root, document.item)
    return canvas.result(), records.undo, part


def _levels(part: Part) -> int:
    return 1 + max((_levels(entry.child) for entry in part.entries), default=0) if isinstance(part, Live) else 0


def _reads_as(text: str, wanted: Any) -> bool:
    try:
        return same(read_value(text), wanted)
    except YamlError:
        return False


def _dash_offset(text: str, node: Node) -> int:
    """How far lists stand in from their key in this document: that of the first block list there is."""
    if node.style == "block":
        for part in node.parts:
            child = part[1] if node.kind == "map" else part
            if child.style != "block":
                continue
            if node.kind == "map" and child.kind == "seq":
                dash = offsets.column(text, offsets.first_entry(text, child))
                return max(0, dash - offsets.column(text, offsets.first_entry(text, node)))
            if (found := _dash_offset(text, child)) >= 0:
                return found
    return -1


def _from_nothing(document: Document, value: Any) -> Spliced:
    """Write a value into a text that has none."""
    text = document.text
    newline = offsets.newline_at(text, len(text))
    gap = "" if not text or text.endswith("\n") else newline
    new = text + gap + writer.block(value, 0, writer.Style(newline)) + newline
    if not _reads_as(new, value):
        raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")
    return Spliced(new, [["=", "", None, ""]])
