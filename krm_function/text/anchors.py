"""Keep an edit from changing the aliases of what it edits, and write out aliases across regions of a text."""

import re
from bisect import bisect, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.text.changes import same
from krm_function.text.edit_tree import EditedCollection, NewValue, Part, value_of
from krm_function.text.errors import LIMITS, Limits, YamlError
from krm_function.text.libyaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.text.parse import Builder, Event, Node, located, open_events
from krm_function.text.writer import flow, flow_key

# --- Keep an edit of an anchored node from changing its aliases
#
# Rule: an alias keeps the meaning that its anchor had before the edit. If the anchored node is edited, moved or
# dropped, each of its aliases is written out.


def write_out_aliases(part: Part, root: Node, text: str) -> Part:
    """Write out every alias in `part` whose anchored node was edited, moved or dropped."""
    if "*" not in text:
        return part
    while True:
        lost = _find_lost(part, root)
        changed = _replace_lost_aliases(part, lost, text) if lost else part
        if changed is part:
            return part
        part = changed


def shares_lost_anchor(part: Part, root: Node, objects: Sequence[Node]) -> bool:
    """Tell whether an alias in one of the edited `objects` refers to an anchor elsewhere that the edit removes.

    root: the tree before the edit. objects: in the order of the text.
    """
    lost = _find_lost(part, root)
    return bool(lost) and any(id(alias.parts[0]) in lost for _, alias in foreign_aliases(root, objects))


def _find_lost(part: Part, root: Node) -> set[int]:
    """Return the identities of the anchored nodes of `root` that are edited, moved or dropped in `part`."""
    unchanged: set[int] = set()
    _collect_unchanged(part, unchanged)
    return {id(node) for node in _find_anchored(root)} - unchanged


def foreign_aliases(root: Node, objects: Sequence[Node]) -> Iterator[tuple[int, Node]]:
    """Yield every alias in one of `objects` whose anchor is outside of that object, with the index of the object.

    objects: nodes of the tree `root`, in the order of the text, none within another.
    """
    starts = [node.start for node in objects]
    for alias in _find_aliases(root):
        at = bisect(starts, alias.start) - 1
        if at < 0 or alias.start >= objects[at].end:
            continue
        if not objects[at].start <= alias.parts[0].start < objects[at].end:
            yield at, alias


def _find_aliases(node: Node) -> Iterator[Node]:
    if node.kind == "alias":
        yield node
        return
    for part in node.parts:
        for child in part[:2] if node.kind == "map" else (part,):
            if child.parts:
                yield from _find_aliases(child)


def _collect_unchanged(part: Part, unchanged: set[int]) -> None:
    """Collect the unchanged anchored nodes, including those whose only edit writes aliases out."""
    if isinstance(part, Node):
        unchanged.update(id(node) for node in _find_anchored(part))
    elif isinstance(part, EditedCollection):
        if part.node.anchored and same(value_of(part), part.node.data):
            unchanged.add(id(part.node))
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0:
                _collect_unchanged(part.node.parts[entry.origin][0], unchanged)
            _collect_unchanged(entry.child, unchanged)


def _find_anchored(node: Node) -> list[Node]:
    nodes = [node] if node.anchored else []
    if node.kind != "alias":
        for part in node.parts:
            for child in part[:2] if node.kind == "map" else (part,):
                if child.anchored or child.parts:
                    nodes += _find_anchored(child)
    return nodes


def _replace_lost_aliases(part: Part, lost: set[int], text: str) -> Part:
    if isinstance(part, NewValue):
        return part
    if isinstance(part, EditedCollection):
        for entry in part.entries:
            if part.node.kind == "map" and entry.origin >= 0 and _is_lost(part.node.parts[entry.origin][0], lost):
                return NewValue(value_of(part), "" if part.node.style == "flow" else None)
        changed = False
        for entry in part.entries:
            child = _replace_lost_aliases(entry.child, lost, text)
            changed = changed or child is not entry.child
            entry.child = child
        if changed:
            copy = EditedCollection(part.node)
            copy.entries = part.entries
            return copy
        return part
    if part.kind == "alias":
        return NewValue(part.data, written(text, part)) if _is_lost(part, lost) else part
    if not part.parts:
        return part
    edited = EditedCollection(part)
    changed_part = _replace_lost_aliases(edited, lost, text)
    return part if changed_part is edited else changed_part


def _is_lost(node: Node, lost: set[int]) -> bool:
    return node.kind == "alias" and id(node.parts[0]) in lost


# --- Write out the aliases whose anchor is in another region of the text
#
# Rule: a region (a document of a stream, an item of a list) must be readable alone. An alias that leaves its region
# becomes the JSON of its value; every other byte stays. Helm 4 sends streams with such aliases: it splits a List into
# documents and leaves anchors and aliases unchanged.


class _Recorder(Builder):
    """A builder that collects the alias nodes in `aliases`."""

    aliases: list[Node]

    def alias(self, event: Event, depth: int) -> Node:
        node = super().alias(event, depth)
        self.aliases.append(node)
        return node


def has_alias(text: str) -> bool:
    """Tell whether a text may have an alias, by libyaml's rule for names."""
    return "*" in text and re.search(r"\*[A-Za-z0-9_-]", text) is not None


def resolve_foreign_aliases(text: str, limits: Limits = LIMITS) -> str:
    """Write out each alias of a stream whose anchor is in an earlier document, as one line of JSON.

    The last definition before the alias wins. Raises YamlError for an alias without any anchor, and beyond the limits.
    """
    if not has_alias(text):
        return text
    marks = list(_read_marks(text, limits))
    starts = [event.start_mark.index for event in marks if not hasattr(event, "anchor")]
    return inline(text, limits, starts) if _cross(marks, starts) else text


def crosses(text: str, limits: Limits, starts: list[int]) -> bool:
    """Tell whether an alias is in another region than its anchor; `starts`: the sorted offsets of the regions."""
    return _cross(_read_marks(text, limits), starts)


def _cross(marks: Iterable[Event], starts: list[int]) -> bool:
    anchors: dict[str, int] = {}
    for event in marks:
        kind = type(event)
        region = bisect_right(starts, event.start_mark.index)
        if kind is AliasEvent and anchors.get(event.anchor) != region:
            return True
        if kind is not DocumentStartEvent:
            anchors[event.anchor] = region
    return False


def _read_marks(text: str, limits: Limits) -> Iterator[Event]:
    """Yield starts of documents, anchors and aliases of a text, in order. Raises YamlError beyond the depth limit."""
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
    """Write out each alias that is in another region than its anchor, as one line of JSON."""
    pull = open_events(text, limits)
    builder = _Recorder(pull, limits)
    builder.aliases = []
    try:
        while (kind := type(pull())) is not StreamEndEvent:
            if kind is DocumentStartEvent:
                builder.expansions = 0
                builder.node(pull(), 0)
    except YAMLError as error:
        raise located(error, text, 1) from None
    return _replace_foreign_aliases(text, limits, starts, builder.aliases)


def _replace_foreign_aliases(text: str, limits: Limits, starts: list[int], aliases: list[Node]) -> str:
    out: list[str] = []
    at = 0
    size = len(text)
    for node in aliases:
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
