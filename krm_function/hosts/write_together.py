"""Write several files as one: first each complete beside its target, then each renamed into its place.

Rule of this file: a target has its old bytes or all of its new ones, and nothing is written through a symbolic link. A
failure before the first rename changes nothing; if a rename fails, those before it are undone, or named in the error. A
process that is killed between two renames leaves whole files, renamed in the order in which they were given; a
manifest, which has the digests of the others, comes last. Outputs that are no files, such as /dev/stdout, are written
before the first rename.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from krm_function.hosts.deferred_signals import deferred_signals
from krm_function.hosts.staged_file import NewFile, Staged, drop, must_be_in_place, stage, unwritable
from krm_function.hosts.streams_by_path import is_stream, write_stream
from krm_function.hosts.temporary_files import sweep

__all__ = ["NewFile", "create_file", "staged", "write_file", "write_files"]

SPARE = 64  # open files of everything else
PLACED: list[str] = []  # what this process has written as a whole, for the message of an internal error
WITHOUT_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_files(files: Iterable[NewFile]) -> None:
    """Write all or none. Raises FileProblem."""
    with staged(files) as put:
        put()


def write_file(path: str, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data`, as a whole or not at all. Raises FileProblem.

    An existing file keeps its permission bits. A symbolic link or anything but a regular file is refused.
    """
    write_files([NewFile(path, data, mode)])


def create_file(path: str, data: bytes, mode: int) -> None:
    """Write a file that must not exist yet, with exactly these permission bits. Raises FileProblem."""
    write_files([NewFile(path, data, mode, new=True)])


@contextmanager
def staged(files: Iterable[NewFile]) -> Iterator[Callable[[], None]]:
    """Write all files under temporary names; the function that is yielded renames them. Raises FileProblem.

    The block does what must succeed together with these files, such as writing standard output.
    """
    every = list(files)
    streams = [file for file in every if not file.new and is_stream(file.path)]
    wanted = [file for file in every if file not in streams]
    ready: list[Staged] = []
    try:
        with deferred_signals() as stop:
            _make_room(len(wanted))
            sweep(file.path for file in wanted)
            for file in wanted:
                stop()
                ready.append(stage(file, alone=len(wanted) == 1))
            stop()
        yield partial(_put, ready, streams)
    finally:
        with deferred_signals():
            for one in ready:
                drop(one)


def _make_room(count: int) -> None:
    """Raise the limit of open files: each temporary file stays open to keep its lock."""
    if count <= SPARE:
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 3 * count + SPARE
    if 0 <= soft < needed:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard < 0 else min(needed, hard), hard))


def _put(ready: Sequence[Staged], streams: Sequence[NewFile]) -> None:
    """Write the streams, then rename all, or none: undo the renames before one that fails.

    Raises FileProblem, and BrokenPipeError for a stream that nobody reads.
    """
    for file in streams:
        try:
            write_stream(file.path, file.data)
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise unwritable(file, problem) from problem
    with deferred_signals():
        done = 0
        for step in (must_be_in_place, _place, must_be_in_place):
            for one in ready:
                try:
                    step(one)
                except OSError as problem:
                    raise unwritable(one.file, problem, _undo_renames(ready[:done])) from problem
                done += step is _place
        PLACED.extend(one.file.path for one in ready)
        for directory in dict.fromkeys(os.path.dirname(one.file.path) for one in ready):
            _sync(directory or ".")


def _place(one: Staged) -> None:
    name, here = os.path.basename(one.file.path), one.directory
    if not one.file.new:
        os.rename(one.temporary, name, src_dir_fd=here, dst_dir_fd=here)
        return
    try:
        os.link(
            one.temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False
        )  # which replaces nothing, as a rename would
    except OSError as problem:
        if problem.errno not in WITHOUT_LINKS or os.path.lexists(one.file.path):
            raise
        os.rename(one.temporary, name, src_dir_fd=here, dst_dir_fd=here)


def _undo_renames(done: Sequence[Staged]) -> list[str]:
    """Undo renames, the last one first; returns the paths where that failed."""
    remaining = []
    for one in reversed(done):
        name, here = os.path.basename(one.file.path), one.directory
        try:
            if one.kept:
                os.rename(one.kept, name, src_dir_fd=here, dst_dir_fd=here)
            elif one.replaces:
                remaining.append(one.file.path)
            else:
                os.unlink(name, dir_fd=here)
        except OSError:
            remaining.append(one.file.path)
    return remaining[::-1]


def _sync(directory: str) -> None:
    """Make renames durable where the file system can; without that, the new files are in place all the same."""
    descriptor = -1
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        if descriptor >= 0:
            os.close(descriptor)
