"""Let several runs of `lock` write into a directory one after the other.

Rule of this file: the directory itself is locked, with flock, for the moments of reading and writing. So there is no
lock file that could be left behind, and the lock ends with the process, however it ends. The wait is bounded. Where a
file system has no such locks, the run goes on without one, which is a finding.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from krm_function.record import NamedTuple

LONGEST_WAIT = 60.0  # seconds; another run holds the lock for less than one
PAUSE = 0.05  # seconds between two tries
TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


class DirectoryLock(NamedTuple):
    """waited: seconds. timed_out: another run still has the lock. unguarded: why there is no lock, "" if there is."""

    waited: float = 0
    timed_out: bool = False
    unguarded: str = ""


@contextmanager
def locked(directory: str) -> Iterator[DirectoryLock]:
    """Wait for the lock of a directory, and hold it for the block."""
    descriptor = -1
    try:
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            lock = _wait(descriptor)
        except OSError as problem:
            lock = DirectoryLock(unguarded=(problem.strerror or "no locks").lower())
        yield lock
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _wait(descriptor: int) -> DirectoryLock:
    """Try until it works or the time is up. Raises OSError for a file system without such locks."""
    start = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            if problem.errno not in TAKEN:
                raise
        else:
            return DirectoryLock(time.monotonic() - start)
        waited = time.monotonic() - start
        if waited > LONGEST_WAIT:
            return DirectoryLock(waited, timed_out=True)
        time.sleep(PAUSE)
