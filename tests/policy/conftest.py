"""The slow engine is asked some of the questions by default, and all of them every night."""

import pytest

from tests.policy.engines import agreed
from tests.selection import NIGHTLY, indices_of

EVERY = 12  # one question in so many; of each parameter with fewer values, each value has one


@pytest.fixture(autouse=True)
def turns_of_the_slow_engine(request: pytest.FixtureRequest) -> None:
    """Begin with the first case of each function; of several parameters, each has its turn."""
    agreed.TURNS.begin(1 if request.config.stash[NIGHTLY] else EVERY, sum(indices_of(request.node).values()))
