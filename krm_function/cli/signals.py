"""SIGTERM and SIGHUP end a command as SIGINT does: what it has begun is cleaned up, then the process dies by it.

Rule of this file: only the first signal leaves time to clean up; a second one ends the process at once.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from krm_function.cli.exits import Terminated

ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated in the block when a signal comes; a signal that the caller ignores stays ignored."""
    mine = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def die(number: int) -> NoReturn:
    """End by the signal's default action, so that the parent process sees which signal it was."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError("the default of these signals is to end")


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)
