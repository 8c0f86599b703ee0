"""The slow engine is asked some of the questions by default, and all of them every night."""

from collections import defaultdict

import pytest

from tests.policy.engines import agreed
from tests.selection import COLLECTED, NIGHTLY, function_of, indices_of

EVERY = 4  # questions of a function with one parameter or none


@pytest.fixture(scope="session")
def every(request: pytest.FixtureRequest) -> dict[str, int]:
    """One question in how many is for the slow engine, by function; of two parameters, each value has one."""
    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    for item in request.config.stash[COLLECTED].every:
        known = sizes[function_of(item)]
        for name, index in indices_of(item).items():
            known[name] = max(index + 1, known.get(name, 0))
    return {
        name: min(EVERY, *found) if len(found := [size for size in known.values() if size > 1]) > 1 else EVERY
        for name, known in sizes.items()
    }


@pytest.fixture(autouse=True)
def turns_of_the_slow_engine(request: pytest.FixtureRequest, every: dict[str, int]) -> None:
    """Begin with the first case of each function; of several parameters, each has its turn."""
    one_in = 1 if request.config.stash[NIGHTLY] else every[function_of(request.node)]
    agreed.TURNS.begin(one_in, sum(indices_of(request.node).values()))
