"""The tree of a document while it is being edited.

Rule of this file: a part of the tree is either as it was (`Node`), partly edited (`EditedCollection`, whose entries
remember which pair or item of the text they were) or new (`NewValue`). Only collections on the path of a change become
an EditedCollection. `collect_replacements` decides which bytes of the text change.
"""

from typing import Any

from krm_function.yamltext.nodes import Node


class NewValue:
    """A new value. `token`: its text, if that is one line; `raw`: the exact bytes behind its colon or dash."""

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
        """Make an entry without bytes of its own."""
        self.key = key
        self.origin = origin
        self.child = child
        self.raw: str | None = None
        self.gap = 0


class EditedCollection:
    """A collection of the text that is being edited."""

    __slots__ = ("entries", "node")

    def __init__(self, node: Node) -> None:
        """Start with the entries as they are."""
        self.node = node
        if node.kind == "map":
            self.entries = [EditedEntry(part[2], index, part[1]) for index, part in enumerate(node.parts)]
        else:
            self.entries = [EditedEntry(None, index, part) for index, part in enumerate(node.parts)]

    def find(self, key: str) -> EditedEntry | None:
        """Find the entry of a key that is in the map itself."""
        for entry in self.entries:
            if entry.key == key:
                return entry
        return None

    def merged(self) -> dict[str, Any]:
        """Return the pairs that a map has by its merge key."""
        out: dict[str, Any] = {}
        if self.node.kind == "map":
            for entry in self.entries:
                if entry.key is None:
                    value = value_of(entry.child)
                    for source in value if isinstance(value, list) else [value]:
                        for name, item in source.items():
                            out.setdefault(name, item)
        return out


Part = (
    Node | EditedCollection | NewValue
)  # named without strings: those would be compiled, which costs the start more than this file


def value_of(part: Part) -> Any:
    """Return the plain data of a part."""
    if isinstance(part, Node):
        return part.data
    if isinstance(part, NewValue):
        return part.value
    if part.node.kind == "seq":
        return [value_of(entry.child) for entry in part.entries]
    own = {entry.key: value_of(entry.child) for entry in part.entries if entry.key is not None}
    return {**part.merged(), **own}
