"""Files and directories: which are read, and how they are written.

Rule of this file: a file is replaced as a whole, by a rename in its own directory, or not at all. Nothing is written
through a symbolic link, and a path is never taken from the input.
"""

import os
from collections.abc import Iterable, Sequence
from stat import S_ISREG

SUFFIXES = (".yaml", ".yml")


class FileProblem(OSError):
    """A file that cannot be read or written. `path` names it, `problem` says why in one line."""

    def __init__(self, path: str, problem: str, *, writing: bool = False) -> None:
        """Remember what and why."""
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.writing = writing


def find(paths: Sequence[str]) -> list[str]:
    """All .yaml/.yml files below the paths, sorted, each once; a file named outright is taken whatever its name.

    Hidden directories are walked like others, as Contrast does (contrast.md 3). Raises FileProblem.
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


def read_file(path: str) -> bytes:
    """The bytes of one file. Raises FileProblem."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise FileProblem(path, problem.strerror or "not readable") from problem


def write_file(path: str, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data`: a new file beside it, synced, then renamed over it. Raises FileProblem.

    An existing file keeps its permission bits. A symbolic link or anything but a regular file is refused.
    """
    directory = os.path.dirname(path) or "."
    temporary = os.path.join(directory, f".{os.path.basename(path)}.{os.getpid()}.tmp")
    kept = None
    try:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            pass
        else:
            if not S_ISREG(status.st_mode):
                raise FileProblem(path, "not a regular file", writing=True)
            kept = status.st_mode & 0o777
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if kept is not None:
                os.chmod(temporary, kept)
            os.rename(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync(directory)
    except FileProblem:
        raise
    except OSError as problem:
        raise FileProblem(path, problem.strerror or "not writable", writing=True) from problem


def create_file(path: str, data: bytes, mode: int) -> None:
    """Write a file that must not exist yet, synced, with exactly these permission bits. Raises FileProblem.

    The bits hold from the first byte and whatever the umask is; a file that could not be completed is removed.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode & 0o600)
        try:
            with open(descriptor, "wb") as file:
                os.fchmod(file.fileno(), mode)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            os.unlink(path)
            raise
        _sync(os.path.dirname(path) or ".")
    except OSError as problem:
        raise FileProblem(path, problem.strerror or "not writable", writing=True) from problem


def _sync(directory: str) -> None:
    """Make a rename durable where the file system can; the new file is complete and in its place either way."""
    descriptor = -1
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def same_file(path: str, others: Iterable[str]) -> bool:
    """Whether `path` is one of the others by inode, so that an output can never replace an input by accident."""
    return os.path.exists(path) and any(os.path.exists(other) and os.path.samefile(path, other) for other in others)
