"""Cut the `items` of a ResourceList or a List into exact slices.

Rule of this file: boundaries come from the parser. The slices of a block list are whole lines from an item's `-` to the
next item's `-`, so a comment between two items belongs to the slice above it, and what follows the last item belongs to
it as long as it is indented deeper than the dashes.
"""

from typing import Literal

from krm_function.libyaml import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.yamltext import offsets
from krm_function.yamltext.errors import LIMITS, Limits, YamlError, of_template
from krm_function.yamltext.events import check_separators, located, open_events
from krm_function.yamltext.split.chunk import Chunk
from krm_function.yamltext.split.header import NodeReader, ObjectHeader
from krm_function.yamltext.split.item_list import ItemList
from krm_function.yamltext.split.item_reader import ListItem, RootMapping, RootValue, read_root
from krm_function.yamltext.split.stream import LARGE


def split_items(text: str, limits: Limits = LIMITS) -> ItemList | None:
    """Cut the items of a list document; None for anything else.

    Anything else: not exactly one document, a root that is no mapping, no `items`, or `items` that is neither a list
    nor null. Raises YamlError for invalid YAML, and (shape) for an `items` that is an alias or has a `?` key.
    """
    check_separators(text)
    item_list = None
    if len(text) > LARGE:
        from krm_function.yamltext.fast.items import cut

        item_list = cut(text, limits, lambda part: split_items_by_events(part, limits))
    return item_list or split_items_by_events(text, limits)


def split_items_by_events(text: str, limits: Limits = LIMITS) -> ItemList | None:
    """Do as `split_items`, by one pass over all events."""
    reader = NodeReader(open_events(text, limits), limits, 1)
    try:
        root = _read(text, reader)
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
    item_list = _list(text, reader, root)
    return item_list._replace(shared_anchors=_shares_anchors(text, limits, item_list)) if reader.aliases else item_list


def _shares_anchors(text: str, limits: Limits, item_list: ItemList) -> bool:
    from krm_function.yamltext.aliases import crosses

    return crosses(text, limits, _edges(item_list))


def _read(text: str, reader: NodeReader) -> RootMapping | None:
    """Read the root mapping of the only document; None for anything else."""
    pull = reader.pull
    pull()
    if type(pull()) is not DocumentStartEvent or type(start := pull()) is not MappingStartEvent:
        return None
    root = read_root(text, reader, start)
    return root if type(pull()) is DocumentEndEvent and type(pull()) is StreamEndEvent else None


def _list(text: str, reader: NodeReader, root: RootMapping) -> ItemList:
    value = root.values["items"]
    style: Literal["block", "flow", "empty"]
    style = "empty" if not value.items else "flow" if value.event.flow_style else "block"
    chunks: tuple[Chunk, ...] = ()
    indent = 0
    items_at = value.span[1]
    if style == "block":
        chunks, indent = _block_items(text, reader, value)
        items_at = chunks[-1].end
    elif style == "flow":
        lines = _Lines(text)
        chunks = tuple(_flow_item(item, lines) for item in value.items)
        items_at = chunks[-1].end
    elif type(value.event) is SequenceStartEvent:
        items_at = int(value.event.end_mark.index)  # type: ignore[union-attr]
    flow = root.start.flow_style
    texts = {name: found.scalar for name, found in root.values.items()}
    results = root.values.get("results")
    return ItemList(
        api_version=texts.get("apiVersion", ""),
        kind=texts.get("kind", ""),
        items=chunks,
        style=style,
        indent=indent,
        function_config=_chunk(text, root.values.get("functionConfig")),
        results=_chunk(text, results),
        items_at=items_at,
        items_span=value.span,
        end=root.end.start_mark.index if flow else max(offsets.line_end(text, root.tail), items_at),  # below a foot
        root_style="flow" if flow else "block",
        shared_anchors=False,
        indent_root=root.start.start_mark.column,
        tail=root.tail,
        results_span=results.span if results else None,
        odd_key=root.odd_key,
    )


def _edges(item_list: ItemList) -> list[int]:
    """Return the offsets where the regions begin and end that are parsed separately."""
    chunks = (*item_list.items, item_list.function_config, item_list.results)
    return sorted({edge for chunk in chunks if chunk is not None for edge in (chunk.start, chunk.end)})


def resolve_item_aliases(text: str, limits: Limits = LIMITS) -> str:
    """Write out the aliases of a list document that leave their item, so that each item can be parsed alone."""
    item_list = split_items(text, limits)
    if item_list is None or not item_list.shared_anchors:
        return text
    from krm_function.yamltext.aliases import inline

    return inline(text, limits, _edges(item_list))


def _block_items(text: str, reader: NodeReader, value: RootValue) -> tuple[tuple[Chunk, ...], int]:
    at = offsets.content_at(text, value.event.start_mark.index)
    dashes = []
    for item in value.items:
        dashes.append(at)
        at = offsets.after_blank(text, item.end)
    if not offsets.first_on_line(text, dashes[0]):
        raise reader.fail(value.event, "items behind a complex key", "shape")
    indent = offsets.column(text, dashes[0])
    starts = [dash - indent for dash in dashes]
    end = offsets.line_end(text, value.items[-1].tidy)
    ends = [*starts[1:], _foot(text, end, indent)]
    lines = _Lines(text)
    return tuple(
        _named(start, end, lines.at(start), item.header)
        for start, end, item in zip(starts, ends, value.items, strict=True)
    ), indent


def _foot(text: str, end: int, indent: int) -> int:
    """Return where the comments end that follow the last item at `end` and are indented deeper than its dash."""
    at = end
    while at < len(text):
        after = offsets.line_end(text, at)
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


def _flow_item(item: ListItem, lines: _Lines) -> Chunk:
    start = item.event.start_mark.index
    return _named(start, item.end, lines.at(start), item.header)


def _named(start: int, end: int, line: int, header: ObjectHeader) -> Chunk:
    return Chunk(start, end, line, *header)


def _chunk(text: str, value: RootValue | None) -> Chunk | None:
    if value is None:
        return None
    start, end = offsets.content_at(text, value.event.start_mark.index), value.span[1]
    if not getattr(value.event, "flow_style", True) and offsets.first_on_line(text, start):
        start, end = offsets.line_start(text, start), offsets.line_end(text, end)
    return _named(start, max(start, end), text.count("\n", 0, start) + 1, value.header)
