"""Write new YAML: safe scalars, one line of JSON, block collections.

Rule of this file: written text reads the same in YAML 1.1, YAML 1.2 and Go. A string stays unquoted only if it has only
harmless characters and is not a special word of any of them; all others are quoted. Lines are never folded.
"""

import re
from functools import lru_cache
from json.encoder import encode_basestring
from marshal import dumps as marshal
from typing import Any

from krm_function.text.errors import YamlError

_SAFE = re.compile(r"[A-Za-z/][A-Za-z0-9/._-]*")
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"])
# These three are slow to compile, and few texts need them.
_NOT_LITERAL = "[\x00-\x08\x0b-\x1f\x7f]|[ \t]\n|\n\t|\n\n\\Z|\\A[ \t\n]"
_UNPRINTABLE = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
_SURROGATE = "[\ud800-\udfff]"
_UNESCAPED = bytes(set(range(0x20, 0x7F)) - set(b'"\\'))
_LONG = 200  # from this length on a check for characters to escape pays off; base64 has none
_COLLECTIONS = (dict, list, tuple)
_KNOWN_LIMIT = 500  # texts; the containers, volumes and mounts of some kinds of pods
_known: dict[tuple[bytes, int, str, int, bool], str] = {}
_KEY_LIMIT = 1000  # a simple key may have 1024 characters


def scalar(text: str) -> str:
    """Return the token for a string: plain if that is safe everywhere, else quoted. Always one line.

    Double quotes, unless single quotes are shorter, as for JSON in a string: those read the same in a diff.
    """
    if _SAFE.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quotes = '"' in text or "\\" in text
    if quotes and text.count('"') + text.count("\\") > text.count("'") and text.isascii() and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quoted(text)


def quoted(text: str) -> str:
    """Return the double-quoted token of a string, valid as JSON and as YAML. Raises YamlError for a lone surrogate."""
    if len(text) > _LONG and text.isascii() and not text.encode().translate(None, _UNESCAPED):
        return f'"{text}"'
    token = encode_basestring(text)
    if text.isascii():
        return token.replace("\x7f", "\\u007f")
    if re.search(_SURROGATE, text):
        raise YamlError("a string with half a surrogate pair cannot be written", code="splice")
    return re.sub(_UNPRINTABLE, lambda match: f"\\u{ord(match[0]):04x}", token)


def number(value: Any) -> str:
    """Return the token of null, a boolean, an int or a float."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text, text)
    raise TypeError(f"not plain data: {type(value).__name__}")


def flow(value: Any) -> str:
    """Return `value` on one line: JSON, except for infinities and for keys longer than a simple key."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_key(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return number(value)


def flow_key(key: str) -> str:
    """Return a key inside braces, with the `?` that a very long key needs."""
    token = quoted(_require_text(key))
    return f"? {token}" if len(token) > _KEY_LIMIT else token


class Style:
    """The style of new block text: its line ending, the indent of lists from their key, whether it may use literals."""

    __slots__ = ("dash", "literal", "newline")

    def __init__(self, newline: str = "\n", dash: int = 0, *, literal: bool = True) -> None:
        self.newline = newline
        self.dash = dash
        self.literal = literal


def dump(value: Any, indent: int = 0) -> str:
    """Return block YAML for a new value, indented by `indent` columns, with every line ended.

    Two spaces a level, list dashes at the column of their key, keys in the given order, no aliases.
    """
    return " " * indent + block(value, indent, Style()) + "\n"


def block(value: Any, column: int, style: Style) -> str:
    """Return the text of a value that begins at `column`; the first line is not indented, the last not ended."""
    if not isinstance(value, _COLLECTIONS) or not value:
        return _write_leaf(value, max(column, 0), style)
    gap = style.newline + " " * column
    if isinstance(value, dict):
        return gap.join([_write_key(key, gap) + behind(item, column, style) for key, item in value.items()])
    return gap.join(["-" + behind(item, column, style, item=True) for item in value])


def pair(key: str, value: Any, column: int, style: Style) -> str:
    """Return `key: value`, its first line not indented, its last not ended; the key is at `column`."""
    return block({key: value}, column, style)


def behind(value: Any, column: int, style: Style, *, item: bool = False) -> str:
    """Return the text of a value after the `:` of a key (or the `-` of an item) at `column`, with its space."""
    if not isinstance(value, _COLLECTIONS) or not value:
        return " " + _write_leaf(value, column, style)
    if item:
        return _write_item(value, column, style)
    inner = column + (2 if isinstance(value, dict) else style.dash)
    return style.newline + " " * inner + block(value, inner, style)


def _write_item(value: Any, column: int, style: Style) -> str:
    """Return the text of an item that is a collection, from a cache: most additions to documents are equal.

    Equal values have equal marshalled bytes, which are made in a tenth of the time.
    """
    try:
        key = (marshal(value, 2), column, style.newline, style.dash, style.literal)  # version 2 has no references
    except ValueError:  # a subclass of str, int or float
        return " " + block(value, column + 2, style)
    text = _known.get(key)
    if text is None:
        if len(_known) >= _KNOWN_LIMIT:
            _known.clear()
        _known[key] = text = " " + block(value, column + 2, style)
    return text


def _write_key(key: Any, gap: str) -> str:
    """Return a key of a block map with its colon, before which `gap` ends a very long key's line."""
    token = _key_token(key)
    return f"? {token}{gap}:" if len(token) > _KEY_LIMIT else token + ":"


@lru_cache(512)
def _key_token(key: Any) -> str:
    """Return the token of a key, from a cache: most objects have the same keys."""
    return scalar(_require_text(key))


def _write_leaf(value: Any, column: int, style: Style) -> str:
    if isinstance(value, str):
        if style.literal and "\n" in value and len(value) > 1:
            literal = _literal(value, column + 2, style.newline)
            if literal:
                return literal
        return scalar(value)
    return flow(value)


def _literal(text: str, column: int, newline: str) -> str:
    """Return the literal block of `text`, its lines at `column`; "" if it would not be exact or readable."""
    ended = text.endswith("\n")
    body = text if ended else text + "\n"
    if re.search(_NOT_LITERAL, body):
        return ""
    if not body.isascii() and (re.search(_UNPRINTABLE, body) or re.search(_SURROGATE, body)):
        return ""
    gap = newline + " " * column
    lines = body[:-1].split("\n")
    return ("|" if ended else "|-") + "".join(gap + line if line else newline for line in lines)


def _require_text(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key that is no string: {type(key).__name__}")
    return key
