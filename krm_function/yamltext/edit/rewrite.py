"""Turn an edited tree into the replacements of its text, and into the records that undo them.

Rule of this file: every replacement is bounded by tokens of the old text, and children come before what is around them.
A value is replaced from behind its colon or dash to the end of its last token, so a comment on that line stays.
"""

from krm_function.yamltext import offsets, writer
from krm_function.yamltext.edit.block import BlockEdit
from krm_function.yamltext.edit.flow import edit_flow
from krm_function.yamltext.edit.pointer import addresses
from krm_function.yamltext.edit.replacements import CollectionSpans, ReplacedValue, Replacements
from krm_function.yamltext.edit.tree import Fresh, Live, Part
from krm_function.yamltext.edit.undo_write import UndoRecords
from krm_function.yamltext.nodes import Node


def emit(canvas: Replacements, records: UndoRecords, part: Part, node: Node, item: Node | None) -> None:
    """Emit the whole tree. `item` is the block list of one item around the root `node`, if there is one."""
    records, _ = records.of(node, "")
    if isinstance(part, Live):
        _live(canvas, records, part, "")
    elif isinstance(part, Fresh) and item is not None:
        dash = offsets.first_entry(canvas.text, item)
        end = max(offsets.leaf_end(canvas.text, node), dash + 1)
        _replace(canvas, records, ReplacedValue("", dash + 1, end, offsets.column(canvas.text, dash), item), part, node)
    elif isinstance(part, Fresh):
        _root(canvas, records, part, node)


def _root(canvas: Replacements, records: UndoRecords, fresh: Fresh, node: Node) -> None:
    text = canvas.text
    start, end = node.start, offsets.leaf_end(text, node)
    first = offsets.first_on_line(text, start)
    if fresh.raw is not None:
        new = fresh.raw
    elif fresh.token is not None or not first:
        new = writer.flow(fresh.value)
    else:
        column = offsets.column(text, start)
        new = writer.block(fresh.value, column, canvas.style(start, literal=canvas.literal_fits(end, column)))
    if start == end and fresh.raw is None:
        newline = offsets.newline_at(text, start)
        new = (newline if offsets.column(text, start) else "") + new + (newline if start < len(text) else "")
    canvas.replace(start, end, new)
    records.replaced("", node.data, text[start:end], lambda: new)


def _live(canvas: Replacements, records: UndoRecords, live: Live, path: str) -> None:
    """Emit one edited collection; `path` is its address."""
    records, path = records.of(live.node, path)
    if _leads_on(live):
        for entry, address in addresses(live, path):
            if isinstance(entry.child, Live):
                _live(canvas, records, entry.child, address)
        return
    place = CollectionSpans(live, path, *offsets.entry_spans(canvas.text, live.node))
    mark = len(canvas.edits)
    _children(canvas, records, place)
    if live.node.style == "flow":
        edit_flow(canvas, records, place)
    else:
        edit = BlockEdit(canvas, place)
        inner = canvas.appended_since(mark)
        edit.remove(records)
        edit.insert(inner)


def _leads_on(live: Live) -> bool:
    """Whether only collections inside a collection are edited: none of its entries is new, gone or replaced."""
    return len(live.entries) == len(live.node.parts) and not any(
        entry.origin < 0 or isinstance(entry.child, Fresh) for entry in live.entries
    )


def _children(canvas: Replacements, records: UndoRecords, place: CollectionSpans) -> None:
    live, path, starts, ends = place
    text, node = canvas.text, live.node
    column = offsets.column(text, starts[0]) if node.style == "block" else 0
    for entry, address in addresses(live, path):
        child = entry.child
        if entry.origin < 0:
            records.added(address, live.node, entry)
        elif isinstance(child, Live):
            _live(canvas, records, child, address)
        elif isinstance(child, Fresh):
            part = node.parts[entry.origin]
            if node.kind == "map":
                start, old = offsets.after_colon(text, part[0]), part[1]
            else:
                start, old = starts[entry.origin] + (node.style == "block"), part
            end = start if old.start == old.end else max(start, ends[entry.origin])
            own, inner = records.of(old, address)
            _replace(canvas, own, ReplacedValue(inner, start, end, column, node), child, old)


def _replace(canvas: Replacements, records: UndoRecords, hole: ReplacedValue, fresh: Fresh, old: Node) -> None:
    """Replace the value behind a colon or dash."""
    new = _written(canvas, hole, fresh) if fresh.raw is None else fresh.raw
    canvas.replace(hole.start, hole.end, new)
    raw = canvas.text[hole.start : hole.end]
    records.replaced(hole.path, old.data, raw, lambda: _written(canvas, hole, Fresh(old.data)))


def _written(canvas: Replacements, hole: ReplacedValue, fresh: Fresh) -> str:
    parent = hole.parent
    if fresh.token is not None or parent.style == "flow":
        gap = "" if parent.style == "flow" and parent.kind == "seq" else " "
        return gap + (fresh.token or writer.flow(fresh.value))
    style = canvas.style(hole.start, literal=canvas.literal_fits(hole.end, hole.column))
    return writer.behind(fresh.value, hole.column, style, item=parent.kind == "seq")
