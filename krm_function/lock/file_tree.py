"""Named files of a directory or of a tar archive, read in place.

Rule of this file: nothing is unpacked, and a name leads nowhere but into the tree: names come from the archive's own
index, hence from its author.
"""

import os
import posixpath
import tarfile
from collections.abc import Iterator
from typing import Protocol

from krm_function.lock.lock_problem import LockProblem
from krm_function.record import NamedTuple

CHUNK = 1 << 16
MOST_LINKS = 4


class Extent(NamedTuple):
    """Where the bytes of a file are."""

    path: str
    offset: int
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Yield its bytes. Raises LockProblem."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                left = self.size
                while left and (chunk := file.read(min(CHUNK, left))):
                    left -= len(chunk)
                    yield chunk
        except OSError as problem:
            raise unreadable_file(self.path, problem) from None


class FileTree(Protocol):
    """A directory or an archive. place: what to call it."""

    place: str

    def get(self, name: str) -> Extent | None:
        """Return the file of that name, None when there is none. Raises LockProblem."""


class Directory:
    """A tree on disk."""

    def __init__(self, path: str) -> None:
        """Remember the path."""
        self.place = path

    def get(self, name: str) -> Extent | None:
        """Return the file of that name."""
        if not _is_inside(name):
            return None
        path = os.path.join(self.place, *name.split("/"))
        real, top = os.path.realpath(path), os.path.realpath(self.place)
        if os.path.commonpath((real, top)) != top:
            raise LockProblem("CC1254.link", place=path, root=self.place)
        try:
            return Extent(path, 0, os.stat(path).st_size) if os.path.isfile(path) else None
        except OSError as problem:
            raise unreadable_file(path, problem) from None


class Archive:
    """A tree in an uncompressed tar archive."""

    def __init__(self, path: str) -> None:
        """Read the headers. Raises LockProblem."""
        self.place = path
        self._members: dict[str, tarfile.TarInfo] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                self._members = {posixpath.normpath(member.name): member for member in archive}
        except OSError as problem:
            raise unreadable_file(path, problem) from None
        except (tarfile.TarError, ValueError, OverflowError, RecursionError):
            raise LockProblem("CC1254.tar", place=path) from None

    def get(self, name: str) -> Extent | None:
        """Return the file of that name; links are followed, because `docker save` stores equal layers once."""
        for _ in range(MOST_LINKS):
            member = self._members.get(posixpath.normpath(name))
            if member is None:
                return None
            if member.issym():
                name = posixpath.join(posixpath.dirname(member.name), member.linkname)
            elif member.islnk():
                name = member.linkname
            elif member.isreg() and not member.issparse():
                return Extent(self.place, member.offset_data, member.size)
            else:
                return None
        return None


def open_tree(path: str) -> FileTree:
    """Open the tree at a path. Raises LockProblem."""
    return Directory(path) if os.path.isdir(path) else Archive(path)


def unreadable_file(path: str, problem: OSError) -> LockProblem:
    """Return the problem of a file that cannot be read."""
    reason = problem.strerror or "cannot be read"
    return LockProblem("CC1254.system", place=path, error=reason[:1].lower() + reason[1:])


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/") and "\0" not in name
