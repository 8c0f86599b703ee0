"""Bookkeeping on emitted objects: whether a line end was added before them, or a separator line behind them.

Rule of this file: these annotation values count only if nothing but emitted objects follows, or stands before;
otherwise a host has moved objects since, and what was added stays.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.workload import EMITTED, dig

AFTER_NEWLINE = "after-newline"  # value of EMITTED: a line end was added before this object
BEFORE_SEPARATOR = "before-separator"  # value of EMITTED: a separator line was added behind this object


def annotated(value: Mapping[str, Any], key: str, text: str) -> dict[str, Any]:
    """Return a copy of an object with one annotation set."""
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), key: text}}}


def after_newline(value: Any) -> Any:
    """Record in an emitted object that a line end was added before it; return any other object as it is."""
    unmarked = dig(value, ("metadata", "annotations", EMITTED)) is None
    return value if unmarked else annotated(value, EMITTED, AFTER_NEWLINE)


def before_separator(value: Any) -> Any:
    """Record in an emitted object that a separator line was added behind it; return any other object as it is."""
    unmarked = dig(value, ("metadata", "annotations", EMITTED)) is None
    return value if unmarked else annotated(value, EMITTED, BEFORE_SEPARATOR)


def without_added_separator(texts: Sequence[str | None], values: Mapping[int, Any]) -> list[str | None]:
    """Remove such a separator line from the first text that is left. Parameters as in `without_added_line_end`."""
    left = list(texts)
    marked = False
    for index, text in enumerate(left):
        if text is not None:
            if marked:
                left[index] = re.sub(r"\A---\r?\n", "", text)
            break
        marked = marked or dig(values.get(index), ("metadata", "annotations", EMITTED)) == BEFORE_SEPARATOR
    return left


def without_added_line_end(data: bytes, texts: Sequence[str | None], values: Mapping[int, Any]) -> bytes:
    """Remove such a line end from a stream or list whose emitted objects were removed.

    texts: of all resources, None for a removed one; values: the removed objects by position.
    """
    for index in reversed(range(len(texts))):
        if texts[index] is not None:
            break
        if dig(values.get(index), ("metadata", "annotations", EMITTED)) == AFTER_NEWLINE:
            return data.removesuffix(b"\n").removesuffix(b"\r")
    return data
