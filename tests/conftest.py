"""Which tests run, and with which examples.

| run | tests | examples of property tests, and seeds |
|---|---|---|
| `pytest` | all without the marker `nightly` | always the same: a failure is the change's, not the day's |
| `make test PROPERTY_SEED=7` | the same | those of a seed, which the head of the report names |
| `pytest --nightly` | all | those of PROPERTY_SEED and `--hypothesis-seed`, else new ones |

tests/cluster starts a Kubernetes control plane for each worker of xdist: it runs by itself, with `--cluster SIZE`, and
never beside other tests. Every other run says that it does without.

`HYPOTHESIS_RANDOM=1` alone tries new ones as well. Signals that the caller of the tests ignores (`nohup`, a shell's
background jobs) have their default effect again, since programs under test inherit that.
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
from tests.case_ids import id_of
from tests.selection import COLLECTED, NIGHTLY, Collected

pytest_plugins = ("tests.real_tools",)

for ignorable, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignorable) is signal.SIG_IGN:
        signal.signal(ignorable, usual)


def pytest_make_parametrize_id(val: object) -> str | None:
    return id_of(val)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cluster",
        choices=("small", "large"),
        help="run tests/cluster: `small` with the same random numbers in every run, `large` by PROPERTY_SEED",
    )
    parser.addoption("--nightly", action="store_true", help="run the tests marked nightly as well, with new examples")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NIGHTLY] = config.getoption("--nightly")
    settings.register_profile("contrast-krm", derandomize=not random_examples(config), deadline=None)
    settings.load_profile("contrast-krm")


def random_examples(config: pytest.Config) -> bool:
    return config.stash[NIGHTLY] or bool(os.environ.get("HYPOTHESIS_RANDOM"))


CLUSTER = Path(__file__).parent / "cluster"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave tests/cluster out where its option is not given."""
    if collection_path == CLUSTER:
        return config.getoption("--cluster") is None
    return None


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Which examples the property tests try, and whether there is a control plane."""
    return [_property_tests(config), _control_plane(config)]


def _property_tests(config: pytest.Config) -> str:
    if not random_examples(config):
        return "property tests: the same examples as ever"
    seed, command = config.getoption("--hypothesis-seed"), "nightly" if config.stash[NIGHTLY] else "test"
    return (
        f"property tests: random, {f'replay with make {command} PROPERTY_SEED={seed}' if seed else 'no seed was given'}"
    )


def _control_plane(config: pytest.Config) -> str:
    """Of a run without a control plane: whether one runs beside it (`make test`) or none at all (CLUSTER=0)."""
    match config.getoption("--cluster"), os.environ.get("CLUSTER"):
        case None, "0":
            return "control plane: NOT TESTED (CLUSTER=0)"
        case None, "1":
            return "control plane: in a run of its own, after this one"
        case None, _:
            return "control plane: not in this run, see --cluster"
        case "large", _:
            seed = os.environ.get("PROPERTY_SEED", "0")
            return f"control plane: all, replay with PROPERTY_SEED={seed}"
        case _:
            return "control plane: the small fixed part"


@pytest.hookimpl(tryfirst=True)  # before -k and -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked nightly, unless all is to run."""
    every = list(items)
    if not config.stash[NIGHTLY]:
        items[:] = [item for item in every if item.get_closest_marker("nightly") is None]
        config.hook.pytest_deselected(items=[item for item in every if item.get_closest_marker("nightly")])
    config.stash[COLLECTED] = Collected(every, list(items))


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


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether a test that loops over a cross product itself is to take all of it."""
    return request.config.stash[NIGHTLY]
