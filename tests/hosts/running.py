"""contrast-krm and the real tools as a user runs them, on any machine: a bare PATH, an empty home, nothing else set."""

import gc
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from krm_function.cli import main
from tools.real import tool

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SYSTEM = "/usr/bin:/bin"
PROGRAM = Path(os.environ.get("CONTRAST_KRM_PROGRAM") or Path(sys.executable).parent / "contrast-krm")
"""What `contrast-krm` is on a machine; another form of installation, such as a bundle, by CONTRAST_KRM_PROGRAM."""


class Ran(NamedTuple):
    """What one command left behind."""

    code: int
    out: bytes
    err: str

    def ok(self) -> bytes:
        """Standard output of a command that has to succeed."""
        assert self.code == 0, f"exit code {self.code}\n{self.err}\n{self.out.decode()}"
        return self.out


class Machine(NamedTuple):
    """A machine with nothing on it but contrast-krm and the tools; `helm` is Helm 3 or Helm 4, as a call asks."""

    directory: Path

    @property
    def home(self) -> Path:
        """The home directory."""
        return self.directory / "home"

    def run(
        self,
        command: Sequence[str],
        cwd: Path | None = None,
        stdin: bytes = b"",
        *,
        helm: str = "helm3",
        env: dict[str, str] | None = None,
    ) -> Ran:
        """Run one command to its end."""
        path = f"{self.directory / 'bin'}:{self.directory / helm}:{SYSTEM}"
        done = subprocess.run(
            command,
            cwd=cwd or self.home,
            env={"PATH": path, "HOME": str(self.home), **(env or {})},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    def with_program(self, name: str, script: str) -> "Machine":
        """The machine with one more program on PATH, a script."""
        program = self.directory / "bin" / name
        program.write_text(script)
        program.chmod(0o755)
        return self

    def krm(self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> Ran:
        """Run contrast-krm."""
        return self.run(["contrast-krm", *arguments], cwd, stdin, env=env)


RECORDER = """#!/bin/sh
exec tee "$HOME/seen"
"""


def recorder(directory: Path) -> Machine:
    """A machine on which `contrast-krm` changes nothing, and keeps what it is sent in the file `seen` of the home."""
    program = directory / "recorder"
    program.write_text(RECORDER)
    program.chmod(0o755)
    return machine(directory, program)


def machine(directory: Path, program: Path = PROGRAM) -> Machine:
    """Set a machine up: the tools by name, and the post-renderer installed in Helm 4 as its README says."""
    made = without_plugins(directory, program)
    made.run(["helm", "plugin", "install", str(ROOT / "helm_plugin")], helm="helm4").ok()
    return made


def without_plugins(directory: Path, program: Path = Path(sys.executable).parent / "contrast-krm") -> Machine:
    """Set a machine up with the tools by name, and no plugin in either Helm."""
    made = Machine(directory)
    made.home.mkdir()
    for where, name, target in (
        ("bin", "contrast-krm", str(program)),
        ("bin", "kustomize", tool("kustomize")),
        ("bin", "kpt", tool("kpt")),
        ("helm3", "helm", tool("helm3")),
        ("helm4", "helm", tool("helm4")),
    ):
        (directory / where).mkdir(exist_ok=True)
        (directory / where / name).symlink_to(target)
    return made


def copied(name: str, directory: Path) -> Path:
    """A working copy of one example, without what is expected of it, in a tree like the repository's."""
    target = directory / "examples" / name
    shutil.copytree(EXAMPLES / name, target, ignore=shutil.ignore_patterns("expected"))
    plugin = directory / "helm_plugin"
    if not plugin.exists():
        plugin.symlink_to(ROOT / "helm_plugin")
    return target


def snapshot(directory: Path) -> dict[str, bytes]:
    """Every file below a directory with its bytes."""
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()
    }


def called(*arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ran:
    """Call contrast-krm in this process, for the many small inputs that need no host around it."""
    out, err = io.BytesIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["contrast-krm", *arguments]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.object(sys, "stdout", io.TextIOWrapper(out, write_through=True)),
        mock.patch.object(sys, "stderr", err),
        mock.patch.dict(os.environ, env or {}),
    ):
        try:
            code = main()
        finally:
            gc.enable()
        sys.stdout.flush()
        return Ran(code, out.getvalue(), err.getvalue())
