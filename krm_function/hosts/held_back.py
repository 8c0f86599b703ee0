"""Signals that ask a process to end, held back while files are written.

Rule of this file: a signal is never lost. It is asked about between two steps, and delivered when the block is left.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Yields what to call where the work may stop: it raises KeyboardInterrupt if a signal has come.

    Who ignores a signal goes on ignoring it. Outside of the main thread there are no signals to hold back.
    """
    caught: list[int] = []

    def catch(number: int, _: FrameType | None) -> None:
        caught.append(number)

    def stop() -> None:
        if caught:
            raise KeyboardInterrupt

    before = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                before[number] = signal.signal(number, catch)
    except ValueError:
        yield stop
        return
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for came in caught[:1]:
            signal.raise_signal(came)
