"""The tree of a document while it is edited, and the changes that are applied to it."""

from typing import Any

from krm_function.text.changes import Change, same, step
from krm_function.text.parse import Node

# --- The tree of a document while it is being edited
#
# Rule: a part of the tree is unchanged (`Node`), partly edited (`EditedCollection`, whose entries keep the index of
# their pair or item in the text) or new (`NewValue`). Only collections on the path of a change become an
# EditedCollection. `collect_replacements` decides which bytes of the text change.


class NewValue:
    """A new value. `token`: its text, if that is one line; `raw`: the exact bytes after its colon or dash."""

    __slots__ = ("raw", "token", "value")

    def __init__(self, value: Any, token: str | None = None, raw: str | None = None) -> None:
        """`token` "": as JSON."""
        self.value = value
        self.token = token
        self.raw = raw


class EditedEntry:
    """A pair or an item of an EditedCollection.

    `key` is None for items and for a merge key. `origin`: its index in the text, -1 for a new one.

    `raw`: the exact bytes of a new entry, `gap` lines of comments away from its neighbour.
    """

    __slots__ = ("child", "gap", "key", "origin", "raw")

    def __init__(self, key: str | None, origin: int, child: "Part") -> None:
        self.key = key
        self.origin = origin
        self.child = child
        self.raw: str | None = None
        self.gap = 0


class EditedCollection:
    """A collection of the text that is being edited."""

    __slots__ = ("entries", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        if node.kind == "map":
            self.entries = [EditedEntry(part[2], index, part[1]) for index, part in enumerate(node.parts)]
        else:
            self.entries = [EditedEntry(None, index, part) for index, part in enumerate(node.parts)]

    def find(self, key: str) -> EditedEntry | None:
        """Find the entry of a key that is in the map itself."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def merged(self) -> dict[str, Any]:
        """Return the pairs that a map gets from its merge key."""
        out: dict[str, Any] = {}
        if self.node.kind == "map":
            for entry in self.entries:
                if entry.key is None:
                    value = value_of(entry.child)
                    for source in value if isinstance(value, list) else [value]:
                        for name, item in source.items():
                            out.setdefault(name, item)
        return out


# no string annotations: compiling them would cost more at start than this file
Part = Node | EditedCollection | NewValue


def value_of(part: Part) -> Any:
    """Return the plain data of a part."""
    if isinstance(part, Node):
        return part.data
    if isinstance(part, NewValue):
        return part.value
    if part.node.kind == "seq":
        return [value_of(entry.child) for entry in part.entries]
    members = {entry.key: value_of(entry.child) for entry in part.entries if entry.key is not None}
    return {**part.merged(), **members}


# --- Apply changes to the edit tree of a document
#
# Rule: nodes that no change concerns stay the same. A new map or list is compared with the one that it replaces, entry
# by entry, so that only differences are written; the value of an alias or a merge key is copied.


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
        if name == key:  # it was removed earlier: restore its position
            position = sum(0 <= sibling.origin < origin for sibling in part.entries)
            part.entries.insert(position, EditedEntry(key, origin, _set_value(value, new)))
            return part
    part.entries.append(EditedEntry(key, -1, NewValue(new)))
    return part


def _set_value(part: Part, new: Any) -> Part:
    """Return `part` with the value `new`, without writing entries that have their value already."""
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
    added = [EditedEntry(None, -1, NewValue(value)) for value in middle[len(changed) :]]
    edited.entries[head : len(old) - tail] = changed[: len(middle)] + added
    return edited
