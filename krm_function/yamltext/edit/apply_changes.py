"""Apply changes to the edit tree of a document.

Rule of this file: what a change does not concern stays the node it was. A new map or list that replaces one is compared
with it entry by entry, so that only what differs is written; the value of an alias or a merge key is copied.
"""

from typing import Any

from krm_function.yamltext.changes import Change, same, step
from krm_function.yamltext.edit.tree import EditedCollection, EditedEntry, NewValue, Part, value_of
from krm_function.yamltext.nodes import Node
from krm_function.yamltext.offsets import content, has_colon


def apply_change(part: Part, change: Change, at: int = 0) -> Part:
    """Return `part` after one change, which must be valid (see `apply`); `at`: length of the path to `part`."""
    path, op, new = change
    if at == len(path):
        return _set_value(part, new)
    if not isinstance(part, EditedCollection):
        if isinstance(part, NewValue):
            return NewValue(step(part.value, change, at), part.token and "")
        if part.kind in ("alias", "scalar"):
            return NewValue(step(part.data, change, at), "")
        part = EditedCollection(part)
    last = at + 1 == len(path)
    if part.node.kind == "map":
        entry = part.find(str(path[at]))
        if entry is None or (last and op == "remove"):
            return _edit_key(part, entry, change, at)
    elif last and op == "insert":
        part.entries.insert(int(path[at]), EditedEntry(None, -1, NewValue(new)))
        return part
    elif last and op == "remove":
        del part.entries[int(path[at])]
        return part
    else:
        entry = part.entries[int(path[at])]
    entry.child = apply_change(entry.child, change, at + 1)
    return part


def _edit_key(part: EditedCollection, entry: EditedEntry | None, change: Change, at: int) -> Part:
    """Remove a key, or set one that is not in the map itself."""
    path, op, new = change
    key = str(path[at])
    merged = part.merged()
    if op == "remove" and at + 1 == len(path):
        if key in merged:
            return NewValue(step(value_of(part), change, at))
        if entry is not None:
            part.entries.remove(entry)
        return part
    if key in merged:
        part.entries.append(EditedEntry(key, -1, NewValue(step(merged[key], change, at + 1))))
        return part
    for origin, (_, value, name) in enumerate(part.node.parts):
        if name == key:  # it was removed before: restore its position
            before = sum(0 <= other.origin < origin for other in part.entries)
            part.entries.insert(before, EditedEntry(key, origin, _set_value(value, new)))
            return part
    part.entries.append(EditedEntry(key, -1, NewValue(new)))
    return part


def _set_value(part: Part, new: Any) -> Part:
    """Return `part` with the value `new`: whatever has its value already is not written."""
    old = value_of(part)
    if same(old, new):
        return part
    edited = EditedCollection(part) if isinstance(part, Node) and part.kind in ("map", "seq") else part
    if not isinstance(edited, EditedCollection) or not new:
        return NewValue(new)
    if edited.node.kind == "map" and isinstance(new, dict):
        if edited.merged() or not any(key in new for key in old):
            return NewValue(new)
        outcome: Part = edited
        for key in old:
            if key not in new:
                outcome = apply_change(outcome, Change((key,), "remove"))
        for key, value in new.items():
            outcome = apply_change(outcome, Change((key,), "set", value))
        return outcome
    if edited.node.kind == "seq" and isinstance(new, list | tuple):
        return _set_list(edited, old, list(new))
    return NewValue(new)


def _set_list(edited: EditedCollection, old: list[Any], new: list[Any]) -> Part:
    head = 0
    while head < min(len(old), len(new)) and same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    middle = new[head : len(new) - tail]
    changed = edited.entries[head : len(old) - tail]
    for entry, value in zip(changed, middle, strict=False):
        entry.child = _set_value(entry.child, value)
    more = [EditedEntry(None, -1, NewValue(value)) for value in middle[len(changed) :]]
    edited.entries[head : len(old) - tail] = changed[: len(middle)] + more
    return edited


def rewrite_uneditable(part: Part, text: str, depth: int) -> Part:
    """Rewrite whatever in `part` cannot be edited in place, or is `depth` collections deep.

    Not editable are a block collection of which nothing is left, `[a: b]` pairs, and a set-like key that gets a value.
    """
    if not isinstance(part, EditedCollection):
        return part
    node = part.node
    if depth <= 0:
        return NewValue(value_of(part), "" if node.style == "flow" else None)
    for entry in part.entries:
        if isinstance(entry.child, EditedCollection):
            entry.child = rewrite_uneditable(entry.child, text, depth - 1)
    if node.style == "block":
        if not any(entry.origin >= 0 for entry in part.entries):
            return NewValue(value_of(part))
    elif text[content(text, node)] not in "{[":
        return NewValue(value_of(part), "")
    if node.kind == "map":
        for entry in part.entries:
            if (
                entry.origin >= 0
                and isinstance(entry.child, NewValue)
                and not has_colon(text, node.parts[entry.origin][0])
            ):
                return NewValue(value_of(part), "" if node.style == "flow" else None)
    return part
