"""A fixture for each real tool that `make test` does without: what asks for one runs in `make test-all` alone.

| run | tools | tests |
|---|---|---|
| `pytest --basic`, `make test` | those of BASIC | those that need no other tool; a part of what takes long |
| `pytest`, `make test-all` | all | all |

The summary of the first counts what it has left out.

Rule of this file: a fixture that starts a tool beyond BASIC takes the one of this file, `registry_tool`; a test, a
module or one value of a parameter that starts it by itself is marked `needing("registry")`. There is no other way:
`tools.real.tool` raises for a tool that `--basic` does without.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests import shares
from tools import ajv, browser, interpreters, real, wheels
from tools.build import BASIC

ENDING = "_tool"


def fixture_of(name: str) -> str:
    """Return the name of a tool's fixture: `regorus-agent` -> `regorus_agent_tool`."""
    return name.replace("-", "_") + ENDING


def _fixture(name: str, there: Callable[[], object]) -> Any:
    @pytest.fixture(scope="session", name=fixture_of(name))
    def needed() -> None:
        there()

    return needed


BEYOND: dict[str, Callable[[], object]] = {
    **{name: (lambda name=name: real.tool(name)) for name in real.names() if name not in BASIC},  # type: ignore[misc]
    "ajv": ajv.ajv,
    "chromium": browser.browser,
    "pyodide": interpreters.pyodide,
    "locked-wheels": wheels.wheels,
}
FIXTURES = {fixture_of(name): name for name in BEYOND}
globals().update({key: _fixture(name, BEYOND[name]) for key, name in FIXTURES.items()})

LEFT_OUT = pytest.StashKey[Counter[str]]()
COSTLY = ""  # among the names of tools: cases that take long


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--basic", action="store_true", help=f"what needs no tool but {', '.join(BASIC)}, and of what takes long a part"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*tools): tools beyond those of `make test`, see tests/real_tools.py")
    config.stash[LEFT_OUT] = Counter()
    real.ONLY[:] = BASIC if config.getoption("--basic") else ()


@pytest.hookimpl(trylast=True)  # what is nightly is gone by then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs another tool than those of `--basic`, and count it."""
    if not config.getoption("--basic"):
        return
    kept: list[pytest.Item] = []
    gone: list[pytest.Item] = []
    for item in items:
        needed = needed_by(item)
        config.stash[LEFT_OUT].update(needed[:1])
        (gone if needed else kept).append(item)
    items[:], costly = shares.smaller(kept, shares.costly())
    shares.fewer_examples(items)
    config.stash[LEFT_OUT].update({COSTLY: len(costly)})
    config.hook.pytest_deselected(items=gone + costly)


def needing(*names: str) -> pytest.MarkDecorator:
    """Mark a test, a module or one value of a parameter with the tools beyond BASIC that it asks for."""
    return pytest.mark.needs(*names)


def needed_by(item: pytest.Item) -> list[str]:
    """Return the tools beyond BASIC that a test asks for, in order."""
    marked = {name for mark in item.iter_markers("needs") for name in mark.args}
    return sorted(marked | {FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURES})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints the summary, if this is a worker."""
    if hasattr(session.config, "workeroutput"):
        counts: Counter[str] = session.config.stash[LEFT_OUT]
        session.config.workeroutput["left_out"] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker; all have collected the same."""
    told: dict[str, int] = getattr(node, "workeroutput", {}).get("left_out", {})
    node.config.stash[LEFT_OUT] = Counter(told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out, and the command that runs it."""
    if not config.getoption("--basic"):
        return
    counts = config.stash[LEFT_OUT]
    costly = counts.pop(COSTLY, 0)
    told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    terminalreporter.section("not run here", sep="-")
    terminalreporter.line(f"{counts.total()} tests, by the first tool that they need: {told};")
    terminalreporter.line(f"{costly} cases of tests that take long, and nine tenths of the examples of property tests;")
    terminalreporter.line(
        "and those of the control plane, the bundle and the container image. All of them: make test-all"
    )
