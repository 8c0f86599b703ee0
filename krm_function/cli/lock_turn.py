"""Lets several runs of `lock` write into a directory one after the other.

Rule of this file: the directory itself is locked, with flock, for the moments of reading and writing. So there is no
lock file that could be left behind, and the lock ends with the process, however it ends. The wait is bounded. Where a
file system has no such locks, the run goes on and says so.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from krm_function.record import NamedTuple

LONGEST_WAIT = 60.0  # seconds; another run holds the lock for less than one
PAUSE = 0.05
TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


class Turn(NamedTuple):
    """waited: seconds. timed_out: the lock is still another run's. unguarded: why there is no lock, "" for none."""

    waited: float = 0
    timed_out: bool = False
    unguarded: str = ""


@contextmanager
def turn(directory: str) -> Iterator[Turn]:
    """Wait for our turn, and keep it for the block."""
    descriptor = -1
    try:
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            mine = _wait(descriptor)
        except OSError as problem:
            mine = Turn(unguarded=(problem.strerror or "no locks").lower())
        yield mine
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _wait(descriptor: int) -> Turn:
    """Try until it works or the time is up. Raises OSError for a file system without such locks."""
    start = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            if problem.errno not in TAKEN:
                raise
        else:
            return Turn(time.monotonic() - start)
        waited = time.monotonic() - start
        if waited > LONGEST_WAIT:
            return Turn(waited, timed_out=True)
        time.sleep(PAUSE)
