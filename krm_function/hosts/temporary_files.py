"""Make temporary names beside a target, and remove what a killed run has left under such names.

Rule of this file: a process holds a lock on each temporary file or directory until it is in its place, and the system
releases that lock when the process ends. So a file with such a name that can be locked belongs to no running process,
and is removed; nothing else is. Process ids would not do: containers reuse them, and a shared volume has several sets
of them.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from stat import S_ISDIR, S_ISREG

from krm_function.hosts.deferred_signals import deferred_signals

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
    for directory, wanted in stems.items():
        for name, stem in _left_in(directory):
            if stem in wanted:
                _remove(os.path.join(directory, name))


def sweep_directory(directory: str) -> None:
    """Remove what killed runs have left for any target in a directory that holds only files of contrast-krm."""
    for name, _ in _left_in(directory):
        _remove(os.path.join(directory, name))


def _stem(name: str) -> str:
    return "." + os.fsdecode(os.fsencode(name)[:LONGEST])


def _left_in(directory: str) -> Iterator[tuple[str, str]]:
    """Yield the temporary names in a directory, each with the part of its target's name that it holds."""
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
