"""The default run leaves out no test, no value and no pair of values, and skips nothing but what is listed here."""

import re
import sys
import tempfile
from collections import defaultdict
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from tests.selection import COLLECTED, FRESH, NIGHTLY, all_pairs, function_of

TESTS = Path(__file__).parent
# what a machine may not have: a shell, the right to give files away
SKIPPED = {"cli/test_completion.py": 2, "adversary/test_places_to_write.py": 1}


def by_function(items: list[pytest.Item]) -> dict[str, list[pytest.Function]]:
    found = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function):
            found[function_of(item)].append(item)
    return found


def values(item: pytest.Function) -> list[tuple[str, Any]]:
    """The parameters of a case with what tells their values apart."""
    if not hasattr(item, "callspec"):
        return []
    return [(name, item.callspec.params[name]) for name in sorted(item.callspec.params)]


def keys(item: pytest.Function) -> set[Any]:
    """The values of a case, and their pairs."""
    told = [
        (name, value if isinstance(value, (str, int)) else id(value))
        for name, value in values(item)
        if not (name == "seed" and value in FRESH)
    ]
    return {*told, *combinations(told, 2)}


def test_every_value_and_every_pair_of_a_nightly_case_is_in_a_case_of_the_default_run(
    request: pytest.FixtureRequest,
) -> None:
    every = by_function(request.config.stash[COLLECTED].every)
    missing = []
    for name, items in every.items():
        default = [item for item in items if item.get_closest_marker("nightly") is None]
        nightly = [item for item in items if item.get_closest_marker("nightly") is not None]
        covered = {key for item in default for key in keys(item)}
        missing += [item.nodeid for item in nightly if keys(item) - covered or not default]
        assert default, name
    assert missing == []


def test_a_run_has_every_case_that_is_not_nightly_and_a_nightly_run_has_all(request: pytest.FixtureRequest) -> None:
    every, chosen = request.config.stash[COLLECTED]
    running = set(chosen)
    left_out = [item for item in every if item not in running]
    assert all(item.get_closest_marker("nightly") for item in left_out)
    assert not (request.config.stash[NIGHTLY] and left_out)


def test_no_id_names_a_place_on_this_machine(request: pytest.FixtureRequest) -> None:
    places = {str(TESTS.parent), sys.prefix, tempfile.gettempdir() + "/pytest"}
    every = request.config.stash[COLLECTED].every
    assert [item.nodeid for item in every if any(place in item.nodeid for place in places)] == []


def test_only_these_tests_may_be_skipped() -> None:
    word = re.compile(r"\bpytest\.(?:skip|importorskip|xfail|mark\.(?:skip|skipif|xfail))\b")
    found = {
        path.relative_to(TESTS).as_posix(): len(word.findall(path.read_text())) for path in sorted(TESTS.rglob("*.py"))
    }
    del found[Path(__file__).name]
    assert {name: count for name, count in found.items() if count} == SKIPPED


@pytest.mark.parametrize("sizes", [(1,), (3,), (2, 3), (2, 2, 2), (4, 2, 15), (5, 4, 3, 2), (1, 2, 3)])
def test_all_pairs_are_chosen_and_no_more_than_needed(sizes: tuple[int, ...]) -> None:
    chosen = all_pairs(sizes)
    for left, right in combinations(range(len(sizes)), 2):
        wanted = set(product(range(sizes[left]), range(sizes[right])))
        assert {(one[left], one[right]) for one in chosen} == wanted
    assert {one[0] for one in chosen} == set(range(sizes[0]))
    largest = sorted(sizes)[-2:]
    least = largest[0] * largest[-1] if len(sizes) > 1 else sizes[0]
    assert least <= len(chosen) <= least * 1.5
    assert chosen == all_pairs(sizes)
