"""Copies of the JSON Schemas beside configuration files, for editors.

Rule of this file: a copy is what `contrast-krm schema KIND` prints; one that is out of date is replaced, for nobody
edits them.
"""

import os
from collections.abc import Iterable

from krm_function.api.modeline import schema_file
from krm_function.api.schema import schema_text


def missing_schemas(directory: str, kinds: Iterable[str]) -> dict[str, bytes]:
    """The copies that a directory lacks: path -> bytes."""
    made: dict[str, bytes] = {}
    for kind in kinds:
        path, text = os.path.join(directory, schema_file(kind)), schema_text(kind).encode()
        if not _holds(path, text):
            made[path] = text
    return made


def _holds(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == text
    except OSError:
        return False
