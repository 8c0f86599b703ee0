"""Remove entries from a flow collection and insert new ones.

Rule of this file: the brackets stay, and so does a trailing comma. A new entry is JSON behind the entry before it, on a
line of its own where the last entry has one.
"""

from krm_function.yamltext import offsets, writer
from krm_function.yamltext.edit.replacements import CollectionSpans, Replacements
from krm_function.yamltext.edit.tree import EditedCollection, EditedEntry, value_of
from krm_function.yamltext.edit.undo_records import UndoRecords


def edit_flow(replacements: Replacements, records: UndoRecords, collection: CollectionSpans) -> None:
    """Edit the entries of one flow collection."""
    kept = [entry.origin for entry in collection.edited.entries if entry.origin >= 0]
    removed = sorted(set(range(len(collection.starts))).difference(kept))
    if removed:
        spans = [_span(replacements.text, collection, index, kept) for index in removed]
        for start, end in spans:
            replacements.replace(start, end, "")
        raw = [replacements.text[start:end] for start, end in spans]
        records.removed(
            collection.edited, collection.path, [(index, one, 0) for index, one in zip(removed, raw, strict=True)]
        )
    _insert(replacements, collection, kept)


def _span(text: str, collection: CollectionSpans, index: int, kept: list[int]) -> tuple[int, int]:
    """Return the span that goes with an entry: with the comma before it, or after it if no entry stays before it."""
    edited, _, starts, ends = collection
    if kept and index < kept[0]:
        return starts[index], starts[index + 1]
    start = ends[index - 1] if index else offsets.content(text, edited.node) + 1
    if edited.entries or index + 1 < len(starts):
        return start, ends[index]
    comma = offsets.after_blank(text, ends[-1])
    return start, comma + 1 if text[comma] == "," else ends[-1]


def _insert(replacements: Replacements, collection: CollectionSpans, kept: list[int]) -> None:
    text = replacements.text
    edited, _, starts, ends = collection
    at = starts[kept[0]] if kept else ends[-1] if ends else offsets.content(text, edited.node) + 1
    if all(entry.origin >= 0 for entry in edited.entries):
        return
    between = ", "
    if starts and offsets.first_on_line(text, starts[-1]):
        between = "," + offsets.newline_at(text, starts[-1]) + " " * offsets.column(text, starts[-1])
    seen = False
    for index, entry in enumerate(edited.entries):
        if entry.origin >= 0:
            at, seen = ends[entry.origin], True
        elif entry.raw:
            replacements.replace(at, at, entry.raw)
        elif not kept:
            replacements.replace(at, at, (", " if index else "") + _written(edited, entry))
        else:
            new = _written(edited, entry)
            replacements.replace(at, at, between + new if seen else new + between)


def _written(edited: EditedCollection, entry: EditedEntry) -> str:
    value = writer.flow(value_of(entry.child))
    return f"{writer.flow_key(entry.key or '')}: {value}" if edited.node.kind == "map" else value
