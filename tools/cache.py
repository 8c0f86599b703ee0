"""Rule of this file: a build appears in the cache only when it is complete, and one process makes it.

    ${CONTRAST_KRM_TOOLS:-${XDG_CACHE_HOME:-~/.cache}/contrast-krm}/tools/<name>-<pin>-<toolchain>/<name>

`tools/bin/<name>` in that cache links to the current one. `<pin>` is a digest of all that decides the build but the
toolchain. Standard library only.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

HERE = os.path.dirname(os.path.abspath(__file__))


class ToolError(Exception):
    """A tool is missing or does not build; the message is one line."""


def cache() -> str:
    """Return the directory of all builds."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    root = os.environ.get("CONTRAST_KRM_TOOLS") or os.path.join(base, "contrast-krm")
    return os.path.join(os.path.abspath(root), "tools")


def link_of(name: str) -> str:
    """Return where the link of a tool is, or will be."""
    return os.path.join(cache(), "bin", name)


def linked(name: str, place: str) -> bool:
    """Whether the link of a tool leads to a build that exists."""
    path = link_of(name)
    return os.path.exists(path) and os.path.dirname(os.path.realpath(path)) == os.path.realpath(place)


def link(name: str, place: str) -> None:
    """Make or switch a link in one step."""
    path = link_of(name)
    fresh_link = f"{path}.{os.getpid()}"
    os.symlink(os.path.join("..", os.path.basename(place), name), fresh_link)
    os.replace(fresh_link, path)


def run(command: list[str], where: str, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a program in a directory of `tools/`, with an environment that says all that it needs."""
    return subprocess.run(
        command,
        cwd=os.path.join(HERE, where),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def fresh(place: str) -> Iterator[str]:
    """Give a new directory beside `place`, which becomes `place` if the block succeeds and vanishes if not."""
    made = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(place))
    try:
        yield made
        os.chmod(made, 0o755)  # noqa: S103  others may run the tools
        os.rename(made, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def locked(name: str = "") -> Iterator[None]:
    """Hold the lock of one tool, or of the rest, that one process or thread has at a time; it ends with the process."""
    os.makedirs(os.path.join(cache(), "bin"), exist_ok=True)
    with open(os.path.join(cache(), f".lock{name and '-'}{name}"), "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    """Report progress."""
    print(f"tools: {line}", file=sys.stderr, flush=True)
