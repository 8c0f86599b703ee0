"""Several files written as one: all of them complete beside their targets first, then each renamed into its place.

Rule of this file: a target has its old bytes or all of its new ones, whatever happens. What goes wrong before the first
rename changes nothing; a rename that fails takes back those before it, or names them. A process that is killed between
two renames leaves whole files, in the order in which they were given: what vouches for the others comes last.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from krm_function.hosts.held_back import held_back
from krm_function.hosts.leftovers import sweep
from krm_function.hosts.staging import NewFile, Staged, drop, stage, unwritable

__all__ = ["NewFile", "staged", "write_files"]

SPARE = 64  # open files of everything else
WITHOUT_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_files(files: Iterable[NewFile]) -> None:
    """Write all or none. Raises FileProblem."""
    with staged(files) as put:
        put()


@contextmanager
def staged(files: Iterable[NewFile]) -> Iterator[Callable[[], None]]:
    """Write all files under temporary names; what is yielded puts them into their places. Raises FileProblem.

    In the block there is time for what must not happen without these files, or they not without it.
    """
    wanted = list(files)
    ready: list[Staged] = []
    try:
        with held_back() as stop:
            _make_room(len(wanted))
            sweep(file.path for file in wanted)
            for file in wanted:
                stop()
                ready.append(stage(file, alone=len(wanted) == 1))
            stop()
        yield partial(_put, ready)
    finally:
        with held_back():
            for one in ready:
                drop(one)


def _make_room(count: int) -> None:
    """Every temporary file stays open, because its lock says that somebody lives who needs it."""
    if count <= SPARE:
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * count + SPARE
    if 0 <= soft < needed:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard < 0 else min(needed, hard), hard))


def _put(ready: Sequence[Staged]) -> None:
    """Rename all, or take back those that were. Raises FileProblem."""
    with held_back():
        for index, one in enumerate(ready):
            try:
                _place(one)
            except OSError as problem:
                raise unwritable(one.file, problem, _take_back(ready[:index])) from problem
        for directory in dict.fromkeys(os.path.dirname(one.file.path) for one in ready):
            _sync(directory or ".")


def _place(one: Staged) -> None:
    if not one.file.new:
        os.rename(one.temporary, one.file.path)
        return
    try:
        os.link(one.temporary, one.file.path, follow_symlinks=False)  # which replaces nothing, as a rename would
    except OSError as problem:
        if problem.errno not in WITHOUT_LINKS or os.path.lexists(one.file.path):
            raise
        os.rename(one.temporary, one.file.path)


def _take_back(done: Sequence[Staged]) -> list[str]:
    """Undo renames, the last one first; the paths of which it failed."""
    remaining = []
    for one in reversed(done):
        try:
            if one.kept:
                os.rename(one.kept, one.file.path)
            elif one.replaces:
                remaining.append(one.file.path)
            else:
                os.unlink(one.file.path)
        except OSError:
            remaining.append(one.file.path)
    return remaining[::-1]


def _sync(directory: str) -> None:
    """Make renames durable where the file system can; the new files are complete and in their places either way."""
    descriptor = -1
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        if descriptor >= 0:
            os.close(descriptor)
