"""From an edited tree to the bytes that change, and to the records that change them back.

Rule of this file: every replacement is bounded by tokens of the old text. A new key goes below the last line of its map
at the column of the first key, a new item at the column of the first dash; an item put before the first goes above the
comment lines that stand directly on that item, so a comment stays with what it was written for. Insertions at one offset
come out deepest first.
"""

from typing import Any

from krm_function.yamltext import layout, writer
from krm_function.yamltext.changes import same
from krm_function.yamltext.document import parse
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.nodes import Node
from krm_function.yamltext.pointer import escape, segment
from krm_function.yamltext.shadow import Entry, Fresh, Live, Part, value_of

Undo = list[list[Any]]
_Spans = dict[int, tuple[int, int]]


class Emitter:
    """Collects the replacements of one text, and how to undo them."""

    def __init__(self, text: str, dash: int, keep: str = "") -> None:
        self.text = text
        self.dash = dash
        self.keep = keep  # pointer of the annotation that will hold the records
        self.open_end = False  # the text ends without a line end, and is to go on doing so
        self.edits: list[tuple[int, int, str, bool]] = []  # start, end, new text, whether that is lines of its own
        self.undo: Undo = []

    def result(self) -> str:
        """The text with all replacements made. A last line that was not ended stays so, as far as its value allows."""
        text = self.text
        out: list[str] = []
        at = 0
        tail = ""
        for start, end, new, lines in sorted(self.edits, key=lambda edit: edit[:2]):
            kept = text[at : max(at, start)]
            tail = kept or tail
            if lines and start == len(text) and tail and not tail.endswith("\n"):
                out += (kept, layout.newline_at(text, start), new)
            else:
                out += (kept, new)
            tail = new or tail
            at = max(at, end)
        out.append(text[at:])
        made = "".join(out)
        if self.open_end and at == len(text) and made.endswith("\n"):
            return made[: layout.before_newline(made, len(made))]
        return made

    def root(self, part: Part, node: Node, item: Node | None) -> None:
        """Emit the whole tree. `item` is the block list of one item around `node`, if there is one."""
        if isinstance(part, Live):
            self.live(part, "")
        if not isinstance(part, Fresh):
            return
        text = self.text
        if item is not None:
            dash = layout.entry_starts(text, item)[0]
            self._replace(dash + 1, max(layout.leaf_end(text, node), dash + 1), layout.column(text, dash), part, node, "", item)
            return
        start, end = node.start, layout.leaf_end(text, node)
        raw = text[start:end]
        if part.raw is not None:
            new = part.raw
        else:
            newline = layout.newline_at(text, start)
            inline = part.token is not None or start > 0 and not layout.first_on_line(text, start)
            column = layout.column(text, start) if layout.first_on_line(text, start) else 0
            literal = self._literal_fits(end, column)
            new = writer.flow(part.value) if inline else writer.block(part.value, column, self._style(start, literal=literal))
            if start == end:
                new = ("" if layout.column(text, start) == 0 else newline) + new + (newline if start < len(text) else "")
        self.edits.append((start, end, new, False))
        self._record_set("", node.data, raw, new)

    def live(self, live: Live, path: str) -> None:
        """Emit one edited collection; `path` is its pointer."""
        starts = layout.entry_starts(self.text, live.node)
        ends = [self._end(live, index, start) for index, start in enumerate(starts)]
        if live.node.style == "flow":
            self._flow(live, path, starts, ends)
        else:
            self._block(live, path, starts, ends)

    def _end(self, live: Live, index: int, start: int) -> int:
        part = live.node.parts[index]
        if live.node.kind == "map":
            return layout.pair_end(self.text, part[0], part[1])
        end = layout.leaf_end(self.text, part)
        return max(end, start + 1) if live.node.style == "block" and part.start == part.end else end

    def _children(self, live: Live, path: str, starts: list[int], ends: list[int]) -> None:
        for entry in live.entries:
            if entry.origin < 0:
                self._record_added(f"{path}/{segment(live, entry)}", entry)
                continue
            if isinstance(entry.child, Node):
                continue
            where = f"{path}/{segment(live, entry)}"
            if isinstance(entry.child, Live):
                self.live(entry.child, where)
                continue
            part = live.node.parts[entry.origin]
            if live.node.kind == "map":
                start, old = layout.after_colon(self.text, part[0]), part[1]
            else:
                start, old = starts[entry.origin] + (live.node.style == "block"), part
            end = start if old.start == old.end else max(start, ends[entry.origin])
            column = layout.column(self.text, starts[0]) if starts else 0
            self._replace(start, end, column, entry.child, old, where, live.node)

    def _replace(self, start: int, end: int, column: int, fresh: Fresh, old: Node, path: str, parent: Node) -> None:
        raw = self.text[start:end]
        new = self._written(fresh, start, end, column, parent) if fresh.raw is None else fresh.raw
        self.edits.append((start, end, new, False))
        again = self._written(Fresh(old.data), start, end, column, parent)
        self._record_set(path, old.data, raw, again)

    def _written(self, fresh: Fresh, start: int, end: int, column: int, parent: Node) -> str:
        gap = "" if parent.style == "flow" and parent.kind == "seq" else " "
        if fresh.token is not None or parent.style == "flow":
            return gap + (fresh.token or writer.flow(fresh.value))
        literal = self._literal_fits(end, column)
        return writer.behind(fresh.value, column, self._style(start, literal=literal), item=parent.kind == "seq")

    def _style(self, at: int, *, literal: bool = True) -> writer.Style:
        return writer.Style(layout.newline_at(self.text, at), self.dash, literal=literal)

    def _literal_fits(self, at: int, column: int) -> bool:
        """Whether a literal may end at `at`: nothing follows on the line, and no comment below would run into it."""
        text = self.text
        if at >= len(text) or not layout.alone_behind(text, at):
            return False
        below = layout.after_space(text, layout.line_end(text, at))
        return text[below : below + 1] != "#" or layout.column(text, below) < column + 2

    # --- block collections

    def _block(self, live: Live, path: str, starts: list[int], ends: list[int]) -> None:
        text = self.text
        column = layout.column(text, starts[0])
        alive = [entry.origin for entry in live.entries if entry.origin >= 0]
        before = len(self.edits)
        self._children(live, path, starts, ends)
        inner = max((start for start, _, _, lines in self.edits[before:] if lines), default=0)
        gone = [index for index in range(len(starts)) if index not in set(alive)]
        spans = {index: self._block_span(live, starts, ends, index, alive) for index in gone}
        for index, (start, end) in spans.items():
            self.edits.append((start, end, "", False))
            follower = next((entry for entry in live.entries if entry.origin > index), None)
            if follower is not None:
                below = [spans[other] for other in gone if index < other < follower.origin]
                gap = text.count("\n", end, starts[follower.origin]) - sum(text.count("\n", *span) for span in below)
            else:
                last = layout.line_end(text, ends[alive[-1]])
                above = [spans[other] for other in gone if alive[-1] < other < index]
                gap = text.count("\n", last, max(start, last)) - sum(text.count("\n", *span) for span in above)
            self._record_removed(live, path, index, text[start:end], follower, gap)
        waiting: list[Entry] = []
        for entry in live.entries:
            if entry.origin < 0:
                waiting.append(entry)
                continue
            for new in waiting:
                self._insert_before(live, new, column, starts, ends, entry.origin, spans)
            waiting = []
        for new in waiting:
            self._append(live, new, column, ends, max(layout.line_end(text, ends[alive[-1]]), inner), spans)

    def _block_span(
        self, live: Live, starts: list[int], ends: list[int], index: int, alive: list[int]
    ) -> tuple[int, int]:
        """What goes with a removed entry: its lines; on a dash's line, everything up to the next entry."""
        text = self.text
        if index < alive[0] and not layout.first_on_line(text, starts[0]):
            return starts[index], starts[index + 1]
        start, end = layout.line_start(text, starts[index]), layout.line_end(text, ends[index])
        deep = layout.literal_column(text, live.node.parts[index - 1], live.node.kind) if index else -1
        below = layout.after_space(text, end)
        while deep >= 0 and text[below : below + 1] == "#" and layout.column(text, below) >= deep:
            end = layout.line_end(text, below)  # the comment would become text of the block scalar above
            below = layout.after_space(text, end)
        return start, end

    def _entry_text(self, live: Live, entry: Entry, column: int, style: writer.Style) -> str:
        value = value_of(entry.child)
        if live.node.kind == "map":
            return writer.pair(entry.key or "", value, column, style)
        return "-" + writer.behind(value, column, style, item=True)

    def _insert_before(
        self, live: Live, entry: Entry, column: int, starts: list[int], ends: list[int], index: int, spans: _Spans
    ) -> None:
        text = self.text
        at = starts[index]
        if not layout.first_on_line(text, at):
            style = self._style(at)
            new = entry.raw or self._entry_text(live, entry, column, style) + style.newline + " " * column
            self.edits.append((at, at, new, False))
            return
        at = layout.line_start(text, at)
        floor = layout.line_end(text, ends[index - 1]) if index else 0
        if entry.raw is not None:
            at = self._up(at, 0, entry.gap, None, spans)
        elif live.node.kind == "seq":
            at = self._up(at, floor, len(text), column, {})
        style = self._style(at)
        new = entry.raw or " " * column + self._entry_text(live, entry, column, style) + style.newline
        self.edits.append((at, at, new, False))

    def _up(self, at: int, floor: int, lines: int, column: int | None, spans: _Spans) -> int:
        """Go up over at most `lines` lines that hold comments at `column` only (None: any comments, blank lines too)."""
        text = self.text
        over = {end: start for start, end in spans.values()}
        while lines > 0 and at > floor:
            if at in over:  # what is being removed does not count
                at = over[at]
                continue
            above = layout.line_start(text, at - 1)
            line = text[above:at].rstrip("\r\n")
            body = line.lstrip(" ")
            if (body or column is not None) and (body[:1] != "#" or column not in (None, len(line) - len(body))):
                break
            at = above
            lines -= 1
        return at

    def _append(self, live: Live, entry: Entry, column: int, ends: list[int], last: int, spans: _Spans) -> None:
        text = self.text
        at = layout.line_end(text, ends[-1])
        lines = 0
        if entry.raw is not None:
            at = last
            lines = entry.gap
            over = dict(spans.values())
            while lines and at < len(text):
                if at in over:
                    at = over[at]
                    continue
                after = layout.line_end(text, at)
                line = text[at:after].strip()
                if line and line[0] != "#":
                    break
                at = after
                lines -= 1
        ended = text[at - 1 : at] == "\n"
        style = self._style(at, literal=ended and self._literal_fits(at - 1, column))
        new = entry.raw or " " * column + self._entry_text(live, entry, column, style) + (style.newline if ended else "")
        if entry.raw and at < len(text) and not new.endswith("\n"):
            new += style.newline
        self.edits.append((at, at, style.newline * lines + new if at == len(text) else new, True))

    # --- flow collections

    def _flow(self, live: Live, path: str, starts: list[int], ends: list[int]) -> None:
        text = self.text
        node = live.node
        alive = [entry.origin for entry in live.entries if entry.origin >= 0]
        self._children(live, path, starts, ends)
        for index in range(len(starts)):
            if index in alive:
                continue
            if alive and index < alive[0]:
                span = starts[index], starts[index + 1]
            else:
                span = ends[index - 1] if index else starts[0], ends[index]
            if not live.entries and index + 1 == len(starts):
                comma = layout.after_blank(text, ends[-1])
                span = span[0], comma + 1 if text[comma] == "," else ends[-1]
            self.edits.append((*span, "", False))
            follower = next((entry for entry in live.entries if entry.origin > index), None)
            self._record_removed(live, path, index, text[slice(*span)], follower, 0)
        first = starts[alive[0]] if alive else ends[-1] if ends else layout.content(text, node) + 1
        at = first
        between = ", "
        if starts and layout.first_on_line(text, starts[-1]):
            between = "," + layout.newline_at(text, starts[-1]) + " " * layout.column(text, starts[-1])
        seen = False
        for index, entry in enumerate(live.entries):
            if entry.origin >= 0:
                at, seen = ends[entry.origin], True
                continue
            if entry.raw:
                new = entry.raw
            elif not alive:
                new = (", " if index else "") + self._flow_text(live, entry)
            elif seen:
                new = between + self._flow_text(live, entry)
            else:
                new = self._flow_text(live, entry) + between
            self.edits.append((at, at, new, False))

    def _flow_text(self, live: Live, entry: Entry) -> str:
        value = writer.flow(value_of(entry.child))
        return f"{writer.flow_key(entry.key or '')}: {value}" if live.node.kind == "map" else value

    # --- records

    def _record_set(self, path: str, before: Any, raw: str, again: str) -> None:
        if raw == again and "\n" not in raw:
            self.undo.append(["=", path, before])
        elif _read(raw, before):
            self.undo.append(["~", path, raw])
        else:
            self.undo.append(["=", path, before, raw])

    def _record_added(self, path: str, entry: Entry) -> None:
        if not self.keep.startswith(path + "/"):
            self.undo.append(["-", path])
            return
        depth = 0
        value = value_of(entry.child)
        while path != self.keep:
            part = next(key for key in value if self.keep == f"{path}/{escape(key)}" or self.keep.startswith(f"{path}/{escape(key)}/"))
            self.undo += [["-", f"{path}/{escape(key)}"] for key in value if key != part]
            value = value[part]
            path = f"{path}/{escape(part)}"
            depth += 1
        self.undo.append(["-", path, depth])

    def _record_removed(self, live: Live, path: str, index: int, raw: str, follower: Entry | None, gap: int) -> None:
        part = live.node.parts[index]
        if live.node.kind == "map":
            where, before = f"{path}/{escape(part[2] or '<<')}", part[1].data
        else:
            where, before = f"{path}/#{index}", part.data
        record: list[Any] = ["+", where, before, raw, segment(live, follower) if follower else "", gap]
        while record[-1] in ("", 0) and len(record) > 3:
            record.pop()
        self.undo.append(record)


def _read(raw: str, value: Any) -> bool:
    try:
        return same(read_raw(raw), value)
    except YamlError:
        return False


def read_raw(raw: str) -> Any:
    """The value that bytes behind a colon stand for. Raises YamlError when they are not a value by themselves."""
    value = parse(f"x:{raw}").value
    if not isinstance(value, dict) or list(value) != ["x"]:
        raise YamlError("not one value", code="shape")
    return value["x"]
