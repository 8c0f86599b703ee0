"""Slices of a text: documents and items, each with the identity of the object in it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from krm_function.record import NamedTuple
from krm_function.text import edit_text as offsets
from krm_function.text import writer
from krm_function.text.changes import same
from krm_function.text.errors import Limits, YamlError
from krm_function.text.libyaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent
from krm_function.text.parse import Event, Pull, parse

# --- Slices of a text
#
# Rule: a slice has only its offsets and the fields that identify its object.


class Chunk(NamedTuple):
    """A slice of a text that holds one document, one list item or one value.

    `api_version`, `kind` and `name` (of `metadata.name`) are the scalars as written; "" means absent. `certain`: they
    identify the object; False if that needs `parse`, because of an alias, a tag, a merge key or a complex key at the
    top or in the metadata, or because the object has `items`. `empty`: no content, or null.
    """

    start: int
    end: int
    line: int  # of `start`, from 1
    api_version: str = ""
    kind: str = ""
    name: str = ""
    is_map: bool = False
    empty: bool = False
    certain: bool = True

    def of(self, text: str) -> str:
        """Return the text of the slice."""
        return text[self.start : self.end]

    def replaced(self, text: str, new: str) -> str:
        """Return the text with `new` instead of the slice."""
        return text[: self.start] + new + text[self.end :]


NOWHERE = (0, 0, 0)  # start, end and line of an object whose place is still unknown


# --- Read past one node of the event stream, keeping only the fields that identify an object
#
# Rule: nothing is built. Depth is bounded while the events are pulled, so that 100 000 open brackets cost no more than
# `limits.depth` brackets.


_NAMES = frozenset(("apiVersion", "kind", "metadata", "name"))


class NodeReader:
    """Reads whole nodes from a stream of events."""

    def __init__(self, pull: Pull, limits: Limits, line: int) -> None:
        self.pull = pull
        self.limits = limits
        self.line = line
        self.aliases = 0
        self.before: Event = None  # the last but one event with text of its own
        self.last: Event = None  # the last one
        self.certain = True  # of the header that is being read

    def fail(self, event: Event, message: str, code: str) -> YamlError:
        """Return the error for a place."""
        mark = event.start_mark
        return YamlError(message, self.line + mark.line, mark.column + 1, code)  # type: ignore[arg-type]

    def skip(self, event: Event, depth: int) -> None:
        """Read to the end of the node that `event` begins. `depth` counts the collections around the node."""
        pull = self.pull
        limit = self.limits.depth
        level = depth
        previous, last = self.before, self.last
        while True:
            kind = type(event)
            if kind is ScalarEvent:
                previous, last = last, event
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                level += 1
                if level > limit:
                    raise self.fail(event, f"nested deeper than {limit} levels", "depth")
                last = event
            elif kind is AliasEvent:
                self.count_alias(event)
                previous, last = last, event
            else:
                level -= 1
                if event.end_mark.index > event.start_mark.index:
                    last = event
            if level == depth:
                self.before, self.last = previous, last
                return
            event = pull()

    def end(self, text: str) -> int:
        """Return the end of the last token that was read; for an absent value (`? key`), the next token's offset."""
        if self.last is None:
            return 0
        at: int = self.last.end_mark.index
        if at > self.last.start_mark.index or text[at - 1 : at] in (":", "-") or self.before is None:
            return at
        return int(self.before.end_mark.index)

    def count_alias(self, event: Event) -> None:
        """Count one alias of the document, and refuse it beyond the limit."""
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            raise self.fail(event, f"more than {self.limits.aliases} aliases", "alias")

    def header(self, event: Event, depth: int) -> Chunk:
        """Read the node that `event` begins to its end, and return the object's identity, without a place."""
        texts: dict[str, str] = {}
        is_map = type(event) is MappingStartEvent
        self.certain = type(event) is not AliasEvent and event.tag is None
        if is_map:
            self._fields(event, depth, texts, inside="")
        else:
            self.skip(event, depth)
        scalar = type(event) is ScalarEvent
        return Chunk(
            *NOWHERE,
            texts.get("apiVersion", ""),
            texts.get("kind", ""),
            texts.get("name", ""),
            is_map,
            scalar and event.tag is None and event.implicit[0] and event.value in ("", "~", "null", "Null", "NULL"),
            self.certain,
        )

    def _fields(self, event: Event, depth: int, texts: dict[str, str], inside: str) -> None:
        """Read a mapping whose start was pulled; store the texts of identifying keys in `texts`."""
        pull = self.pull
        if depth + 1 > self.limits.depth:
            raise self.fail(event, f"nested deeper than {self.limits.depth} levels", "depth")
        self.last = event
        seen: set[str] = set()
        while True:
            key: Event = pull()
            kind = type(key)
            if kind is MappingEndEvent:
                if key.end_mark.index > key.start_mark.index:
                    self.last = key
                return
            self.skip(key, depth + 1)
            name = key.value if kind is ScalarEvent else "<<"
            if name == "<<" or key.tag is not None or (name == "items" and not inside):
                self.certain = False
            value = pull()
            if name not in _NAMES or (name == "name") != bool(inside):
                self.skip(value, depth + 1)
                continue
            if name in seen:
                raise self.fail(key, f"duplicate key {name}", "duplicate")
            seen.add(name)
            if type(value) is AliasEvent or value.tag is not None:
                self.certain = False  # only `parse` can read it
            if name == "metadata" and type(value) is MappingStartEvent:
                self._fields(value, depth + 1, texts, inside="metadata")
                continue
            if type(value) is ScalarEvent:
                texts[name] = value.value
            self.skip(value, depth + 1)


# --- A split list document: the slices of its items, and the places for new items and keys
#
# Rule: offsets only; the text stays with its owner.


class ItemList(NamedTuple):
    """A split document with top-level `items`. Offsets count characters of the text."""

    api_version: str
    kind: str
    items: tuple[Chunk, ...]
    style: Literal["block", "flow", "empty"]
    indent: int  # column of the dashes; 0 unless block
    function_config: Chunk | None  # the value: whole lines when it is a block, else exactly the value
    results: Chunk | None  # likewise
    items_at: int  # where a new item goes: after the last item; of an empty flow list, after its bracket
    items_span: tuple[int, int]  # the value of `items`, from after its colon
    end: int  # where a new top-level key goes: below the last line of a block root; the closing brace of a flow root
    root_style: Literal["block", "flow"]
    shared_anchors: bool  # an alias is in another item than its anchor: see resolve_item_aliases
    indent_root: int  # column of the top-level keys
    tail: int  # where the last value of the root ends
    results_span: tuple[int, int] | None  # the value of `results`, from after its colon
    odd_key: tuple[int, int] | None = None  # line and column of a root key that only `parse` can read, as items may be

    def spread(self, by: int, lines: int) -> "ItemList":
        """Shift everything after the first of two items by some characters and lines, which may be negative."""
        first, last = self.items
        behind = first.end

        def at(offset: int) -> int:
            return offset + by if offset > behind else offset

        def value(chunk: Chunk | None) -> Chunk | None:
            return chunk if chunk is None or chunk.start < behind else moved(chunk)

        def moved(chunk: Chunk) -> Chunk:
            return chunk._replace(start=chunk.start + by, end=chunk.end + by, line=chunk.line + lines)

        return self._replace(
            items=(first, moved(last)),
            function_config=value(self.function_config),
            results=value(self.results),
            items_at=at(self.items_at),
            items_span=(at(self.items_span[0]), at(self.items_span[1])),
            end=at(self.end),
            tail=at(self.tail),
            results_span=(at(self.results_span[0]), at(self.results_span[1])) if self.results_span else None,
        )


# --- Separate a list document from its items, and join it again with edited ones
#
# Rule: unchanged parts stay; without changes the text is returned byte for byte. New items and `results` follow the
# style of the list: block text at the column of its dashes, or JSON inside its brackets.


_Edit = tuple[int, int, str]
_ENDS = 2  # items that stay in the text, because the edits around the list depend on how they begin and end


class OuterList(NamedTuple):
    """A list document without its items, except the first and the last, if it is a block list.

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
    new value of the top-level key `results`; None keeps the key unchanged. The caller must ensure that each of
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
            edits.append((*items.items_span, _write_value(text, items, items.items_span, list(added))))
    elif items.style == "flow":
        edits += _edit_flow_items(items.items, new_texts)
        edits += [(items.items_at, items.items_at, ", " + writer.flow(value)) for value in added]
    else:
        outer = (new_texts[0], new_texts[-1]) if inner else new_texts
        replaced = zip(items.items, outer, strict=True)
        edits += [(chunk.start, chunk.end, _fit_block_item(chunk.of(text), new)) for chunk, new in replaced]
        if added:
            edits.append(_insert_lines(text, items.items_at, items.indent, list(added)))
    if results is not None:
        edits += _edit_results(text, items, list(results))
    parts: list[tuple[int, int, list[str]]] = [(start, end, [new]) for start, end, new in edits]
    if inner:
        at = items.items[0].end
        parts.insert(0, (at, at, [_fit_block_item(*pair) for pair in zip(inner, new_texts[1:-1], strict=True)]))
    return _join_pieces(text, sorted(parts, key=lambda part: part[0]))


def _join_pieces(text: str, parts: Iterable[tuple[int, int, list[str]]]) -> Iterator[str]:
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
    """Like `join_items`, with a whole text and one text as the result."""
    return "".join(join_items(OuterList(text, items), new_texts, added, results))


def _edit_flow_items(chunks: tuple[Chunk, ...], new_texts: Sequence[str | None]) -> list[_Edit]:
    edits: list[_Edit] = []
    has_item = False
    for index, (chunk, new) in enumerate(zip(chunks, new_texts, strict=True)):
        if new is not None:
            has_item = True
            edits.append((chunk.start, chunk.end, new))
        elif has_item:
            edits.append((chunks[index - 1].end, chunk.end, ""))
        else:
            edits.append((chunk.start, chunks[index + 1].start, ""))
    return edits


def _fit_block_item(old: str, new: str | None) -> str:
    if new is None:
        return old[_find_body_end(old) :]
    ended = old.endswith("\n") and not new.endswith("\n")
    return new + offsets.newline_at(old, len(old)) if ended else new


def _find_body_end(item: str) -> int:
    """Return where the lines of an item end, without comments and blank lines below it if it can be parsed alone.

    A literal includes the blank lines below it, also those that were there before the edit.
    """
    try:
        node = parse(item).node
    except YamlError:
        return len(item)
    end = len(item) if node is None else offsets.line_end(item, offsets.leaf_end(item, node))
    while end and not item[(above := offsets.line_start(item, end - 1)) : end].strip(" \r\n"):
        end = above
    return end


def _edit_results(text: str, items: ItemList, results: list[Any]) -> list[_Edit]:
    if items.results_span is not None:
        if items.results is not None and _is_equal(items.results.of(text), results):
            return []
        return [(*items.results_span, _write_value(text, items, items.results_span, results))]
    if items.root_style == "flow":
        return [(items.tail, items.tail, f', "results": {writer.flow(results)}')]
    return [_insert_lines(text, items.end, items.indent_root, {"results": results})]


def _is_equal(text: str, results: list[Any]) -> bool:
    try:
        document = parse(text)
    except YamlError:
        return False
    value = document.value if document.item is None else [document.value]
    return same(value, results)


def _write_value(text: str, items: ItemList, span: tuple[int, int], value: list[Any]) -> str:
    """Write a list as the value of a top-level key, replacing `span`."""
    if items.root_style == "flow":
        return " " + writer.flow(value)
    literal = offsets.alone_behind(text, span[1]) and span[1] < len(text)
    return writer.behind(value, items.indent_root, writer.Style(offsets.newline_at(text, span[0]), literal=literal))


def _insert_lines(text: str, at: int, column: int, value: Any) -> _Edit:
    """Insert whole lines at `at`, the start of a line or the end of a text whose last line has no line end."""
    newline = offsets.newline_at(text, at)
    ended = text[at - 1 : at] == "\n"
    body = " " * column + writer.block(value, column, writer.Style(newline, literal=ended))
    return (at, at, body + newline if ended else newline + body)
