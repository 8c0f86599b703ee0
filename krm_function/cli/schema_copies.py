"""Copies of the JSON Schemas beside configuration files, for editors.

Rule of this file: a copy is what `contrast-krm schema KIND` prints; one that is out of date is replaced, for nobody
edits them.
"""

import os
from collections.abc import Iterable, Mapping

from krm_function.api.modeline import DIRECTORY, schema_file
from krm_function.api.schema import schema_text
from krm_function.hosts.files import FileProblem, write_file


def missing_schemas(directory: str, kinds: Iterable[str]) -> dict[str, bytes]:
    """The copies that a directory lacks: path -> bytes."""
    made: dict[str, bytes] = {}
    for kind in kinds:
        path, text = os.path.join(directory, schema_file(kind)), schema_text(kind).encode()
        if not _holds(path, text):
            made[path] = text
    return made


def write_all(files: Mapping[str, bytes]) -> None:
    """Write files in this order; of directories only that of the copies is made. Raises FileProblem."""
    for path, data in files.items():
        directory = os.path.dirname(path)
        if os.path.basename(directory) == DIRECTORY and not os.path.isdir(directory):
            try:
                os.mkdir(directory)
            except OSError as problem:
                raise FileProblem(directory, problem.strerror or "not writable", writing=True) from problem
        write_file(path, data)


def _holds(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == text
    except OSError:
        return False
