"""Read the root of a list document from the event stream: its interesting values, and the items with their bounds.

Rule of this file: events only. Offsets are those of tokens; `items` decides what else belongs to an item.
"""

from typing import Any

from krm_function.libyaml import MappingEndEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent
from krm_function.record import NamedTuple
from krm_function.yamltext import offsets
from krm_function.yamltext.events import Event
from krm_function.yamltext.split.header import NodeReader, ObjectHeader

_KEYS = ("items", "functionConfig", "results", "apiVersion", "kind")


class ListItem(NamedTuple):
    """One item: its first event, its header, and where its last token ends."""

    event: Event
    header: ObjectHeader
    end: int
    tidy: int  # the same, blank lines below a block scalar left out


class RootValue(NamedTuple):
    """A value of the root: its first event, its header, and its span from behind the colon."""

    event: Event
    header: ObjectHeader
    span: tuple[int, int]
    items: tuple[ListItem, ...] = ()

    @property
    def scalar(self) -> str:
        """The text of a scalar, "" for any other value."""
        event: Any = self.event
        return str(event.value) if type(event) is ScalarEvent else ""


class RootMapping(NamedTuple):
    """The root mapping: first and last event, values by key, where its last value ends, a key that is not plain."""

    start: Event
    end: Event
    values: dict[str, RootValue]
    tail: int
    odd_key: tuple[int, int] | None


def read_root(text: str, reader: NodeReader, start: Event) -> RootMapping:
    """Read a root mapping whose start was pulled. Raises YamlError for a second key of those that matter."""
    pull = reader.pull
    found: dict[str, RootValue] = {}
    odd_key: tuple[int, int] | None = None
    while (kind := type(key := pull())) is not MappingEndEvent:
        reader.skip(key, 1)
        name = key.value if kind is ScalarEvent else "<<"
        if name == "<<" or key.tag is not None:
            odd_key = (key.start_mark.line + 1, key.start_mark.column + 1)
        behind = offsets.after_blank(text, reader.end(text)) + 1
        event = pull()
        if name in found:
            raise reader.fail(key, f"duplicate key {name}", "duplicate")
        if name == "items" and type(event) is SequenceStartEvent:
            found[name] = _read_items(text, reader, event, behind)
        elif name in _KEYS:
            header = reader.header(event, 1)
            found[name] = RootValue(event, header, (behind, max(behind, _tidy(text, reader))))
        else:
            reader.skip(event, 1)
    return RootMapping(start, key, found, _tidy(text, reader), odd_key)


def _read_items(text: str, reader: NodeReader, start: Event, behind: int) -> RootValue:
    reader.last = start
    items = []
    event: Event = reader.pull()
    while not _ends(event):
        header = reader.header(event, 2)
        items.append(ListItem(event, header, reader.end(text), _tidy(text, reader)))
        event = reader.pull()
    if start.flow_style:
        reader.last = event
    header = ObjectHeader("", "", "", is_map=False, empty=False)
    return RootValue(start, header, (behind, _tidy(text, reader)), tuple(items))


def _ends(event: Event) -> bool:
    return type(event) is SequenceEndEvent


def _tidy(text: str, reader: NodeReader) -> int:
    last: Any = reader.last
    kind = type(last)
    if kind is ScalarEvent and last.style in ("|", ">"):
        return offsets.block_scalar_end(text, last.start_mark.index, last.end_mark.index)
    return reader.end(text)
