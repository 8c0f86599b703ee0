"""Cut the `items` of a ResourceList or a List into exact slices.

Rule of this file: boundaries come from the parser. The slices of a block list are whole lines from an item's `-` to the
next item's `-`, so a comment between two items belongs to the slice above it, and what follows the last item belongs to
it as long as it is indented deeper than the dashes.
"""

from typing import Any, Literal, NamedTuple

from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from krm_function.yamltext import layout
from krm_function.yamltext.aliases import crosses, inline
from krm_function.yamltext.errors import LIMITS, Limits
from krm_function.yamltext.events import Event, open_events
from krm_function.yamltext.header import Header, Reader
from krm_function.yamltext.stream import Chunk


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


class _Value(NamedTuple):
    """A value of the root: its first event, its header, and where it is."""

    event: Event
    header: Header
    span: tuple[int, int]
    items: "tuple[_Item, ...]" = ()


class _Item(NamedTuple):
    event: Event
    header: Header
    end: int  # of its last token
    tidy: int  # the same, blank lines below a block scalar left out


def split_items(text: str, limits: Limits = LIMITS) -> ItemList | None:
    """Cut the items of a list document; None for anything else.

    Anything else: not exactly one document, a root that is no mapping, no `items`, or `items` that is neither a list nor
    null. Raises YamlError for invalid YAML, and (shape) for an `items` that is an alias or stands behind a `?` key.
    """
    pull = open_events(text, limits)
    reader = Reader(pull, limits, 1)
    pull()
    if type(pull()) is not DocumentStartEvent or type(root := pull()) is not MappingStartEvent:
        return None
    found: dict[str, _Value] = {}
    while type(key := pull()) is not MappingEndEvent:
        reader.skip(key, 1)
        name = key.value if type(key) is ScalarEvent else ""
        behind = layout.after_blank(text, reader.end(text)) + 1
        event = pull()
        if name in found:
            raise reader.fail(key, f"duplicate key {name}", "duplicate")
        if name == "items" and type(event) is SequenceStartEvent:
            items = _read_items(text, reader)
            found[name] = _Value(event, _of(event, reader), (behind, _tidy(text, reader)), items)
        elif name in ("items", "functionConfig", "results", "apiVersion", "kind"):
            header = reader.header(event, 1)
            found[name] = _Value(event, header, (behind, max(behind, _tidy(text, reader))))
        else:
            reader.skip(event, 1)
    tail = _tidy(text, reader)
    if type(pull()) is not DocumentEndEvent or type(pull()) is not StreamEndEvent or "items" not in found:
        return None
    value = found["items"]
    if type(value.event) is AliasEvent:
        raise reader.fail(value.event, "items is an alias", "shape")
    if type(value.event) is not SequenceStartEvent and not value.header.empty:
        return None
    return _list(text, limits, reader, root, key, found, tail)


def _list(
    text: str, limits: Limits, reader: Reader, root: Event, end: Event, found: dict[str, _Value], tail: int
) -> ItemList:
    value = found["items"]
    style: Literal["block", "flow", "empty"]
    style = "empty" if not value.items else "flow" if value.event.flow_style else "block"
    chunks: tuple[Chunk, ...] = ()
    indent = 0
    items_at = value.span[1]
    if style == "block":
        chunks, indent = _block_items(text, reader, value)
        items_at = chunks[-1].end
    elif style == "flow":
        line = _Lines(text)
        chunks = tuple(_flow_item(item, line) for item in value.items)
        items_at = chunks[-1].end
    elif type(value.event) is SequenceStartEvent:
        items_at = value.event.end_mark.index
    root_style: Literal["block", "flow"] = "flow" if root.flow_style else "block"
    config = _chunk(text, found.get("functionConfig"))
    results = _chunk(text, found.get("results"))
    edges = {edge for chunk in (*chunks, config, results) if chunk is not None for edge in (chunk.start, chunk.end)}
    return ItemList(
        _scalar(found.get("apiVersion")),
        _scalar(found.get("kind")),
        chunks,
        style,
        indent,
        config,
        results,
        items_at,
        value.span,
        end.start_mark.index if root.flow_style else layout.line_end(text, tail),
        root_style,
        bool(reader.aliases) and crosses(text, limits, sorted(edges)),
        root.start_mark.column,
        tail,
        found["results"].span if "results" in found else None,
    )


def resolve_item_aliases(text: str, limits: Limits = LIMITS) -> str:
    """Write out the aliases of a list document that leave their item, so that each item can be parsed alone."""
    listing = split_items(text, limits)
    if listing is None or not listing.shared_anchors:
        return text
    chunks = (*listing.items, listing.function_config, listing.results)
    return inline(
        text, limits, sorted({edge for chunk in chunks if chunk is not None for edge in (chunk.start, chunk.end)})
    )


def _read_items(text: str, reader: Reader) -> tuple[_Item, ...]:
    items = []
    while type(event := reader.pull()) is not SequenceEndEvent:
        header = reader.header(event, 2)
        items.append(_Item(event, header, reader.end(text), _tidy(text, reader)))
    if event.end_mark.index > event.start_mark.index:
        reader.last = event
    return tuple(items)


def _of(event: Event, reader: Reader) -> Header:
    if not reader.last or reader.last.start_mark.index < event.start_mark.index:
        reader.last = event
    return Header("", "", "", is_map=False, empty=False, aliases=0)


def _tidy(text: str, reader: Reader) -> int:
    last = reader.last
    if type(last) is ScalarEvent and last.style in ("|", ">"):
        return layout.block_scalar_end(text, last.start_mark.index, last.end_mark.index)
    return reader.end(text)


def _block_items(text: str, reader: Reader, value: _Value) -> tuple[tuple[Chunk, ...], int]:
    at = layout.content_at(text, value.event.start_mark.index)
    dashes = []
    for item in value.items:
        dashes.append(at)
        at = layout.after_blank(text, item.end)
    if not layout.first_on_line(text, dashes[0]):
        raise reader.fail(value.event, "items behind a complex key", "shape")
    indent = layout.column(text, dashes[0])
    starts = [dash - indent for dash in dashes]
    end = layout.line_end(text, value.items[-1].tidy)
    ends = [*starts[1:], _foot(text, end, indent)]
    lines = _Lines(text)
    return tuple(
        _named(start, end, lines.at(start), item.header)
        for start, end, item in zip(starts, ends, value.items, strict=True)
    ), indent


def _foot(text: str, end: int, indent: int) -> int:
    """Where the comments end that follow the last item at `end` and are indented deeper than its dash."""
    at = end
    while at < len(text):
        after = layout.line_end(text, at)
        line = text[at:after].strip()
        if line and (line[0] != "#" or len(text[at:after]) - len(text[at:after].lstrip(" ")) <= indent):
            break
        at = after
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


def _flow_item(item: _Item, lines: _Lines) -> Chunk:
    start = item.event.start_mark.index
    return _named(start, item.end, lines.at(start), item.header)


def _named(start: int, end: int, line: int, header: Header) -> Chunk:
    return Chunk(start, end, line, header.api_version, header.kind, header.name, header.is_map, header.empty)


def _chunk(text: str, value: _Value | None) -> Chunk | None:
    if value is None:
        return None
    start, end = layout.content_at(text, value.event.start_mark.index), value.span[1]
    if not getattr(value.event, "flow_style", True) and layout.first_on_line(text, start):
        start, end = layout.line_start(text, start), layout.line_end(text, end)
    return _named(start, max(start, end), text.count("\n", 0, start) + 1, value.header)


def _scalar(value: _Value | None) -> str:
    event: Any = value.event if value else None
    return str(event.value) if type(event) is ScalarEvent else ""
