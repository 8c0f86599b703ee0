"""The engines as users have them, each with one policy."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from krm_function.operations.rego_engine import rego_engine
from krm_function.operations.replay_log import Ask
from krm_function.policy.initdata import read_policy_data
from tests.real_tools import needing
from tools.real import tool

ENGINES = ("opa-cli", pytest.param("regorus-cli", marks=needing("regorus-cli")))


@pytest.fixture(scope="module")
def asking() -> Iterator[Callable[[str, str], Ask]]:
    """How to ask an engine about a policy."""
    with ExitStack() as stack:

        def made(engine: str, policy: str) -> Ask:
            ask, _, wrong = stack.enter_context(rego_engine(tool(engine), policy, read_policy_data(policy)))
            assert ask is not None, wrong
            return ask

        yield made
