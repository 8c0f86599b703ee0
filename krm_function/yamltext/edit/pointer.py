"""Addresses of an undo record: like a JSON Pointer, but an item of a list goes by its name where it has one.

Rule of this file: hosts sort keys and insert items, so an index is the last resort. `/spec/containers/@web/image` is
the image of the container called web, `#0` the first item of a list.
`~0` to `~3` stand for `~ / @ #`, `~4` for the empty key.
"""

from collections.abc import Callable, Iterator

from krm_function.yamltext.edit.tree import Entry, Live, Part, value_of
from krm_function.yamltext.nodes import Node

_LONGEST = 12  # characters of an index: no list has more items
_ESCAPES = (("~", "~0"), ("/", "~1"), ("@", "~2"), ("#", "~3"))


def escape(key: str) -> str:
    """A key as a segment, which is never empty."""
    if not key:
        return "~4"
    for plain, escaped in _ESCAPES:
        if plain in key:
            key = key.replace(plain, escaped)
    return key


def unescape(segment: str) -> str:
    """The key or name of a segment."""
    if segment == "~4":
        return ""
    for plain, escaped in reversed(_ESCAPES):
        segment = segment.replace(escaped, plain)
    return segment


def pointer(path: tuple[str | int, ...]) -> str:
    """The address of a path; items of lists go by their index."""
    return "".join(f"/#{part}" if isinstance(part, int) else f"/{escape(part)}" for part in path)


def addresses(live: Live, path: str) -> Iterator[tuple[Entry, str]]:
    """Every entry of a collection that is new or edited, with its address. path: the address of the collection."""
    segment = segments(live)
    for index, entry in enumerate(live.entries):
        if entry.origin < 0 or not isinstance(entry.child, Node):
            yield entry, f"{path}/{segment(index)}"


def segments(live: Live) -> Callable[[int], str]:
    """The segment of an entry by its index among the entries of its collection."""
    entries = live.entries
    if live.node.kind == "map":
        return lambda index: escape("<<" if (key := entries[index].key) is None else key)
    names = [_name(entry.child) for entry in entries]
    count: dict[str | None, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1

    def segment(index: int) -> str:
        name = names[index]
        return f"#{index}" if name is None or count[name] > 1 else f"@{escape(name)}"

    return segment


def entry_of(live: Live, segment: str) -> Entry | None:
    """The entry that a segment means; None when it is gone."""
    if live.node.kind == "map":
        key = unescape(segment)
        found = live.find(key)
        if found is None and key == "<<":
            found = next((entry for entry in live.entries if entry.key is None), None)
        return found
    if segment.startswith("#"):
        index = int(segment[1:]) if segment[1:].isdecimal() and len(segment) <= _LONGEST else len(live.entries)
        return live.entries[index] if index < len(live.entries) else None
    name = unescape(segment[1:])
    named = [entry for entry in live.entries if segment.startswith("@") and _name(entry.child) == name]
    return named[0] if len(named) == 1 else None


def _name(item: Part) -> str | None:
    """The name of an item. That of an edited map is looked up in it, instead of making plain data of all of it."""
    entry = item.find("name") if isinstance(item, Live) else None
    if entry is not None:
        name = value_of(entry.child)
    else:
        value = value_of(item)
        name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None
