"""Time of whole processes, in turn.

Rule of this file: what is compared runs in turn, so that a busy machine troubles all alike; ratios are taken turn by
turn. Processor time is the least of all turns: of a clock that swings between two speeds it sees the faster one.
"""

import functools
import os
import statistics
import subprocess
import time
from typing import NamedTuple


class Program(NamedTuple):
    """A command that reads a file on standard input."""

    name: str
    command: tuple[str, ...]
    stdin: str

    def size(self) -> int:
        """Bytes of the input."""
        return os.path.getsize(self.stdin)


class Sample(NamedTuple):
    """One run, in seconds: on the clock, and on all processors together."""

    wall: float
    cpu: float


class Compared(NamedTuple):
    """Medians in seconds, the median of the ratios, and the ratio of the least processor times."""

    ours: float
    peer: float
    ratio: float
    cpu_ratio: float


@functools.cache
def compare(ours: Program, peer: Program, runs: int) -> Compared:
    """Measure two programs in turn; the same two only once."""
    if runs > 3:
        in_turn((ours, peer), 1)  # warm up: byte-code and file cache
    turns = in_turn((ours, peer), runs)
    mine, theirs = zip(*turns, strict=True)
    return Compared(
        median(mine),
        median(theirs),
        statistics.median(one.wall / other.wall for one, other in turns),
        least(mine) / least(theirs),
    )


def in_turn(programs: tuple[Program, ...], runs: int) -> list[tuple[Sample, ...]]:
    """Run A B C A B C …: each turn holds one sample of each program."""
    return [tuple(sample(program) for program in programs) for _ in range(runs)]


def median(samples: tuple[Sample, ...]) -> float:
    """Return the median time on the clock."""
    return statistics.median(each.wall for each in samples)


def least(samples: tuple[Sample, ...]) -> float:
    """Return the least processor time."""
    return min(each.cpu for each in samples)


def sample(program: Program) -> Sample:
    """Run one process that must succeed."""
    with open(program.stdin, "rb") as source, open(os.devnull, "wb") as sink:
        start = time.perf_counter()
        child = subprocess.Popen(program.command, stdin=source, stdout=sink, stderr=sink, env=environment())
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, program.command)
    return Sample(wall, usage.ru_utime + usage.ru_stime)


def environment() -> dict[str, str]:
    """Without this variable every start would compile everything anew."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
