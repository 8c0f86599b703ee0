"""The tree of a document while it is edited, and the changes that are applied to it."""

import re
from typing import Any

from krm_function.text.changes import Change, same, step
from krm_function.text.parse import Node

# --- Find offsets in the text between nodes: colons, dashes, lines, columns, ends of values
#
# Rule: look forward from the end of a token, never backward. Between two tokens there is only white space,
# comments and indicators, so a forward look is exact; a backward look can run into a comment or a quoted scalar.


_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")  # libyaml takes every `#` where a token could begin for a comment
_SPACE = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"(?<![^ \t\r\n:-])[|>]([0-9+-]*)")
_PROPERTY = re.compile(r"[&!][^ \t\r\n,\[\]{}]*")


def after_blank(text: str, at: int) -> int:
    """Return the first offset from `at` on that is neither white space nor comment."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def after_space(text: str, at: int) -> int:
    """Return the first offset from `at` on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def content(text: str, node: Node) -> int:
    """Return where a node begins behind its anchor and tag."""
    return content_at(text, node.start) if node.properties else node.start


def content_at(text: str, at: int) -> int:
    """Return the first offset from `at` on that is no anchor and no tag."""
    while match := _PROPERTY.match(text, at):
        at = after_blank(text, match.end())
    return at


def leaf_end(text: str, node: Node) -> int:
    """Return where the last token of a node ends; of a block scalar, the end of its last line without the line end."""
    while node.style == "block" and node.parts:
        last = node.parts[-1]
        if node.kind == "map":
            key, node, _ = last
            if _missing(text, key, node):
                node = key
        else:
            node = last
    if node.kind == "scalar" and node.style in ("|", ">"):
        return block_scalar_end(text, node.start, node.end)
    return node.end


def literal_column(text: str, part: Node | tuple[Node, Node, str | None], kind: str) -> int:
    """Return the column of the block scalar's text that a pair (kind map) or an item (kind seq) ends with; else -1."""
    node: Node = part[1] if kind == "map" else part  # type: ignore[assignment]
    while node.style == "block" and node.parts:
        node = node.parts[-1][1] if node.kind == "map" else node.parts[-1]
    if node.kind != "scalar" or node.style not in ("|", ">"):
        return -1
    return column(text, after_space(text, line_end(text, node.start)))


def pair_end(text: str, key: Node, value: Node) -> int:
    """Return where a pair ends: its value, or its key when it has none."""
    return leaf_end(text, key if _missing(text, key, value) else value)


def _missing(text: str, key: Node, value: Node) -> bool:
    return value.start == value.end and not has_colon(text, key)


def has_colon(text: str, key: Node) -> bool:
    """Tell whether a `:` follows a key; a set-like `? key` has none."""
    at = after_blank(text, leaf_end(text, key))
    return text[at : at + 1] == ":"


def after_colon(text: str, key: Node) -> int:
    """Return the offset behind the `:` of a key."""
    return after_blank(text, leaf_end(text, key)) + 1


def block_scalar_end(text: str, start: int, end: int) -> int:
    """Return where the text of a block scalar ends: the parser's `end` is the start of the next line that is not blank.

    Blank lines below it belong to it only when it keeps them (`|+`), or when they hold more spaces than its text is
    indented, which are content.
    """
    if text[end - 1 : end] != "\n":
        return end
    header = _HEADER.search(text, start)
    end = before_newline(text, end)
    indented = 0  # unknown: with a digit in the header the text may begin with spaces, or there is none
    if header and "+" in header[1]:
        return end
    if header and header[1] in ("", "-"):
        first = after_space(text, line_end(text, header.start()))
        indented = column(text, first) if first < end else 0
    while end > start:
        above = line_start(text, end)
        if end - above > indented or text[above:end].strip(" "):
            break
        end = before_newline(text, above)
    return end


def stripped(text: str, node: Node, start: int, end: int) -> str:
    """Return `text[start:end]`, which ends with the block scalar `node`, made not to own a line end after it."""
    header = _HEADER.search(text, node.start)
    if header is None:
        return text[start:end]
    digits = header[1].strip("+-")
    return text[start : header.start() + 1] + digits + "-" + text[header.end() : end]


def before_newline(text: str, at: int) -> int:
    """Return the offset in front of the line end that ends at `at`."""
    return at - 2 if text[at - 2 : at] == "\r\n" else at - 1


def line_start(text: str, at: int) -> int:
    """Return the offset at which the line of `at` begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return the offset behind the line of `at`: the start of the next line, or the end of the text."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def column(text: str, at: int) -> int:
    """Return the column of `at`, from 0."""
    return at - line_start(text, at)


def first_on_line(text: str, at: int) -> bool:
    """Tell whether only spaces stand before `at` on its line."""
    while at and text[at - 1] == " ":  # and not back to the start of the line, which may be all of the text
        at -= 1
    return not at or text[at - 1] == "\n"


def alone_behind(text: str, at: int) -> bool:
    """Tell whether nothing but white space follows `at` on its line."""
    return not text[at : line_end(text, at)].strip()


def newline_at(text: str, at: int) -> str:
    """Return the line ending in use around `at`."""
    found = text.rfind("\n", 0, at)
    if found < 0:
        found = text.find("\n", at)
    return "\r\n" if found > 0 and text[found - 1] == "\r" else "\n"


def entry_spans(text: str, node: Node) -> tuple[list[int], list[int]]:
    """Return where each entry of a collection begins, and where its last token ends.

    A block entry begins with its `-`, its key (the anchor of the key included) or its `?`; a flow entry with its first
    token, a `?` included.
    """
    flow = node.style == "flow"
    at = content(text, node)
    if flow and text[at : at + 1] in ("{", "["):
        at = after_blank(text, at + 1)
    starts = []
    ends = []
    for part in node.parts:
        starts.append(at)
        if node.kind == "map":
            end = pair_end(text, part[0], part[1])
        else:
            end = leaf_end(text, part)
            if not flow and end <= at:
                end = at + 1
        ends.append(end)
        at = after_blank(text, end)
        if flow and text[at : at + 1] == ",":
            at = after_blank(text, at + 1)
    return starts, ends


def first_entry(text: str, node: Node) -> int:
    """Return where the first entry of a block collection begins."""
    return content(text, node)


# --- The tree of a document while it is being edited
#
# Rule: a part of the tree is either as it was (`Node`), partly edited (`EditedCollection`, whose entries
# remember which pair or item of the text they were) or new (`NewValue`). Only collections on the path of a change
# become an EditedCollection. `collect_replacements` decides which bytes of the text change.


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


# --- Apply changes to the edit tree of a document
#
# Rule: what a change does not concern stays the node it was. A new map or list that replaces one is
# compared with it entry by entry, so that only what differs is written; the value of an alias or a merge key is copied.


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
