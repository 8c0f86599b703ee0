"""Recognises streams without anything of Contrast's, by one pass over the events and before the pipeline is loaded.

Rule of this file: the answer is that of the pipeline, only earlier. `True` means that a render without configuration
would have no findings and return the same bytes; whatever is not certain is `False`, and the pipeline decides. The
tests compare both.
"""

from __future__ import annotations

from krm_function.libyaml import (
    CParser,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.model.kinds import KINDS, LOOKED_INTO
from krm_function.separators import odd_separator

TYPE_CHECKING = False  # importing typing would take as long as all that is done here
if TYPE_CHECKING:
    from typing import Any

_LARGE = 4_000_000  # bytes: above, the pipeline is not slower
_DEEP = 100  # nested collections, as in yamltext.Limits
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))  # plain, these are no strings


class _Unsure(Exception):
    """Something for the pipeline to decide."""


def passes_through(data: bytes) -> bool:
    """Whether nothing in a stream can be Contrast's and all of it can be read."""
    if not data or len(data) > _LARGE or b"contrast" in data or b"\r" in data or data.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        text = data.decode("utf-8")
        if odd_separator(text):
            return False
        pull = CParser(text).get_event
        while (kind := type(pull())) is not StreamEndEvent:
            if kind is DocumentStartEvent:
                _look_at(_value(pull(), pull, _DEEP))
    except (YAMLError, ValueError, _Unsure):
        return False
    return True


def _look_at(document: Any) -> None:
    """Refuse a document that may be Contrast's, or about which the pipeline may have findings."""
    if document == "":
        return
    if not isinstance(document, dict):
        raise _Unsure
    kind, version = document.get("kind", ""), document.get("apiVersion", "")
    if not isinstance(kind, str) or not isinstance(version, str) or kind in LOOKED_INTO or "items" in document:
        raise _Unsure
    if kind.startswith("Contrast") or version.lower().startswith("contrast"):  # configuration
        raise _Unsure
    if kind in KINDS:
        pod = document
        for part in (*KINDS[kind][1], "spec"):
            pod = pod.get(part, {})
            if not isinstance(pod, dict):
                raise _Unsure
        if "runtimeClassName" in pod:
            raise _Unsure


def _value(event: Any, pull: Any, room: int) -> Any:
    """The node that `event` begins: its texts, lists and maps. `room`: how many collections may stand inside."""
    kind = type(event)
    if kind is ScalarEvent and event.anchor is None and event.tag is None:
        return event.value
    if room <= 0 or event.anchor is not None or event.tag is not None:
        raise _Unsure
    if kind is SequenceStartEvent:
        items: list[Any] = []
        while type(item := pull()) is not SequenceEndEvent:
            items.append(_value(item, pull, room - 1))
        return items
    if kind is not MappingStartEvent:
        raise _Unsure
    pairs: dict[str, Any] = {}
    while type(key := pull()) is not MappingEndEvent:
        if type(key) is not ScalarEvent or key.anchor is not None or key.tag is not None:
            raise _Unsure
        text = key.value
        if text in pairs or text == "<<" or (not key.style and (text[:1] not in _LETTERS or text.lower() in _WORDS)):
            raise _Unsure
        pairs[text] = _value(pull(), pull, room - 1)
    return pairs
