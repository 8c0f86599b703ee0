"""What a case is called that has no `ids=`: its value in short, where pytest would only number it.

Rule of this file: the same in every process and on every machine, so no path, no address of an object, and no order of
a set. None: pytest's own way.

| value | id |
|---|---|
| record or object with a name | its name |
| function or class with a name | its name |
| map | `{a: 1, b: [x]}` |
| list, set | `[a, b]` |
| tuple | `a b` |
| bytes | the text |
| text of more than 60 characters | its beginning, up to a key or a digest, which may be random |
"""

import re
from enum import Enum
from pathlib import Path
from typing import Any

LONGEST = 60
_RANDOM = re.compile(r"[0-9A-Za-z+/=]{20,}")  # what a key or a digest looks like


def id_of(value: Any) -> str | None:
    """The id of a value, or None."""
    if value is None or isinstance(value, (bool, int, float, complex, Enum)):
        return None
    if isinstance(value, str) and 0 < len(value) <= LONGEST:
        return None
    text = _text(value)
    if text is None:
        return None
    text = text.encode("ascii", "backslashreplace").decode()  # pytest escapes no id that it is given
    if len(text) <= LONGEST:
        return text
    return f"{_RANDOM.split(text)[0][: LONGEST - 2].rstrip()}.."


def _text(value: Any) -> str | None:
    match value:
        case str():
            return value or "''"
        case bytes() | bytearray():
            return bytes(value).decode("ascii", "backslashreplace") or "b''"
        case None | bool() | int() | float():
            return str(value)
        case Path():
            return value.name
        case re.Pattern():
            return _text(value.pattern)
        case dict():
            return _joined([f"{_text(key)}: {_text(below)}" for key, below in value.items()], "{%s}", ", ")
        case set() | frozenset():
            return _joined(sorted(str(_text(one)) for one in value), "[%s]", ", ")
        case list():
            return _joined([_text(one) for one in value], "[%s]", ", ")
        case _ if isinstance(name := getattr(value, "name", None) or getattr(value, "__name__", None), str):
            return name if name != "<lambda>" else None
        case tuple() if not hasattr(value, "_fields"):
            return _joined([_text(one) for one in value], "%s", " ") or "()"
        case _:
            return None


def _joined(parts: list[Any], around: str, between: str) -> str:
    return around % between.join("" if part is None else part for part in parts)
