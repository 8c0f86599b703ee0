"""Write one file, or several as one: complete under temporary names, then renamed into place."""

import errno
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from functools import partial
from stat import S_ISCHR, S_ISDIR, S_ISREG
from types import FrameType

from krm_function.hosts.files import FileProblem, read_file
from krm_function.record import NamedTuple

# --- Defer SIGINT, SIGTERM and SIGHUP while files are written
#
# Rule: no signal is lost. A deferred signal may stop the work between two steps, and is delivered at the
# end of the block.


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def deferred_signals() -> Iterator[Callable[[], None]]:
    """Yield a function to call between steps: it raises KeyboardInterrupt if a signal has come.

    A signal that was ignored stays ignored. Other threads than the main one get no signals; nothing is deferred there.
    """
    caught: list[int] = []

    def catch(number: int, _: FrameType | None) -> None:
        caught.append(number)

    def stop() -> None:
        if caught:
            raise KeyboardInterrupt

    handlers = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                handlers[number] = signal.signal(number, catch)
    except ValueError:
        yield stop
        return
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for came in caught[:1]:
            signal.raise_signal(came)


# --- Outputs that are named like files: descriptors, such as /dev/stdout, and devices, such as /dev/null
#
# Rule: only paths that stand for a descriptor of this process, and character devices, count; a shell's
# `>(command)` is such a path. They are written to and never replaced, renamed or read. Any other pipe is no output: to
# open one waits for its reader.


NAMED = {"/dev/stdout": 1, "/dev/stderr": 2}
DIRECTORIES = ("/dev/fd", "/proc/self/fd")


def is_stream(path: str) -> bool:
    """Tell whether an output of this path is written to without a temporary file."""
    return _descriptor(path) is not None or _is_device(path)


def write_stream(path: str, data: bytes) -> None:
    """Write all of the data. Raises OSError."""
    inherited = _descriptor(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY) if inherited is None else inherited
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        if inherited is None:
            os.close(descriptor)


def _descriptor(path: str) -> int | None:
    directory, _, name = path.rpartition("/")
    if directory in DIRECTORIES and name.isascii() and name.isdecimal() and len(name) < 10:
        return int(name)
    return NAMED.get(path)


def _is_device(path: str) -> bool:
    try:
        return S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False


# --- Make temporary names beside a target, and remove what a killed run has left under such names
#
# Rule: a process holds a lock on each temporary file or directory until it is in its place, and the system
# releases that lock when the process ends. So a file with such a name that can be locked belongs to no running process,
# and is removed; nothing else is. Process ids would not do: containers reuse them, and a shared volume has several sets
# of them.


MARK = ".contrast-krm-"
END = ".tmp"
TOKEN = 12  # hexadecimal digits
LONGEST = 200  # bytes of the target's name that are kept, so that a long name has a temporary one


def temporary_name(path: str) -> str:
    """Make a new name beside a target: `.web.yaml.contrast-krm-0123456789ab.tmp`."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f"{_stem(name)}{MARK}{os.urandom(TOKEN // 2).hex()}{END}")


def claim(descriptor: int, path: str, directory: int | None = None) -> bool:
    """Lock a file or directory that was just made at a path; False if another run has removed it as a leftover.

    directory: the descriptor of the one that the path begins in, None for the current one.

    On a file system without locks no file can be locked, so none is removed there.
    """
    with suppress(OSError):
        flock(descriptor, LOCK_SH)
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, dir_fd=directory, follow_symlinks=False))
    except FileNotFoundError:
        return False


@contextmanager
def temporary_directory(path: str) -> Iterator[str]:
    """Make a new directory beside a target, for its owner alone; it is removed at the end unless it was renamed."""
    import shutil

    temporary = ""
    descriptor = -1
    try:
        while descriptor < 0:
            temporary = temporary_name(path)
            os.mkdir(temporary, 0o700)
            descriptor = os.open(temporary, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if not claim(descriptor, temporary):
                os.close(descriptor)
                descriptor = -1
        yield temporary
    finally:
        with deferred_signals():
            shutil.rmtree(temporary, ignore_errors=True)
            if descriptor >= 0:
                os.close(descriptor)


def sweep(paths: Iterable[str]) -> None:
    """Remove what killed runs have left beside these targets. Never raises: a leftover file does no harm."""
    stems: dict[str, set[str]] = {}
    for path in paths:
        directory, name = os.path.split(path)
        stems.setdefault(directory, set()).add(_stem(name))
    for directory, targets in stems.items():
        for name, stem in _find_leftovers(directory):
            if stem in targets:
                _remove(os.path.join(directory, name))


def sweep_directory(directory: str) -> None:
    """Remove what killed runs have left for any target in a directory that holds only files of contrast-krm."""
    for name, _ in _find_leftovers(directory):
        _remove(os.path.join(directory, name))


def _stem(name: str) -> str:
    return "." + os.fsdecode(os.fsencode(name)[:LONGEST])


def _find_leftovers(directory: str) -> Iterator[tuple[str, str]]:
    """Yield each temporary name in a directory with the kept part of its target's name."""
    try:
        names = os.listdir(directory or ".")
    except OSError:
        return
    for name in names:
        stem, mark, rest = name.rpartition(MARK)
        token = rest.removesuffix(END)
        if mark and rest.endswith(END) and len(token) == TOKEN and not token.strip("0123456789abcdef"):
            yield name, stem


def _remove(path: str) -> None:
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if not S_ISREG(mode) and not S_ISDIR(mode):
            return  # contrast-krm makes neither links nor pipes
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            if S_ISDIR(mode):
                import shutil

                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        finally:
            os.close(descriptor)


# --- Write one file under a temporary name beside its target, ready to be renamed
#
# Rule: from its first byte, only those can read the temporary file who may read the finished one.
#
#     the target        bits of the temporary file    bits, owner and group in the end
#     exists            the target's, at once         the target's; if its group cannot be set, it gets others' bits
#     is new            0600                          the requested mode, less the umask; the process's own
#     must be new       0600                          exactly the requested mode; the process's own
#
# Nothing else of an old file is kept: no ACL, no extended attribute, no second name.
#
# The directory is opened once, and all names are names in it: if it is exchanged meanwhile, for a link or another
# directory, no file goes there and the write fails.


class NewFile(NamedTuple):
    """A file to write. new: it must not exist yet, and the umask does not change its mode.

    old: the bytes that were read, which it must still have.
    """

    path: str
    data: bytes
    mode: int = 0o644
    new: bool = False
    old: bytes | None = None


class Staged(NamedTuple):
    """A file that is complete under a temporary name. backup: another name of the old file, or "".

    Both are names in `directory`.
    """

    file: NewFile
    temporary: str
    descriptor: int
    replaces: bool
    directory: int  # of all names: a descriptor of the target's first directory
    backup: str = ""
    kept_descriptor: int = -1


def stage(file: NewFile, *, alone: bool) -> Staged:
    """Write one file under its temporary name. alone: nothing else is written with it. Raises FileProblem."""
    directory = -1
    try:
        directory = os.open(os.path.dirname(file.path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        old = _status_of_old(file, directory)
        temporary, descriptor = _open_temporary(file.path, directory)
    except OSError as problem:
        if directory >= 0:
            os.close(directory)
        raise unwritable(file, problem) from problem
    staged_file = Staged(file, temporary, descriptor, old is not None, directory)
    try:
        if old is not None:
            _copy_rights(descriptor, old)
        rest = memoryview(file.data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if old is None:
            os.fchmod(descriptor, file.mode if file.new else file.mode & ~_read_umask())
        os.fsync(descriptor)
        return staged_file if alone or old is None else _link_old(staged_file)
    except BaseException as problem:
        drop(staged_file)
        if isinstance(problem, OSError):
            raise unwritable(file, problem) from problem
        raise


def must_be_regular(path: str) -> None:
    """Raise FileProblem early for a target that cannot be replaced, such as a pipe, whose reading would block."""
    try:
        _status_of_old(NewFile(path, b""))
    except OSError as problem:
        raise unwritable(NewFile(path, b""), problem) from problem


def _status_of_old(file: NewFile, directory: int | None = None) -> os.stat_result | None:
    """Return None without an old file. Raises FileProblem if it is not regular or must be new."""
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


def _open_temporary(path: str, directory: int) -> tuple[str, int]:
    """Return name and descriptor of a new temporary file, for its owner alone."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    while True:
        temporary = os.path.basename(temporary_name(path))
        descriptor = os.open(temporary, flags, 0o600, dir_fd=directory)
        if claim(descriptor, temporary, directory):
            return temporary, descriptor
        os.close(descriptor)


def must_be_in_place(staged_file: Staged) -> None:
    """Raise FileProblem if the directory of the target is another one by now."""
    try:
        present = os.stat(os.path.dirname(staged_file.file.path) or ".")
        is_same = os.path.samestat(present, os.fstat(staged_file.directory))
    except OSError:
        is_same = False
    if not is_same:
        raise FileProblem(staged_file.file.path, "its directory was exchanged while it was written", writing=True)


def _copy_rights(descriptor: int, old: os.stat_result) -> None:
    """Set owner, group and bits of the old file, as far as the system allows."""
    mode = old.st_mode & 0o777
    mine = os.fstat(descriptor)
    if old.st_uid != mine.st_uid:
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, -1)
    if old.st_gid != mine.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode = mode & 0o707 | (mode & 0o007) << 3  # another group does not get the old group's rights
    os.fchmod(descriptor, mode)


def _read_umask() -> int:
    # The umask can only be read by setting it
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _link_old(staged_file: Staged) -> Staged:
    """Add a second name of the old file, to undo a rename; do nothing on a system without links."""
    backup, name = (os.path.basename(path) for path in (temporary_name(staged_file.file.path), staged_file.file.path))
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=staged_file.directory)
    except OSError:
        return staged_file
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)  # without waiting: another program may hold a lock on it
        os.link(name, backup, src_dir_fd=staged_file.directory, dst_dir_fd=staged_file.directory, follow_symlinks=False)
    except OSError:
        os.close(descriptor)
        return staged_file
    return staged_file._replace(backup=backup, kept_descriptor=descriptor)


def drop(staged_file: Staged) -> None:
    """Remove the unneeded names, then the locks."""
    for name in filter(None, (staged_file.temporary, staged_file.backup)):
        with suppress(OSError):  # it was renamed
            os.unlink(name, dir_fd=staged_file.directory)
    for descriptor in (staged_file.descriptor, staged_file.kept_descriptor, staged_file.directory):
        if descriptor >= 0:
            os.close(descriptor)


def unwritable(file: NewFile, problem: OSError, remaining: Sequence[str] = ()) -> FileProblem:
    """Make the error for a file that cannot be written. remaining: paths that have their new bytes all the same."""
    reason = problem.problem if isinstance(problem, FileProblem) else problem.strerror or "not writable"
    if remaining:
        reason += f"; written already: {', '.join(remaining)}"
    return FileProblem(file.path, reason, writing=True)


# --- Make several runs write into a directory one after the other
#
# Rule: flock locks the directory itself while a run reads and writes. So no lock file can be left over, and the lock
# ends with the process, however that ends. The wait is bounded. If a file system has no such locks, the run continues
# without one. A file with `old` bytes is written only if it still has these when its turn comes.


LONGEST_WAIT = 60.0  # seconds; another run holds the lock for less than one
PAUSE = 0.05  # seconds between two tries
TAKEN = (errno.EWOULDBLOCK, errno.EACCES)
HELD: set[tuple[int, int]] = set()  # the directories whose turn this process has


class Turn(NamedTuple):
    """waited: seconds. timed_out: another run still has the lock. unguarded: why there is no lock, "" if there is."""

    waited: float = 0
    timed_out: bool = False
    unguarded: str = ""


class Changed(FileProblem):
    """A file that another program has changed since it was read; nothing was written."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "another program changed it meanwhile; run the command again", writing=True)


@contextmanager
def in_turn(path: str) -> Iterator[Turn]:
    """Wait for the lock of a file's directory, and hold it for the block; a block in a block has it already."""
    descriptor, place = -1, (-1, -1)
    try:
        turn = Turn()
        try:
            descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) not in HELD:
                turn = _wait_for_lock(descriptor)
                place = (status.st_dev, status.st_ino)
                HELD.add(place)
        except OSError as problem:
            turn = Turn(unguarded=(problem.strerror or "no locks").lower())
        yield turn
    finally:
        HELD.discard(place)
        if descriptor >= 0:
            os.close(descriptor)


def _wait_for_lock(descriptor: int) -> Turn:
    start = time.monotonic()
    while True:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except OSError as problem:
            if problem.errno not in TAKEN:
                raise
        else:
            return Turn(time.monotonic() - start)
        waited = time.monotonic() - start
        if waited > LONGEST_WAIT:
            return Turn(waited, timed_out=True)
        time.sleep(PAUSE)


def _must_be_unchanged(file: NewFile, turn: Turn) -> None:
    if turn.timed_out:
        raise FileProblem(file.path, "another run still writes into its directory", writing=True)
    if read_file(file.path) != file.old:
        raise Changed(file.path)


# --- Write several files as one: first each complete beside its target, then each renamed into its place
#
# Rule: a target has its old bytes or all of its new ones, and nothing is written through a symbolic link.
# A failure before the first rename changes nothing; if a rename fails, those before it are undone, or named in the
# error. A process that is killed between two renames leaves whole files, renamed in the order in which they were given;
# a manifest, which has the digests of the others, comes last. Outputs that are no files, such as /dev/stdout, are
# written before the first rename.


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
    all_files = list(files)
    streams = [file for file in all_files if not file.new and is_stream(file.path)]
    regular = [file for file in all_files if file not in streams]
    ready: list[Staged] = []
    try:
        with deferred_signals() as stop:
            _make_room(len(regular))
            sweep(file.path for file in regular)
            for file in regular:
                stop()
                ready.append(stage(file, alone=len(regular) == 1))
            stop()
        yield partial(_rename_all, ready, streams)
    finally:
        with deferred_signals():
            for staged_file in ready:
                drop(staged_file)


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


def _rename_all(ready: Sequence[Staged], streams: Sequence[NewFile]) -> None:
    """Write the streams, then rename all, or none: undo the renames before one that fails.

    Raises FileProblem, and BrokenPipeError for a stream without a reader.
    """
    with ExitStack() as turns:
        for file in (staged_file.file for staged_file in ready if staged_file.file.old is not None):
            _must_be_unchanged(file, turns.enter_context(in_turn(file.path)))
        _rename_in_turn(ready, streams)


def _rename_in_turn(ready: Sequence[Staged], streams: Sequence[NewFile]) -> None:
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
            for staged_file in ready:
                try:
                    step(staged_file)
                except OSError as problem:
                    raise unwritable(staged_file.file, problem, _undo_renames(ready[:done])) from problem
                done += step is _place
        PLACED.extend(staged_file.file.path for staged_file in ready)
        for directory in dict.fromkeys(os.path.dirname(staged_file.file.path) for staged_file in ready):
            _sync(directory or ".")


def _place(staged_file: Staged) -> None:
    name, directory = os.path.basename(staged_file.file.path), staged_file.directory
    if staged_file.file.new:
        try:  # a link replaces nothing, as a rename would
            os.link(staged_file.temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except OSError as problem:
            if problem.errno not in WITHOUT_LINKS or os.path.lexists(staged_file.file.path):
                raise
        else:
            return
    os.rename(staged_file.temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _undo_renames(done: Sequence[Staged]) -> list[str]:
    """Undo the last rename first; return the paths where that failed."""
    remaining = []
    for staged_file in reversed(done):
        name, directory = os.path.basename(staged_file.file.path), staged_file.directory
        try:
            if staged_file.backup:
                os.rename(staged_file.backup, name, src_dir_fd=directory, dst_dir_fd=directory)
            elif staged_file.replaces:
                remaining.append(staged_file.file.path)
            else:
                os.unlink(name, dir_fd=directory)
        except OSError:
            remaining.append(staged_file.file.path)
    return remaining[::-1]


def _sync(directory: str) -> None:
    """Make renames durable where the file system can; the new files are in place in any case."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
