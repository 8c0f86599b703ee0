"""Fast path: split a block list without materialising every event; None where only the events can tell.

Rule of this file: the parser reads the text with its first and its last item. What stands between is a list of its own
that begins in the same column, of items that libyaml accepts one by one; so it can stand there (see `validate`).
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from krm_function.libyaml import YAMLError
from krm_function.yamltext.aliases import has_alias
from krm_function.yamltext.errors import Limits
from krm_function.yamltext.fast.validate import eligible, header_of_item, validated
from krm_function.yamltext.split.chunk import Chunk
from krm_function.yamltext.split.item_list import ItemList

_ITEMS = re.compile(r"(?:\A|\n)items:\n(?=( *)- )")
_ROOT = re.compile(r"\n[^ \n#-]")  # the key behind the items
_FEW = 4  # with fewer items, reading all events is faster


def cut(text: str, limits: Limits, by_events: Callable[[str], ItemList | None]) -> ItemList | None:
    """Return what `by_events` returns for `text`, or None. by_events: split_items by one pass over all events."""
    if "\n---" in text or not eligible(text, limits):
        return None
    found = _ITEMS.search(text)
    if found is None or has_alias(text):
        return None
    column = len(found[1])

    def item(piece: str) -> Chunk:
        alone = by_events(f"items:\n{piece}")
        if alone is None or len(alone.items) != 1 or alone.items[0].end != len(piece) + 7:
            raise ValueError("not one item")
        return alone.items[0]

    try:
        starts = list(_starts(text, found.end(), column))
        if len(starts) < _FEW:
            return None
        first, last = starts[1], starts[-1]
        item_list = by_events(text[:first] + text[last:])
        if item_list is None or (item_list.style, item_list.indent, len(item_list.items)) != ("block", column, 2):
            return None
        if (item_list.items[0].start, item_list.items[0].end, item_list.items[1].start) != (starts[0], first, first):
            return None
        line = item_list.items[0].line + text.count("\n", starts[0], first)
        header = header_of_item(column)
        between = tuple(validated(text, pairwise(starts[1:]), line, header, item, limits.aliases))
    except (ValueError, YAMLError):
        return None  # the parser finds what is wrong, and where
    wide = item_list.spread(last - first, text.count("\n", first, last))
    return wide._replace(items=(wide.items[0], *between, wide.items[1]))


def _starts(text: str, start: int, column: int) -> Iterator[int]:
    """Yield where items seem to begin, up to the next key of the root."""
    found = _ROOT.search(text, start)
    stop = found.start() if found else len(text)
    dash = "\n" + " " * column + "-"
    at = start - 1
    while 0 <= at < stop:
        if text[at + len(dash) : at + len(dash) + 1] != " ":
            raise ValueError("an item that does not begin behind its dash")
        yield at + 1
        at = text.find(dash, at + 1, stop)
