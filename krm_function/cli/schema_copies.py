"""Copies of the JSON Schemas beside configuration files, for editors.

Rule of this file: a copy is what `contrast-krm schema KIND` prints; one that is out of date is replaced, because
they are not edited by hand.
"""

import itertools
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from krm_function.api.modeline import DIRECTORY, schema_file
from krm_function.api.schema import schema_text
from krm_function.hosts.files import FileProblem
from krm_function.hosts.writing import NewFile, write_files


def missing_schemas(directory: str, kinds: Iterable[str]) -> dict[str, bytes]:
    """The copies that a directory lacks: path -> bytes."""
    made: dict[str, bytes] = {}
    for kind in kinds:
        path, text = os.path.join(directory, schema_file(kind)), schema_text(kind).encode()
        if not _holds(path, text):
            made[path] = text
    return made


def write_all(files: Mapping[str, bytes]) -> None:
    """Write all files, put into their places in this order; of directories only that of the copies is made.

    Raises FileProblem, with nothing left behind.
    """
    directories = {os.path.dirname(path) for path in files}
    made = [name for name in directories if os.path.basename(name) == DIRECTORY and not os.path.isdir(name)]
    try:
        for directory in made:
            _make(directory)
        write_files(itertools.starmap(NewFile, files.items()))
    except BaseException:
        for directory in made:
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
        with open(path, "rb") as file:
            return file.read() == text
    except OSError:
        return False
