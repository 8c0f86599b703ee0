r"""JSON as the Rego engines of Kata agents want it: two spaces, one array element per line.

Rule of this file: stock engines refuse long lines (genpolicy.md 3), so never a one-line document. Characters stand for
themselves wherever JSON allows it, because rego-cpp compares strings without decoding \u escapes. The exceptions: three
apostrophes in a row, which would end a TOML literal string (genpolicy.md 2.1), and DEL, which may not stand in one.
The standard library's indenting encoder is pure Python too and three times slower.
"""

from json.encoder import encode_basestring as string
from typing import Any

_INDENTS = ["\n" + "  " * depth for depth in range(32)]


def pretty(value: Any, depth: int = 0) -> str:
    """`value` as JSON whose first line stands at `depth` levels of two spaces (the caller writes that indent)."""
    # neither can stand outside of a string
    return _text(value, depth).replace("'''", "''\\u0027").replace("\x7f", "\\u007f")


def _text(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (dict, list, tuple)):
        if not value:
            return "{}" if isinstance(value, dict) else "[]"
        deeper = depth + 1
        inner = _INDENTS[deeper]
        if isinstance(value, dict):
            entries = [
                f"{string(key)}: {string(entry) if type(entry) is str else _text(entry, deeper)}"
                for key, entry in value.items()
            ]
            return f"{{{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}}}"
        entries = [string(entry) if type(entry) is str else _text(entry, deeper) for entry in value]
        return f"[{inner}{f',{inner}'.join(entries)}{_INDENTS[depth]}]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in policy data")
