"""Bookkeeping on emitted objects, e.g. whether a line end had to be added to the text before them.

Rule of this file: that annotation value counts only if nothing but emitted objects follows; otherwise a host has moved
objects since, and the line end stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.workload import EMITTED, dig

AFTER_NEWLINE = "after-newline"  # value of EMITTED: a line end was added before this object


def annotated(value: Mapping[str, Any], key: str, text: str) -> dict[str, Any]:
    """Return a copy of an object with one annotation set."""
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), key: text}}}


def after_newline(value: Any) -> Any:
    """Record in an emitted object that a line end was added before it; return any other object as it is."""
    unmarked = dig(value, ("metadata", "annotations", EMITTED)) is None
    return value if unmarked else annotated(value, EMITTED, AFTER_NEWLINE)


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
