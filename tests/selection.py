"""Which cases of a cross product run by default, and which only every night.

Rule of this file: the default run has each value of each parameter, and each pair of values of two parameters; what it
leaves out is marked `nightly` and nothing else. `tests/test_selection.py` holds every product of the suite against it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.case_ids import id_of

Combination = tuple[int, ...]  # the index of a value for each parameter

NIGHTLY = pytest.StashKey[bool]()


class Collected(NamedTuple):
    """What was found, and what is to run."""

    every: list[pytest.Item]
    chosen: list[pytest.Item]


COLLECTED = pytest.StashKey[Collected]()
FRESH = range(1 << 30, 1 << 31)  # seeds that are new every night


def function_of(item: pytest.Item) -> str:
    """The test function that an item is a case of."""
    return item.nodeid.partition("[")[0]


def indices_of(item: pytest.Item) -> Mapping[str, int]:
    """Which of its values each parameter has in a case."""
    return item.callspec.indices if hasattr(item, "callspec") else {}


def _pairs(one: Combination) -> set[tuple[int, int, int, int]]:
    """The pairs of values in a combination: two parameters and an index for each."""
    return {(left, right, one[left], one[right]) for left, right in combinations(range(len(one)), 2)}


def all_pairs(sizes: Sequence[int]) -> list[Combination]:
    """Few combinations that have every pair of values of any two parameters; always the same ones, in order.

    sizes: how many values each parameter has. Greedy: each step takes the combination with most pairs that are missing.
    """
    left = list(product(*map(range, sizes)))
    missing = {pair for one in left for pair in _pairs(one)}
    chosen = []
    while missing:
        best = max(left, key=lambda one: len(_pairs(one) & missing))
        left.remove(best)
        missing -= _pairs(best)
        chosen.append(best)
    return sorted(chosen) if len(sizes) > 1 else left


def in_pairs(parameters: Mapping[str, Iterable[Any]], *, unless: Any = lambda *_: False) -> pytest.MarkDecorator:
    """Parametrize with a cross product of three or more parameters: pairs by default, the rest every night.

    parameters: the values of each, by name; of a mapping, the keys. unless: leave out a combination altogether.
    """
    values = [list(found) for found in parameters.values()]
    chosen = set(all_pairs([len(found) for found in values]))
    cases = []
    for one in product(*map(range, map(len, values))):
        made = [found[index] for found, index in zip(values, one, strict=True)]
        if not unless(*made):
            marks = () if one in chosen else (pytest.mark.nightly,)
            cases.append(pytest.param(*made, marks=marks, id="-".join(id_of(value) or str(value) for value in made)))
    return pytest.mark.parametrize(list(parameters), cases)


def seeds(count: int) -> list[Any]:
    """So many seeds that are the same in every run, and as many that only a nightly run has: by PROPERTY_SEED."""
    fresh = Random(os.environ.get("PROPERTY_SEED", "0"))  # noqa: S311 (not for secrets)
    new = [fresh.choice(FRESH) for _ in range(count)]
    return [*range(count), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in new)]
