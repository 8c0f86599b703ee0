"""The records that undo an edit, and the addresses in them."""

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.text.changes import Path, same
from krm_function.text.edit_tree import EditedCollection, EditedEntry, Part, value_of
from krm_function.text.errors import YamlError
from krm_function.text.parse import Node, read_value

# --- Addresses of an undo record: like a JSON Pointer, but items of lists are addressed by name if they have one
#
# Rule: hosts sort keys and insert items, so an index is the last resort. `/spec/containers/@web/image` is
# the image of the container called web, `#0` the first item of a list.
# `~0` to `~3` stand for `~ / @ #`, `~4` for the empty key.


_LONGEST = 12  # characters of an index: no list has more items
_ESCAPES = (("~", "~0"), ("/", "~1"), ("@", "~2"), ("#", "~3"))


def escape(key: str) -> str:
    """Encode a key as a segment; a segment is never empty."""
    if not key:
        return "~4"
    for plain, escaped in _ESCAPES:
        if plain in key:
            key = key.replace(plain, escaped)
    return key


def unescape(segment: str) -> str:
    """Decode the key or name of a segment."""
    if segment == "~4":
        return ""
    for plain, escaped in reversed(_ESCAPES):
        segment = segment.replace(escaped, plain)
    return segment


def pointer(path: tuple[str | int, ...]) -> str:
    """Return the address of a path; items of lists are addressed by index."""
    return "".join(f"/#{part}" if isinstance(part, int) else f"/{escape(part)}" for part in path)


def addresses(edited: EditedCollection, path: str) -> Iterator[tuple[EditedEntry, str]]:
    """Yield the new and edited entries of a collection with their addresses. path: the collection's own."""
    segment = segments(edited)
    for index, entry in enumerate(edited.entries):
        if entry.origin < 0 or not isinstance(entry.child, Node):
            yield entry, f"{path}/{segment(index)}"


def segments(edited: EditedCollection) -> Callable[[int], str]:
    """Return the function from an entry's index in its collection to its segment."""
    entries = edited.entries
    if edited.node.kind == "map":
        return lambda index: escape("<<" if (key := entries[index].key) is None else key)
    names = [_read_name(entry.child) for entry in entries]
    count: dict[str | None, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1

    def segment(index: int) -> str:
        name = names[index]
        return f"#{index}" if name is None or count[name] > 1 else f"@{escape(name)}"

    return segment


def entry_of(edited: EditedCollection, segment: str) -> EditedEntry | None:
    """Find the entry that a segment addresses; None if it has gone."""
    if edited.node.kind == "map":
        key = unescape(segment)
        present = edited.find(key)
        if present is None and key == "<<":
            return next((entry for entry in edited.entries if entry.key is None), None)
        return present
    if segment.startswith("#"):
        index = int(segment[1:]) if segment[1:].isdecimal() and len(segment) <= _LONGEST else len(edited.entries)
        return edited.entries[index] if index < len(edited.entries) else None
    name = unescape(segment[1:])
    same_name = [entry for entry in edited.entries if segment.startswith("@") and _read_name(entry.child) == name]
    return same_name[0] if len(same_name) == 1 else None


def _read_name(item: Part) -> str | None:
    """Return the name of an item, without converting an edited map to plain data."""
    entry = item.find("name") if isinstance(item, EditedCollection) else None
    if entry is not None:
        name = value_of(entry.child)
    else:
        value = value_of(item)
        name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


# --- Write the records that undo an edit. restore.py, which reads them, describes their shapes
#
# Rule: a record has only data that the edited text lacks. An addition needs only its address; a replaced value needs
# its old bytes only if writing the value would not give them.


Undo = list[list[Any]]
Removed = tuple[int, str, int]  # a removed entry: its index, its bytes, the lines of comments up to the next entry


def from_document(undo: Undo, root: Path) -> Undo:
    """Return the records of the object at `root` with addresses that start at its document."""
    prefix = pointer(root)
    return [[record[0], prefix + record[1], *record[2:]] for record in undo]


class UndoRecords:
    """Collects the undo records of one edit."""

    def __init__(self, stored_at: str = "") -> None:
        self.stored_at = stored_at
        self.undo: Undo = []

    def of(self, _node: Node, path: str) -> "tuple[UndoRecords, str]":
        """Return the records for a node at an address, and the node's address in them."""
        return self, path

    def replaced(self, path: str, old: Any, raw: str, again: Callable[[], str]) -> None:
        """Record that the bytes `raw` were replaced; `again` returns the text that writing their value would give."""
        if "\n" not in raw and raw == again():
            self.undo.append(["=", path, old])
        elif _reads_as(raw, old):
            self.undo.append(["~", path, raw])
        else:
            self.undo.append(["=", path, old, raw])

    def added(self, path: str, parent: Node, entry: EditedEntry) -> None:
        """Record a new entry. Undoing a new map or list removes only the entries that it was added with.

        A host or a person may have added more. An item of a list is removed as a whole. The map that holds the records
        themselves is removed if it is then empty: a host may have removed its other entries.
        """
        value = None if parent.kind == "seq" else value_of(entry.child)
        self._record_addition(path, value, 1 if path == self.stored_at and parent.parts else 0)

    def _record_addition(self, path: str, value: Any, around: int) -> None:
        inner: list[tuple[str, Any]] = []
        if isinstance(value, dict):
            inner = [(f"{path}/{escape(key)}", child) for key, child in value.items()]
        elif isinstance(value, list):
            names = [item.get("name") if isinstance(item, dict) else None for item in value]
            if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
                inner = [(f"{path}/@{escape(str(name))}", None) for name in names]
        if not inner:
            self.undo.append(["-", path, around] if around else ["-", path])
        for address, child in inner:
            self._record_addition(address, child, around + 1)

    def removed(self, edited: EditedCollection, path: str, removed: Sequence[Removed]) -> None:
        """Record the removed entries of a collection at `path`: their bytes, and the entry after each."""
        parts, is_map, segment = edited.node.parts, edited.node.kind == "map", segments(edited)
        staying = [(entry.origin, at) for at, entry in enumerate(edited.entries) if entry.origin >= 0]
        for index, raw, gap in removed:
            if is_map:
                _, value, key = parts[index]
                where, old = f"{path}/{escape('<<' if key is None else key)}", value.data
            else:
                where, old = f"{path}/#{index}", parts[index].data
            follower = bisect(staying, (index, len(parts)))
            record: list[Any] = ["+", where, old, raw, segment(staying[follower][1]) if staying[follower:] else "", gap]
            while record[-1] in ("", 0) and len(record) > 3:
                record.pop()
            self.undo.append(record)


class NoUndoRecords(UndoRecords):
    """Keeps no records, for an edit that is never undone, and for the text around objects with their own records."""

    def __init__(self, members: Mapping[int, UndoRecords] | None = None) -> None:
        """members: by identity of their nodes, objects with records of their own; addresses start at the object."""
        super().__init__()
        self.members = members
        self.entered: set[int] = set()

    def of(self, node: Node, path: str) -> tuple[UndoRecords, str]:
        """Return the records of an object for its node and the nodes inside."""
        records = self.members.get(id(node)) if self.members else None
        if records is None:
            return self, path
        self.entered.add(id(node))
        return records, ""

    def replaced(self, path: str, old: Any, raw: str, again: Callable[[], str]) -> None:
        """Do nothing."""

    def added(self, path: str, parent: Node, entry: EditedEntry) -> None:
        """Do nothing."""

    def removed(self, edited: EditedCollection, path: str, removed: Sequence[Removed]) -> None:
        """Do nothing."""


def _reads_as(raw: str, value: Any) -> bool:
    try:
        return same(read_raw(raw), value)
    except YamlError:
        return False


def read_raw(raw: str) -> Any:
    """Parse the bytes after a colon to their value. Raises YamlError if they are not a value by themselves."""
    value = read_value(f"x:{raw}")
    if not isinstance(value, dict) or list(value) != ["x"]:
        raise YamlError("not one value", code="shape")
    return value["x"]
