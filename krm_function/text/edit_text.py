"""Find offsets in a text, and turn an edited tree into a few replacements and the records that undo them."""

import re
from bisect import bisect
from itertools import accumulate

from krm_function.record import NamedTuple
from krm_function.text import writer
from krm_function.text.edit_tree import EditedCollection, EditedEntry, NewValue, Part, value_of
from krm_function.text.parse import Node
from krm_function.text.undo_records import UndoRecords, addresses
from krm_function.text.writer import Style

# --- Find offsets in the text between nodes: colons, dashes, lines, columns, ends of values
#
# Rule: search forward from the end of a token, never backward. Only white space, comments and indicators are between
# two tokens, so a forward search is exact; a backward search can hit a comment or a quoted scalar.


_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")  # to libyaml every `#` where a token could begin starts a comment
_SPACE = re.compile(r"[ \t\r\n]*")
_HEADER = re.compile(r"(?<![^ \t\r\n:-])[|>]([0-9+-]*)")
_PROPERTY = re.compile(r"[&!][^ \t\r\n,\[\]{}]*")


def after_blank(text: str, at: int) -> int:
    """Return the first offset from `at` on that is neither white space nor in a comment."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def after_space(text: str, at: int) -> int:
    """Return the first offset from `at` on that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def content(text: str, node: Node) -> int:
    """Return where a node begins after its anchor and tag."""
    return content_at(text, node.start) if node.properties else node.start


def content_at(text: str, at: int) -> int:
    """Return the first offset from `at` on that is not part of an anchor or tag."""
    while match := _PROPERTY.match(text, at):
        at = after_blank(text, match.end())
    return at


def leaf_end(text: str, node: Node) -> int:
    """Return the end of a node's last token; of a block scalar, the end of its last line without the line end."""
    while node.style == "block" and node.parts:
        last = node.parts[-1]
        if node.kind == "map":
            key, node, _ = last
            if _has_no_value(text, key, node):
                node = key
        else:
            node = last
    if node.kind == "scalar" and node.style in ("|", ">"):
        return block_scalar_end(text, node.start, node.end)
    return node.end


def literal_column(text: str, part: Node | tuple[Node, Node, str | None], kind: str) -> int:
    """Return the text column of the block scalar that ends a pair (kind map) or an item (kind seq); else -1."""
    node: Node = part[1] if kind == "map" else part  # type: ignore[assignment]
    while node.style == "block" and node.parts:
        node = node.parts[-1][1] if node.kind == "map" else node.parts[-1]
    if node.kind != "scalar" or node.style not in ("|", ">"):
        return -1
    return column_of(text, after_space(text, line_end(text, node.start)))


def pair_end(text: str, key: Node, value: Node) -> int:
    """Return the end of a pair: of its value, or of its key if it has no value."""
    return leaf_end(text, key if _has_no_value(text, key, value) else value)


def _has_no_value(text: str, key: Node, value: Node) -> bool:
    return value.start == value.end and not has_colon(text, key)


def has_colon(text: str, key: Node) -> bool:
    """Tell whether a `:` follows a key; a set-like `? key` has none."""
    at = after_blank(text, leaf_end(text, key))
    return text[at : at + 1] == ":"


def after_colon(text: str, key: Node) -> int:
    """Return the offset after the `:` of a key."""
    return after_blank(text, leaf_end(text, key)) + 1


def block_scalar_end(text: str, start: int, end: int) -> int:
    """Return the end of a block scalar's text; the parser's `end` is the start of the next line that is not blank.

    Blank lines below it belong to it only if it keeps them (`|+`), or if they have more spaces than the indent of its
    text, which are content.
    """
    if text[end - 1 : end] != "\n":
        return end
    header = _HEADER.search(text, start)
    end = before_newline(text, end)
    indented = 0  # unknown: with a digit in the header the text may begin with spaces, or be missing
    if header and "+" in header[1]:
        return end
    if header and header[1] in ("", "-"):
        first = after_space(text, line_end(text, header.start()))
        indented = column_of(text, first) if first < end else 0
    while end > start:
        above = line_start(text, end)
        if end - above > indented or text[above:end].strip(" "):
            break
        end = before_newline(text, above)
    return end


def stripped(text: str, node: Node, start: int, end: int) -> str:
    """Return `text[start:end]`, which ends with the block scalar `node`, changed to own no line end after it."""
    header = _HEADER.search(text, node.start)
    if header is None:
        return text[start:end]
    digits = header[1].strip("+-")
    return text[start : header.start() + 1] + digits + "-" + text[header.end() : end]


def before_newline(text: str, at: int) -> int:
    """Return the offset before the line end that ends at `at`."""
    return at - 2 if text[at - 2 : at] == "\r\n" else at - 1


def line_start(text: str, at: int) -> int:
    """Return the offset at which the line of `at` begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return the offset after the line of `at`: the start of the next line, or the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def column_of(text: str, at: int) -> int:
    """Return the column of `at`, from 0."""
    return at - line_start(text, at)


def first_on_line(text: str, at: int) -> bool:
    """Tell whether only spaces are before `at` on its line."""
    while at and text[at - 1] == " ":  # without a search for the start of the line, which may be far
        at -= 1
    return not at or text[at - 1] == "\n"


def alone_behind(text: str, at: int) -> bool:
    """Tell whether only white space follows `at` on its line."""
    return not text[at : line_end(text, at)].strip()


def newline_at(text: str, at: int) -> str:
    """Return the line ending in use around `at`."""
    end = text.rfind("\n", 0, at)
    if end < 0:
        end = text.find("\n", at)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


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


def comment_start(text: str, at: int, floor: int, column: int) -> int:
    """Return the start of the comment lines at a column, from `floor` on, that are directly above the line of `at`."""
    while at > floor:
        above = line_start(text, at - 1)
        if not text.startswith(" " * column + "#", above):
            break
        at = above
    return at


# --- Collect text replacements and apply them in order of offset
#
# Rule: replacements are collected in any order and applied in text order; at one offset they are applied in the order
# of collection, which is deepest first.


class CollectionSpans(NamedTuple):
    """An edited collection: its address, and where its entries begin and end in the text."""

    edited: EditedCollection
    path: str
    starts: list[int]
    ends: list[int]


class ReplacedValue(NamedTuple):
    """A replaced value: its address, its span, the column of the entries around it, and their collection."""

    path: str
    start: int
    end: int
    column: int
    parent: Node


class Replacements:
    """Collects the replacements of one text."""

    def __init__(self, text: str, dash: int) -> None:
        self.text = text
        self.dash = dash
        self.open_end = False  # the text ends without a line end, and must stay so
        self.edits: list[tuple[int, int, str, bool]] = []

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace `text[start:end]` by `new`."""
        self.edits.append((start, end, new, False))

    def append_lines(self, at: int, new: str) -> None:
        """Insert whole lines at `at`, the start of a line or the end of the text."""
        self.edits.append((at, at, new, True))

    def appended_since(self, mark: int) -> int:
        """Return the last offset at which lines were appended after the first `mark` replacements; 0 for none."""
        return max((start for start, _, _, lines in self.edits[mark:] if lines), default=0)

    def result(self) -> str:
        """Apply all replacements. A last line without a line end stays so, as far as its value allows."""
        text = self.text
        out: list[str] = []
        at = 0
        tail = ""
        for start, end, new, lines in sorted(self.edits, key=lambda edit: edit[:2]):
            unchanged = text[at : max(at, start)]
            tail = unchanged or tail
            out.append(unchanged)
            if lines and start == len(text) and tail and not tail.endswith("\n"):
                out.append(newline_at(text, start))
            out.append(new)
            tail = new or tail
            at = max(at, end)
        out.append(text[at:])
        result = "".join(out)
        if self.open_end and at == len(text) and result.endswith("\n"):
            return result[: before_newline(result, len(result))]
        return result

    def style(self, at: int, *, literal: bool = True) -> Style:
        """Return the style of new text at `at`."""
        return Style(newline_at(self.text, at), self.dash, literal=literal)

    def literal_fits(self, at: int, column: int) -> bool:
        """Tell whether a literal may end at `at`: nothing follows on the line, and no comment would join it."""
        text = self.text
        if at >= len(text) or not alone_behind(text, at):
            return False
        below = after_space(text, line_end(text, at))
        return text[below : below + 1] != "#" or column_of(text, below) < column + 2


# --- Remove entries from a block collection and insert new ones
#
# Rule: a new key goes below the last line of its map at the column of the first key, a new item at the column of the
# first dash. An item that is inserted before another goes above the comment lines directly above that, so a comment
# stays with its item. A removed entry loses its lines; comments above it stay.


Spans = dict[int, tuple[int, int]]


class BlockEdit:
    """The edit of the entries of one block collection."""

    def __init__(self, replacements: Replacements, collection: CollectionSpans) -> None:
        self.replacements = replacements
        self.text = replacements.text
        self.edited, self.path, self.starts, self.ends = collection
        self.column = column_of(self.text, self.starts[0])
        self.kept = [entry.origin for entry in self.edited.entries if entry.origin >= 0]
        self.spans: Spans = {}

    def remove(self, records: UndoRecords) -> None:
        """Remove the entries that are gone from the text."""
        text, staying = self.text, self.kept
        if len(staying) == len(self.starts):
            return
        indexes = sorted(set(range(len(self.starts))).difference(staying))
        self.spans = spans = {index: self._extend_to_comment(index, *self._span(index)) for index in indexes}
        for start, end in spans.values():
            self.replacements.replace(start, end, "")
        removed = [
            (index, text[start:end], gap)
            for (index, (start, end)), gap in zip(spans.items(), self._count_gaps(indexes), strict=True)
        ]
        records.removed(self.edited, self.path, removed)

    def _count_gaps(self, removed: list[int]) -> list[int]:
        """Count, for each removed entry, the lines that stay between it and the next entry.

        Without a next entry: between it and the last entry that stays.
        """
        staying, spans = self.kept, self.spans
        last = line_end(self.text, self.ends[staying[-1]])
        followers = [staying[at] if (at := bisect(staying, index)) < len(staying) else -1 for index in removed]
        ranges = [
            (end, self.starts[follower]) if follower >= 0 else (last, max(start, last))
            for (start, end), follower in zip(spans.values(), followers, strict=True)
        ]
        line = _line_numbers(self.text, [edge for span in (*ranges, *spans.values()) for edge in span])
        going = [0, *accumulate(line[end] - line[start] for start, end in spans.values())]
        gaps = []
        for at, ((start, end), follower) in enumerate(zip(ranges, followers, strict=True)):
            first, behind = (at + 1, bisect(removed, follower)) if follower >= 0 else (bisect(removed, staying[-1]), at)
            gaps.append(max(0, line[end] - line[start]) - (going[behind] - going[first]))
        return gaps

    def _span(self, index: int) -> tuple[int, int]:
        """Return the span to remove with an entry: its lines; on a dash's line, everything up to the next entry."""
        text, starts = self.text, self.starts
        if index < self.kept[0] and not first_on_line(text, starts[0]):
            return starts[index], starts[index + 1]
        start, end = line_start(text, starts[index]), line_end(text, self.ends[index])
        deep = literal_column(text, self.edited.node.parts[index - 1], self.edited.node.kind) if index else -1
        below = after_space(text, end)
        while deep >= 0 and text[below : below + 1] == "#" and column_of(text, below) >= deep:
            end = line_end(text, below)  # the comment would become text of the block scalar above
            below = after_space(text, end)
        return start, end

    def _extend_to_comment(self, index: int, start: int, end: int) -> tuple[int, int]:
        """Extend the span of an item by the comment above it, if the next item that stays has the same comment.

        kpt copies the comment of a list's first item to the item that becomes the first.
        """
        following = bisect(self.kept, index)
        if self.edited.node.kind != "seq" or following == len(self.kept):
            return start, end
        text, below = self.text, line_start(self.text, self.starts[self.kept[following]])
        top, comment = self._find_start_above(start, 0), self._find_start_above(below, end)
        return (top, end) if text[top:start] == text[comment:below] != "" else (start, end)

    def insert(self, inner: int) -> None:
        """Insert the new entries. `inner`: where lines were appended to the collections inside, or 0."""
        waiting: list[EditedEntry] = []
        for entry in self.edited.entries:
            if entry.origin < 0:
                waiting.append(entry)
                continue
            for new in waiting:
                self._insert_before(new, entry.origin)
            waiting = []
        for new in waiting:
            self._append(new, max(line_end(self.text, self.ends[self.kept[-1]]), inner))

    def _write_entry(self, entry: EditedEntry, style: writer.Style) -> str:
        value = value_of(entry.child)
        if self.edited.node.kind == "map":
            return writer.pair(entry.key or "", value, self.column, style)
        return "-" + writer.behind(value, self.column, style, item=True)

    def _insert_before(self, entry: EditedEntry, index: int) -> None:
        text, column = self.text, self.column
        at = self.starts[index]
        style = self.replacements.style(at)
        if not first_on_line(text, self.starts[0] if index == self.kept[0] else at):
            new = entry.raw or self._write_entry(entry, style) + style.newline + " " * column
            self.replacements.replace(at, at, new)
            return
        at = line_start(text, at)
        if entry.raw is not None:
            at = self._go_up(at, entry.gap)
        elif self.edited.node.kind == "seq":
            at = self._find_start_above(at, line_end(text, self.ends[index - 1]) if index else 0)
        self.replacements.replace(at, at, entry.raw or " " * column + self._write_entry(entry, style) + style.newline)

    def _find_start_above(self, at: int, floor: int) -> int:
        return comment_start(self.text, at, floor, self.column)

    def _go_up(self, at: int, lines: int) -> int:
        """Go up from `at` over `lines` lines of comments and blank lines; removed lines do not count."""
        over = {end: start for start, end in self.spans.values()}
        while lines > 0 and at > 0:
            if at in over:
                at = over[at]
                continue
            above = line_start(self.text, at - 1)
            if self.text[above:at].strip()[:1] not in ("", "#"):
                break
            at = above
            lines -= 1
        return at

    def _append(self, entry: EditedEntry, last: int) -> None:
        text = self.text
        lines = 0
        if entry.raw is not None:
            at, lines = self._go_down(last, entry.gap)
        else:
            at = line_end(text, self.ends[-1])
        ended = text[at - 1 : at] == "\n"
        style = self.replacements.style(at, literal=ended and self.replacements.literal_fits(at - 1, self.column))
        new = entry.raw or " " * self.column + self._write_entry(entry, style) + (style.newline if ended else "")
        if entry.raw and at < len(text) and not new.endswith("\n"):
            new += style.newline
        self.replacements.append_lines(at, style.newline * lines + new if at == len(text) else new)

    def _go_down(self, at: int, lines: int) -> tuple[int, int]:
        """Go down in the same way; also return how many lines are missing at the end of the text."""
        text = self.text
        over = dict(self.spans.values())
        while lines and at < len(text):
            if at in over:
                at = over[at]
                continue
            next_line = line_end(text, at)
            if text[at:next_line].strip()[:1] not in ("", "#"):
                break
            at = next_line
            lines -= 1
        return at, lines


def _line_numbers(text: str, edges: list[int]) -> dict[int, int]:
    """Return the line of each offset, counted from the first of them."""
    lines: dict[int, int] = {}
    at, line = min(edges), 0
    for edge in sorted(edges):
        line += text.count("\n", at, edge)
        lines[edge] = line
        at = edge
    return lines


# --- Remove entries from a flow collection and insert new ones
#
# Rule: the brackets and a trailing comma stay. A new entry is JSON after the previous entry, on its own line if the
# last entry has one.


def edit_flow(replacements: Replacements, records: UndoRecords, collection: CollectionSpans) -> None:
    """Edit the entries of one flow collection."""
    staying = [entry.origin for entry in collection.edited.entries if entry.origin >= 0]
    removed = sorted(set(range(len(collection.starts))).difference(staying))
    if removed:
        spans = [_span(replacements.text, collection, index, staying) for index in removed]
        for start, end in spans:
            replacements.replace(start, end, "")
        entries = [(index, replacements.text[slice(*span)], 0) for index, span in zip(removed, spans, strict=True)]
        records.removed(collection.edited, collection.path, entries)
    _insert(replacements, collection, staying)


def _span(text: str, collection: CollectionSpans, index: int, staying: list[int]) -> tuple[int, int]:
    """Return the span to remove with an entry: with the comma before it, or after it if no earlier entry stays."""
    edited, _, starts, ends = collection
    if staying and index < staying[0]:
        return starts[index], starts[index + 1]
    start = ends[index - 1] if index else content(text, edited.node) + 1
    if edited.entries or index + 1 < len(starts):
        return start, ends[index]
    comma = after_blank(text, ends[-1])
    return start, comma + 1 if text[comma] == "," else ends[-1]


def _insert(replacements: Replacements, collection: CollectionSpans, staying: list[int]) -> None:
    text = replacements.text
    edited, _, starts, ends = collection
    at = starts[staying[0]] if staying else ends[-1] if ends else content(text, edited.node) + 1
    if all(entry.origin >= 0 for entry in edited.entries):
        return
    between = ", "
    if starts and first_on_line(text, starts[-1]):
        between = "," + newline_at(text, starts[-1]) + " " * column_of(text, starts[-1])
    seen = False
    for index, entry in enumerate(edited.entries):
        if entry.origin >= 0:
            at, seen = ends[entry.origin], True
        elif entry.raw:
            replacements.replace(at, at, entry.raw)
        elif not staying:
            replacements.replace(at, at, (", " if index else "") + _write_flow_entry(edited, entry))
        else:
            new = _write_flow_entry(edited, entry)
            replacements.replace(at, at, between + new if seen else new + between)


def _write_flow_entry(edited: EditedCollection, entry: EditedEntry) -> str:
    value = writer.flow(value_of(entry.child))
    return f"{writer.flow_key(entry.key or '')}: {value}" if edited.node.kind == "map" else value


# --- Rewrite values that cannot be edited in place


def rewrite_uneditable(part: Part, text: str, depth: int) -> Part:
    """Rewrite every value in `part` that cannot be edited in place, or is `depth` collections deep.

    Not editable are a block collection that loses all entries, `[a: b]` pairs, and a set-like key that gets a value.
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
    if node.kind == "map" and any(
        entry.origin >= 0 and isinstance(entry.child, NewValue) and not has_colon(text, node.parts[entry.origin][0])
        for entry in part.entries
    ):
        return NewValue(value_of(part), "" if node.style == "flow" else None)
    return part


# --- Turn an edited tree into the replacements of its text, and into the records that undo them
#
# Rule: every replacement is bounded by tokens of the old text, and children come before their parents. A value is
# replaced from after its colon or dash to the end of its last token, so a comment on that line stays.


def collect_replacements(
    replacements: Replacements, records: UndoRecords, part: Part, node: Node, item: Node | None
) -> None:
    """Emit the whole tree. `item` is the block list of one item around the root `node`, None without one."""
    records, _ = records.of(node, "")
    if isinstance(part, EditedCollection):
        _edit_collection(replacements, records, part, "")
    elif isinstance(part, NewValue) and item is not None:
        dash = content(replacements.text, item)
        end = max(leaf_end(replacements.text, node), dash + 1)
        target = ReplacedValue("", dash + 1, end, column_of(replacements.text, dash), item)
        _replace(replacements, records, target, part, node)
    elif isinstance(part, NewValue):
        _replace_root(replacements, records, part, node)


def _replace_root(replacements: Replacements, records: UndoRecords, new_value: NewValue, node: Node) -> None:
    text = replacements.text
    start, end = node.start, leaf_end(text, node)
    first = first_on_line(text, start)
    if new_value.raw is not None:
        new = new_value.raw
    elif new_value.token is not None or not first:
        new = writer.flow(new_value.value)
    else:
        column = column_of(text, start)
        style = replacements.style(start, literal=replacements.literal_fits(end, column))
        new = writer.block(new_value.value, column, style)
    if start == end and new_value.raw is None:
        newline = newline_at(text, start)
        new = (newline if column_of(text, start) else "") + new + (newline if start < len(text) else "")
    replacements.replace(start, end, new)
    records.replaced("", node.data, text[start:end], lambda: new)


def _edit_collection(replacements: Replacements, records: UndoRecords, edited: EditedCollection, path: str) -> None:
    records, path = records.of(edited.node, path)
    if _has_only_inner_edits(edited):
        for entry, address in addresses(edited, path):
            if isinstance(entry.child, EditedCollection):
                _edit_collection(replacements, records, entry.child, address)
        return
    collection = CollectionSpans(edited, path, *entry_spans(replacements.text, edited.node))
    mark = len(replacements.edits)
    _edit_entries(replacements, records, collection)
    if edited.node.style == "flow":
        edit_flow(replacements, records, collection)
    else:
        edit = BlockEdit(replacements, collection)
        inner = replacements.appended_since(mark)
        edit.remove(records)
        edit.insert(inner)


def _has_only_inner_edits(edited: EditedCollection) -> bool:
    """Tell whether only collections inside a collection are edited: none of its entries is new, removed or replaced."""
    return len(edited.entries) == len(edited.node.parts) and not any(
        entry.origin < 0 or isinstance(entry.child, NewValue) for entry in edited.entries
    )


def _edit_entries(replacements: Replacements, records: UndoRecords, collection: CollectionSpans) -> None:
    edited, path, starts, ends = collection
    text, node = replacements.text, edited.node
    column = column_of(text, starts[0]) if node.style == "block" else 0
    for entry, address in addresses(edited, path):
        child = entry.child
        if entry.origin < 0:
            records.added(address, edited.node, entry)
        elif isinstance(child, EditedCollection):
            _edit_collection(replacements, records, child, address)
        elif isinstance(child, NewValue):
            part = node.parts[entry.origin]
            if node.kind == "map":
                start, old = after_colon(text, part[0]), part[1]
            else:
                start, old = starts[entry.origin] + (node.style == "block"), part
            end = start if old.start == old.end else max(start, ends[entry.origin])
            value_records, inner = records.of(old, address)
            _replace(replacements, value_records, ReplacedValue(inner, start, end, column, node), child, old)


def _replace(
    replacements: Replacements, records: UndoRecords, target: ReplacedValue, new_value: NewValue, old: Node
) -> None:
    new = _write_block_value(replacements, target, new_value) if new_value.raw is None else new_value.raw
    replacements.replace(target.start, target.end, new)
    raw = replacements.text[target.start : target.end]
    records.replaced(target.path, old.data, raw, lambda: _write_block_value(replacements, target, NewValue(old.data)))


def _write_block_value(replacements: Replacements, target: ReplacedValue, new_value: NewValue) -> str:
    parent = target.parent
    if new_value.token is not None or parent.style == "flow":
        gap = "" if parent.style == "flow" and parent.kind == "seq" else " "
        return gap + (new_value.token or writer.flow(new_value.value))
    style = replacements.style(target.start, literal=replacements.literal_fits(target.end, target.column))
    return writer.behind(new_value.value, target.column, style, item=parent.kind == "seq")
