"""Read a node of the event stream as plain data: only maps with plain keys, lists and scalars.

Rule of this file: any other feature (an anchor, a tag, an alias, a merge key, a duplicate key, a key that is not a
string, more depth) raises NotPlain, and the caller leaves the text to the parser. It imports no other module of this
package, so that a post-renderer without configuration can use it before the others are loaded.
"""

from __future__ import annotations

from krm_function.text.libyaml import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

TYPE_CHECKING = False  # importing typing would double what an unconfigured post-renderer imports
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Event = Any
    Pull = Callable[[], Event]
    Typed = Callable[[str], Any]  # the value of a scalar without quotes


class NotPlain(Exception):
    """A text that only the parser can read."""


def plain_value(event: Event, pull: Pull, room: int, typed: Typed) -> Any:
    """Return the value of the node that `event` begins. room: the number of collections that may still be nested."""
    kind = type(event)
    if event.anchor is not None or room <= 0 or event.tag is not None:
        raise NotPlain
    if kind is ScalarEvent:
        return event.value if event.style else typed(event.value)
    if kind is MappingStartEvent:
        return _mapping(pull, room, typed)
    if kind is SequenceStartEvent:
        return _sequence(pull, room, typed)
    raise NotPlain


def _sequence(pull: Pull, room: int, typed: Typed) -> list[Any]:
    out: list[Any] = []
    while (kind := type(item := pull())) is not SequenceEndEvent:
        if kind is ScalarEvent and item.tag is None and item.anchor is None:
            out.append(item.value if item.style else typed(item.value))
        else:
            out.append(plain_value(item, pull, room - 1, typed))
    return out


def _mapping(pull: Pull, room: int, typed: Typed) -> dict[str, Any]:
    out: dict[str, Any] = {}
    while (kind := type(key := pull())) is not MappingEndEvent:
        if kind is not ScalarEvent or key.tag is not None or key.anchor is not None:
            raise NotPlain
        name = key.value if key.style else typed(key.value)
        if name in out or name == "<<" or type(name) is not str:
            raise NotPlain
        item = pull()
        if type(item) is ScalarEvent and item.tag is None and item.anchor is None:
            out[name] = item.value if item.style else typed(item.value)
        else:
            out[name] = plain_value(item, pull, room - 1, typed)
    return out
