"""Put a list document together again from edited items.

Rule of this file: what did not change is not touched; with nothing changed the text comes back byte for byte. New items
and `results` follow the style of the list: block text at the column of its dashes, or JSON inside its brackets.
"""

from collections.abc import Sequence
from typing import Any

from krm_function.yamltext import layout, writer
from krm_function.yamltext.changes import same
from krm_function.yamltext.chunk import Chunk
from krm_function.yamltext.document import parse
from krm_function.yamltext.errors import YamlError
from krm_function.yamltext.listed import ItemList

_Edit = tuple[int, int, str]


def replace_items(
    text: str,
    items: ItemList,
    new_texts: Sequence[str | None],
    added: Sequence[Any] = (),
    results: Sequence[Any] | None = None,
) -> str:
    """Return `text` with each item's chunk replaced by `new_texts[i]` (None: the item goes, comments below it stay).

    `added`: plain values, new items at the end. `results`: the new value of the top-level key `results`; None leaves
    the key as it is. The caller answers for `new_texts`: each must be one item in the place of the old one.
    """
    if len(new_texts) != len(items.items):
        raise ValueError(f"{len(new_texts)} texts for {len(items.items)} items")
    edits: list[_Edit] = []
    if all(new is None for new in new_texts):
        if items.items or added:
            edits.append((*items.items_span, _value(text, items, items.items_span, list(added))))
    elif items.style == "flow":
        edits += _flow_items(items.items, new_texts)
        edits += [(items.items_at, items.items_at, ", " + writer.flow(value)) for value in added]
    else:
        edits += _block_items(text, items.items, new_texts)
        if added:
            edits.append(_lines(text, items.items_at, items.indent, list(added)))
    if results is not None:
        edits += _results(text, items, list(results))
    out: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        out += (text[at:start], new)
        at = end
    out.append(text[at:])
    return "".join(out)


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


def _block_items(text: str, chunks: tuple[Chunk, ...], new_texts: Sequence[str | None]) -> list[_Edit]:
    edits: list[_Edit] = []
    for chunk, new in zip(chunks, new_texts, strict=True):
        if new is None:
            edits.append((chunk.start, _body_end(text, chunk), ""))
            continue
        ended = chunk.end > chunk.start and text[chunk.end - 1] == "\n"
        edits.append(
            (chunk.start, chunk.end, new + layout.newline_at(text, chunk.end) if ended and new[-1:] != "\n" else new)
        )
    return edits


def _body_end(text: str, chunk: Chunk) -> int:
    """Where the lines of an item end, the comments below it left out if it can be read alone."""
    body = chunk.of(text)
    try:
        node = parse(body).node
    except YamlError:
        return chunk.end
    return chunk.end if node is None else chunk.start + layout.line_end(body, layout.leaf_end(body, node))


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
    """The text of a list behind the colon of a top-level key, where `span` stood."""
    if items.root_style == "flow":
        return " " + writer.flow(value)
    literal = layout.alone_behind(text, span[1]) and span[1] < len(text)
    return writer.behind(value, items.indent_root, writer.Style(layout.newline_at(text, span[0]), literal=literal))


def _lines(text: str, at: int, column: int, value: Any) -> _Edit:
    """An insertion of whole lines at `at`, the start of a line or the end of a text whose last line is not ended."""
    newline = layout.newline_at(text, at)
    ended = text[at - 1 : at] == "\n"
    body = " " * column + writer.block(value, column, writer.Style(newline, literal=ended))
    return (at, at, body + newline if ended else newline + body)
