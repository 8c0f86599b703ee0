"""Find and read files; hosts/write_files.py writes them.

Rule of this file: a path is never taken from the input, and the content of a directory leads nowhere outside of it.
Nothing that writes is imported, so a command that only reads does not load it.

    a file                       may be
    that the command line names  anything, also a link or a pipe of a shell
    found below a directory      a regular file at a place in that directory, by whatever links
"""

import json
import os
from collections.abc import Iterable, Sequence
from stat import S_ISREG

from krm_function.record import NamedTuple

SUFFIXES = (".yaml", ".yml")
JSON = ".json"
CHART = "Chart.yaml"  # of Helm, in the top directory of a chart
MOST = 1 << 28  # bytes of any one file: four times what a render takes, and room for a program


class FileProblem(OSError):
    """A file that cannot be read or written. `path`: of the file; `problem`: the reason in one line."""

    def __init__(self, path: str, problem: str, *, writing: bool = False) -> None:
        """Keep the path and the reason. writing: the file was to be written."""
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.writing = writing


class PlaceProblem(FileProblem):
    """A path below a directory that is not a regular file, or leads out of that directory."""


class FoundFile(NamedTuple):
    """A file to read. root: the directory that it was found below, "" for a path that was named itself."""

    path: str
    root: str = ""


class EmptyProblem(FileProblem):
    """An input with nothing in it; `path` is "" for standard input."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "the input is empty")


def blank(data: bytes) -> bool:
    """Tell whether an input is only white space, as after a failed command of a shell pipe."""
    rest = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    return not rest or rest.isspace()


def find_files(paths: Sequence[str]) -> list[FoundFile]:
    """Find all .yaml/.yml files below the paths, sorted, each once; a path that is a file is taken whatever its name.

    A .json file counts if it holds an object, as for `kubectl apply -f` (docs/facts/kubernetes.md#files); other JSON,
    such as a manifest, does not. Links to directories are not followed. Hidden directories are walked like others, as
    Contrast does (docs/facts/contrast.md#selection). Raises FileProblem.
    """
    files: dict[str, FoundFile] = {}
    for path in paths:
        if not os.path.exists(path):
            raise FileProblem(path, "no such file or directory")
        if not os.path.isdir(path):
            files[path] = FoundFile(path)
            continue
        below = [
            os.path.join(directory, name)
            for directory, _, names in os.walk(path)
            for name in names
            if name.endswith(SUFFIXES) or (name.endswith(JSON) and _holds_object(os.path.join(directory, name), path))
        ]
        if not below:
            raise FileProblem(path, "no .yml or .yaml files in it")
        for file in sorted(below):
            files.setdefault(file, FoundFile(file, path))
    return list(files.values())


def _holds_object(path: str, root: str) -> bool:
    """Tell whether a .json file holds an object of Kubernetes, or may hold one and is not valid JSON.

    Raises FileProblem.
    """
    data = read_file(path, root)
    if b"kind" not in data or b"apiVersion" not in data:
        return False
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return True  # so that the reader says what is wrong with it
    return isinstance(value, dict) and {"apiVersion", "kind"} <= value.keys()


def read_file(path: str, root: str = "", most: int = -1) -> bytes:
    """Read one file. Raises FileProblem, also for more than MOST bytes.

    root: the directory that it must be in, "" for a path of the command line. most: read its first bytes only.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | (os.O_NONBLOCK if root else 0))
        with open(descriptor, "rb") as file:
            if root:
                _must_be_inside(path, root, descriptor)
            data = file.read(MOST + 1 if most < 0 else most)
    except PlaceProblem:
        raise
    except OSError as problem:
        raise FileProblem(path, problem.strerror or "not readable") from problem
    if len(data) > MOST:
        raise FileProblem(path, f"it has more than {MOST >> 20} MiB")
    return data


def has_content(path: str, data: bytes) -> bool:
    """Tell whether a path is a regular file of its directory that has exactly these bytes."""
    try:
        return read_file(path, os.path.dirname(path) or ".") == data
    except FileProblem:
        return False


def _must_be_inside(path: str, root: str, descriptor: int) -> None:
    """Raise PlaceProblem unless the open file is regular and is found below the root.

    Call it after opening: if a link is exchanged in between, its file is another one than the open one.
    """
    opened = os.fstat(descriptor)
    if not S_ISREG(opened.st_mode):
        raise PlaceProblem(path, "not a regular file")
    real, top = os.path.realpath(path), os.path.realpath(root)
    inside = os.path.commonpath((real, top)) == top
    if not inside or not os.path.samestat(opened, os.lstat(real)):
        raise PlaceProblem(path, f"it is a link to a path outside of {root}; put the file itself there, or name it")


def same_file(path: str, candidates: Iterable[str]) -> bool:
    """Tell whether `path` is one of the others by inode, so that an output can never replace an input by accident."""
    return os.path.exists(path) and any(
        os.path.exists(candidate) and os.path.samefile(path, candidate) for candidate in candidates
    )
