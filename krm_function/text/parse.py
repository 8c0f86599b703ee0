"""Parse one document, or one item of a list, to nodes with positions and to plain data."""

import re
from collections.abc import Callable
from math import isinf, isnan
from typing import Any, Literal

from krm_function.record import NamedTuple
from krm_function.text.changes import Path, same
from krm_function.text.errors import LIMITS, Code, Limits, YamlError, of_template
from krm_function.text.libyaml import (
    AliasEvent,
    CParser,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ReaderError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from krm_function.text.plain_values import NotPlain, plain_value
from krm_function.text.separators import odd_separator

# --- Pull the events of libyaml, and convert its errors to YamlError
#
# Rule: libyaml only provides the events. They are pulled one by one, so that a reader can stop at a limit; the C
# composer would recurse (and crash) on deep nesting before a limit is checked. A reader catches YAMLError and raises
# the error from `located`: a wrapper around each pull would cost a sixth of the whole pass. Source:
# docs/facts/python.md#libyaml.


Event = Any
Pull = Callable[[], Event]


def open_events(text: str, limits: Limits, line: int = 1) -> Pull:
    """Return a function that returns the next event of `text`; it raises YAMLError where libyaml refuses the text.

    `line` is the line number of the start of `text`. Positions are code points into `text`. A lone carriage return is
    refused: to libyaml it ends a line, to editors it does not.
    """
    if len(text) > limits.bytes:
        raise YamlError(f"the input has {len(text)} characters, the limit is {limits.bytes}", code="size")
    if "\r" in text:
        _refuse_lone_return(text, line)
    try:
        return CParser(text).get_event
    except UnicodeEncodeError:
        raise YamlError("the text contains half of a surrogate pair", code="encoding") from None


def located(error: YAMLError, text: str, line: int) -> YamlError:
    """Convert an error of libyaml: its message, which quotes none of the text, and its position."""
    if isinstance(error, ReaderError):
        readable = text.encode("utf-8")[: int(error.position)].decode("utf-8", "ignore")
        column = len(readable) - readable.rfind("\n")
        return YamlError(str(error.reason), line + readable.count("\n"), column, "syntax")
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        if mark is not None:
            return YamlError(message, line + int(mark.line), int(mark.column) + 1, "syntax")
        return YamlError(message, code="syntax")
    return YamlError("not valid YAML", code="syntax")


def check_separators(text: str) -> None:
    """Refuse a whole input that Go's readers would cut elsewhere. Raises YamlError (separator)."""
    separator = odd_separator(text)
    if separator is not None:
        at, problem = separator
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise YamlError(f"{problem}: tools disagree about where documents end", line, column, "separator")


def _refuse_lone_return(text: str, line: int) -> None:
    at = text.find("\r")
    while at >= 0:
        if text[at + 1 : at + 2] != "\n":
            raise YamlError(
                "a carriage return without a line feed", line + text.count("\n", 0, at), at - text.rfind("\n", 0, at)
            )
        at = text.find("\r", at + 2)


# --- The nodes of one document: the position and the plain data of each
#
# Rule: data only; `builder` makes the nodes.


class Node(NamedTuple):
    """One node. `start` includes its anchor and tag; `end` of a block collection is somewhere before the next token.

    `style` of a scalar is its indicator ("" for plain), of a collection "flow" or "block". `parts`: the (key, value,
    text) of each pair, text None for a merge key; the items of a sequence; the target of an alias.
    """

    kind: Literal["map", "seq", "scalar", "alias"]
    start: int
    end: int
    mark: Any  # libyaml's Mark of `start`: index, line, column, from 0
    style: str
    data: Any
    parts: tuple[Any, ...] = ()
    properties: bool = False  # it has an anchor or a tag
    anchored: bool = False


def aliases_in(node: Node, limit: int) -> int:
    """Count how many aliases an expansion of `node` expands, up to just beyond `limit`."""
    if node.kind == "alias":
        return 1 + aliases_in(node.parts[0], limit)
    count = 0
    for part in node.parts:
        for child in part[:2] if node.kind == "map" else (part,):
            if child.parts:
                count += aliases_in(child, limit - count)
                if count > limit:
                    return count
    return count


# --- Type unquoted scalars as Kubernetes does: the typing of sigs.k8s.io/yaml, which is Go's yaml.v2 read as JSON
#
# Rule: kubectl's reading is right, whatever a YAML version defines. So `yes`, `on` and `y` are booleans,
# `0755` and `0o755` are octal, `089` is 89, `1e3` is 1000, and dates, `22:22` and `=` are strings. A number without a
# fraction is an int, since Go writes 1000.0 as `1000` into JSON. Sources:
# docs/facts/kubernetes.md#scalars; goyaml.v2/resolve.go.


_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_HINTS = frozenset("0123456789+-.yYnNtTfFoO~")
_DIGITS = frozenset("0123456789")
_OF_NUMBERS = frozenset("0123456789abcdefABCDEFxXoO+-._")  # every character of a number
_INT = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]{0,20}))"  # compiled when first needed
# A decimal number of more digits is a float, or a string if no float is that large; Python reads at most 4300 digits.
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_DOT = r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?"
_SURE = 18  # this many digits are within any bounds
_SIZE = 1e21  # from here on Go writes a float with an exponent

Scalar = str | int | float | bool | None


def typed(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag."""
    if text and text[0] not in _HINTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if not _OF_NUMBERS.issuperset(text):
        return text
    if text[0] != "0" and len(text) <= _SURE and _DIGITS.issuperset(text):
        return int(text)
    if text[0] == ".":
        return _parse_number(text, text) if re.fullmatch(_DOT, text) else text
    if text[0] not in "0123456789+-":
        return text
    digits = text.replace("_", "")
    match = re.fullmatch(_INT, digits)
    if match is not None:
        sign, *bases = match.groups()
        for digits_of_base, base in zip(bases, (16, 8, 2, 10), strict=True):
            if digits_of_base is not None:
                number = -int(digits_of_base, base) if sign == "-" else int(digits_of_base, base)
                if -(2**63) <= number < (2**64 if not sign else 2**63):
                    return number
    return _parse_number(text, digits) if re.fullmatch(_FLOAT, digits) else text


def _parse_number(text: str, digits: str) -> Scalar:
    number = float(digits)
    if isinf(number):
        return text
    return int(number) if number.is_integer() and abs(number) < _SIZE else number


def tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar with a tag. Raises ValueError for an unknown tag or one that does not fit."""
    kind = tag.removeprefix(_TAG)
    if tag == "!" or kind in ("str", "timestamp"):
        return text
    if kind == "binary":
        from binascii import a2b_base64

        try:
            return a2b_base64(text.encode("ascii", "replace")).decode()
        except UnicodeDecodeError:
            raise ValueError("base64 of bytes that are not text") from None
    value = typed(text)
    fits = {
        "null": value is None,
        "bool": isinstance(value, bool),
        "int": type(value) is int and re.fullmatch(_INT, text.replace("_", "")) is not None,
        "float": isinstance(value, int | float) and not isinstance(value, bool),
    }
    if kind == tag or not fits.get(kind, False):
        raise ValueError("unknown tag" if kind not in fits else f"a scalar that is not a valid {kind}")
    return value


def key_text(value: Scalar) -> str:
    """Return the JSON key that a scalar key becomes. Raises ValueError for null, which Kubernetes refuses."""
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError("a null key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _format_go_float(value)


def _format_go_float(value: float) -> str:
    if isnan(value):
        return ".nan"
    if isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)


# --- Build the nodes and the plain data of one document, with positions
#
# Rule: one pass over the events makes both the tree and the plain data. Values are typed as in Kubernetes, keys are
# strings, and aliases and merge keys are expanded into separate copies. Input that Kubernetes tools read differently (a
# duplicate key, an explicit key above a merge key that also has it) is an error.


_made = tuple.__new__  # makes a Node from all its fields in a fifth of its constructor's time
_COPIES = 1000  # values that one allowed alias may copy on average


class Builder:
    """Builds nodes from a stream of events. Anchors outlive a document."""

    def __init__(self, pull: Pull, limits: Limits, line: int = 1) -> None:
        self.pull = pull
        self.limits = limits
        self.line = line
        self.anchors: dict[str, Node | None] = {}  # None: not complete yet
        self.flow = 0  # number of open flow collections
        self.tagged: set[str] = set()  # anchors of scalars with a tag
        self.expansions = 0
        self.copies = 0

    def fail(self, mark: Any, message: str, code: Code) -> YamlError:
        """Return the error for a place."""
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
                raise self._make_duplicate_error(key, text, pairs)
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
                    message = f"duplicate key {name}: it is above a merge key that also has it"
                    raise self.fail(event.start_mark, message, "duplicate")
                data.setdefault(name, item)
        return self._collection("map", event, first, data, tuple(pairs))

    def _make_duplicate_error(
        self, key: Node, text: str | None, pairs: list[tuple[Node, Node, str | None]]
    ) -> YamlError:
        line = next(self.line + first.mark.line for first, _, name in pairs if name == text)
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
            standard = tag.startswith(_TAG)
            raise self.fail(event.start_mark, f"a {kind} with another tag" if standard else "unknown tag", "tag")

    def _check_key_tag(self, key: Event) -> None:
        """Refuse keys that Go's parsers read differently: as written, as their value, or as a merge key."""
        if key.tag == _TAG + "binary":
            raise self.fail(key.start_mark, "a key in base64", "tag")
        if (key.value == "<<" or key.tag == _TAG + "merge") and not (key.value == "<<" and _is_merge(key)):
            raise self.fail(key.start_mark, "a key that only some read as a merge key", "tag")

    def _key(self, key: Node) -> str:
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
        """Build the node of an alias: its data is a separate copy, within the limits."""
        mark = event.start_mark
        if event.anchor not in self.anchors:
            raise self.fail(mark, "an alias without an anchor", "alias")
        target = self.anchors[event.anchor]
        if target is None:
            raise self.fail(mark, "an alias inside its own anchor", "alias")
        self.expansions += 1 + aliases_in(target, self.limits.aliases)
        if self.expansions > self.limits.aliases:
            raise self.fail(mark, f"more than {self.limits.aliases} alias expansions", "alias")
        data = self._copy(target.data, mark, depth)
        return Node("alias", mark.index, event.end_mark.index, mark, "flow", data, (target,))

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


# --- Parse one document, or one item of a list, to plain data with positions
#
# Rule: a document is at most one value. A chunk from `split_items` (a block list of one item) represents that item:
# paths start inside it.


class Document(NamedTuple):
    """A parsed text. `node` is None for a text without content; `line` is the line number of the text's start."""

    text: str
    node: Node | None
    value: Any
    line: int = 1
    item: Node | None = None  # the block list of one item around `node`, for a chunk of split_items


def parse(text: str, *, line: int = 1, limits: Limits = LIMITS) -> Document:
    """Parse one document or one `- item` chunk. Raises YamlError; errors are located from `line` on."""
    try:
        node = _read(text, line, limits)
    except YAMLError as error:
        raise of_template(located(error, text, line), text, line) from None
    except YamlError as problem:
        raise of_template(problem, text, line) from None
    if node is None:
        return Document(text, None, None, line)
    if node.kind == "seq" and node.style == "block" and len(node.parts) == 1:
        return Document(text, node.parts[0], node.parts[0].data, line, node)
    return Document(text, node, node.data, line)


def _read(text: str, line: int, limits: Limits) -> Node | None:
    pull = open_events(text, limits, line)
    builder = Builder(pull, limits, line)
    node: Node | None = None
    while (kind := type(event := pull())) is not StreamEndEvent:
        if kind is not DocumentStartEvent:
            continue
        if node is not None:
            mark = event.start_mark
            raise YamlError("more than one document", line + mark.line, mark.column + 1, "shape")
        node = builder.node(pull(), 0)
    return node


def locate(document: Document, path: Path) -> tuple[int, int]:
    """Return line and column, from 1, of the deepest part of `path` that exists.

    The place of a map entry is its key, of a list item its first token. Inside the value of an alias or a merge key, it
    is the alias, or the map with the merge key.
    """
    node = document.node
    if node is None:
        return document.line, 1
    mark = node.mark
    for part in path:
        if node.kind == "map":
            pair = next((pair for pair in node.parts if pair[2] == part), None)
            if pair is None:
                break
            key, node, _ = pair
            mark = key.mark
        elif node.kind == "seq" and isinstance(part, int) and 0 <= part < len(node.parts):
            node = node.parts[part]
            mark = node.mark
        else:
            break
    return document.line + int(mark.line), int(mark.column) + 1


# --- Parse a document to plain data without source positions; used to verify a splice
#
# Rule: exactly `parse(text).value`, or `parse` itself if a document is not plain.


def read_value(text: str) -> Any:
    """Return `parse(text).value`. Raises YamlError like it."""
    try:
        return _read_plain(open_events(text, LIMITS))
    except (NotPlain, YAMLError):
        return parse(text).value


def _read_plain(pull: Pull) -> Any:
    pull()  # the start of the stream
    if type(pull()) is not DocumentStartEvent:
        raise NotPlain
    first = pull()
    whole = plain_value(first, pull, LIMITS.depth, typed)
    if type(pull()) is not DocumentEndEvent or type(pull()) is not StreamEndEvent:
        raise NotPlain
    is_item = type(first) is SequenceStartEvent and not first.flow_style and len(whole) == 1
    return whole[0] if is_item else whole
