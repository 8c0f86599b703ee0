"""Fast path: read a document of plain lines without the parser: exactly what `parse` returns, or UNREAD.

Rule of this file: it knows `key: value` and `- value` on one line each, in printable ASCII; anything else makes the
whole text UNREAD, and the parser reads it.
"""

import re
from sys import intern
from typing import Any

from krm_function.yamltext.scalar_types import typed

UNREAD = object()
_DEPTH = 40  # collections inside each other
# Every loop is possessive, so that a line takes a time in proportion to its length whatever stands in it.
_VALUE = (
    r"(?:[A-Za-z0-9_./+~$(]|-(?=[A-Za-z0-9./-]))[!-9;-~]*+(?:(?::(?=[!-~])| (?=[!\"$-9;-~]))[!-9;-~]*+)*+"
    r"|\"[ !#-\[\]-~]*+\"|'[ -&(-~]*+'|[{\[][ !\"$-~]*[\]}]"
)
_LINE = rf"(?m)^( *+)(- )?(?:([A-Za-z_][A-Za-z0-9_./-]{{0,250}}+):(?= |$) *+)?({_VALUE})? *+(?:(?<![^ \n])#[ -~]*+)?$"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_FIRST = _LETTERS.union("0123456789./")  # of a plain entry within brackets
_ENTRY = _FIRST.union("+=@-")

_Row = tuple[int, bool, str, str]  # column, whether there is a dash, key, value; what is not there is ""
_END: _Row = (-1, False, "", "")


def read_lines(text: str) -> Any:
    """Return `parse(text).value`, or UNREAD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")  # YAML knows both ends of a line; a CR on its own is in no pattern here
    if ": |" in text or ": >" in text:  # block scalars: found out before all lines are matched
        return UNREAD
    body = text.removeprefix("---\n")
    found = re.findall(_LINE, body)  # compiled once, and only if there is a text to read
    if len(found) <= body.count("\n"):
        return UNREAD
    rows: list[_Row] = [
        (len(spaces), bool(dash), intern(key), intern(value))  # documents of one kind have equal keys and values
        for spaces, dash, key, value in found
        if key or value or dash
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
    """A text that only the parser can read."""


def _collection(rows: list[_Row], at: int, room: int) -> tuple[Any, int]:
    """Return the collection whose first line is `at`, and the line after it."""
    if room == 0:
        raise _NotPlainError
    return _list(rows, at, room - 1) if rows[at][1] else _map(rows, at, room - 1)


def _list(rows: list[_Row], at: int, room: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    column = rows[at][0]
    while True:
        here, dash, key, value = rows[at]
        if here != column or not dash:
            return items, at
        if key:
            rows[at] = (column + 2, False, key, value)
            made, at = _collection(rows, at, room)
            items.append(made)
        elif value:
            items.append(_value(value))
            at += 1
        else:
            raise _NotPlainError


def _map(rows: list[_Row], at: int, room: int) -> tuple[dict[str, Any], int]:
    pairs: dict[str, Any] = {}
    column = rows[at][0]
    while True:
        here, dash, key, value = rows[at]
        if here != column or dash:
            return pairs, at
        if not key or key in pairs or type(typed(key)) is not str:
            raise _NotPlainError
        at += 1
        if value:
            pairs[key] = _value(value)
            continue
        below, dash, _, _ = rows[at]
        if below > column or (below == column and dash):
            pairs[key], at = _collection(rows, at, room)
        else:
            pairs[key] = None


def _value(text: str) -> Any:
    """Return the value that stands after a colon or a dash."""
    match text[0]:
        case '"' | "'":
            return text[1:-1]
        case "{" | "[" if text in ("{}", "[]"):
            return {} if text == "{}" else []
        case "{" if text[-1] == "}":
            return _bracketed_map(text[1:-1].split(", "))
        case "[" if text[-1] == "]":
            return [_entry(part) for part in text[1:-1].split(", ")]
        case "{" | "[":
            raise _NotPlainError
        case _:
            return typed(text)


def _bracketed_map(parts: list[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition(": ")
        if key in pairs or key[:1] not in _LETTERS or not _ENTRY.issuperset(key) or type(typed(key)) is not str:
            raise _NotPlainError
        pairs[key] = _entry(value)
    return pairs


def _entry(text: str) -> Any:
    """Return a value within brackets."""
    if text[:1] == '"' and text[-1:] == '"' and len(text) > 1 and _ENTRY.issuperset(text[1:-1]):
        return text[1:-1]
    head, *rest = text.lstrip("-").split(":")
    if all(part and part[0] in _FIRST and _ENTRY.issuperset(part) for part in (head, *rest)):
        return typed(text)
    raise _NotPlainError
