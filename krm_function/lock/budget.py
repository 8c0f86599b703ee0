"""How long the work on one image may take, and how many entries its layers may have.

Rule of this file: everything that waits, and every loop over foreign bytes, counts here first. `stop` is set when the
whole run is over, so that no thread outlives it by more than one read.
"""

import time
from threading import Event

from krm_function.lock.lock_problem import LockProblem

MOST_ENTRIES = 2_000_000  # of all layers that are read; each costs some microseconds


class Budget:
    """A deadline of `seconds` from now."""

    __slots__ = ("_end", "_entries", "_seconds", "_stop")

    def __init__(self, seconds: float, stop: Event) -> None:
        """Start the clock."""
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._stop = stop
        self._entries = 0

    @property
    def left(self) -> float:
        """Seconds that are left; raises LockProblem when there are none."""
        left = self._end - time.monotonic()
        if left <= 0 or self._stop.is_set():
            raise self.over()
        return left

    def check(self) -> None:
        """Raise LockProblem when time is up."""
        _ = self.left

    def spend(self, entries: int) -> None:
        """Count headers and records of archives; raise LockProblem when there are too many."""
        self._entries += entries
        if self._entries > MOST_ENTRIES:
            raise LockProblem("CC1206", what="the image", limit=f"{MOST_ENTRIES} files and header records")

    def wait(self, seconds: float) -> None:
        """Sleep, unless there is not that much time; then raise LockProblem at once."""
        if seconds >= self.left:
            raise self.over()
        self._stop.wait(seconds)

    def over(self) -> LockProblem:
        """Return the problem of too little time."""
        return LockProblem("CC1250.time", registry="the source", seconds=f"{self._seconds:g}")
