"""Whether a promise is held: its limit, what was measured, one line of the table.

Rule of this file: arithmetic and text, no process is run here. Nothing fails; a promise that is not held says so.
"""

from collections.abc import Callable
from typing import NamedTuple

HEAD = f"{'':<58} {'limit':>9} {'measured':>9} {'cpu':>9} {'':>8}  peer or unit"


class Figure(NamedTuple):
    """What was measured: by the clock, by least processor time where that applies, and what else there is to say."""

    value: float
    cpu: float | None = None
    notes: tuple[str, ...] = ()


class Promise(NamedTuple):
    """One line of the list; without a limit it only tells."""

    name: str
    limit: float | None
    of: str  # what the figure is a multiple of, or counts
    measure: Callable[[], Figure]
    below: bool = False  # the limit itself is too much
    large: bool = False  # needs minutes


def verdict(promise: Promise, figure: Figure) -> str:
    """Return the last word of a line."""
    if promise.limit is None:
        return ""
    held = figure.value < promise.limit if promise.below else figure.value <= promise.limit
    return "held" if held else "missed"


def limit(promise: Promise) -> str:
    """Return the limit with its sign; "" for a line that only tells."""
    return "" if promise.limit is None else f"{'<' if promise.below else '<='} {promise.limit:g}"


def shown(promise: Promise, figure: Figure | None) -> str:
    """Return the line of a promise; without a figure it was left out."""
    allowed = limit(promise)
    if figure is None:
        return f"{promise.name:<58} {allowed:>9} {'':>9} {'':>9} {'left out':>8}  {promise.of}"
    cpu = "" if figure.cpu is None else number(figure.cpu)
    word = verdict(promise, figure)
    line = f"{promise.name:<58} {allowed:>9} {number(figure.value):>9} {cpu:>9} {word:>8}  {promise.of}"
    return "\n".join([line, *(f"    {note}" for note in figure.notes)])


def each(many: float, none: float, count: int) -> float:
    """Return what one of `count` workloads adds to a render of none."""
    return (many - none) / count


def growth(none: float, few: tuple[float, int], many: tuple[float, int]) -> float:
    """How much dearer a workload is among many than among few; few and many are times with their counts."""
    return each(many[0], none, many[1]) / each(few[0], none, few[1])


def number(value: float) -> str:
    """Three figures, and no exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
