"""Build the nodes and the plain data of one document, with positions.

Rule of this file: one pass over the events makes both the tree and the plain data. Values are what Kubernetes reads
(`scalars`), keys are strings, aliases and merge keys are expanded into copies of their own, and what Kubernetes tools
disagree about (a duplicate key, an explicit key above a merge key that also has it) is an error.
"""

from typing import Any, Literal

from krm_function.libyaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from krm_function.yamltext.changes import same
from krm_function.yamltext.errors import Code, Limits, YamlError
from krm_function.yamltext.events import Event, Pull
from krm_function.yamltext.nodes import Node, aliases_in
from krm_function.yamltext.scalar_types import key_text, tagged, typed

_TAG = "tag:yaml.org,2002:"
_made = tuple.__new__  # makes a Node of all its fields in a fifth of its constructor's time
_COPIES = 1000  # values that one allowed alias may copy on average


class Builder:
    """Builds nodes off a stream of events. Anchors outlive a document."""

    def __init__(self, pull: Pull, limits: Limits, line: int = 1) -> None:
        """`line` is the line number of the start of the text."""
        self.pull = pull
        self.limits = limits
        self.line = line
        self.anchors: dict[str, Node | None] = {}  # None: not complete yet
        self.flow = 0  # how many flow collections are open
        self.tagged: set[str] = set()  # anchors of scalars with a tag
        self.expansions = 0
        self.copies = 0

    def fail(self, mark: Any, message: str, code: Code) -> YamlError:
        """Make the error that belongs at `mark`."""
        return YamlError(message, self.line + mark.line, mark.column + 1, code)

    def node(self, event: Event, depth: int) -> Node:
        """Build the node that `event` begins. `depth` counts the collections around it."""
        kind = type(event)
        if kind is ScalarEvent:
            return self._scalar(event)
        if kind is AliasEvent:
            return self.alias(event, depth)
        if depth >= self.limits.depth:
            raise self.fail(event.start_mark, f"nested deeper than {self.limits.depth} levels", "depth")
        anchor = event.anchor
        if anchor is not None:
            self.anchors[anchor] = None
        self.flow += event.flow_style
        node = self._mapping(event, depth) if kind is MappingStartEvent else self._sequence(event, depth)
        self.flow -= event.flow_style
        if anchor is not None and self.anchors[anchor] is None:  # else a node inside has the same anchor, which counts
            self.anchors[anchor] = node
        return node

    def _scalar(self, event: Event) -> Node:
        mark = event.start_mark
        style = event.style
        tag = event.tag
        data = event.value
        anchored = event.anchor is not None
        if tag is not None:
            if tag != _TAG + "merge":
                if self.flow and not style and not data:  # some read `!,` as a tag
                    raise self.fail(mark, "a tag without a value", "tag")
                try:
                    data = tagged(data, tag) if style == "" or tag != "!" else data
                except ValueError as error:
                    raise self.fail(mark, str(error) or "not base64", "tag") from None
        elif style == "":
            data = typed(data)
        properties = anchored or tag is not None
        node = _made(Node, ("scalar", mark.index, event.end_mark.index, mark, style, data, (), properties, anchored))
        if anchored:
            self.anchors[event.anchor] = node
            (self.tagged.discard if tag is None else self.tagged.add)(event.anchor)
        return node

    def _sequence(self, event: Event, depth: int) -> Node:
        pull = self.pull
        self._check_tag(event, "seq")
        items = []
        while (kind := type(item := pull())) is not SequenceEndEvent:
            items.append(self._scalar(item) if kind is ScalarEvent else self.node(item, depth + 1))
        return self._collection("seq", event, item, [child.data for child in items], tuple(items))

    def _mapping(self, event: Event, depth: int) -> Node:
        pull = self.pull
        self._check_tag(event, "map")
        pairs: list[tuple[Node, Node, str | None]] = []
        data: dict[str, Any] = {}
        above: dict[str, Any] = {}  # the keys above the merge key
        merged: dict[str, Any] | None = None
        while (kind := type(first := pull())) is not MappingEndEvent:
            key = self._scalar(first) if kind is ScalarEvent else self.node(first, depth + 1)
            if kind is ScalarEvent and first.tag is not None:
                self._check_key_tag(first)
            elif kind is AliasEvent and first.anchor in self.tagged:
                raise self.fail(key.mark, "a key that is an alias of a value with a tag", "tag")
            text = key.data
            if type(text) is not str:
                text = self._key(key)
            elif text == "<<" and _is_merge(first):
                text = None
            if text in data or (text is None and merged is not None):
                raise self._duplicate(key, text, pairs)
            second = pull()
            value = self._scalar(second) if type(second) is ScalarEvent else self.node(second, depth + 1)
            pairs.append((key, value, text))
            if text is None:
                above = dict(data)
                merged = self._merge(value)
            else:
                data[text] = value.data
        if merged is not None:
            for name, item in merged.items():
                if name in above and not same(above[name], item):
                    message = f"duplicate key {name}: it stands above a merge key that also has it"
                    raise self.fail(event.start_mark, message, "duplicate")
                data.setdefault(name, item)
        return self._collection("map", event, first, data, tuple(pairs))

    def _duplicate(self, key: Node, text: str | None, pairs: list[tuple[Node, Node, str | None]]) -> YamlError:
        line = next(self.line + other.mark.line for other, _, name in pairs if name == text)
        shown = f"{text if text is not None else '<<'}, first on line {line}"
        return self.fail(key.mark, f"duplicate key {shown}", "duplicate")

    def _collection(self, kind: Literal["map", "seq"], event: Event, end: Event, data: Any, parts: Any) -> Node:
        mark = event.start_mark
        anchored = event.anchor is not None
        style = "flow" if event.flow_style else "block"
        properties = anchored or event.tag is not None
        return _made(Node, (kind, mark.index, end.end_mark.index, mark, style, data, parts, properties, anchored))

    def _check_tag(self, event: Event, kind: str) -> None:
        tag = event.tag
        if tag is not None and tag not in ("!", _TAG + kind):
            known = tag.startswith(_TAG)
            raise self.fail(
                event.start_mark, f"a {kind} with another tag" if known else "a tag that is not known", "tag"
            )

    def _check_key_tag(self, key: Event) -> None:
        """Refuse keys that Go's parsers read in two ways: as what is written, as what it stands for, as a merge key."""
        if key.tag == _TAG + "binary":
            raise self.fail(key.start_mark, "a key in base64", "tag")
        if (key.value == "<<" or key.tag == _TAG + "merge") and not (key.value == "<<" and _is_merge(key)):
            raise self.fail(key.start_mark, "a key that only some read as a merge key", "tag")

    def _key(self, key: Node) -> str:
        """Return the JSON text of a key that is no string."""
        if isinstance(key.data, dict | list):
            raise self.fail(key.mark, "a key that is not a scalar", "shape")
        try:
            return key_text(key.data)
        except ValueError as error:
            raise self.fail(key.mark, str(error), "shape") from None

    def _merge(self, value: Node) -> dict[str, Any]:
        sources = value.data if value.kind == "seq" else [value.data]
        merged: dict[str, Any] = {}
        for source in sources:
            if not isinstance(source, dict):
                raise self.fail(value.mark, "a merge key whose value is not a map", "shape")
            for name, item in source.items():
                merged.setdefault(name, item)
        return merged

    def alias(self, event: Event, depth: int) -> Node:
        """Build the node of an alias: its data is a copy of its own, within the limits."""
        mark = event.start_mark
        if event.anchor not in self.anchors:
            raise self.fail(mark, "an alias without an anchor", "alias")
        target = self.anchors[event.anchor]
        if target is None:
            raise self.fail(mark, "an alias inside of its own anchor", "alias")
        self.expansions += 1 + aliases_in(target, self.limits.aliases)
        if self.expansions > self.limits.aliases:
            raise self.fail(mark, f"more than {self.limits.aliases} alias expansions", "alias")
        return Node(
            "alias", mark.index, event.end_mark.index, mark, "flow", self._copy(target.data, mark, depth), (target,)
        )

    def _copy(self, value: Any, mark: Any, depth: int) -> Any:
        self.copies += 1
        if self.copies > self.limits.aliases * _COPIES:
            raise self.fail(mark, "aliases that expand to too many values", "alias")
        if isinstance(value, dict | list):
            if depth >= self.limits.depth:
                raise self.fail(mark, f"nested deeper than {self.limits.depth} levels by an alias", "depth")
            if isinstance(value, dict):
                return {key: self._copy(item, mark, depth + 1) for key, item in value.items()}
            return [self._copy(item, mark, depth + 1) for item in value]
        return value


def _is_merge(event: Event) -> bool:
    return type(event) is ScalarEvent and event.style == "" and event.tag in (None, _TAG + "merge")
