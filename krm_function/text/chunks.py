"""Slices of a text: documents and items, each with the identity of the object in it."""

from typing import Literal

from krm_function.record import NamedTuple
from krm_function.text.errors import Limits, YamlError
from krm_function.text.libyaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent
from krm_function.text.parse import Event, Pull

# --- Slices of a text
#
# Rule: a slice has its offsets and what a reader needs to recognise the object in it, nothing more.


class Chunk(NamedTuple):
    """A slice of a text that holds one document, one list item or one value.

    `api_version`, `kind` and `name` (of `metadata.name`) are the scalars as written; "" means absent. `certain`: they
    identify the object; False if that needs `parse`, because of an alias, a tag, a merge key or a complex key at the
    top or in the metadata, or because the object has `items`. `empty`: no content, or null.
    """

    start: int
    end: int
    line: int  # of `start`, from 1
    api_version: str = ""
    kind: str = ""
    name: str = ""
    is_map: bool = False
    empty: bool = False
    certain: bool = True

    def of(self, text: str) -> str:
        """Return the text of the slice."""
        return text[self.start : self.end]

    def replaced(self, text: str, new: str) -> str:
        """Return the text with `new` in place of the slice."""
        return text[: self.start] + new + text[self.end :]


NOWHERE = (0, 0, 0)  # start, end and line of an object whose place is not known yet


# --- Read past one node of the event stream, keeping only what a reader needs to recognise an object
#
# Rule: nothing is built. Depth is bounded while the events are pulled, so that 100 000 open brackets cost
# what `limits.depth` of them cost.


_NAMES = frozenset(("apiVersion", "kind", "metadata", "name"))


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

    def header(self, event: Event, depth: int) -> Chunk:
        """Read the node that `event` begins to its end, and return what identifies the object, in no place yet."""
        found: dict[str, str] = {}
        is_map = type(event) is MappingStartEvent
        self.certain = type(event) is not AliasEvent and event.tag is None
        if is_map:
            self._fields(event, depth, found, inside="")
        else:
            self.skip(event, depth)
        scalar = type(event) is ScalarEvent
        return Chunk(
            *NOWHERE,
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


# --- The result of splitting a list document: the slices of its items, and where new items and keys go
#
# Rule: offsets only; the text stays with its owner.


class ItemList(NamedTuple):
    """A split document with top-level `items`. Offsets count characters of the text."""

    api_version: str
    kind: str
    items: tuple[Chunk, ...]
    style: Literal["block", "flow", "empty"]
    indent: int  # column of the dashes; 0 unless block
    function_config: Chunk | None  # the value: whole lines when it is a block, else exactly the value
    results: Chunk | None  # likewise
    items_at: int  # where a new item goes: behind the last item; of an empty flow list, behind its bracket
    items_span: tuple[int, int]  # the value of `items`, from behind its colon
    end: int  # where a new top-level key goes: below the last line of a block root; the closing brace of a flow root
    root_style: Literal["block", "flow"]
    shared_anchors: bool  # an alias is in another item than its anchor: see resolve_item_aliases
    indent_root: int  # column of the top-level keys
    tail: int  # where the last value of the root ends
    results_span: tuple[int, int] | None  # the value of `results`, from behind its colon
    odd_key: tuple[int, int] | None = None  # line and column of a root key that only `parse` can read; it may be items

    def spread(self, by: int, lines: int) -> "ItemList":
        """Shift whatever follows the first of two items by so many characters and lines, which may be negative."""
        first, last = self.items
        behind = first.end

        def at(offset: int) -> int:
            return offset + by if offset > behind else offset

        def value(chunk: Chunk | None) -> Chunk | None:
            return chunk if chunk is None or chunk.start < behind else moved(chunk)

        def moved(chunk: Chunk) -> Chunk:
            return chunk._replace(start=chunk.start + by, end=chunk.end + by, line=chunk.line + lines)

        return self._replace(
            items=(first, moved(last)),
            function_config=value(self.function_config),
            results=value(self.results),
            items_at=at(self.items_at),
            items_span=(at(self.items_span[0]), at(self.items_span[1])),
            end=at(self.end),
            tail=at(self.tail),
            results_span=(at(self.results_span[0]), at(self.results_span[1])) if self.results_span else None,
        )
