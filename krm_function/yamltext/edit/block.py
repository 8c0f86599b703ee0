"""Remove entries from a block collection and insert new ones.

Rule of this file: a new key goes below the last line of its map at the column of the first key, a new item at the
column of the first dash. An item before another goes above the comment lines directly above that one, so a comment
stays with what it was written for. A removed entry takes its lines along; comments above it stay.
"""

from bisect import bisect
from itertools import accumulate

from krm_function.yamltext import offsets, writer
from krm_function.yamltext.edit.replacements import CollectionSpans, Replacements
from krm_function.yamltext.edit.tree import EditedEntry, value_of
from krm_function.yamltext.edit.undo_records import UndoRecords

Spans = dict[int, tuple[int, int]]


class BlockEdit:
    """The edit of the entries of one block collection."""

    def __init__(self, replacements: Replacements, collection: CollectionSpans) -> None:
        """Prepare the edit of the entries of `place`."""
        self.replacements = replacements
        self.text = replacements.text
        self.edited, self.path, self.starts, self.ends = collection
        self.column = offsets.column(self.text, self.starts[0])
        self.kept = [entry.origin for entry in self.edited.entries if entry.origin >= 0]
        self.spans: Spans = {}

    def remove(self, records: UndoRecords) -> None:
        """Remove the entries that are gone from the text."""
        text, kept = self.text, self.kept
        if len(kept) == len(self.starts):
            return
        indexes = sorted(set(range(len(self.starts))).difference(kept))
        self.spans = spans = {index: self._with_copied_comment(index, *self._span(index)) for index in indexes}
        for start, end in spans.values():
            self.replacements.replace(start, end, "")
        removed = [
            (index, text[start:end], gap)
            for (index, (start, end)), gap in zip(spans.items(), self._gaps(indexes), strict=True)
        ]
        records.removed(self.edited, self.path, removed)

    def _gaps(self, removed: list[int]) -> list[int]:
        """Count, for each entry that goes, the lines that stay between it and the entry that followed it.

        If nothing followed: between it and the last entry that stays.
        """
        kept, spans = self.kept, self.spans
        last = offsets.line_end(self.text, self.ends[kept[-1]])
        followers = [kept[at] if (at := bisect(kept, index)) < len(kept) else -1 for index in removed]
        ranges = [
            (end, self.starts[follower]) if follower >= 0 else (last, max(start, last))
            for (start, end), follower in zip(spans.values(), followers, strict=True)
        ]
        line = _line_numbers(self.text, [edge for span in (*ranges, *spans.values()) for edge in span])
        going = [0, *accumulate(line[end] - line[start] for start, end in spans.values())]
        gaps = []
        for at, ((start, end), follower) in enumerate(zip(ranges, followers, strict=True)):
            first, behind = (at + 1, bisect(removed, follower)) if follower >= 0 else (bisect(removed, kept[-1]), at)
            gaps.append(max(0, line[end] - line[start]) - (going[behind] - going[first]))
        return gaps

    def _span(self, index: int) -> tuple[int, int]:
        """Return the span that goes with an entry: its lines; on a dash's line, everything up to the next entry."""
        text, starts = self.text, self.starts
        if index < self.kept[0] and not offsets.first_on_line(text, starts[0]):
            return starts[index], starts[index + 1]
        start, end = offsets.line_start(text, starts[index]), offsets.line_end(text, self.ends[index])
        deep = offsets.literal_column(text, self.edited.node.parts[index - 1], self.edited.node.kind) if index else -1
        below = offsets.after_space(text, end)
        while deep >= 0 and text[below : below + 1] == "#" and offsets.column(text, below) >= deep:
            end = offsets.line_end(text, below)  # the comment would become text of the block scalar above
            below = offsets.after_space(text, end)
        return start, end

    def _with_copied_comment(self, index: int, start: int, end: int) -> tuple[int, int]:
        """Return the span of an item with the comment above it, if the next item that stays has the same comment.

        kpt copies the comment of a list's first item to the item that becomes the first.
        """
        following = bisect(self.kept, index)
        if self.edited.node.kind != "seq" or following == len(self.kept):
            return start, end
        text, below = self.text, offsets.line_start(self.text, self.starts[self.kept[following]])
        top, own = self._above_comments(start, 0), self._above_comments(below, end)
        return (top, end) if text[top:start] == text[own:below] != "" else (start, end)

    def insert(self, inner: int) -> None:
        """Insert the entries that are new. `inner`: where lines were appended to the collections inside, or 0."""
        waiting: list[EditedEntry] = []
        for entry in self.edited.entries:
            if entry.origin < 0:
                waiting.append(entry)
                continue
            for new in waiting:
                self._insert_before(new, entry.origin)
            waiting = []
        for new in waiting:
            self._append(new, max(offsets.line_end(self.text, self.ends[self.kept[-1]]), inner))

    def _written(self, entry: EditedEntry, style: writer.Style) -> str:
        value = value_of(entry.child)
        if self.edited.node.kind == "map":
            return writer.pair(entry.key or "", value, self.column, style)
        return "-" + writer.behind(value, self.column, style, item=True)

    def _insert_before(self, entry: EditedEntry, index: int) -> None:
        text, column = self.text, self.column
        at = self.starts[index]
        style = self.replacements.style(at)
        if not offsets.first_on_line(text, self.starts[0] if index == self.kept[0] else at):
            new = entry.raw or self._written(entry, style) + style.newline + " " * column
            self.replacements.replace(at, at, new)
            return
        at = offsets.line_start(text, at)
        if entry.raw is not None:
            at = self._above(at, entry.gap)
        elif self.edited.node.kind == "seq":
            at = self._above_comments(at, offsets.line_end(text, self.ends[index - 1]) if index else 0)
        self.replacements.replace(at, at, entry.raw or " " * column + self._written(entry, style) + style.newline)

    def _above_comments(self, at: int, floor: int) -> int:
        """Go up from `at` over the comment lines at the column of the entries."""
        text = self.text
        while at > floor:
            above = offsets.line_start(text, at - 1)
            if text[above:at][: self.column + 1] != " " * self.column + "#":
                break
            at = above
        return at

    def _above(self, at: int, lines: int) -> int:
        """Go up from `at` over so many lines of comments and blank lines; removed lines do not count."""
        over = {end: start for start, end in self.spans.values()}
        while lines > 0 and at > 0:
            if at in over:
                at = over[at]
                continue
            above = offsets.line_start(self.text, at - 1)
            if self.text[above:at].strip()[:1] not in ("", "#"):
                break
            at = above
            lines -= 1
        return at

    def _append(self, entry: EditedEntry, last: int) -> None:
        text = self.text
        lines = 0
        if entry.raw is not None:
            at, lines = self._below(last, entry.gap)
        else:
            at = offsets.line_end(text, self.ends[-1])
        ended = text[at - 1 : at] == "\n"
        style = self.replacements.style(at, literal=ended and self.replacements.literal_fits(at - 1, self.column))
        new = entry.raw or " " * self.column + self._written(entry, style) + (style.newline if ended else "")
        if entry.raw and at < len(text) and not new.endswith("\n"):
            new += style.newline
        self.replacements.append_lines(at, style.newline * lines + new if at == len(text) else new)

    def _below(self, at: int, lines: int) -> tuple[int, int]:
        """Go down in the same way; also returns how many lines are missing at the end of the text."""
        text = self.text
        over = dict(self.spans.values())
        while lines and at < len(text):
            if at in over:
                at = over[at]
                continue
            after = offsets.line_end(text, at)
            if text[at:after].strip()[:1] not in ("", "#"):
                break
            at = after
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
