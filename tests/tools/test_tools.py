"""The pinned tools are there, and are what their pins say."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.real_tools import needing
from tools import browser, build
from tools import npm as fetching
from tools.cache import HERE, ToolError
from tools.real import names, pinned, tool

VERSION = {
    "kustomize": ["version"],
    "helm3": ["version", "--template", "{{.Version}}"],
    "helm4": ["version", "--template", "{{.Version}}"],
    "kpt": ["version"],
    "registry": ["--version"],  # among its path and the module
    "opa": ["--version"],
    "opa-cli": ["version"],
    "goyaml": ["--version"],
    "containerd": ["--version"],
    "defaults": ["--version"],
    "goreaders": ["--version"],
    "openpgp": ["--version"],
    "cosign": ["version"],  # below its name in large letters
    "actionlint": ["-version"],  # among how it was built
    "argocd": ["--version"],
    "flux": ["--version"],
    "python312": ["--version"],
    "python313": ["--version"],
    "python314": ["--version"],
    "regorus": ["--version"],
    "regorus-agent": ["--version"],
    "regorus-cli": ["--version"],
}
PINS = ("go.mod", "Cargo.toml")


def test_every_pin_has_a_test() -> None:
    directories = {entry.name for entry in os.scandir(HERE) for pin in PINS if Path(entry.path, pin).exists()}
    apart = {each.name for each in build.APART}  # tests/cluster asks those
    assert set(names()) == set(VERSION) == directories - apart
    assert apart < directories


NAMES = [name if name in build.BASIC else pytest.param(name, marks=needing(name)) for name in names()]


@pytest.mark.parametrize("name", NAMES)
def test_answers_the_version_of_its_pin(name: str, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.defpath}
    told = subprocess.run(
        [tool(name), *VERSION[name]], env=environment, capture_output=True, text=True, timeout=30, check=True
    )
    assert {pinned(name), pinned(name).removeprefix("v")} & set(told.stdout.split())


def test_a_build_of_another_pin_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = build.TOOLS[0].name
    stale = tmp_path / "tools" / f"{name}-0000000000000000-go1.0.0" / name
    stale.parent.mkdir(parents=True)
    stale.write_text("#!/bin/sh\n")
    stale.chmod(0o755)
    (tmp_path / "tools" / "bin").mkdir()
    (tmp_path / "tools" / "bin" / name).symlink_to(stale)
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    with pytest.raises(ToolError, match="present pin"):
        build.current(build.TOOLS[0])


@pytest.mark.parametrize(("name", "version"), [("regorus", "=0.9.1"), ("regorus-agent", "=0.10.0")])
def test_regorus_has_the_builtins_of_the_agent_only(name: str, version: str) -> None:
    manifest = tomllib.loads(Path(HERE, name, "Cargo.toml").read_text())
    wanted = manifest["dependencies"]["regorus"]
    assert wanted["version"] == version
    assert wanted["default-features"] is False
    assert set(wanted["features"]) == {"arc", "base64", "base64url", "regex", "std"}


def test_another_tarball_than_the_pinned_one_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An npm that brings something else."""
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\nwhile [ "$1" != --pack-destination ]; do shift; done\necho evil > "$2/a.tgz"\n')
    npm.chmod(0o755)
    monkeypatch.setattr(fetching, "node", lambda: ("node", [str(npm)]))
    with pytest.raises(ToolError, match="is not the one we know"):
        browser.install()
    assert {path.name for path in (tmp_path / "tools").iterdir()} == {".lock", "bin"}
