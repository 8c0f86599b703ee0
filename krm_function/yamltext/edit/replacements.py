"""Collect text replacements and apply them in order of offset.

Rule of this file: replacements are collected in any order and made in that of the text; those at one offset are made in
the order in which they came, which is deepest first.
"""

from krm_function.record import NamedTuple
from krm_function.yamltext import offsets
from krm_function.yamltext.edit.tree import EditedCollection
from krm_function.yamltext.nodes import Node
from krm_function.yamltext.writer import Style


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
        """Start with the text as it is; `dash` is how far its lists are indented from their keys."""
        self.text = text
        self.dash = dash
        self.open_end = False  # the text ends without a line end, and is to go on doing so
        self.edits: list[tuple[int, int, str, bool]] = []

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace `text[start:end]` by `new`."""
        self.edits.append((start, end, new, False))

    def append_lines(self, at: int, new: str) -> None:
        """Insert lines of their own at `at`, the start of a line or the end of the text."""
        self.edits.append((at, at, new, True))

    def appended_since(self, mark: int) -> int:
        """Return the last offset at which lines were appended after the first `mark` replacements; 0 for none."""
        return max((start for start, _, _, lines in self.edits[mark:] if lines), default=0)

    def result(self) -> str:
        """Make all replacements. A last line that had no line end still has none, as far as its value allows."""
        text = self.text
        out: list[str] = []
        at = 0
        tail = ""
        for start, end, new, lines in sorted(self.edits, key=lambda edit: edit[:2]):
            kept = text[at : max(at, start)]
            tail = kept or tail
            out.append(kept)
            if lines and start == len(text) and tail and not tail.endswith("\n"):
                out.append(offsets.newline_at(text, start))
            out.append(new)
            tail = new or tail
            at = max(at, end)
        out.append(text[at:])
        made = "".join(out)
        if self.open_end and at == len(text) and made.endswith("\n"):
            return made[: offsets.before_newline(made, len(made))]
        return made

    def style(self, at: int, *, literal: bool = True) -> Style:
        """Return the style of new text at `at`."""
        return Style(offsets.newline_at(self.text, at), self.dash, literal=literal)

    def literal_fits(self, at: int, column: int) -> bool:
        """Tell whether a literal may end at `at`: nothing follows on the line, and no comment runs into it."""
        text = self.text
        if at >= len(text) or not offsets.alone_behind(text, at):
            return False
        below = offsets.after_space(text, offsets.line_end(text, at))
        return text[below : below + 1] != "#" or offsets.column(text, below) < column + 2
