"""A machine with kpt, kustomize, podman, podman by the name of docker, and no contrast-krm; examples with the image.

Rule of this file: kustomize calls `docker` and nothing else. That name leads to podman, as Debian's package
podman-docker does it. Both names note their arguments before they become podman.
"""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from tests.hosts.running import EXAMPLES, Machine, Ran
from tools.engine import environment
from tools.image import IMAGE
from tools.real import tool

CURRENT = f"{os.getuid()}:{os.getgid()}"
ENGINE = """#!/bin/sh
printf '%s %s\\n' "${{0##*/}}" "$*" >> {log}
exec {podman} "$@"
"""


class Engine(NamedTuple):
    """The machine, and where the engine notes its arguments."""

    machine: Machine
    log: Path

    def run(self, *command: str, cwd: Path, **more: str) -> Ran:
        """Run a command."""
        settings = {name: value for name, value in environment().items() if name.startswith(("CONTAINERS", "BUILDAH"))}
        return self.machine.run(command, cwd, env={**settings, **more})

    def calls(self) -> list[list[str]]:
        """Each container that was started: the name of the engine and its arguments."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [shlex.split(line) for line in lines if " run " in line]


def engine_machine(directory: Path) -> Engine:
    """Set the machine up."""
    made = Engine(Machine(directory / "machine"), directory / "calls")
    made.machine.home.mkdir(parents=True)
    programs = made.machine.directory / "bin"
    programs.mkdir()
    for name in ("kpt", "kustomize"):
        (programs / name).symlink_to(tool(name))
    (programs / "pip").symlink_to(Path(sys.executable).parent / "pip")
    podman = shutil.which("podman")
    assert podman
    for name in ("podman", "docker"):
        (programs / name).write_text(ENGINE.format(log=made.log, podman=podman))
        (programs / name).chmod(0o755)
    return made


def with_image(example: str, directory: Path, image: str = IMAGE) -> Path:
    """An example whose function is the image instead of the program."""
    shutil.copytree(
        EXAMPLES / example, directory, ignore=shutil.ignore_patterns("README.md", "expected"), dirs_exist_ok=True
    )
    for path in directory.rglob("*"):
        if path.is_file():
            path.write_text(_with_image(path.read_text(), image))
    return directory


def _with_image(text: str, image: str) -> str:
    container = f"container:\n        image: {image}"
    return text.replace("exec: contrast-krm", f"image: {image}").replace("exec:\n        path: contrast-krm", container)


def expected(example: str, image: str = IMAGE) -> bytes:
    """What is committed, with the image where it names the program."""
    return _with_image((EXAMPLES / example / "expected/rendered.yaml").read_text(), image).encode()
