"""Addresses of an undo record: like a JSON Pointer, but items of lists are addressed by name if they have one.

Rule of this file: hosts sort keys and insert items, so an index is the last resort. `/spec/containers/@web/image` is
the image of the container called web, `#0` the first item of a list.
`~0` to `~3` stand for `~ / @ #`, `~4` for the empty key.
"""

from collections.abc import Callable, Iterator

from krm_function.yamltext.edit.tree import EditedCollection, EditedEntry, Part, value_of
from krm_function.yamltext.nodes import Node

_LONGEST = 12  # characters of an index: no list has more items
_ESCAPES = (("~", "~0"), ("/", "~1"), ("@", "~2"), ("#", "~3"))


def escape(key: str) -> str:
    """Encode a key as a segment, which is never empty."""
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
    """Yield the new and edited entries of a collection with their addresses. path: the address of the collection."""
    segment = segments(edited)
    for index, entry in enumerate(edited.entries):
        if entry.origin < 0 or not isinstance(entry.child, Node):
            yield entry, f"{path}/{segment(index)}"


def segments(edited: EditedCollection) -> Callable[[int], str]:
    """Return the function from an entry's index in its collection to its segment."""
    entries = edited.entries
    if edited.node.kind == "map":
        return lambda index: escape("<<" if (key := entries[index].key) is None else key)
    names = [_name(entry.child) for entry in entries]
    count: dict[str | None, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1

    def segment(index: int) -> str:
        name = names[index]
        return f"#{index}" if name is None or count[name] > 1 else f"@{escape(name)}"

    return segment


def entry_of(edited: EditedCollection, segment: str) -> EditedEntry | None:
    """Find the entry that a segment addresses; None when it is gone."""
    if edited.node.kind == "map":
        key = unescape(segment)
        found = edited.find(key)
        if found is None and key == "<<":
            found = next((entry for entry in edited.entries if entry.key is None), None)
        return found
    if segment.startswith("#"):
        index = int(segment[1:]) if segment[1:].isdecimal() and len(segment) <= _LONGEST else len(edited.entries)
        return edited.entries[index] if index < len(edited.entries) else None
    name = unescape(segment[1:])
    named = [entry for entry in edited.entries if segment.startswith("@") and _name(entry.child) == name]
    return named[0] if len(named) == 1 else None


def _name(item: Part) -> str | None:
    """Return the name of an item. An edited map is not converted to plain data as a whole for it."""
    entry = item.find("name") if isinstance(item, EditedCollection) else None
    if entry is not None:
        name = value_of(entry.child)
    else:
        value = value_of(item)
        name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None
