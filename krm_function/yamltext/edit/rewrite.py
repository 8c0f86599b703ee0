"""Turn an edited tree into the replacements of its text, and into the records that undo them.

Rule of this file: every replacement is bounded by tokens of the old text, and children come before what is around them.
A value is replaced from behind its colon or dash to the end of its last token, so a comment on that line stays.
"""

from krm_function.yamltext import offsets, writer
from krm_function.yamltext.edit.block import BlockEdit
from krm_function.yamltext.edit.pointer import addresses
from krm_function.yamltext.edit.replacements import CollectionSpans, ReplacedValue, Replacements
from krm_function.yamltext.edit.tree import EditedCollection, NewValue, Part
from krm_function.yamltext.edit.undo_records import UndoRecords
from krm_function.yamltext.nodes import Node


def collect_replacements(
    replacements: Replacements, records: UndoRecords, part: Part, node: Node, item: Node | None
) -> None:
    """Emit the whole tree. `item` is the block list of one item around the root `node`, if there is one."""
    records, _ = records.of(node, "")
    if isinstance(part, EditedCollection):
        _edit_collection(replacements, records, part, "")
    elif isinstance(part, NewValue) and item is not None:
        dash = offsets.first_entry(replacements.text, item)
        end = max(offsets.leaf_end(replacements.text, node), dash + 1)
        _replace(
            replacements,
            records,
            ReplacedValue("", dash + 1, end, offsets.column(replacements.text, dash), item),
            part,
            node,
        )
    elif isinstance(part, NewValue):
        _root(replacements, records, part, node)


def _root(replacements: Replacements, records: UndoRecords, new_value: NewValue, node: Node) -> None:
    text = replacements.text
    start, end = node.start, offsets.leaf_end(text, node)
    first = offsets.first_on_line(text, start)
    if new_value.raw is not None:
        new = new_value.raw
    elif new_value.token is not None or not first:
        new = writer.flow(new_value.value)
    else:
        column = offsets.column(text, start)
        new = writer.block(
            new_value.value, column, replacements.style(start, literal=replacements.literal_fits(end, column))
        )
    if start == end and new_value.raw is None:
        newline = offsets.newline_at(text, start)
        new = (newline if offsets.column(text, start) else "") + new + (newline if start < len(text) else "")
    replacements.replace(start, end, new)
    records.replaced("", node.data, text[start:end], lambda: new)


def _edit_collection(replacements: Replacements, records: UndoRecords, edited: EditedCollection, path: str) -> None:
    """Emit one edited collection; `path` is its address."""
    records, path = records.of(edited.node, path)
    if _has_only_inner_edits(edited):
        for entry, address in addresses(edited, path):
            if isinstance(entry.child, EditedCollection):
                _edit_collection(replacements, records, entry.child, address)
        return
    collection = CollectionSpans(edited, path, *offsets.entry_spans(replacements.text, edited.node))
    mark = len(replacements.edits)
    _edit_entries(replacements, records, collection)
    if edited.node.style == "flow":
        from krm_function.yamltext.edit.flow_and_json import edit_flow

        edit_flow(replacements, records, collection)
    else:
        edit = BlockEdit(replacements, collection)
        inner = replacements.appended_since(mark)
        edit.remove(records)
        edit.insert(inner)


def _has_only_inner_edits(edited: EditedCollection) -> bool:
    """Tell whether only collections inside a collection are edited: none of its entries is new, gone or replaced."""
    return len(edited.entries) == len(edited.node.parts) and not any(
        entry.origin < 0 or isinstance(entry.child, NewValue) for entry in edited.entries
    )


def _edit_entries(replacements: Replacements, records: UndoRecords, collection: CollectionSpans) -> None:
    edited, path, starts, ends = collection
    text, node = replacements.text, edited.node
    column = offsets.column(text, starts[0]) if node.style == "block" else 0
    for entry, address in addresses(edited, path):
        child = entry.child
        if entry.origin < 0:
            records.added(address, edited.node, entry)
        elif isinstance(child, EditedCollection):
            _edit_collection(replacements, records, child, address)
        elif isinstance(child, NewValue):
            part = node.parts[entry.origin]
            if node.kind == "map":
                start, old = offsets.after_colon(text, part[0]), part[1]
            else:
                start, old = starts[entry.origin] + (node.style == "block"), part
            end = start if old.start == old.end else max(start, ends[entry.origin])
            own, inner = records.of(old, address)
            _replace(replacements, own, ReplacedValue(inner, start, end, column, node), child, old)


def _replace(
    replacements: Replacements, records: UndoRecords, target: ReplacedValue, new_value: NewValue, old: Node
) -> None:
    """Replace the value behind a colon or dash."""
    new = _written(replacements, target, new_value) if new_value.raw is None else new_value.raw
    replacements.replace(target.start, target.end, new)
    raw = replacements.text[target.start : target.end]
    records.replaced(target.path, old.data, raw, lambda: _written(replacements, target, NewValue(old.data)))


def _written(replacements: Replacements, target: ReplacedValue, new_value: NewValue) -> str:
    parent = target.parent
    if new_value.token is not None or parent.style == "flow":
        gap = "" if parent.style == "flow" and parent.kind == "seq" else " "
        return gap + (new_value.token or writer.flow(new_value.value))
    style = replacements.style(target.start, literal=replacements.literal_fits(target.end, target.column))
    return writer.behind(new_value.value, target.column, style, item=parent.kind == "seq")
