"""An event of a cluster, of either version of the API, and those about an object.

Source: docs/facts/pod-status.md#events.

Rule of this file: nothing but what a message needs is kept, on one line and cut; an event without an object is none.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.model.lookup import mapping
from krm_function.record import NamedTuple

LONGEST = 16_384  # characters of a message that are looked at; the API server takes 1 KiB


class Event(NamedTuple):
    """kind, namespace, name, uid: of the object it is about; uid may be "". time: as text, which sorts."""

    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    time: str


def events(objects: Iterable[Any]) -> Iterator[Event]:
    """Yield the events among some objects."""
    for value in objects:
        if not isinstance(value, dict) or value.get("kind") != "Event":
            continue
        about = mapping(value.get("involvedObject") or value.get("regarding"))
        if not about.get("name"):
            continue
        message = str(value.get("message") or value.get("note") or "")
        series = mapping(value.get("series"))
        times = (series.get("lastObservedTime"), value.get("lastTimestamp"), value.get("deprecatedLastTimestamp"))
        first = (value.get("eventTime"), mapping(value.get("metadata")).get("creationTimestamp"))
        yield Event(
            str(about.get("kind") or ""),
            str(about.get("namespace") or ""),
            str(about["name"]),
            str(about.get("uid") or ""),
            str(value.get("reason") or ""),
            " ".join(message[:LONGEST].split()),
            str(next((time for time in (*times, *first) if time), "")),
        )


def about(value: Any, all_events: Iterable[Event]) -> list[Event]:
    """Return the events about an object, the latest first; those of an earlier one of its name are none."""
    metadata = mapping(mapping(value).get("metadata"))
    names = (value.get("kind"), metadata.get("namespace") or "", metadata.get("name"))
    uid = metadata.get("uid")
    chosen = [
        one
        for one in all_events
        if (one.kind, one.namespace or names[1], one.name) == names and (not uid or not one.uid or one.uid == uid)
    ]
    return sorted(chosen, key=lambda one: one.time, reverse=True)
