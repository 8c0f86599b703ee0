"""Read past one node of the event stream, keeping only what a reader needs to recognise an object.

Rule of this file: nothing is built. Depth is bounded while the events are pulled, so that 100 000 open brackets cost
what `limits.depth` of them cost.
"""

from krm_function.libyaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent
from krm_function.record import NamedTuple
from krm_function.yamltext.errors import Limits, YamlError
from krm_function.yamltext.events import Event, Pull

_NAMES = frozenset(("apiVersion", "kind", "metadata", "name"))


class ObjectHeader(NamedTuple):
    """The fields that identify an object. A text is "" when it is absent or not a scalar; certain: as of a Chunk."""

    api_version: str
    kind: str
    name: str
    is_map: bool
    empty: bool
    certain: bool = True


class NodeReader:
    """Reads whole nodes from a stream of events."""

    def __init__(self, pull: Pull, limits: Limits, line: int) -> None:
        """`line` is the line number of the start of the text."""
        self.pull = pull
        self.limits = limits
        self.line = line
        self.aliases = 0
        self.before: Event = None  # the last but one event with text of its own
        self.last: Event = None  # the last one
        self.certain = True  # of the header that is being read

    def fail(self, event: Event, message: str, code: str) -> YamlError:
        """Make the error that belongs at `event`."""
        mark = event.start_mark
        return YamlError(message, self.line + mark.line, mark.column + 1, code)  # type: ignore[arg-type]

    def skip(self, event: Event, depth: int) -> None:
        """Read to the end of the node that `event` begins. `depth` counts the collections around the node."""
        pull = self.pull
        limit = self.limits.depth
        level = depth
        before, last = self.before, self.last
        while True:
            kind = type(event)
            if kind is ScalarEvent:
                before, last = last, event
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                level += 1
                if level > limit:
                    raise self.fail(event, f"nested deeper than {limit} levels", "depth")
                last = event
            elif kind is AliasEvent:
                self.count_alias(event)
                before, last = last, event
            else:
                level -= 1
                if event.end_mark.index > event.start_mark.index:
                    last = event
            if level == depth:
                self.before, self.last = before, last
                return
            event = pull()

    def end(self, text: str) -> int:
        """Return where the last token that was read ends. An absent value (`? key`) has the next token's offset."""
        if self.last is None:
            return 0
        at: int = self.last.end_mark.index
        if at > self.last.start_mark.index or text[at - 1 : at] in (":", "-") or self.before is None:
            return at
        return int(self.before.end_mark.index)

    def count_alias(self, event: Event) -> None:
        """Count one alias of the document, and refuse it beyond the limit."""
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            raise self.fail(event, f"more than {self.limits.aliases} aliases", "alias")

    def header(self, event: Event, depth: int) -> ObjectHeader:
        """Read the node that `event` begins to its end, and return its header."""
        found: dict[str, str] = {}
        is_map = type(event) is MappingStartEvent
        self.certain = type(event) is not AliasEvent and event.tag is None
        if is_map:
            self._fields(event, depth, found, inside="")
        else:
            self.skip(event, depth)
        scalar = type(event) is ScalarEvent
        return ObjectHeader(
            found.get("apiVersion", ""),
            found.get("kind", ""),
            found.get("name", ""),
            is_map,
            scalar and event.tag is None and event.implicit[0] and event.value in ("", "~", "null", "Null", "NULL"),
            self.certain,
        )

    def _fields(self, event: Event, depth: int, found: dict[str, str], inside: str) -> None:
        """Read a mapping whose start was pulled; keep the texts of its interesting keys in `found`."""
        pull = self.pull
        if depth + 1 > self.limits.depth:
            raise self.fail(event, f"nested deeper than {self.limits.depth} levels", "depth")
        self.last = event
        seen: set[str] = set()
        while True:
            key: Event = pull()
            kind = type(key)
            if kind is MappingEndEvent:
                if key.end_mark.index > key.start_mark.index:
                    self.last = key
                return
            self.skip(key, depth + 1)
            name = key.value if kind is ScalarEvent else "<<"
            if name == "<<" or key.tag is not None or (name == "items" and not inside):
                self.certain = False
            value = pull()
            if name not in _NAMES or (name == "name") != bool(inside):
                self.skip(value, depth + 1)
                continue
            if name in seen:
                raise self.fail(key, f"duplicate key {name}", "duplicate")
            seen.add(name)
            if name == "metadata":
                self._trust(value)
                if type(value) is MappingStartEvent:
                    self._fields(value, depth + 1, found, inside="metadata")
                else:
                    self.skip(value, depth + 1)
                continue
            self._trust(value)
            if type(value) is ScalarEvent:
                found[name] = value.value
            self.skip(value, depth + 1)

    def _trust(self, value: Event) -> None:
        """Make the header uncertain if a value of it can only be read by `parse`."""
        if type(value) is AliasEvent or value.tag is not None:
            self.certain = False
