"""What an emitted object knows of the text before it: whether that was given a line end only for its sake.

Rule of this file: the mark counts only while nothing but emitted objects follows; else a host has moved things since,
and the line end has become one like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.workload import EMITTED, dig

AFTER_NEWLINE = "after-newline"  # the value of EMITTED that says so


def after_newline(value: Any) -> Any:
    """An emitted object with the mark; any other as it is."""
    if dig(value, ("metadata", "annotations", EMITTED)) is None:
        return value
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**metadata["annotations"], EMITTED: AFTER_NEWLINE}}}


def gave_newline(texts: Sequence[str | None], values: Mapping[int, Any]) -> bool:
    """Whether the texts that stay end with such a line end. texts: None for what goes; values: that, by position."""
    for index in reversed(range(len(texts))):
        if texts[index] is not None:
            break
        if dig(values.get(index), ("metadata", "annotations", EMITTED)) == AFTER_NEWLINE:
            return True
    return False
