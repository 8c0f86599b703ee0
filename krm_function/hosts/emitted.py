"""What hosts write on emitted objects; above all, whether the text before was given a line end only for their sake.

Rule of this file: that mark counts only while nothing but emitted objects follows; else a host has moved things since,
and the line end has become one like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.workload import EMITTED, dig

AFTER_NEWLINE = "after-newline"  # the value of EMITTED that says so


def annotated(value: Mapping[str, Any], key: str, text: str) -> dict[str, Any]:
    """An object with one more annotation, or another value of one."""
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), key: text}}}


def after_newline(value: Any) -> Any:
    """An emitted object with the mark; any other as it is."""
    unmarked = dig(value, ("metadata", "annotations", EMITTED)) is None
    return value if unmarked else annotated(value, EMITTED, AFTER_NEWLINE)


def without_added_line_end(data: bytes, texts: Sequence[str | None], values: Mapping[int, Any]) -> bytes:
    """The bytes of a stream or list without such a line end, once what was emitted is gone from them.

    texts: those that stayed, None for what is gone; values: what is gone, by position.
    """
    for index in reversed(range(len(texts))):
        if texts[index] is not None:
            break
        if dig(values.get(index), ("metadata", "annotations", EMITTED)) == AFTER_NEWLINE:
            return data.removesuffix(b"\n").removesuffix(b"\r")
    return data
