r"""Serialise JSON for the Rego engines of Kata agents: indented by two spaces, one array element per line.

Rule of this file: stock engines refuse long lines (docs/facts/kata-rules.md#engine-limits), so never a one-line
document. Characters are not escaped unless JSON requires it, because rego-cpp compares strings without decoding \u
escapes. The exceptions: three apostrophes in a row, which would end a TOML literal string
(docs/facts/kata.md#initdata), and DEL, which is not allowed in one. The standard library's indenting encoder is pure
Python too and three times slower.
"""

from functools import lru_cache
from json.encoder import encode_basestring
from marshal import dumps as marshal
from typing import Any

_INDENTS = ["\n" + "  " * depth for depth in range(32)]
_SHARED = (4, 5)  # depths: Process, Mounts, Linux of a container's OCI, and their members
_OWN = "Annotations"  # except this member, which differs between containers
_KNOWN_LIMIT = 1000  # texts: the parts of some containers, a few MB
_known: dict[tuple[int, bytes], str] = {}
string = lru_cache(_KNOWN_LIMIT)(encode_basestring)  # most occur many times, also ID blocks of some KB


def pretty(value: Any, depth: int = 0) -> str:
    """Serialise `value` as JSON at `depth` levels of indentation; the caller writes that of the first line."""
    text = _text(value, depth)
    if "'" in text:  # faster to find than three of them; neither can occur outside of a string
        text = text.replace("'''", "''\\u0027")
    return text.replace("\x7f", "\\u007f") if "\x7f" in text else text


def _text(value: Any, depth: int) -> str:
    kind = type(value)
    if kind is str:
        return string(value)
    if kind is dict or kind is list or kind is tuple:
        if not value:
            return "{}" if kind is dict else "[]"
        if depth in _SHARED:
            return _shared(value, depth)
        return _collection(value, depth)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    raise TypeError(f"{kind.__name__} has no place in policy data")


def _member(key: str, value: Any, depth: int) -> str:
    return _collection(value, depth) if key == _OWN and type(value) is dict and value else _text(value, depth)


def _shared(value: Any, depth: int) -> str:
    """Serialise a part that other containers may have as well; cached.

    Equal parts have equal marshalled bytes, which take a tenth of the time.
    """
    key = (depth, marshal(value, 2))  # version 2 has no references
    text = _known.get(key)
    if text is None:
        if len(_known) >= _KNOWN_LIMIT:
            _known.clear()
        _known[key] = text = _collection(value, depth)
    return text


def _collection(value: Any, depth: int) -> str:
    deeper = depth + 1
    inner = _INDENTS[deeper]
    if type(value) is dict:
        entries = [
            f"{string(key)}: {string(entry) if type(entry) is str else _member(key, entry, deeper)}"
            for key, entry in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}}}"
    entries = [string(entry) if type(entry) is str else _text(entry, deeper) for entry in value]
    return f"[{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}]"
