"""Write one file under a temporary name beside its target, ready to be renamed.

Rule of this file: from its first byte, only those can read the temporary file who may read the finished one.

    the target        bits of the temporary file    bits, owner and group in the end
    exists            the target's, at once         the target's; if its group cannot be set, it gets others' bits
    is new            0600                          the requested mode, less the umask; the process's own
    must be new       0600                          exactly the requested mode; the process's own

Nothing else of an old file is kept: no ACL, no extended attribute, no second name.

The directory is opened once, and all names are names in it: whoever exchanges it meanwhile, for a link or another one,
gets neither the file nor a temporary one into the other, and the write fails.
"""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from fcntl import LOCK_NB, LOCK_SH, flock
from stat import S_ISREG

from krm_function.hosts.files import FileProblem
from krm_function.hosts.temporary_files import claim, temporary_name
from krm_function.record import NamedTuple


class NewFile(NamedTuple):
    """A file to write. new: it must not exist yet, and the umask does not change its mode."""

    path: str
    data: bytes
    mode: int = 0o644
    new: bool = False


class Staged(NamedTuple):
    """A file that is complete under a temporary name. kept: another name of the old one, "" if there is none.

    Both are names in `directory`.
    """

    file: NewFile
    temporary: str
    descriptor: int
    replaces: bool
    directory: int  # of all names: the descriptor of the one that the target was in at first
    kept: str = ""
    kept_descriptor: int = -1


def stage(file: NewFile, *, alone: bool) -> Staged:
    """Write one file under its temporary name. alone: nothing else is written with it. Raises FileProblem."""
    directory = -1
    try:
        directory = os.open(os.path.dirname(file.path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        old = _old(file, directory)
        temporary, descriptor = _open(file.path, directory)
    except OSError as problem:
        if directory >= 0:
            os.close(directory)
        raise unwritable(file, problem) from problem
    one = Staged(file, temporary, descriptor, old is not None, directory)
    try:
        if old is not None:
            _as_before(descriptor, old)
        rest = memoryview(file.data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if old is None:
            os.fchmod(descriptor, file.mode if file.new else file.mode & ~_umask())
        os.fsync(descriptor)
        return one if alone or old is None else _with_old(one)
    except OSError as problem:
        drop(one)
        raise unwritable(file, problem) from problem
    except BaseException:
        drop(one)
        raise


def must_be_regular(path: str) -> None:
    """Raise FileProblem early for a target that cannot be replaced, such as a pipe, whose reading would block."""
    try:
        _old(NewFile(path, b""))
    except OSError as problem:
        raise unwritable(NewFile(path, b""), problem) from problem


def _old(file: NewFile, directory: int | None = None) -> os.stat_result | None:
    """Return the status of the old file, None without one. Raises FileProblem if it is not regular or must be new."""
    name = file.path if directory is None else os.path.basename(file.path)
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if file.new:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if not S_ISREG(status.st_mode):
        raise FileProblem(file.path, "not a regular file", writing=True)
    return status


def _open(path: str, directory: int) -> tuple[str, int]:
    """Make a new temporary file, for its owner alone; returns its name and descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    while True:
        temporary = os.path.basename(temporary_name(path))
        descriptor = os.open(temporary, flags, 0o600, dir_fd=directory)
        if claim(descriptor, temporary, directory):
            return temporary, descriptor
        os.close(descriptor)


def must_be_in_place(one: Staged) -> None:
    """Raise FileProblem if the directory of the target is another one by now."""
    try:
        there = os.path.samestat(os.stat(os.path.dirname(one.file.path) or "."), os.fstat(one.directory))
    except OSError:
        there = False
    if not there:
        raise FileProblem(one.file.path, "its directory was exchanged while it was written", writing=True)


def _as_before(descriptor: int, old: os.stat_result) -> None:
    """Set owner, group and bits to those of the old file, as far as the system allows."""
    mode = old.st_mode & 0o777
    mine = os.fstat(descriptor)
    if old.st_uid != mine.st_uid:
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, -1)
    if old.st_gid != mine.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode = mode & 0o707 | (mode & 0o007) << 3  # the rights of the old group are not for another one
    os.fchmod(descriptor, mode)


def _umask() -> int:
    """Return the umask; it can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _with_old(one: Staged) -> Staged:
    """Add a second name of the old file, by which a rename can be undone; none where the system has no links."""
    kept, name = (os.path.basename(path) for path in (temporary_name(one.file.path), one.file.path))
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=one.directory)
    except OSError:
        return one
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)  # without waiting: another program may hold a lock on it
        os.link(name, kept, src_dir_fd=one.directory, dst_dir_fd=one.directory, follow_symlinks=False)
    except OSError:
        os.close(descriptor)
        return one
    return one._replace(kept=kept, kept_descriptor=descriptor)


def drop(one: Staged) -> None:
    """Remove the names that are not needed any more, then the locks."""
    for name in filter(None, (one.temporary, one.kept)):
        with suppress(OSError):  # it was renamed
            os.unlink(name, dir_fd=one.directory)
    for descriptor in (one.descriptor, one.kept_descriptor, one.directory):
        if descriptor >= 0:
            os.close(descriptor)


def unwritable(file: NewFile, problem: OSError, remaining: Sequence[str] = ()) -> FileProblem:
    """Make the error for a file that cannot be written. remaining: paths that have their new bytes all the same."""
    said = problem.problem if isinstance(problem, FileProblem) else problem.strerror or "not writable"
    if remaining:
        said += f"; written already: {', '.join(remaining)}"
    return FileProblem(file.path, said, writing=True)
