"""Find and read files; write_together.py writes them.

Rule of this file: a path is never taken from the input. Nothing that writes is imported, so a command that only reads
does not load it.
"""

import os
from collections.abc import Iterable, Sequence

SUFFIXES = (".yaml", ".yml")


class FileProblem(OSError):
    """A file that cannot be read or written. `path`: of the file; `problem`: the reason in one line."""

    def __init__(self, path: str, problem: str, *, writing: bool = False) -> None:
        """Keep the path and the reason. writing: the file was to be written."""
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.writing = writing


class EmptyProblem(FileProblem):
    """An input with nothing in it; `path` is "" for standard input."""

    def __init__(self, path: str) -> None:
        """Keep the path."""
        super().__init__(path, "the input is empty")


def blank(data: bytes) -> bool:
    """Whether an input is nothing but white space, usually because the previous command of a shell pipe has failed."""
    rest = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    return not rest or rest.isspace()


def find_files(paths: Sequence[str]) -> list[str]:
    """Find all .yaml/.yml files below the paths, sorted, each once; a path that is a file is taken whatever its name.

    Hidden directories are walked like others, as Contrast does (docs/facts/contrast.md#selection). Raises FileProblem.
    """
    found: list[str] = []
    for path in paths:
        if not os.path.exists(path):
            raise FileProblem(path, "no such file or directory")
        if not os.path.isdir(path):
            found.append(path)
            continue
        below = [
            os.path.join(directory, name)
            for directory, _, names in os.walk(path)
            for name in names
            if name.endswith(SUFFIXES)
        ]
        if not below:
            raise FileProblem(path, "no .yml or .yaml files in it")
        found += sorted(below)
    return list(dict.fromkeys(found))


def read_file(path: str, most: int = -1) -> bytes:
    """Read one file, and no more than its first `most` bytes, -1 for all. Raises FileProblem."""
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as problem:
        raise FileProblem(path, problem.strerror or "not readable") from problem


def same_file(path: str, others: Iterable[str]) -> bool:
    """Whether `path` is one of the others by inode, so that an output can never replace an input by accident."""
    return os.path.exists(path) and any(os.path.exists(other) and os.path.samefile(path, other) for other in others)
