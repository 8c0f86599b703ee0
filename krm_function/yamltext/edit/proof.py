"""Write an edited tree as text, and prove that it reads back as intended.

Rule of this file: every text that it returns was parsed again and compared with the value that the changes give. Where
the smallest edit does not read back (an odd line end, a comment in an odd place), the value around it is rewritten,
then the one around that.
"""

from collections.abc import Callable, Sequence
from json import JSONEncoder
from typing import Any

from krm_function.record import NamedTuple
from krm_function.yamltext import offsets, writer
from krm_function.yamltext.changes import same
from krm_function.yamltext.document import Document
from krm_function.yamltext.edit.anchors import shares_lost_anchor, write_out_aliases
from krm_function.yamltext.edit.apply_changes import rewrite_uneditable
from krm_function.yamltext.edit.replacements import Replacements
from krm_function.yamltext.edit.rewrite import collect_replacements
from krm_function.yamltext.edit.tree import EditedCollection, Part
from krm_function.yamltext.edit.undo_records import NoUndoRecords, Undo, UndoRecords
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.fast.values import read_value
from krm_function.yamltext.final_newline import guard_end
from krm_function.yamltext.nodes import Node

_WHOLE = 1000  # deeper than any document: nothing is rewritten but what was edited
_STAND_IN = '["records"]'  # JSON of its own kind, so that it is written as the records will be
_compact = JSONEncoder(separators=(",", ":")).encode


class UndoPlace(NamedTuple):
    """Where the undo records of one object go: its node, and the address, from it on, of the string that holds them."""

    node: Node | None  # None for a text without content
    at: str


def to_json(undo: Undo) -> str:
    """Encode records as they are stored in a document: compact, plain ASCII."""
    return _compact(undo)


class Rewritten(NamedTuple):
    """A new text, and the undo records of each object that stores some; of the whole document if none does."""

    text: str
    undo: tuple[Undo, ...]


def rewrite(
    document: Document,
    make: Callable[[Node, Sequence[str]], Part],
    wanted: Callable[[Sequence[str]], Any],
    undo_places: Sequence[UndoPlace] = (),
    *,
    recorded: bool = True,
    smallest: bool = False,
) -> Rewritten:
    """Write the tree that `make` builds, by the smallest edits that read back as `wanted`.

    Both get the encoded undo records of each object of `undo_places`, in its order, which is that of the document. The
    records are known only once the text is written, so `make` gets stand-ins first.
    recorded: whether undo records are made at all. smallest: try no larger edit.
    Raises YamlError (splice) if nothing reads back, or if several objects store records and are not independent.
    """
    root = document.node
    if root is None:
        return _from_nothing(document, wanted([to_json([])] * len(undo_places)))
    depth = _WHOLE
    while depth >= 0:
        part, replacements, undo = _attempt(
            document, root, make(root, [_STAND_IN] * len(undo_places)), depth, undo_places, recorded=recorded
        )
        records = [to_json(one) for one in undo] if undo_places else []
        if undo_places and not _fill_in(replacements, records):
            replacements = _attempt(
                document, root, make(root, records), depth, undo_places, recorded=recorded
            ).replacements
        new = replacements.result()
        if _reads_as(new, wanted(records)):
            return Rewritten(new, undo)
        depth = -1 if smallest else min(depth, _levels(part)) - 1
    raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")


class _Attempt(NamedTuple):
    """One attempt: the edited tree, the replacements that write it, and the undo records of each object."""

    part: Part
    replacements: Replacements
    undo: tuple[Undo, ...]


def _attempt(
    document: Document, root: Node, part: Part, depth: int, undo_places: Sequence[UndoPlace], *, recorded: bool
) -> _Attempt:
    """Write a tree. Raises YamlError (splice) if several objects store records and are not independent."""
    text = document.text
    for _ in range(2 if "*" in text else 1):  # what is written out may take another anchor with it
        part = write_out_aliases(rewrite_uneditable(part, text, depth), root, text)
    replacements = Replacements(text, max(0, _dash_offset(text, root)))
    replacements.open_end = guard_end(part, text)
    if not undo_places:
        records = UndoRecords() if recorded else NoUndoRecords()
        collect_replacements(replacements, records, part, root, document.item)
        return _Attempt(part, replacements, (records.undo,))
    members = {id(place.node): UndoRecords(place.at) for place in undo_places}
    # an alias in another object that is written out stays written out: no object undoes another
    around = NoUndoRecords(members)
    collect_replacements(replacements, around, part, root, document.item)
    if len(around.entered) < len(undo_places):
        raise YamlError("an object that cannot be edited without what is around it", document.line, 1, "splice")
    if (
        len(undo_places) > 1
        and "*" in text
        and shares_lost_anchor(part, root, [node for place in undo_places if (node := place.node)])
    ):
        raise YamlError("objects that cannot be edited together", document.line, 1, "splice")
    return _Attempt(part, replacements, tuple(one.undo for one in members.values()))


def _fill_in(replacements: Replacements, records: Sequence[str]) -> bool:
    """Put the records of each object in the place of their stand-in; False if a stand-in occurs in other text."""
    in_block, in_flow = writer.scalar(_STAND_IN), writer.quoted(_STAND_IN)
    at = [
        index
        for index, (_, _, new, _) in enumerate(replacements.edits)
        for _ in range(new.count(in_block) + new.count(in_flow))
    ]
    if len(at) != len(records) or len(set(at)) != len(at):
        return False
    for index, one in zip(at, records, strict=True):
        start, end, new, lines = replacements.edits[index]
        stand_in, token = (in_block, writer.scalar(one)) if in_block in new else (in_flow, writer.quoted(one))
        replacements.edits[index] = (start, end, new.replace(stand_in, token), lines)
    return True


def _levels(part: Part) -> int:
    return (
        1 + max((_levels(entry.child) for entry in part.entries), default=0)
        if isinstance(part, EditedCollection)
        else 0
    )


def _reads_as(text: str, wanted: Any) -> bool:
    try:
        return same(read_value(text), wanted)
    except YamlError:
        return False


def _dash_offset(text: str, node: Node) -> int:
    """Return how far lists are indented from their key in this document: the first block list's, -1 without any."""
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


def _from_nothing(document: Document, value: Any) -> Rewritten:
    """Write a value into a text that has none."""
    text = document.text
    newline = offsets.newline_at(text, len(text))
    gap = "" if not text or text.endswith("\n") else newline
    new = text + gap + writer.block(value, 0, writer.Style(newline)) + newline
    if not _reads_as(new, value):
        raise YamlError("no edit of the text reads back as intended", document.line, 1, "splice")
    return Rewritten(new, ([["=", "", None, ""]],))
