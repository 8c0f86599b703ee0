"""Every run of property tests tries the same examples, so that a failure is the change's and not the day's.

`HYPOTHESIS_RANDOM=1` tries others, `make test PROPERTY_SEED=7` those of a seed, which the head of the report names; the
nightly run takes its own number. Signals that the caller of the tests ignores (`nohup`, a shell's background jobs)
have their default effect again, since programs under test inherit that.
"""

import os
import signal

import pytest
from hypothesis import settings

for ignorable, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignorable) is signal.SIG_IGN:
        signal.signal(ignorable, usual)

settings.register_profile("steady", derandomize=not os.environ.get("HYPOTHESIS_RANDOM"), deadline=None)
settings.load_profile("steady")


def pytest_report_header(config: pytest.Config) -> str:
    """Which examples the property tests try."""
    if not os.environ.get("HYPOTHESIS_RANDOM"):
        return "property tests: the same examples as ever"
    seed = config.getoption("--hypothesis-seed")
    return f"property tests: random, {f'replay with make test PROPERTY_SEED={seed}' if seed else 'no seed was given'}"
