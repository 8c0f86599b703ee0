"""Defer SIGINT, SIGTERM and SIGHUP while files are written.

Rule of this file: no signal is lost. A deferred signal may stop the work between two steps, and is delivered at the
end of the block.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

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
