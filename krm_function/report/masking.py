"""Mask the secret values of an object: data of Secrets, values of variables, long annotations.

Rule of this file: output of a terminal or of CI ends up in a log, so a value that might be secret is never shown, not
even as context of a change. Masked are the data of Secrets and of ConfigMaps that no render emitted (they become
variables), the values of variables, and annotations longer than LONGEST.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path
from krm_function.kubernetes.objects import dig, mapping, objects
from krm_function.kubernetes.workload import EMITTED
from krm_function.text.changes import Change, apply

LONGEST = 64  # characters of an annotation
MASK = "(masked)"


def masked(path: Path, value: Any) -> Any:
    """Mask the value of one field. path: the field's."""
    wrapped, inside = value, list(path[-3:])
    root: list[Any] = []
    while inside:  # the last three steps tell a variable's value or an annotation
        step = inside.pop()
        wrapped = {step: wrapped} if isinstance(step, str) else [wrapped]
        root.insert(0, step if isinstance(step, str) else 0)
    changes = [Change(place, "set", shown) for place, shown in _hide_below((), wrapped)]
    return dig(apply(wrapped, changes), tuple(root))


def masked_annotation(value: Any) -> Any:
    """Return an annotation's value, or its length and digest if it is long."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    return f"({len(value)} characters, sha256 {hashlib.sha256(value.encode('utf-8', 'replace')).hexdigest()[:16]})"


def hidden(document: Any) -> Iterator[tuple[Path, str]]:
    """Yield every path of a document with a hidden value, and the text to show instead."""
    for root, value in objects(document):
        yield from _hide_data(root, value)


def _hide_data(root: Path, value: Any) -> Iterator[tuple[Path, str]]:
    kind = dig(value, ("kind",))
    foreign = kind == "ConfigMap" and dig(value, ("metadata", "annotations", EMITTED)) is None
    if kind == "Secret" or foreign:
        for field in ("data", "stringData", "binaryData"):
            for key, text in mapping(dig(value, (field,))).items():
                if text is not None:
                    yield (*root, field, key), MASK
    yield from _hide_below(root, value)


def _hide_below(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Yield variables and long annotations at any depth, in objects of every kind."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from _hide_below((*path, index), part)
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        place = (*path, key)
        if key == "annotations" and isinstance(part, dict):
            for name, text in part.items():
                shown = masked_annotation(text)
                if shown is not text:
                    yield (*place, name), shown
        elif key == "env" and isinstance(part, list):
            for index, element in enumerate(part):
                if isinstance(element, dict) and element.get("value") is not None:
                    yield (*place, index, "value"), MASK
                else:
                    yield from _hide_below((*place, index), element)
        else:
            yield from _hide_below(place, part)
