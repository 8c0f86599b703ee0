"""What is known of a document with `items`, once it is cut up.

Rule of this file: offsets only; the text stays with its owner.
"""

from typing import Literal

from krm_function.record import NamedTuple
from krm_function.yamltext.chunk import Chunk


class ItemList(NamedTuple):
    """A document with top-level `items`, cut up. Offsets count characters of the text."""

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
    shared_anchors: bool  # an alias stands in another item than its anchor: see resolve_item_aliases
    indent_root: int  # column of the top-level keys
    tail: int  # where the last value of the root ends
    results_span: tuple[int, int] | None  # the value of `results`, from behind its colon
