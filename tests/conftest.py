"""Which tests run, and with which examples.

| run | tests | examples of property tests |
|---|---|---|
| `make test` | neither slow nor nightly | a few, always the same: a failure is the change's, not the day's |
| `pytest`, `make test-all` | all but nightly | more, always the same |
| `make nightly` | all | many, by PROPERTY_SEED, as in any run with `--hypothesis-seed` |

`slow`: the cases of the function take seconds, or need a tool that `make test` does not build (tests/real_tools.py).
`nightly`: more of what another case tries already, with other random numbers or in larger number.

tests/cluster starts a Kubernetes control plane for each worker of xdist: it runs by itself, with `--cluster SIZE`, and
never beside other tests. Signals that the caller of the tests ignores (`nohup`, a shell's background jobs) have their
default effect again, since programs under test inherit that.
"""

import gc
import importlib
import os
import pkgutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

import helm_plugin
import krm_function

pytest_plugins = ("tests.real_tools",)

CLUSTER = Path(__file__).parent / "cluster"
EXAMPLES = {"quick": 10, "usual": 100, "nightly": 300}

for ignorable, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignorable) is signal.SIG_IGN:
        signal.signal(ignorable, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cluster",
        choices=("small", "large"),
        help="run tests/cluster: `small` with the same random numbers in every run, `large` by PROPERTY_SEED",
    )


def pytest_configure(config: pytest.Config) -> None:
    same = config.getoption("--hypothesis-seed") is None
    for name, count in EXAMPLES.items():
        settings.register_profile(name, max_examples=count, derandomize=same, deadline=None)
    settings.load_profile("usual")  # unless --hypothesis-profile names another one


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave tests/cluster out where its option is not given."""
    if collection_path == CLUSTER:
        return config.getoption("--cluster") is None
    return None


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the random numbers of tests/cluster."""
    if config.getoption("--cluster") != "large":
        return None
    return f"control plane: replay with PROPERTY_SEED={os.environ.get('PROPERTY_SEED', '0')}"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make what a test does independent of the tests before it, and keep the garbage collector off the test items.

    Hypothesis draws from the constants of all modules that are loaded: with a module that an earlier test has loaded
    it tries other examples. So all are loaded.
    """
    if not session.config.option.collectonly:
        for package in (krm_function, helm_plugin):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
