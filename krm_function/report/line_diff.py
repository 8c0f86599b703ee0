"""Unified diff of two texts in a time that grows with their length.

Rule of this file: lines that both texts have once, in the same order, are the same line (as in patience diff), so the
standard library, whose time grows with the square of the length, compares only what stands between two of them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

CONTEXT = 3  # lines
Opcode = tuple[str, int, int, int, int]  # of difflib: what to do; lines of the text before; lines of the text after


def unified_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a unified diff below its header, none of them ended."""
    matcher = SequenceMatcher(None, "", "")
    matcher.opcodes = list(_joined(_opcodes(before, after)))  # type: ignore[attr-defined]  # which it then groups
    for group in matcher.get_grouped_opcodes(CONTEXT) if before or after else ():
        (_, first, _, into, _), (_, _, last, _, end) = group[0], group[-1]
        yield f"@@ -{_range(first, last)} +{_range(into, end)} @@"
        for tag, low, high, start, stop in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[low:high])
                continue
            yield from (f"-{line}" for line in before[low:high])
            yield from (f"+{line}" for line in after[start:stop])


def _range(start: int, stop: int) -> str:
    """Write lines as the header of a hunk counts them: from 1; of none, the line before."""
    count = stop - start
    return f"{start + bool(count)}" if count == 1 else f"{start + bool(count)},{count}"


def _opcodes(before: Sequence[str], after: Sequence[str]) -> Iterator[Opcode]:
    edges = [(-1, -1), *_anchors(before, after), (len(before), len(after))]
    for (low, start), (high, stop) in pairwise(edges):
        left, right = before[low + 1 : high], after[start + 1 : stop]
        for tag, *(first, last, into, end) in SequenceMatcher(None, left, right).get_opcodes():
            yield tag, low + 1 + first, low + 1 + last, start + 1 + into, start + 1 + end
        if high < len(before):
            yield "equal", high, high + 1, stop, stop + 1


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of the lines that stand once in both texts: the longest series that rises in both."""
    counts = Counter(before), Counter(after)
    places = {line: at for at, line in enumerate(after) if counts[1][line] == 1}
    shared = [(at, places[line]) for at, line in enumerate(before) if counts[0][line] == 1 and line in places]
    ends: list[int] = []  # the lowest last position in `after` of a series, by its length
    series: list[int] = []  # the index of that pair
    above: list[int] = []  # for each pair, the index of the pair before it in its series
    for index, (_, place) in enumerate(shared):
        size = bisect_left(ends, place)
        ends[size : size + 1], series[size : size + 1] = [place], [index]
        above.append(series[size - 1] if size else -1)
    anchors: list[tuple[int, int]] = []
    index = series[-1] if series else -1
    while index >= 0:
        anchors.append(shared[index])
        index = above[index]
    return anchors[::-1]


def _joined(opcodes: Iterator[Opcode]) -> Iterator[Opcode]:
    """Join neighbours of one kind."""
    last: Opcode | None = None
    for opcode in opcodes:
        if last is not None and last[0] == opcode[0]:
            last = (last[0], last[1], opcode[2], last[3], opcode[4])
            continue
        if last is not None:
            yield last
        last = opcode
    if last is not None:
        yield last
