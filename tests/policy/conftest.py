"""The slow engine is asked some of the questions by default, and all of them every night."""

import pytest
from hypothesis import settings

from tests.policy.engines import agreed

EVERY = 12  # one question in so many; of each parameter with fewer values, each value has one


@pytest.fixture(autouse=True)
def turns_of_the_slow_engine(request: pytest.FixtureRequest) -> None:
    """Begin with the first case of each function; of several parameters, each has its turn."""
    every = 1 if settings.get_current_profile_name() == "nightly" else EVERY
    turn = sum(request.node.callspec.indices.values()) if hasattr(request.node, "callspec") else 0
    agreed.TURNS.begin(every, turn)
