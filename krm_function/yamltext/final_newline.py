"""Edit texts whose last line has no line end.

Rule of this file: what is appended brings its own line end, in front. A block scalar that was the last thing would take
that line end for its own, so its header learns to strip it (`|-`); one that becomes the last thing keeps its line end.
"""

from krm_function.yamltext import offsets
from krm_function.yamltext.edit.tree import EditedCollection, EditedEntry, NewValue, Part
from krm_function.yamltext.nodes import Node


def guard_end(part: Part, text: str) -> bool:
    """Prepare an edited tree for the end of its text; returns whether the new text ends without a line end, too."""
    if (
        text.endswith("\n")
        or not isinstance(part, EditedCollection)
        or "\n" in text[offsets.leaf_end(text, part.node) :]
    ):
        return False
    if _appends(part):
        _strip_last(part, text)
    return not _ends_with_block_scalar(part)


def _last(edited: EditedCollection) -> EditedEntry | None:
    """Return the entry of the last pair or item of the text, if it is still there."""
    last = len(edited.node.parts) - 1
    return next((entry for entry in edited.entries if entry.origin == last), None)


def _appends(part: Part) -> bool:
    while isinstance(part, EditedCollection) and part.node.style == "block":
        if part.entries and part.entries[-1].origin < 0:
            return True
        entry = _last(part)
        if entry is None:
            return False
        part = entry.child
    return False


def _strip_last(part: Part, text: str) -> None:
    edited = part if isinstance(part, EditedCollection) else None
    while edited is not None and edited.node.style == "block":
        entry = _last(edited)
        if entry is None:
            return
        child = entry.child
        if isinstance(child, Node) and child.kind == "scalar" and child.style in ("|", ">"):
            if edited.node.kind == "map":
                start = offsets.after_colon(text, edited.node.parts[entry.origin][0])
            else:
                start = offsets.entry_spans(text, edited.node)[0][entry.origin] + 1
            entry.child = NewValue(
                child.data, None, offsets.stripped(text, child, start, offsets.leaf_end(text, child))
            )
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
