"""The tree of a document while it is being edited.

Rule of this file: a part of the tree is either as it was (`Node`), partly edited (`Live`, whose entries remember which
pair or item of the text they were) or written anew (`Fresh`). Only the paths of changes become Live. Which bytes that
makes is for `emit` to say.
"""

from typing import Any, Union

from krm_function.yamltext.aliases import written
from krm_function.yamltext.changes import Change, Path, apply, same
from krm_function.yamltext.layout import content, has_colon
from krm_function.yamltext.nodes import Node

Part = Union[Node, "Live", "Fresh"]


class Fresh:
    """A value that is to be written. `token`: how, on one line; `raw`: the exact bytes behind its colon or dash."""

    __slots__ = ("raw", "token", "value")

    def __init__(self, value: Any, token: str | None = None, raw: str | None = None) -> None:
        self.value = value
        self.token = token
        self.raw = raw


class Entry:
    """A pair or an item of a Live. `key` is None for items and for a merge key; `origin` is -1 for a new one.

    `raw`: the exact bytes of a new entry, `gap` lines of comments away from its neighbour.
    """

    __slots__ = ("child", "gap", "key", "origin", "raw")

    def __init__(self, key: str | None, origin: int, child: Part) -> None:
        self.key = key
        self.origin = origin
        self.child = child
        self.raw: str | None = None
        self.gap = 0


class Live:
    """A collection of the text that is being edited."""

    __slots__ = ("entries", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        if node.kind == "map":
            self.entries = [Entry(part[2], index, part[1]) for index, part in enumerate(node.parts)]
        else:
            self.entries = [Entry(None, index, part) for index, part in enumerate(node.parts)]

    def find(self, key: str) -> Entry | None:
        """The entry of a key that stands in the map itself."""
        return next((entry for entry in self.entries if entry.key == key), None)

    def merged(self) -> dict[str, Any]:
        """What the merge key of a map brings in."""
        out: dict[str, Any] = {}
        if self.node.kind == "map":
            for entry in self.entries:
                if entry.key is None:
                    value = value_of(entry.child)
                    for source in value if isinstance(value, list) else [value]:
                        for name, item in source.items():
                            out.setdefault(name, item)
        return out


def value_of(part: Part) -> Any:
    """The plain data of a part."""
    if isinstance(part, Node):
        return part.data
    if isinstance(part, Fresh):
        return part.value
    if part.node.kind == "seq":
        return [value_of(entry.child) for entry in part.entries]
    own = {entry.key: value_of(entry.child) for entry in part.entries if entry.key is not None}
    return {**part.merged(), **own}


def edit(part: Part, change: Change) -> Part:
    """Return `part` after one change, which must be valid (see `apply`)."""
    path, op, new = change
    if not path:
        return _assign(part, new)
    if isinstance(part, Fresh):
        return Fresh(apply(part.value, [change]), part.token and "")
    if isinstance(part, Node):
        if part.kind in ("alias", "scalar"):
            return Fresh(apply(part.data, [change]), "")
        part = Live(part)
    if part.node.kind == "map":
        return _edit_map(part, path, Change(path[1:], op, new))
    index = path[0]
    assert isinstance(index, int)  # noqa: S101: apply has said so
    if len(path) == 1 and op == "insert":
        part.entries.insert(index, Entry(None, -1, Fresh(new)))
    elif len(path) == 1 and op == "remove":
        del part.entries[index]
    else:
        entry = part.entries[index]
        entry.child = edit(entry.child, Change(path[1:], op, new))
    return part


def _edit_map(part: Live, path: Path, rest: Change) -> Part:
    key = str(path[0])
    entry = part.find(key)
    if rest.op == "remove" and not rest.path:
        if key in part.merged():
            return Fresh(apply(value_of(part), [Change(path, "remove")]))
        if entry is not None:
            part.entries.remove(entry)
        return part
    if entry is not None:
        entry.child = edit(entry.child, rest)
        return part
    merged = part.merged()
    if key in merged:
        part.entries.append(Entry(key, -1, Fresh(apply(merged[key], [rest]))))
        return part
    for origin, (_, value, name) in enumerate(part.node.parts):
        if name == key:  # it was removed before: give it its place back
            at = sum(0 <= other.origin < origin for other in part.entries)
            part.entries.insert(at, Entry(key, origin, _assign(value, rest.value)))
            return part
    part.entries.append(Entry(key, -1, Fresh(rest.value)))
    return part


def _assign(part: Part, new: Any) -> Part:
    """Return `part` with the value `new`: nothing is written that already says so."""
    old = value_of(part)
    if same(old, new):
        return part
    live = Live(part) if isinstance(part, Node) and part.kind in ("map", "seq") else part
    if not isinstance(live, Live) or not new:
        return Fresh(new)
    if live.node.kind == "map" and isinstance(new, dict):
        if live.merged() or not any(key in new for key in old):
            return Fresh(new)
        for key in old:
            if key not in new:
                live = _edit_map(live, (key,), Change((), "remove"))  # type: ignore[arg-type, assignment]
        for key, value in new.items():
            live = _edit_map(live, (key,), Change((), "set", value))  # type: ignore[arg-type, assignment]
        return live
    if live.node.kind == "seq" and isinstance(new, list | tuple):
        return _assign_list(live, old, list(new))
    return Fresh(new)


def _assign_list(live: Live, old: list[Any], new: list[Any]) -> Part:
    head = 0
    while head < min(len(old), len(new)) and same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    middle = new[head : len(new) - tail]
    changed = live.entries[head : len(old) - tail]
    for entry, value in zip(changed, middle, strict=False):
        entry.child = _assign(entry.child, value)
    more = [Entry(None, -1, Fresh(value)) for value in middle[len(changed) :]]
    live.entries[head : len(old) - tail] = changed[: len(middle)] + more
    return live


def settle(part: Part, text: str, depth: int) -> Part:
    """Return `part` with everything rewritten that has no surgical edit, or that stands `depth` collections deep.

    Rewritten are: a block collection of which nothing is left, `[a: b]` pairs, and a set-like key that gets a value.
    """
    if not isinstance(part, Live):
        return part
    node = part.node
    if depth <= 0:
        return Fresh(value_of(part), "" if node.style == "flow" else None)
    for entry in part.entries:
        entry.child = settle(entry.child, text, depth - 1)
    if node.style == "block":
        if not any(entry.origin >= 0 for entry in part.entries):
            return Fresh(value_of(part))
    elif text[content(text, node)] not in "{[":
        return Fresh(value_of(part), "")
    if node.kind == "map":
        for entry in part.entries:
            if (
                entry.origin >= 0
                and isinstance(entry.child, Fresh)
                and not has_colon(text, node.parts[entry.origin][0])
            ):
                return Fresh(value_of(part), "" if node.style == "flow" else None)
    return part


def unshare(part: Part, root: Node, text: str) -> Part:
    """Return `part` with every alias written out whose anchored node has been edited, moved or dropped."""
    if "*" not in text:
        return part
    while True:
        kept: set[int] = set()
        _untouched(part, kept)
        lost = {id(node) for node in _anchored(root) if id(node) not in kept}
        changed = _write_out(part, lost, text) if lost else part
        if changed is part:
            return part
        part = changed


def _untouched(part: Part, kept: set[int]) -> None:
    """Collect the anchored nodes that stand as they stood, and those edited only by writing aliases out."""
    if isinstance(part, Node):
        kept.update(id(node) for node in _anchored(part))
    elif isinstance(part, Live):
        if part.node.anchored and same(value_of(part), part.node.data):
            kept.add(id(part.node))
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0:
                _untouched(part.node.parts[entry.origin][0], kept)
            _untouched(entry.child, kept)


def _anchored(node: Node) -> list[Node]:
    found = [node] if node.anchored else []
    if node.kind != "alias":
        for part in node.parts:
            for child in part[:2] if node.kind == "map" else (part,):
                if child.anchored or child.parts:
                    found += _anchored(child)
    return found


def _write_out(part: Part, lost: set[int], text: str) -> Part:
    if isinstance(part, Fresh):
        return part
    if isinstance(part, Live):
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0 and _is_lost(part.node.parts[entry.origin][0], lost):
                return Fresh(value_of(part), "" if part.node.style == "flow" else None)
        changed = False
        for entry in part.entries:
            child = _write_out(entry.child, lost, text)
            changed = changed or child is not entry.child
            entry.child = child
        if changed:
            copy = Live(part.node)
            copy.entries = part.entries
            return copy
        return part
    if part.kind == "alias":
        return Fresh(part.data, written(text, part)) if _is_lost(part, lost) else part
    if not part.parts:
        return part
    live = Live(part)
    changed_part = _write_out(live, lost, text)
    return part if changed_part is live else changed_part


def _is_lost(node: Node, lost: set[int]) -> bool:
    return node.kind == "alias" and id(node.parts[0]) in lost
