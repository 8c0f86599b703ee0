"""Cut a stream into documents, and a list into its items: exact slices."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from sys import intern
from typing import Any, Literal

from krm_function.record import NamedTuple
from krm_function.text import edit_text as offsets
from krm_function.text.anchors import crosses, has_alias, inline
from krm_function.text.chunks import NOWHERE, Chunk, ItemList, NodeReader
from krm_function.text.errors import LIMITS, Limits, YamlError, of_template
from krm_function.text.libyaml import (
    AliasEvent,
    CParser,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.text.parse import Event, check_separators, located, open_events

# --- Fast path: validate a slice with libyaml without materialising events; the event parser reads unclear slices
#
# Rule: libyaml has to confirm everything that is assumed about a slice.
#
# - libyaml accepts a piece only if no quote or bracket is open at its end. So the next piece begins where it seems to.
# - The lines of a literal (`key: |`) do not matter if they are indented like the first. libyaml gets one line instead.
#   Inside quotes and brackets it would refuse that line; so if it accepts it, the lines are a literal or a part of one.
# - A header is read from plain first lines if no later line can be a second one.
# - Patterns are possessive throughout: the time for a text is proportional to its length, whatever its content. Each is
#   compiled where it is used, because a small input uses none.
# - Depth is bounded by counting, before libyaml reads the text: a column opens at most two collections (a map, and a
#   list in the same column), and so does a bracket (a list, and a pair in it). Columns are those where a line begins,
#   or continues after a dash.


_BREAKS = ("\r", "\x85", "\u2028", "\u2029", "\ufeff", "\n%", "\n...")  # libyaml's own line ends, directives, ends
_LITERAL = r"(?m)^( *+)([A-Za-z0-9._/-]++): \|[+-]?\n(\1 ++)(?=[^\s])[^\n]*+\n(?:\3[^\n]*+\n|\n)*+"
# `\z` is an error inside double quotes, text after `'` inside single quotes, `|` inside brackets
_STAND_IN = r"\1\2: |" + "\n" + r"\3\\z' " + '"\n'
_ODD = bytes(set(range(32)) - {9, 10} | {127})  # characters that YAML does not allow
_COLUMNS, _BRACKETS = 24, 20
_DEEP = "\n" + " " * _COLUMNS
_BEGIN = r"(?:\A|\n)( *+)([-?][ \t]++)?"
_NESTED = r"\n *+[-?][ \t]++[-?][ \t]"  # several collections begin in one line
_BATCH = 256 * 1024  # characters that libyaml reads at once


class Header:
    """Reads apiVersion, kind and name from the first lines of a piece: at `margin`, after `opening` (a pattern)."""

    def __init__(self, opening: str, margin: str) -> None:
        second = r"\3(?:name\b|[\"'?&!*<])"
        self.first = re.compile(
            opening + r"apiVersion: ([A-Za-z][A-Za-z0-9./-]*+)\n"
            rf"{margin}kind: ([A-Za-z]++)\n{margin}metadata:\n(?=({margin} ++))"
            # the lines above the name
            r"(?:\3(?!name:)[A-Za-z]++:(?: [A-Za-z0-9][A-Za-z0-9./-]*+)?\n(?:\3 ++[^\n\"'\[{&*|>]*+\n)*+)*+"
            r"\3name: ([A-Za-z0-9][A-Za-z0-9.-]*+)\n"
            rf"(?=\3[^ \n]|{margin}[^ \n]|\Z)"  # the name does not continue in the next line
            rf"(?:(?!{second})(?:{margin} [^\n]*+| *+(?:#[^\n]*+)?)\n)*+(?!{second})"  # no second name
        )
        self.again = re.compile(rf"\n{margin}(?:[^ \nA-Za-z#]|(?:apiVersion|kind|metadata|items)\b)")

    def read(self, piece: str, short: str) -> tuple[str, str, str] | None:
        """Return apiVersion, kind and name; None if the patterns cannot tell."""
        match = self.first.match(piece)
        if match is None or self.again.search(short, match.end(4)):
            return None
        return intern(match[1]), intern(match[2]), match[4]


def header_of_item(column: int) -> Header:
    """Make the header pattern of a list item whose dash is in a column."""
    margin = " " * (column + 2)
    return Header(rf"{' ' * column}- (?:#[^\n]*\n{margin})*", margin)


def eligible(text: str, limits: Limits) -> bool:
    """Tell whether the fast path fits a text: the limits allow `may_be_too_deep`, and lines end in line feeds."""
    fits = len(text) <= limits.bytes and limits.depth >= 2 * (_COLUMNS + 2 + _BRACKETS)
    return fits and not any(mark in text for mark in _BREAKS)


def validated(
    text: str,
    edges: Iterable[tuple[int, int]],
    line: int,
    header: Header,
    by_events: Callable[[str], Chunk],
    aliases: int,
) -> Iterator[Chunk]:
    """Yield the chunks between consecutive edges, each confirmed as one. Raises YAMLError and ValueError.

    line: of the first edge. by_events: reads one piece with the event parser. aliases: the limit for a piece.
    """
    batch = Batch()
    for start, end in edges:
        piece = text[start:end]
        short = without_literals(piece)
        plain = not may_be_too_deep(short) and short.count("*") <= aliases
        head = header.read(piece, short) if plain else None
        if head is None:
            yield by_events(piece)._replace(start=start, end=end, line=line)
        else:
            batch.take(short)
            yield Chunk(start, end, line, *head, is_map=True)
        line += piece.count("\n")
    batch.finish()


def without_literals(piece: str) -> str:
    """Replace each literal of a text by one line."""
    if ": |" not in piece or not piece.isascii():
        return piece
    odd = len(piece.encode().translate(None, _ODD)) < len(piece)
    return piece if odd else re.sub(_LITERAL, _STAND_IN, piece)


def may_be_too_deep(short: str) -> bool:
    """Tell whether a text without literals may be nested deeper than allowed."""
    if short.count("[") + short.count("{") > _BRACKETS or re.search(_NESTED, short):
        return True
    return _DEEP in short and len(_columns(short)) > _COLUMNS


def _columns(short: str) -> set[int]:
    begins = set(re.findall(_BEGIN, short))
    return {len(spaces) for spaces, _ in begins} | {len(spaces) + len(dash) for spaces, dash in begins}


class Batch:
    """Validates pieces with libyaml, many at once. Each must be able to follow the previous one."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def take(self, short: str) -> None:
        """Add a piece without literals that is not too deep. Raises YAMLError for it or an earlier piece."""
        self._pieces.append(short)
        self._size += len(short)
        if self._size > _BATCH:
            self.finish()

    def finish(self) -> None:
        """Validate the remaining pieces. Raises YAMLError."""
        CParser("".join(self._pieces)).raw_parse()
        self._pieces, self._size = [], 0


# --- Fast path: split a block list without materialising every event; None if only the events can tell
#
# Rule: the parser reads the text with its first and its last item. The part between is a separate list that begins in
# the same column, of items that libyaml accepts one by one; so it is valid there (see `validated`).


_ITEMS = r"(?:\A|\n)items:\n(?=( *)- )"
_ROOT = r"\n[^ \n#-]"  # the key after the items
_FEW = 4  # with fewer items, reading all events is faster


def cut_items(text: str, limits: Limits, by_events: Callable[[str], ItemList | None]) -> ItemList | None:
    """Return what `by_events` returns for `text`, or None. by_events: split_items by one pass over all events."""
    if "\n---" in text or not eligible(text, limits):
        return None
    start_of_items = re.search(_ITEMS, text)
    if start_of_items is None or has_alias(text):
        return None
    column = len(start_of_items[1])

    def item(piece: str) -> Chunk:
        alone = by_events(f"items:\n{piece}")
        if alone is None or len(alone.items) != 1 or alone.items[0].end != len(piece) + 7:
            raise ValueError("not one item")
        return alone.items[0]

    try:
        starts = list(_find_item_starts(text, start_of_items.end(), column))
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


def _find_item_starts(text: str, start: int, column: int) -> Iterator[int]:
    """Yield the offsets where items seem to begin, up to the next key of the root."""
    end = re.compile(_ROOT).search(text, start)
    stop = end.start() if end else len(text)
    dash = "\n" + " " * column + "-"
    at = start - 1
    while 0 <= at < stop:
        if text[at + len(dash) : at + len(dash) + 1] != " ":
            raise ValueError("an item that does not begin after its dash")
        yield at + 1
        at = text.find(dash, at + 1, stop)


# --- Fast path: split a stream without materialising every event; None if only the events can tell
#
# Rule: libyaml refuses a `---` at the start of a line inside quotes and brackets. In a stream that it accepts, every
# such line begins a document, and without `...` and directives no other line does.


_NO_DOCUMENT = r"(?:[ \t]*+(?:#[^\n]*+)?\n)*+[ \t]*+(?:#[^\n]*+)?"
_OPENING = r"(?:(?:#[^\n]*+)?\n)*+(?:---[ ]*+\n)?(?:(?:#[^\n]*+)?\n)*+"


def cut_stream(text: str, limits: Limits, by_events: Callable[[str], Sequence[Chunk]]) -> tuple[Chunk, ...] | None:
    """Return what `by_events` returns for `text`, or None. by_events: split_stream by one pass over all events."""
    if "\r" in text:
        return _cut_crlf_stream(text, limits, by_events)
    if not text or text[:1] == "%" or text[:3] == "..." or not eligible(text, limits):
        return None

    def document(piece: str) -> Chunk:
        (read,) = by_events(piece)
        return read

    starts = list(_find_document_starts(text))
    if len(starts) > limits.documents:
        return None
    try:
        edges = pairwise([*starts, len(text)])
        return tuple(validated(text, edges, 1, Header(_OPENING, ""), document, limits.aliases))
    except (ValueError, YAMLError):
        return None  # the parser finds what is wrong, and where


def _cut_crlf_stream(
    text: str, limits: Limits, by_events: Callable[[str], Sequence[Chunk]]
) -> tuple[Chunk, ...] | None:
    """Like `cut_stream` if each line ends in CR LF: cut the text with LF, and add a character for each earlier line."""
    plain = text.replace("\r\n", "\n")
    if "\r" in plain or len(text) - len(plain) != plain.count("\n"):
        return None
    chunks = cut_stream(plain, limits, by_events)
    if chunks is None or len(text) > limits.bytes:
        return None
    starts = [*(chunk.start + chunk.line - 1 for chunk in chunks), len(text)]
    return tuple(
        chunk._replace(start=start, end=end) for chunk, (start, end) in zip(chunks, pairwise(starts), strict=True)
    )


def _find_document_starts(text: str) -> Iterator[int]:
    """Yield the starts of documents: the first character, and each `---` after the first document."""
    first = text.find("\n---")
    if text.startswith("---") or not re.compile(_NO_DOCUMENT).fullmatch(text, 0, first + 1):
        at = first
    else:
        at = text.find("\n---", first + 1)  # comments above the first `---` belong to its document
    yield 0
    while at >= 0:
        if text[at + 4 : at + 5] in (" ", "\t", "\n", ""):
            yield at + 1
        at = text.find("\n---", at + 1)


# --- Cut a stream of documents into exact slices
#
# Rule: boundaries come from the parser, never from a search for `---`: text inside a quoted scalar could fool a search,
# which would then hide a pod. The slices concatenate to the text; a `---` belongs to the document that it opens.


LARGE = 50_000  # characters: below that, compiling the patterns of the fast path takes longer than reading all events
_NOTHING = Chunk(*NOWHERE, empty=True)


def split_stream(text: str, limits: Limits = LIMITS) -> tuple[Chunk, ...]:
    """Cut `text` into its documents; an empty text gives no chunks.

    The depth and the aliases of each document and the number of documents are bounded before anything is built. Aliases
    are not resolved here, so an alias without an anchor passes. Raises YamlError for any text that is not valid YAML
    throughout, or that Go's readers would cut elsewhere.
    """
    check_separators(text)
    chunks = None
    if len(text) > LARGE:
        chunks = cut_stream(text, limits, lambda document: split_stream_by_events(document, limits))
    return split_stream_by_events(text, limits) if chunks is None else chunks


def split_stream_by_events(text: str, limits: Limits = LIMITS) -> tuple[Chunk, ...]:
    """Like `split_stream`, by one pass over all events."""
    starts: list[tuple[int, int]] = []  # offset, line
    headers: list[Chunk] = []
    try:
        _read_documents(text, limits, starts, headers)
    except YAMLError as error:
        raise of_template(located(error, text, 1), text, 1) from None
    except YamlError as problem:
        raise of_template(problem, text, 1) from None
    if not headers:
        starts, headers = ([(0, 1)], [_NOTHING]) if text else ([], [])
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return tuple(
        _place(start, end, line, head) for (start, line), end, head in zip(starts, ends, headers, strict=False)
    )


def _read_documents(text: str, limits: Limits, starts: list[tuple[int, int]], headers: list[Chunk]) -> None:
    pull = open_events(text, limits)
    reader = NodeReader(pull, limits, 1)
    while (kind := type(event := pull())) is not StreamEndEvent:
        if kind is not DocumentStartEvent:
            continue
        mark = event.start_mark
        if len(headers) == limits.documents:
            raise YamlError(f"more than {limits.documents} documents", mark.line + 1, 1, "size")
        starts.append((mark.index, mark.line + 1) if headers else (0, 1))
        reader.aliases = 0
        headers.append(reader.header(pull(), 0))


# --- Read the root of a list document from the event stream: its relevant values, and the items with their bounds
#
# Rule: events only. Offsets are token offsets; `split_items` decides what else belongs to an item.


_KEYS = ("items", "functionConfig", "results", "apiVersion", "kind")


class ListItem(NamedTuple):
    """One item: its first event, its header, and the end of its last token."""

    event: Event
    header: Chunk
    end: int
    tidy: int  # the same, without blank lines below a block scalar


class RootValue(NamedTuple):
    """A value of the root: its first event, its header, and its span from after the colon."""

    event: Event
    header: Chunk
    span: tuple[int, int]
    items: tuple[ListItem, ...] = ()

    @property
    def scalar(self) -> str:
        """The text of a scalar, "" for any other value."""
        event: Any = self.event
        return str(event.value) if type(event) is ScalarEvent else ""


class RootMapping(NamedTuple):
    """The root mapping: first and last event, values by key, the end of its last value, a key that is not plain."""

    start: Event
    end: Event
    values: dict[str, RootValue]
    tail: int
    odd_key: tuple[int, int] | None


def read_root(text: str, reader: NodeReader, start: Event) -> RootMapping:
    """Read a root mapping whose start was pulled. Raises YamlError for a duplicate of a relevant key."""
    pull = reader.pull
    values: dict[str, RootValue] = {}
    odd_key: tuple[int, int] | None = None
    while (kind := type(key := pull())) is not MappingEndEvent:
        reader.skip(key, 1)
        name = key.value if kind is ScalarEvent else "<<"
        if name == "<<" or key.tag is not None:
            odd_key = (key.start_mark.line + 1, key.start_mark.column + 1)
        behind = offsets.after_blank(text, reader.end(text)) + 1
        event = pull()
        if name in values:
            raise reader.fail(key, f"duplicate key {name}", "duplicate")
        if name == "items" and type(event) is SequenceStartEvent:
            values[name] = _read_items(text, reader, event, behind)
        elif name in _KEYS:
            header = reader.header(event, 1)
            values[name] = RootValue(event, header, (behind, max(behind, _find_tidy_end(text, reader))))
        else:
            reader.skip(event, 1)
    return RootMapping(start, key, values, _find_tidy_end(text, reader), odd_key)


def _read_items(text: str, reader: NodeReader, start: Event, behind: int) -> RootValue:
    reader.last = start
    items = []
    event: Event = reader.pull()
    while type(event) is not SequenceEndEvent:
        header = reader.header(event, 2)
        items.append(ListItem(event, header, reader.end(text), _find_tidy_end(text, reader)))
        event = reader.pull()
    if start.flow_style:
        reader.last = event
    return RootValue(start, Chunk(*NOWHERE), (behind, _find_tidy_end(text, reader)), tuple(items))


def _find_tidy_end(text: str, reader: NodeReader) -> int:
    last: Any = reader.last
    kind = type(last)
    if kind is ScalarEvent and last.style in ("|", ">"):
        return offsets.block_scalar_end(text, last.start_mark.index, last.end_mark.index)
    return reader.end(text)


# --- Cut the `items` of a ResourceList or a List into exact slices
#
# Rule: boundaries come from the parser. The slices of a block list are whole lines from an item's `-` to the next
# item's `-`, so a comment between two items belongs to the slice above it. Comments after the last item belong to it if
# they are indented deeper than the dashes.


def split_items(text: str, limits: Limits = LIMITS) -> ItemList | None:
    """Cut the items of a list document; None for anything else.

    Anything else: not exactly one document, a root that is not a mapping, no `items`, or `items` that is neither a list
    nor null. Raises YamlError for invalid YAML, and (shape) for an `items` that is an alias or has a `?` key.
    """
    check_separators(text)
    item_list = None
    if len(text) > LARGE:
        item_list = cut_items(text, limits, lambda part: split_items_by_events(part, limits))
    return item_list or split_items_by_events(text, limits)


def split_items_by_events(text: str, limits: Limits = LIMITS) -> ItemList | None:
    """Like `split_items`, by one pass over all events."""
    reader = NodeReader(open_events(text, limits), limits, 1)
    try:
        root = _read_root(text, reader)
    except YAMLError as error:
        raise of_template(located(error, text, 1), text, 1) from None
    except YamlError as problem:
        raise of_template(problem, text, 1) from None
    if root is None or "items" not in root.values:
        return None
    value = root.values["items"]
    if type(value.event) is AliasEvent:
        raise reader.fail(value.event, "items is an alias", "shape")
    if type(value.event) is not SequenceStartEvent and not value.header.empty:
        return None
    item_list = _make_item_list(text, reader, root)
    shares = reader.aliases > 0 and crosses(text, limits, _find_edges(item_list))
    return item_list._replace(shared_anchors=shares)


def _read_root(text: str, reader: NodeReader) -> RootMapping | None:
    pull = reader.pull
    pull()
    if type(pull()) is not DocumentStartEvent or type(start := pull()) is not MappingStartEvent:
        return None
    root = read_root(text, reader, start)
    return root if type(pull()) is DocumentEndEvent and type(pull()) is StreamEndEvent else None


def _make_item_list(text: str, reader: NodeReader, root: RootMapping) -> ItemList:
    value = root.values["items"]
    style: Literal["block", "flow", "empty"]
    style = "empty" if not value.items else "flow" if value.event.flow_style else "block"
    chunks: tuple[Chunk, ...] = ()
    indent = 0
    items_at = value.span[1]
    if style == "block":
        chunks, indent = _cut_block_items(text, reader, value)
        items_at = chunks[-1].end
    elif style == "flow":
        lines = _Lines(text)
        chunks = tuple(_make_flow_item(item, lines) for item in value.items)
        items_at = chunks[-1].end
    elif type(value.event) is SequenceStartEvent:
        items_at = int(value.event.end_mark.index)  # type: ignore[union-attr]
    flow = root.start.flow_style
    texts = {name: value_of_key.scalar for name, value_of_key in root.values.items()}
    results = root.values.get("results")
    return ItemList(
        api_version=texts.get("apiVersion", ""),
        kind=texts.get("kind", ""),
        items=chunks,
        style=style,
        indent=indent,
        function_config=_make_chunk(text, root.values.get("functionConfig")),
        results=_make_chunk(text, results),
        items_at=items_at,
        items_span=value.span,
        # of a block root below its comments
        end=root.end.start_mark.index if flow else max(offsets.line_end(text, root.tail), items_at),
        root_style="flow" if flow else "block",
        shared_anchors=False,
        indent_root=root.start.start_mark.column,
        tail=root.tail,
        results_span=results.span if results else None,
        odd_key=root.odd_key,
    )


def _find_edges(item_list: ItemList) -> list[int]:
    """Return the offsets where separately parsed regions begin and end."""
    chunks = (*item_list.items, item_list.function_config, item_list.results)
    return sorted({edge for chunk in chunks if chunk is not None for edge in (chunk.start, chunk.end)})


def resolve_item_aliases(text: str, limits: Limits = LIMITS) -> str:
    """Write out the aliases of a list document that leave their item, so that each item can be parsed alone."""
    item_list = split_items(text, limits)
    if item_list is None or not item_list.shared_anchors:
        return text
    return inline(text, limits, _find_edges(item_list))


def _cut_block_items(text: str, reader: NodeReader, value: RootValue) -> tuple[tuple[Chunk, ...], int]:
    at = offsets.content_at(text, value.event.start_mark.index)
    dashes = []
    for item in value.items:
        dashes.append(at)
        at = offsets.after_blank(text, item.end)
    if not offsets.first_on_line(text, dashes[0]):
        raise reader.fail(value.event, "items after a complex key", "shape")
    indent = offsets.column_of(text, dashes[0])
    starts = [dash - indent for dash in dashes]
    end = offsets.line_end(text, value.items[-1].tidy)
    ends = [*starts[1:], _find_foot_end(text, end, indent)]
    lines = _Lines(text)
    return tuple(
        _place(start, end, lines.at(start), item.header)
        for start, end, item in zip(starts, ends, value.items, strict=True)
    ), indent


def _find_foot_end(text: str, end: int, indent: int) -> int:
    """Return the end of the comments that follow the last item at `end` and are indented deeper than its dash."""
    at = end
    while at < len(text):
        next_line = offsets.line_end(text, at)
        line = text[at:next_line].strip()
        if line and (line[0] != "#" or len(text[at:next_line]) - len(text[at:next_line].lstrip(" ")) <= indent):
            break
        at = next_line
        if line:
            end = at
    return end


class _Lines:
    """Line numbers of ascending offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.line = 1

    def at(self, offset: int) -> int:
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line


def _make_flow_item(item: ListItem, lines: _Lines) -> Chunk:
    start = item.event.start_mark.index
    return _place(start, item.end, lines.at(start), item.header)


def _place(start: int, end: int, line: int, header: Chunk) -> Chunk:
    return header._replace(start=start, end=end, line=line)


def _make_chunk(text: str, value: RootValue | None) -> Chunk | None:
    if value is None:
        return None
    start, end = offsets.content_at(text, value.event.start_mark.index), value.span[1]
    if not getattr(value.event, "flow_style", True) and offsets.first_on_line(text, start):
        start, end = offsets.line_start(text, start), offsets.line_end(text, end)
    return _place(start, max(start, end), text.count("\n", 0, start) + 1, value.header)
