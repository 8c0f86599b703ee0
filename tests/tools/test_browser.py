"""The pinned Chromium: it is what its pin says, and a missing or another one is an error of one line."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.real_tools import needing
from tools import browser as tool
from tools import npm as fetching
from tools.cache import ToolError


@needing("chromium")
def test_chromium_is_of_its_pin() -> None:
    known = tool.browser()
    told = subprocess.run(
        [known.program, "--version"], env=known.environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert f" {tool.CHROMIUM.version.split('.')[0]}." in told.stdout


def test_a_missing_browser_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    with pytest.raises(ToolError, match=r"^chromium: .*run `make tools`$"):
        tool.browser.__wrapped__()


def test_another_tarball_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An npm that brings something else."""
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\nwhile [ "$1" != --pack-destination ]; do shift; done\necho evil > "$2/a.tgz"\n')
    npm.chmod(0o755)
    monkeypatch.setattr(fetching, "node", lambda: ("node", [str(npm)]))
    with pytest.raises(ToolError, match="is not the one we know"):
        tool.install()
    assert {path.name for path in (tmp_path / "tools").iterdir()} == {".lock", "bin"}


def test_a_tarball_without_the_program_is_an_error(tmp_path: Path) -> None:
    tarball = tmp_path / "a.tgz"
    (tmp_path / "README").write_text("empty")
    with tarfile.open(tarball, "w:gz") as archive:
        archive.add(tmp_path / "README", "package/README")
    with pytest.raises(ToolError, match="not in the package"):
        tool._mermaid(str(tarball), str(tmp_path))
