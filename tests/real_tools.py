"""A fixture for each real tool that `make test` does without: what asks for one is slow, and runs in `make test-all`.

Rule of this file: a fixture that starts a tool beyond BASIC takes the one of this file, `registry_tool`; a test, a
module or one value of a parameter that starts it by itself is marked `needing("registry")`. There is no other way:
`tools.real.tool` raises for a tool that a run without slow tests does without.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tools import ajv, browser, interpreters, real, wheels
from tools.build import BASIC


def _fixture(name: str, there: Callable[[], object]) -> Any:
    @pytest.fixture(scope="session", name=name)
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
FIXTURES = {f"{name.replace('-', '_')}_tool": there for name, there in BEYOND.items()}  # regorus_agent_tool
globals().update({name: _fixture(name, there) for name, there in FIXTURES.items()})


def pytest_configure(config: pytest.Config) -> None:
    real.ONLY[:] = BASIC if "not slow" in config.option.markexpr else ()


@pytest.hookimpl(tryfirst=True)  # before -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("needs") or FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


def needing(*names: str) -> pytest.MarkDecorator:
    """Mark a test, a module or one value of a parameter with the tools beyond BASIC that it asks for."""
    return pytest.mark.needs(*names)
