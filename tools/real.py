"""The real tools as tests ask for them: `tool("helm4")` is the path of a program that exists, or an error."""

import functools

from tools.build import APART, TOOLS, Tool, current, pin
from tools.cache import ToolError

ONLY: list[str] = []  # the tools that this run of the tests does not do without; [] for all


@functools.cache
def tool(name: str) -> str:
    """Return the path of a pinned tool; `ToolError` says what to do if it is missing."""
    wanted = _named(name)
    if ONLY and name not in ONLY:
        raise ToolError(f"{name}: not one of the tools of `make test`; mark the test, see tests/real_tools.py")
    return current(wanted)


@functools.cache
def pinned(name: str) -> str:
    """Return the version a tool is pinned to: `v1.2.3`."""
    return pin(_named(name)).version


def names() -> tuple[str, ...]:
    """Return the names of the tools that `make tools` builds from a pin."""
    return tuple(each.name for each in TOOLS)


def _named(name: str) -> Tool:
    for each in (*TOOLS, *APART):
        if each.name == name:
            return each
    raise ToolError(f"{name}: no such tool; there are {', '.join(each.name for each in (*TOOLS, *APART))}")
