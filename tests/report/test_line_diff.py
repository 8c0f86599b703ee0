"""A unified diff says how one text becomes the other, as difflib's does, and in linear time."""

import re
from difflib import SequenceMatcher, unified_diff
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.report.diff import unified_lines

LINES = st.lists(st.sampled_from([f"line {number}" for number in range(12)] + ["same"]), max_size=40)
POD = ["- kind: Pod", "  name: {}", "  spec:", "    class: old", "    image: one"]


def patched(before: list[str], diff: list[str]) -> list[str]:
    """What a diff makes of a text. Every line that it shows of the text must stand there."""
    after: list[str] = []
    at = 0
    for line in diff:
        if header := re.fullmatch(r"@@ -(\d+)(,0)?(?:,\d+)? \+(\d+)(,0)?(?:,\d+)? @@", line):
            start = int(header[1]) - (header[2] is None)
            after += before[at:start]
            at = start
            assert len(after) == int(header[3]) - (header[4] is None)
            continue
        if line[0] in " -":
            assert before[at] == line[1:]
            at += 1
        if line[0] in " +":
            after.append(line[1:])
    return after + before[at:]


@given(LINES, LINES)
def test_the_diff_makes_the_second_text_of_the_first(before: list[str], after: list[str]) -> None:
    diff = list(unified_lines(before, after))
    assert patched(before, diff) == after
    assert bool(diff) == (before != after)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_edits_of_lines_that_stand_once_are_shown_as_difflib_shows_them(edited: list[bool]) -> None:
    before = [f"line {number}" for number in range(len(edited))]
    after = [f"{line} edited" if one else line for line, one in zip(before, edited, strict=True)]
    assert list(unified_lines(before, after)) == list(unified_diff(before, after, lineterm=""))[2:]


def test_members_of_a_long_list_are_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    class Measured(SequenceMatcher[str]):
        def __init__(self, junk: Any, left: Any, right: Any) -> None:
            sizes.append(len(left) + len(right))
            super().__init__(junk, left, right)

    monkeypatch.setattr("krm_function.report.diff.SequenceMatcher", Measured)
    before = [line.format(name) for name in range(3000) for line in POD]
    number = count()
    after = [f"    class: new{next(number) % 7}" if "class" in line else line for line in before]
    diff = list(unified_lines(before, after))
    assert patched(before, diff) == after
    assert sum(line.startswith("+ ") for line in diff) == 3000
    assert max(sizes) <= 2 * len(POD)
