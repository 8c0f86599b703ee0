"""The value of a document of plain lines, as most rendered resources are, read without a parser.

Rule of this file: a short cut, never another opinion. It knows `key: value` and `- value` on one line each, in
printable ASCII; whatever is not plain to see makes the whole text `UNREAD`, and the parser reads it.
"""

import re
from typing import Any

from krm_function.yamltext.scalars import typed

UNREAD = object()
_DEPTH = 40  # collections inside each other
_KEY = r"[A-Za-z_][A-Za-z0-9_./-]{0,250}"
_ENTRY = (  # inside of brackets
    r"(?:(?:[A-Za-z0-9_./]|-(?=[A-Za-z0-9-]))(?:[A-Za-z0-9_./+=@-]+|:(?=[A-Za-z0-9/]))*|\"[A-Za-z0-9_./:+ -]*\")"
)
_VALUE = (
    r"(?:[A-Za-z0-9_./+~$(]|-(?=[A-Za-z0-9./-]))[!-9;-~]*(?:(?::(?=[!-~])| (?=[!\"$-9;-~]))[!-9;-~]*)*"
    r"|\"[ !#-\[\]-~]*\"|'[ -&(-~]*'"
    rf"|\{{\}}|\[\]|\{{{_KEY}: {_ENTRY}(?:, {_KEY}: {_ENTRY})*\}}|\[{_ENTRY}(?:, {_ENTRY})*\]"
)
_LINE = re.compile(rf"(?m)^( *)(- )?(?:({_KEY}):(?: +({_VALUE}))?|(?<=- )({_VALUE}))? *(?:(?<![^ \n])#[ -~]*)?$")
_PAIRS = re.compile(rf"({_KEY}): ({_ENTRY})")
_ENTRIES = re.compile(_ENTRY)
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))  # as keys, these are no strings

_LONGEST = max(map(len, _WORDS))

_Row = tuple[int, bool, str, str, str]  # column, whether there is a dash, key, value, item; what is not there is ""
_END: _Row = (-1, False, "", "", "")


def read_lines(text: str) -> Any:
    """What `parse(text).value` is, or UNREAD."""
    body = text.removeprefix("---\n")
    found = _LINE.findall(body)
    if len(found) <= body.count("\n"):
        return UNREAD
    rows: list[_Row] = [
        (len(spaces), bool(dash), key, value, item) for spaces, dash, key, value, item in found if key or item or dash
    ]
    if not rows:
        return UNREAD
    rows.append(_END)
    try:
        whole, end = _collection(rows, 0, _DEPTH)
    except _NotPlainError:
        return UNREAD
    if rows[end] is not _END:
        return UNREAD
    return whole[0] if isinstance(whole, list) and len(whole) == 1 else whole  # one item stands for itself


class _NotPlainError(Exception):
    """Something that only the parser knows how to read."""


def _collection(rows: list[_Row], at: int, room: int) -> tuple[Any, int]:
    """The collection whose first line is `at`, and the line behind it."""
    if room == 0:
        raise _NotPlainError
    return _list(rows, at, room - 1) if rows[at][1] else _map(rows, at, room - 1)


def _list(rows: list[_Row], at: int, room: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    column = rows[at][0]
    while True:
        here, dash, key, value, item = rows[at]
        if here != column or not dash:
            return items, at
        if key:
            rows[at] = (column + 2, False, key, value, "")
            made, at = _collection(rows, at, room)
            items.append(made)
        elif item:
            items.append(_scalar(item))
            at += 1
        else:
            raise _NotPlainError


def _map(rows: list[_Row], at: int, room: int) -> tuple[dict[str, Any], int]:
    pairs: dict[str, Any] = {}
    column = rows[at][0]
    while True:
        here, dash, key, value, _ = rows[at]
        if here != column or dash:
            return pairs, at
        if key in pairs or (len(key) <= _LONGEST and key.lower() in _WORDS):
            raise _NotPlainError
        at += 1
        if value:
            pairs[key] = _scalar(value)
            continue
        below, dash, _, _, _ = rows[at]
        if below > column or (below == column and dash):
            pairs[key], at = _collection(rows, at, room)
        else:
            pairs[key] = None


def _scalar(text: str) -> Any:
    """The value of what stands behind a colon or a dash."""
    first = text[0]
    if first in "\"'":
        return text[1:-1]
    if first == "{":
        pairs = _PAIRS.findall(text)
        made = {key: _scalar(value) for key, value in pairs}
        if len(made) < len(pairs) or not _WORDS.isdisjoint(key.lower() for key in made):
            raise _NotPlainError
        return made
    if first == "[":
        return [_scalar(entry) for entry in _ENTRIES.findall(text[1:])]
    return typed(text)
