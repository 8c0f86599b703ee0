"""Write out the aliases whose anchor stands in another region of the text.

Rule of this file: a region (a document of a stream, an item of a list) must be readable alone. An alias that leaves its
region becomes the JSON of what it stands for; every other byte stays. Helm 4 sends streams with such aliases: it splits
a List into documents and leaves anchors and aliases as they were.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from krm_function.libyaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.yamltext.builder import Builder
from krm_function.yamltext.errors import LIMITS, Limits, YamlError
from krm_function.yamltext.events import Event, located, open_events
from krm_function.yamltext.nodes import Node
from krm_function.yamltext.writer import flow, flow_key


class _Recorder(Builder):
    """A builder that collects the alias nodes in `found`."""

    found: list[Node]

    def alias(self, event: Event, depth: int) -> Node:
        node = super().alias(event, depth)
        self.found.append(node)
        return node


def has_alias(text: str) -> bool:
    """Tell whether a text may have an alias, by libyaml's rule for names."""
    return "*" in text and re.search(r"\*[A-Za-z0-9_-]", text) is not None


def resolve_foreign_aliases(text: str, limits: Limits = LIMITS) -> str:
    """Write out each alias of a stream whose anchor stands in an earlier document, as one line of JSON.

    The last definition before the alias wins. Raises YamlError for an alias without any anchor, and beyond the limits.
    """
    if not has_alias(text):
        return text
    starts: list[int] = []
    foreign = False
    anchors: dict[str, int] = {}
    for event in _marked(text, limits):
        kind = type(event)
        if kind is DocumentStartEvent:
            starts.append(event.start_mark.index)
        elif kind is not AliasEvent:
            anchors[event.anchor] = len(starts)
        elif anchors.get(event.anchor) != len(starts):
            foreign = True
    return inline(text, limits, starts) if foreign else text


def crosses(text: str, limits: Limits, starts: list[int]) -> bool:
    """Tell whether an alias stands in another region than its anchor; `starts`: the sorted offsets of the regions."""
    anchors: dict[str, int] = {}
    for event in _marked(text, limits):
        kind = type(event)
        region = bisect_right(starts, event.start_mark.index)
        if kind is AliasEvent and anchors.get(event.anchor) != region:
            return True
        if kind is not DocumentStartEvent:
            anchors[event.anchor] = region
    return False


def _marked(text: str, limits: Limits) -> Iterator[Event]:
    """Yield the starts of documents, anchors and aliases of a text, in order and within the limit of depth."""
    pull = open_events(text, limits)
    depth = 0
    try:
        while (kind := type(event := pull())) is not StreamEndEvent:
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                depth += 1
                if depth > limits.depth:
                    mark = event.start_mark
                    message = f"nested deeper than {limits.depth} levels"
                    raise YamlError(message, mark.line + 1, mark.column + 1, "depth")
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                depth -= 1
                continue
            if kind is DocumentStartEvent or getattr(event, "anchor", None) is not None:
                yield event
    except YAMLError as error:
        raise located(error, text, 1) from None


def inline(text: str, limits: Limits, starts: list[int]) -> str:
    """Write out each alias that stands in another region than its anchor, as one line of JSON."""
    pull = open_events(text, limits)
    builder = _Recorder(pull, limits)
    builder.found = []
    try:
        while (kind := type(pull())) is not StreamEndEvent:
            if kind is DocumentStartEvent:
                builder.expansions = 0
                builder.node(pull(), 0)
    except YAMLError as error:
        raise located(error, text, 1) from None
    return _written_out(text, limits, starts, builder.found)


def _written_out(text: str, limits: Limits, starts: list[int], found: list[Node]) -> str:
    out: list[str] = []
    at = 0
    size = len(text)
    for node in found:
        target: Any = node.parts[0]
        if bisect_right(starts, node.start) == bisect_right(starts, target.start):
            continue
        token = written(text, target)
        size += len(token)
        if size > limits.bytes:
            mark = node.mark
            raise YamlError(f"aliases expand to more than {limits.bytes} bytes", mark.line + 1, mark.column + 1, "size")
        out += (text[at : node.start], token)
        at = node.end
    return "".join(out) + text[at:]


def written(text: str, node: Node) -> str:
    """Write a node on one line, for its alias. Numbers, booleans and nulls keep their spelling (`0o17`, `on`)."""
    if node.kind == "alias":
        return written(text, node.parts[0])
    if node.kind == "seq":
        return "[" + ", ".join(written(text, item) for item in node.parts) + "]"
    if node.kind == "map" and all(name is not None for _, _, name in node.parts):
        return "{" + ", ".join(f"{flow_key(name)}: {written(text, value)}" for _, value, name in node.parts) + "}"
    if node.kind == "scalar" and not node.properties and not isinstance(node.data, str):
        return text[node.start : node.end] or "null"
    return flow(node.data)
