"""Separate a list document from its items, and join it again with edited ones.

Rule of this file: what did not change is not touched; with nothing changed the text comes back byte for byte. New items
and `results` follow the style of the list: block text at the column of its dashes, or JSON inside its brackets.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.record import NamedTuple
from krm_function.text import edit_text as offsets
from krm_function.text import writer
from krm_function.text.changes import same
from krm_function.text.chunks import Chunk, ItemList
from krm_function.text.errors import YamlError
from krm_function.text.parse import parse

_Edit = tuple[int, int, str]
_ENDS = 2  # items that stay in the text, because the edits around the list depend on how they begin and end


class OuterList(NamedTuple):
    """A list document from which all items but the first and the last were taken out, if it is a block list.

    The caller has the items, which are nearly all of the text, so they are not kept twice. item_list: of this text.
    """

    text: str
    item_list: ItemList
    inner: tuple[str, ...] = ()  # the items that were taken out


def take_out_items(text: str, items: ItemList, texts: Sequence[str]) -> OuterList:
    """Take out the inner items. texts: of all items, as the caller has them."""
    if items.style != "block" or len(texts) <= _ENDS:
        return OuterList(text, items)
    first, last = items.items[0], items.items[-1]
    start, end = first.end, last.start
    ends = items._replace(items=(first, last)).spread(start - end, first.line - last.line + first.of(text).count("\n"))
    return OuterList(text[:start] + text[end:], ends, tuple(texts[1:-1]))


def join_items(
    apart: OuterList,
    new_texts: Sequence[str | None],
    added: Sequence[Any] = (),
    results: Sequence[Any] | None = None,
) -> Iterator[str]:
    """Return the pieces of the document with each item replaced by `new_texts[i]`.

    A text of None removes the item; comments below it stay. `added`: plain values, new items at the end. `results`: the
    new value of the top-level key `results`; None leaves the key as it is. The caller must see to it that each of
    `new_texts` is one item at the position of the old one.
    """
    text, items, inner = apart
    size = len(items.items) + len(inner)
    if len(new_texts) != size:
        raise ValueError(f"{len(new_texts)} texts for {size} items")
    edits: list[_Edit] = []
    if all(new is None for new in new_texts):
        inner = ()
        if items.items or added:
            edits.append((*items.items_span, _value(text, items, items.items_span, list(added))))
    elif items.style == "flow":
        edits += _flow_items(items.items, new_texts)
        edits += [(items.items_at, items.items_at, ", " + writer.flow(value)) for value in added]
    else:
        outer = (new_texts[0], new_texts[-1]) if inner else new_texts
        replaced = zip(items.items, outer, strict=True)
        edits += [(chunk.start, chunk.end, _block_item(chunk.of(text), new)) for chunk, new in replaced]
        if added:
            edits.append(_lines(text, items.items_at, items.indent, list(added)))
    if results is not None:
        edits += _results(text, items, list(results))
    parts: list[tuple[int, int, list[str]]] = [(start, end, [new]) for start, end, new in edits]
    if inner:
        at = items.items[0].end
        parts.insert(0, (at, at, [_block_item(*pair) for pair in zip(inner, new_texts[1:-1], strict=True)]))
    return _pieces(text, sorted(parts, key=lambda part: part[0]))


def _pieces(text: str, parts: Iterable[tuple[int, int, list[str]]]) -> Iterator[str]:
    at = 0
    for start, end, new in parts:
        yield text[at:start]
        yield from new
        at = end
    yield text[at:]


def replace_items(
    text: str,
    items: ItemList,
    new_texts: Sequence[str | None],
    added: Sequence[Any] = (),
    results: Sequence[Any] | None = None,
) -> str:
    """Do as `join_items` with a whole text, and return one text."""
    return "".join(join_items(OuterList(text, items), new_texts, added, results))


def _flow_items(chunks: tuple[Chunk, ...], new_texts: Sequence[str | None]) -> list[_Edit]:
    edits: list[_Edit] = []
    kept = False
    for index, (chunk, new) in enumerate(zip(chunks, new_texts, strict=True)):
        if new is not None:
            kept = True
            edits.append((chunk.start, chunk.end, new))
        elif kept:
            edits.append((chunks[index - 1].end, chunk.end, ""))
        else:
            edits.append((chunk.start, chunks[index + 1].start, ""))
    return edits


def _block_item(old: str, new: str | None) -> str:
    """Return the text that replaces an item of a block list."""
    if new is None:
        return old[_body_end(old) :]
    ended = old.endswith("\n") and not new.endswith("\n")
    return new + offsets.newline_at(old, len(old)) if ended else new


def _body_end(item: str) -> int:
    """Return where the lines of an item end, without comments and blank lines below it if it can be parsed alone.

    A literal includes the blank lines below it, also those that were there before the item.
    """
    try:
        node = parse(item).node
    except YamlError:
        return len(item)
    end = len(item) if node is None else offsets.line_end(item, offsets.leaf_end(item, node))
    while end and not item[(above := offsets.line_start(item, end - 1)) : end].strip(" \r\n"):
        end = above
    return end


def _results(text: str, items: ItemList, results: list[Any]) -> list[_Edit]:
    if items.results_span is not None:
        if items.results is not None and _equal(items.results.of(text), results):
            return []
        return [(*items.results_span, _value(text, items, items.results_span, results))]
    if items.root_style == "flow":
        return [(items.tail, items.tail, f', "results": {writer.flow(results)}')]
    return [_lines(text, items.end, items.indent_root, {"results": results})]


def _equal(text: str, results: list[Any]) -> bool:
    try:
        document = parse(text)
    except YamlError:
        return False
    value = document.value if document.item is None else [document.value]
    return same(value, results)


def _value(text: str, items: ItemList, span: tuple[int, int], value: list[Any]) -> str:
    """Write a list as the value of a top-level key, in place of `span`."""
    if items.root_style == "flow":
        return " " + writer.flow(value)
    literal = offsets.alone_behind(text, span[1]) and span[1] < len(text)
    return writer.behind(value, items.indent_root, writer.Style(offsets.newline_at(text, span[0]), literal=literal))


def _lines(text: str, at: int, column: int, value: Any) -> _Edit:
    """Insert whole lines at `at`, the start of a line or the end of a text whose last line is not ended."""
    newline = offsets.newline_at(text, at)
    ended = text[at - 1 : at] == "\n"
    body = " " * column + writer.block(value, column, writer.Style(newline, literal=ended))
    return (at, at, body + newline if ended else newline + body)
