"""Read the undo records of a document and check their form; `restore` applies them.

Rule of this file: any author of the input can write the annotation that holds them, so every other form is refused.

A record is a list. `["-", at]`: remove what was added; `["-", at, n]`: and then up to n maps around it that are empty.
`["=", at, before]`, `["~", at, raw]` or `["=", at, before, raw]`: restore a value, `raw` being the bytes that were
behind its colon or dash (kept when the value does not give them, and alone when they give the value).
`["+", at, before, raw, next, gap]`: insert what was removed, in front of the sibling `next` ("" for last), `gap` lines
of comments away from it. See `pointer` for addresses.
"""

from json import loads
from typing import Any

from krm_function.yamltext.changes import Path
from krm_function.yamltext.document import Document, locate
from krm_function.yamltext.edit.undo_records import Undo
from krm_function.yamltext.errors import LIMITS, YamlError

_SHAPES: dict[str, tuple[tuple[type, ...], int]] = {
    "-": ((str, str, int), 2),
    "~": ((str, str, str), 3),
    "=": ((str, str, object, str), 3),
    "+": ((str, str, object, str, str, int), 3),
}


def read_undo(document: Document, path: Path) -> Undo | None:
    """Read the records stored at `path`; None when there is nothing. Raises YamlError (shape) for malformed ones."""
    value = document.value
    try:
        for part in path:
            value = value[part]
    except (KeyError, IndexError, TypeError):
        return None
    try:
        undo = loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
        undo = None
    if not isinstance(undo, list) or not _is_shallow(undo, LIMITS.depth) or not all(map(_is_record, undo)):
        raise YamlError("these are no undo records", *locate(document, path), "shape")
    return undo


def _is_shallow(value: Any, depth: int) -> bool:
    """Tell whether at most `depth` collections are nested, as in a document."""
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(one, depth - 1) for one in inside)


def _is_record(record: Any) -> bool:
    if not isinstance(record, list) or not record or not isinstance(record[0], str) or record[0] not in _SHAPES:
        return False
    types, least = _SHAPES[record[0]]
    if len(record) > 1 and isinstance(record[1], str) and record[1] and not record[1].startswith("/"):
        return False  # appended to the address of its object, it would name another one
    return least <= len(record) <= len(types) and all(
        isinstance(part, kind) and not (kind is int and isinstance(part, bool))
        for part, kind in zip(record, types, strict=False)
    )
