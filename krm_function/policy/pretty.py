"""JSON as the Rego engines of Kata agents want it: two spaces, one array element per line, plain ASCII.

Rule of this file: stock engines refuse long lines (genpolicy.md 3), so never a one-line document. Apostrophes are written
as \\u0027, which JSON and Rego read alike: the text can then never end a TOML literal string (genpolicy.md 2.1).
The standard library's indenting encoder is pure Python too and three times slower.
"""

from json.encoder import encode_basestring_ascii
from typing import Any


def string(value: str) -> str:
    """One JSON string."""
    return encode_basestring_ascii(value).replace("'", "\\u0027")


def pretty(value: Any, depth: int = 0) -> str:
    """`value` as JSON whose first line stands at `depth` levels of two spaces (the caller writes that indent)."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, dict):
        if not value:
            return "{}"
        inner = "\n" + "  " * (depth + 1)
        body = ("," + inner).join([f"{string(key)}: {pretty(entry, depth + 1)}" for key, entry in value.items()])
        return f"{{{inner}{body}{inner[:-2]}}}"
    if isinstance(value, (list, tuple)):
        if not value:
            return "[]"
        inner = "\n" + "  " * (depth + 1)
        body = ("," + inner).join([pretty(entry, depth + 1) for entry in value])
        return f"[{inner}{body}{inner[:-2]}]"
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in policy data")
