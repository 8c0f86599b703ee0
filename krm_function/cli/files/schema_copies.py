"""Copies of the JSON Schemas beside configuration files, for editors.

Rule of this file: a copy is what `contrast-krm schema KIND` prints. Nobody edits a copy by hand, so an outdated copy
is replaced.
"""

import itertools
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from krm_function.api.modeline import DIRECTORY, schema_file
from krm_function.api.schema import schema_text
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.write_together import NewFile, write_files


def missing_schemas(directory: str, kinds: Iterable[str]) -> dict[str, bytes]:
    """Return the copies that a directory lacks: path -> bytes."""
    copies: dict[str, bytes] = {}
    for kind in kinds:
        path, text = os.path.join(directory, schema_file(kind)), schema_text(kind).encode()
        if not _holds(path, text):
            copies[path] = text
    return copies


def write_all(files: Mapping[str, bytes], new: str = "") -> None:
    """Write all files, in this order. new: a directory to make; the directories of the copies are made in any case.

    Raises FileProblem, with nothing left behind.
    """
    directories = sorted({os.path.dirname(path) for path in files} - {""}, key=len)
    missing = [
        name for name in directories if (os.path.basename(name) == DIRECTORY or name == new) and not os.path.isdir(name)
    ]
    created: list[str] = []
    try:
        for directory in missing:
            _make(directory)
            created.append(directory)
        write_files(itertools.starmap(NewFile, files.items()))
    except BaseException:
        for directory in reversed(created):
            with suppress(OSError):  # it has files in it, or was not made
                os.rmdir(directory)
        raise


def _make(directory: str) -> None:
    try:
        os.mkdir(directory)
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not writable", writing=True) from problem


def _holds(path: str, text: bytes) -> bool:
    try:
        return read_file(path, os.path.dirname(path)) == text
    except FileProblem:
        return False
