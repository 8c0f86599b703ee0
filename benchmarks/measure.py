"""Time and memory of whole processes, in pairs.

Rule of this file: what is compared runs in turn, so that a busy machine troubles both; ratios are taken pair by pair.
"""

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


class Row(NamedTuple):
    """One comparison; times are medians in seconds, ratio the median of the ratios."""

    name: str
    ours: Program
    peer: Program
    ours_seconds: float = 0.0
    peer_seconds: float = 0.0
    ratio: float = 0.0


def compare(row: Row, runs: int) -> Row:
    """Measure both programs of a row, in turn."""
    if runs > 3:
        seconds(row.ours), seconds(row.peer)  # warm up: byte-code and file cache
    pairs = [(seconds(row.ours), seconds(row.peer)) for _ in range(runs)]
    ours, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    return row._replace(ours_seconds=ours, peer_seconds=peer, ratio=ratio)


def shown(row: Row) -> str:
    """A line of the table."""
    return (
        f"{row.name:<58} {row.ours_seconds * 1000:>9.1f} {row.peer_seconds * 1000:>9.1f} {row.ratio:>7.3f}"
        f"  {row.peer.name}"
    )


def seconds(program: Program) -> float:
    """Wall time of one process that must succeed."""
    with open(program.stdin, "rb") as source:
        start = time.perf_counter()
        subprocess.run(
            program.command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_env(), check=True
        )
        return time.perf_counter() - start


def peak(program: Program) -> int:
    """The most memory that one process held, in bytes."""
    with open(program.stdin, "rb") as source, open(os.devnull, "wb") as sink:
        child = subprocess.Popen(program.command, stdin=source, stdout=sink, stderr=sink, env=_env())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, program.command)
    return usage.ru_maxrss * 1024


def _env() -> dict[str, str]:
    """Without this variable every start would compile everything anew."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
