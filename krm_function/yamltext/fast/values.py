"""The value of a text of which nobody asks where things stand: what the proof of a splice needs.

Rule of this file: a short cut to `parse(text).value`, never another opinion. It reads maps, lists and bare scalars;
whatever else it meets (an anchor, a tag, a merge key, a duplicate, an error), it leaves the whole text to `parse`.
"""

from typing import Any

from krm_function.libyaml import (
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
from krm_function.yamltext.document import parse
from krm_function.yamltext.errors import LIMITS
from krm_function.yamltext.events import Event, Pull, open_events
from krm_function.yamltext.scalars import typed


class _Rare(Exception):
    """Something that only `parse` knows how to read."""


def read_value(text: str) -> Any:
    """What `parse(text).value` is. Raises YamlError like it."""
    try:
        return _document(open_events(text, LIMITS))
    except (_Rare, YAMLError):
        return parse(text).value


def _document(pull: Pull) -> Any:
    pull()  # the start of the stream
    if type(pull()) is not DocumentStartEvent:
        raise _Rare
    first = pull()
    whole = _node(first, pull, LIMITS.depth)
    if type(pull()) is not DocumentEndEvent or type(pull()) is not StreamEndEvent:
        raise _Rare
    is_item = type(first) is SequenceStartEvent and not first.flow_style and len(whole) == 1
    return whole[0] if is_item else whole


def _node(event: Event, pull: Pull, room: int) -> Any:
    """The value of the node that `event` begins; `room`: how many collections may stand inside each other here."""
    kind = type(event)
    if event.anchor is not None or room <= 0 or event.tag is not None:
        raise _Rare
    if kind is ScalarEvent:
        return event.value if event.style else typed(event.value)
    if kind is MappingStartEvent:
        return _mapping(pull, room)
    if kind is SequenceStartEvent:
        return _sequence(pull, room)
    raise _Rare


def _sequence(pull: Pull, room: int) -> list[Any]:
    out: list[Any] = []
    while (kind := type(item := pull())) is not SequenceEndEvent:
        if kind is ScalarEvent and item.tag is None and item.anchor is None:
            out.append(item.value if item.style else typed(item.value))
        else:
            out.append(_node(item, pull, room - 1))
    return out


def _mapping(pull: Pull, room: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    while (kind := type(key := pull())) is not MappingEndEvent:
        if kind is not ScalarEvent or key.tag is not None or key.anchor is not None:
            raise _Rare
        name = key.value if key.style else typed(key.value)
        if name in out or name == "<<" or type(name) is not str:
            raise _Rare
        item = pull()
        if type(item) is ScalarEvent and item.tag is None and item.anchor is None:
            out[name] = item.value if item.style else typed(item.value)
        else:
            out[name] = _node(item, pull, room - 1)
    return out
