r"""JSON as the Rego engines of Kata agents want it: two spaces, one array element per line, plain ASCII.

Rule of this file: stock engines refuse long lines (genpolicy.md 3), so never a one-line document. Apostrophes are
written as \u0027, which JSON and Rego read alike: the text can then never end a TOML literal string (genpolicy.md 2.1).
The standard library's indenting encoder is pure Python too and three times slower.
"""

from json.encoder import encode_basestring_ascii
from typing import Any

_INDENTS = ["\n" + "  " * depth for depth in range(32)]


def pretty(value: Any, depth: int = 0) -> str:
    """`value` as JSON whose first line stands at `depth` levels of two spaces (the caller writes that indent)."""
    return _text(value, depth).replace("'", "\\u0027")  # outside of strings JSON has no apostrophe


def _text(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, (dict, list, tuple)):
        if not value:
            return "{}" if isinstance(value, dict) else "[]"
        deeper = depth + 1
        inner = _INDENTS[deeper]
        if isinstance(value, dict):
            entries = [
                f"{encode_basestring_ascii(key)}: "
                f"{encode_basestring_ascii(entry) if type(entry) is str else _text(entry, deeper)}"
                for key, entry in value.items()
            ]
            return f"{{{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}}}"
        entries = [
            encode_basestring_ascii(entry) if type(entry) is str else _text(entry, deeper) for entry in value
        ]
        return f"[{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in policy data")
