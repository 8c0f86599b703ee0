"""kpt and kustomize run the image by their own commands, through a real engine, to the committed bytes.

kpt calls podman, as KPT_FN_RUNTIME says. kustomize calls `docker` and nothing else: that name leads to podman here, as
Debian's package podman-docker does it. Both names note their arguments before they become podman.
"""

import os
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.running import EXAMPLES, ROOT, SYSTEM, Machine, Ran
from tools.engine import environment
from tools.image import IMAGE
from tools.real import tool

NAMES = ("kpt", "kustomize")
ENGINE = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
exec {podman} "$@"
"""
FUNCTION = {
    "exec: contrast-krm": f"image: {IMAGE}",
    "exec:\n        path: contrast-krm": f"container:\n        image: {IMAGE}",
}
CURRENT = f"{os.getuid()}:{os.getgid()}"


class Engine(NamedTuple):
    """A machine with the hosts, podman, podman by the name of docker, and no contrast-krm."""

    machine: Machine
    log: Path

    def run(self, *command: str, cwd: Path) -> Ran:
        """Run a host."""
        settings = {name: value for name, value in environment().items() if name.startswith(("CONTAINERS", "BUILDAH"))}
        runtime = {"KPT_FN_RUNTIME": "podman", "KRM_FN_RUNTIME": "podman"}
        return self.machine.run(command, cwd, env={**settings, **runtime})

    def calls(self) -> list[list[str]]:
        """The arguments of each container that was started, without the image."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [shlex.split(line) for line in lines if line.startswith("run ")]


@pytest.fixture
def hosts(tmp_path: Path) -> Engine:
    made = Engine(Machine(tmp_path / "machine"), tmp_path / "calls")
    made.machine.home.mkdir(parents=True)
    programs = made.machine.directory / "bin"
    programs.mkdir()
    for name in NAMES:
        (programs / name).symlink_to(tool(name))
    podman = shutil.which("podman", path=f"{SYSTEM}:/usr/local/bin")
    assert podman
    for name in ("podman", "docker"):
        (programs / name).write_text(ENGINE.format(log=made.log, podman=podman))
        (programs / name).chmod(0o755)
    return made


def with_image(example: str, directory: Path) -> Path:
    """An example whose function is the image instead of the program."""
    shutil.copytree(EXAMPLES / example, directory, ignore=shutil.ignore_patterns("README.md", "expected"))
    for path in directory.rglob("*"):
        if path.is_file():
            path.write_text(_with_image(path.read_text()))
    return directory


def _with_image(text: str) -> str:
    for old, new in FUNCTION.items():
        text = text.replace(old, new)
    return text


def expected(example: str) -> bytes:
    return _with_image((EXAMPLES / example / "expected/rendered.yaml").read_text()).encode()


def assert_confined(call: list[str], user: str) -> None:
    """The host gave it no network and no rights: the test would show nothing otherwise."""
    line = " ".join(call)
    assert "--network none" in line
    assert f"--user {user}" in line
    assert "no-new-privileges" in line
    assert "--entrypoint" not in line
    assert "--mount" not in line


def test_kpt_fn_render(hosts: Engine, tmp_path: Path) -> None:
    package = with_image("kpt", tmp_path / "package")
    assert hosts.run("kpt", "fn", "render", "-o", "unwrap", cwd=package).ok() == expected("kpt")
    (call,) = hosts.calls()
    assert_confined(call, "nobody")
    assert call[-1] == IMAGE


@pytest.mark.parametrize(
    ("flags", "user"), [((), "nobody"), (("--as-current-user",), CURRENT)], ids=["nobody", "current"]
)
def test_kpt_fn_eval(hosts: Engine, tmp_path: Path, flags: tuple[str, ...], user: str) -> None:
    """The bytes are those of the program on the same package; kpt leaves a Kptfile without pipeline alone."""
    package = with_image("kpt", tmp_path / "package")
    function = ["--fn-config", "contrast.yaml", "-o", "unwrap"]
    inside = hosts.run("kpt", "fn", "eval", "--image", IMAGE, *flags, *function, cwd=package).ok()
    (call,) = hosts.calls()
    assert_confined(call, user)
    (hosts.machine.directory / "bin/contrast-krm").symlink_to(ROOT / ".venv/bin/contrast-krm")
    assert hosts.run("kpt", "fn", "eval", "--exec", "contrast-krm", *function, cwd=package).ok() == inside


@pytest.mark.parametrize(
    ("flags", "user"), [((), "nobody"), (("--as-current-user",), CURRENT)], ids=["nobody", "current"]
)
def test_kustomize_build(hosts: Engine, tmp_path: Path, flags: tuple[str, ...], user: str) -> None:
    overlays = with_image("kustomize", tmp_path / "overlays")
    build = ("kustomize", "build", "--enable-alpha-plugins", *flags, "confidential")
    assert hosts.run(*build, cwd=overlays).ok() == expected("kustomize")
    (call,) = hosts.calls()
    assert_confined(call, user)


@pytest.mark.parametrize("example", ["kpt", "kustomize"])
def test_a_refusal_in_the_container_fails_the_host_and_says_why(hosts: Engine, tmp_path: Path, example: str) -> None:
    directory = with_image(example, tmp_path / "here")
    (web,) = [path for path in directory.rglob("web.yaml") if "runtimeClassName" in path.read_text()]
    web.write_text(web.read_text().replace("runtimeClassName: contrast-cc", "runtimeClassName: contrast-cc-none"))
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    command = {
        "kpt": ("kpt", "fn", "render"),
        "kustomize": ("kustomize", "build", "--enable-alpha-plugins", "confidential"),
    }[example]
    ran = hosts.run(*command, cwd=directory)
    assert ran.code != 0
    assert ran.out == b""
    assert "contrast-cc-none" in ran.err
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
