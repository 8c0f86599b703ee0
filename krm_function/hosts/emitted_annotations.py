"""Bookkeeping on emitted objects: whether a line end was added before them, or a separator line behind them.

Rule of this file: these annotation values count only if nothing but emitted objects follows, or stands before;
otherwise a host has moved objects since, and what was added stays.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.lookup import dig
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED

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


def without_added_separator(resources: Sequence[Resource]) -> list[Resource]:
    """Remove such a separator line from the first text that is left. Parameters as in `without_added_line_end`."""
    left = list(resources)
    marked = False
    for index, resource in enumerate(left):
        if (text := resource.output) is not None:
            if marked:
                left[index] = resource._replace(rendered=re.sub(r"\A---\r?\n", "", text))
            break
        marked = marked or _mark(resource) == BEFORE_SEPARATOR
    return left


def without_added_line_end(data: bytes, resources: Sequence[Resource]) -> bytes:
    """Remove such a line end from a stream or list whose emitted objects were removed.

    resources: all of them, with those that were removed.
    """
    for resource in reversed(resources):
        if resource.output is not None:
            break
        if _mark(resource) == AFTER_NEWLINE:
            return data.removesuffix(b"\n").removesuffix(b"\r")
    return data


def _mark(resource: Resource) -> Any:
    """Return the value of EMITTED of an object that an earlier render added, None for any other resource."""
    return dig(resource.value, ("metadata", "annotations", EMITTED)) if resource.state == "added" else None
