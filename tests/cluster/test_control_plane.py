"""The control plane itself: it is the pinned one, it ends with the block that started it, and without it tests fail."""

import socket
import subprocess
from pathlib import Path

import pytest

from tests.cluster.api import Api
from tests.cluster.control_plane import control_plane
from tools import build
from tools.cache import ToolError
from tools.real import pinned, tool


def test_the_server_and_kubectl_are_of_the_pinned_version(api: Api) -> None:
    told = subprocess.run([tool("kubernetes"), "--version"], capture_output=True, text=True, timeout=30, check=True)
    version = api("GET", "/version").ok()
    assert told.stdout.strip() == version["gitVersion"] == pinned("kubernetes")
    assert f"v{version['major']}.{version['minor']}." in pinned("kubernetes")


def test_no_program_is_left_when_a_test_is_interrupted(tmp_path: Path) -> None:
    ports = []

    def test() -> None:
        with control_plane(tmp_path) as made:
            ports.append(made.api.port)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        test()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports[0]), 5)
    assert str(tmp_path) not in _directories()


def _directories() -> list[str]:
    """The working directories of all processes that we may look at."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            found.append(str(link.readlink()))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def test_a_missing_tool_fails_and_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    with pytest.raises(ToolError, match="run `make tools-cluster`"):
        build.current(build.APART[0])
