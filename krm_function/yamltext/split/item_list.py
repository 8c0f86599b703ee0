"""The result of splitting a list document: the slices of its items, and where new items and keys go.

Rule of this file: offsets only; the text stays with its owner.
"""

from typing import Literal

from krm_function.record import NamedTuple
from krm_function.yamltext.split.chunk import Chunk


class ItemList(NamedTuple):
    """A split document with top-level `items`. Offsets count characters of the text."""

    api_version: str
    kind: str
    items: tuple[Chunk, ...]
    style: Literal["block", "flow", "empty"]
    indent: int  # column of the dashes; 0 unless block
    function_config: Chunk | None  # the value: whole lines when it is a block, else exactly the value
    results: Chunk | None  # likewise
    items_at: int  # where a new item goes: behind the last item; of an empty flow list, behind its bracket
    items_span: tuple[int, int]  # the value of `items`, from behind its colon
    end: int  # where a new top-level key goes: below the last line of a block root; the closing brace of a flow root
    root_style: Literal["block", "flow"]
    shared_anchors: bool  # an alias is in another item than its anchor: see resolve_item_aliases
    indent_root: int  # column of the top-level keys
    tail: int  # where the last value of the root ends
    results_span: tuple[int, int] | None  # the value of `results`, from behind its colon
    odd_key: tuple[int, int] | None = None  # line and column of a root key that only `parse` can read; it may be items

    def spread(self, by: int, lines: int) -> "ItemList":
        """Shift whatever follows the first of two items by so many characters and lines, which may be negative."""
        first, last = self.items
        behind = first.end

        def at(offset: int) -> int:
            return offset + by if offset > behind else offset

        def chunk(one: Chunk | None) -> Chunk | None:
            return one if one is None or one.start < behind else moved(one)

        def moved(one: Chunk) -> Chunk:
            return one._replace(start=one.start + by, end=one.end + by, line=one.line + lines)

        return self._replace(
            items=(first, moved(last)),
            function_config=chunk(self.function_config),
            results=chunk(self.results),
            items_at=at(self.items_at),
            items_span=(at(self.items_span[0]), at(self.items_span[1])),
            end=at(self.end),
            tail=at(self.tail),
            results_span=(at(self.results_span[0]), at(self.results_span[1])) if self.results_span else None,
        )
