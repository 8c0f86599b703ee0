"""Remove entries from a flow collection and insert new ones.

Rule of this file: the brackets stay, and so does a trailing comma. A new entry is JSON behind the entry before it, on a
line of its own where the last entry has one.
"""

from krm_function.yamltext import offsets, writer
from krm_function.yamltext.edit.replacements import CollectionSpans, Replacements
from krm_function.yamltext.edit.tree import Live, LiveEntry, value_of
from krm_function.yamltext.edit.undo_write import UndoRecords


def edit_flow(canvas: Replacements, records: UndoRecords, place: CollectionSpans) -> None:
    """Edit the entries of one flow collection."""
    alive = [entry.origin for entry in place.live.entries if entry.origin >= 0]
    gone = sorted(set(range(len(place.starts))).difference(alive))
    if gone:
        spans = [_span(canvas.text, place, index, alive) for index in gone]
        for start, end in spans:
            canvas.replace(start, end, "")
        raw = [canvas.text[start:end] for start, end in spans]
        records.removed(place.live, place.path, [(index, one, 0) for index, one in zip(gone, raw, strict=True)])
    _insert(canvas, place, alive)


def _span(text: str, place: CollectionSpans, index: int, alive: list[int]) -> tuple[int, int]:
    """Return the span that goes with an entry: with the comma before it, or after it if no entry stays before it."""
    live, _, starts, ends = place
    if alive and index < alive[0]:
        return starts[index], starts[index + 1]
    start = ends[index - 1] if index else offsets.content(text, live.node) + 1
    if live.entries or index + 1 < len(starts):
        return start, ends[index]
    comma = offsets.after_blank(text, ends[-1])
    return start, comma + 1 if text[comma] == "," else ends[-1]


def _insert(canvas: Replacements, place: CollectionSpans, alive: list[int]) -> None:
    text = canvas.text
    live, _, starts, ends = place
    at = starts[alive[0]] if alive else ends[-1] if ends else offsets.content(text, live.node) + 1
    if all(entry.origin >= 0 for entry in live.entries):
        return
    between = ", "
    if starts and offsets.first_on_line(text, starts[-1]):
        between = "," + offsets.newline_at(text, starts[-1]) + " " * offsets.column(text, starts[-1])
    seen = False
    for index, entry in enumerate(live.entries):
        if entry.origin >= 0:
            at, seen = ends[entry.origin], True
        elif entry.raw:
            canvas.replace(at, at, entry.raw)
        elif not alive:
            canvas.replace(at, at, (", " if index else "") + _written(live, entry))
        else:
            new = _written(live, entry)
            canvas.replace(at, at, between + new if seen else new + between)


def _written(live: Live, entry: LiveEntry) -> str:
    value = writer.flow(value_of(entry.child))
    return f"{writer.flow_key(entry.key or '')}: {value}" if live.node.kind == "map" else value
