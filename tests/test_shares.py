"""Of a function that takes long `make test` runs the cases that `costly.json` says, and of every other one all."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.selection import COLLECTED, function_of
from tests.shares import costly, fewer_examples, measured, smaller, spread

ROOT = Path(__file__).parents[1]
LOG = """\
tests/x/test_a.py::test_many[1]
[gw0] [  1%] PASSED tests/x/test_a.py::test_many[1]
[gw1] [  2%] PASSED tests/x/test_a.py::test_many[2]
[gw1] [  2%] PASSED tests/x/test_a.py::test_many[3]
[gw1] [ 33%] PASSED tests/x/test_a.py::test_quick[3]
[gw1] [ 33%] PASSED tests/x/test_a.py::test_quick[4]
[gw2] [100%] PASSED tests/x/test_a.py::test_long
[gw2] [100%] PASSED tests/x/test_a.py::test_alone
0.30s call     tests/x/test_a.py::test_many[1]
0.10s setup    tests/x/test_a.py::test_many[2]
0.10s call     tests/x/test_a.py::test_many[2]
0.10s call     tests/x/test_a.py::test_quick[3]
8.00s call     tests/x/test_a.py::test_long
2.00s call     tests/x/test_a.py::test_alone
"""


def test_each_costly_function_exists_and_has_more_cases_than_run(request: pytest.FixtureRequest) -> None:
    counts = Counter(function_of(item) for item in request.config.stash[COLLECTED].every)
    files = {name.partition("::")[0] for name in counts}
    asked = {name: share for name, share in costly().items() if name.partition("::")[0] in files}
    assert [name for name, share in asked.items() if not 0 <= share < counts[name]] == []
    assert [name for name in costly() if not (ROOT / name.partition("::")[0]).is_file()] == []


@given(st.integers(1, 60), st.integers(1, 60))
def test_what_runs_is_spread_from_the_first_to_the_last(count: int, wanted: int) -> None:
    chosen = sorted(spread(count, wanted))
    assert len(chosen) == min(count, wanted)
    assert chosen[0] == 0
    assert chosen[-1] == count - 1 or wanted == 1
    gaps = {right - left for left, right in pairwise(chosen)}
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_no_share_runs_nothing() -> None:
    assert spread(9, 0) == set()


def test_what_is_left_out_is_of_the_functions_named_and_nothing_is_lost() -> None:
    ids = [*(f"tests/a.py::many[{number}]" for number in range(5)), "tests/a.py::one", "tests/a.py::long"]
    items = cast("list[pytest.Item]", [SimpleNamespace(nodeid=each) for each in ids])
    kept, gone = smaller(items, {"tests/a.py::many": 2, "tests/a.py::long": 0})
    assert [each.nodeid for each in kept] == ["tests/a.py::many[0]", "tests/a.py::many[4]", "tests/a.py::one"]
    assert {each.nodeid for each in gone} == set(ids) - {each.nodeid for each in kept}


def test_shares_are_taken_of_a_log() -> None:
    found = {"tests/x/test_a.py::test_many": 1, "tests/x/test_a.py::test_long": 0}
    quick = "tests/x/test_a.py::test_quick"
    assert measured(LOG.splitlines()) == found
    assert measured(LOG.splitlines(), {quick: 0, "tests/x/gone.py::test": 0}) == found | {quick: 0}


def test_a_property_test_tries_a_tenth() -> None:
    tried = []

    @given(st.integers())
    def test(number: int) -> None:
        tried.append(number)

    fewer_examples([cast("Any", SimpleNamespace(obj=test, nodeid="tests/a.py::test"))])
    test()
    assert 0 < len(tried) <= 10
