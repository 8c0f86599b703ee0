"""Which original lines a render changed or lost.

Rule of this file: every line of the input must come back, byte for byte and in order, whatever stands between. One kind
of line exists to be replaced: a runtime class that is a placeholder, and an image that the release maps. Of those the
same line with the release's value must come back, and nothing else.
"""

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import yaml

_PLACEHOLDER = re.compile(r"(\s*(?:- )?runtimeClassName: )contrast-cc(?:-(\S+))?(.*\n?)")
_IMAGE = re.compile(r"(\s*(?:- )?image: )(\S+)(.*\n?)")


class Values(NamedTuple):
    """What the release puts in place of placeholders."""

    handlers: dict[str, str]  # by platform; "" is that of the configuration
    images: dict[str, str]

    def resolved(self, line: str) -> str:
        """Return a line of the input as it must come back."""
        if (named := _PLACEHOLDER.fullmatch(line)) and (named[2] or "") in self.handlers:
            return f"{named[1]}{self.handlers[named[2] or '']}{named[3]}"
        if (named := _IMAGE.fullmatch(line)) and named[2] in self.images:
            return f'{named[1]}"{self.images[named[2]]}"{named[3]}'
        return line


def values(release: str, platform: str) -> Values:
    """Return what a file with one ContrastRelease says, for a configuration that names a platform."""
    with open(release, encoding="utf-8") as file:
        spec = yaml.safe_load(file)["spec"]
    handlers = {name: each["handler"] for name, each in spec["platforms"].items()}
    return Values({**handlers, "": handlers[platform]}, spec["images"])


def within(wanted: Iterable[str], found: Iterable[str]) -> bool:
    """Whether these lines are among those, in this order."""
    rest = iter(found)
    return all(line in rest for line in wanted)


def lost(wanted: list[str], found: list[str]) -> list[int]:
    """Return the places of the wanted lines that a diff reports as deleted or changed; none if they are all within."""
    if within(wanted, found):
        return []
    gone: list[int] = []
    start = low = 0
    for end, high in [*_anchors(wanted, found), (len(wanted), len(found))]:
        matcher = difflib.SequenceMatcher(None, wanted[start:end], found[low:high], autojunk=False)
        for verb, first, last, _, _ in matcher.get_opcodes():
            if verb in {"delete", "replace"}:
                gone.extend(range(start + first, start + last))
        start, low = end + 1, high + 1
    return gone


def _anchors(wanted: list[str], found: list[str]) -> list[tuple[int, int]]:
    """Places of lines that stand once here and once there: the longest series that is in order on both sides."""
    ours, theirs = Counter(wanted), Counter(found)
    there = {line: place for place, line in enumerate(found) if theirs[line] == 1}
    pairs = [(place, there[line]) for place, line in enumerate(wanted) if ours[line] == 1 and line in there]
    ends: list[int] = []  # the smallest end of a series of each length, and the pair that it is of
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1], last[length : length + 1] = [place], [index]
        before.append(last[length - 1] if length else -1)
    series = []
    index = last[-1] if last else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    return series[::-1]
