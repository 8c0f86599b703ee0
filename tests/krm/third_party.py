"""A third party's environment: the built wheel and PyYAML, nothing else of ours and none of our other libraries."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ALLOWED = ("yaml", "_yaml")


class Environment(NamedTuple):
    """An interpreter that can import krm_function, from the wheel, and yaml."""

    python: Path

    def run(self, code: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        """Run some code."""
        command = [str(self.python), "-c", code]
        variables = {"PATH": os.defpath, "HOME": "/nonexistent"}
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=60, check=False)

    def mypy(self, directory: Path, *files: str) -> str:
        """Return what `mypy --strict` says of some files of a directory."""
        options = ("--strict", "--no-incremental", f"--cache-dir={os.devnull}", "--config-file=")
        command = [sys.executable, "-m", "mypy", *options, "--python-executable", str(self.python), *files]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300, check=False)
        return done.stdout + done.stderr


def make(directory: Path) -> Environment:
    """Build the wheel without network, and install it without its dependencies beside PyYAML."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(directory), str(ROOT)]
    subprocess.run(build, check=True, timeout=120)
    place = directory / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    wheel = next(directory.glob("contrast_krm-*.whl"))
    install = [*pip, "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, timeout=120)
    into = Path(sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})["purelib"])
    for name in ALLOWED:
        (into / name).symlink_to(Path(sysconfig.get_path("platlib")) / name)
    return Environment(python)
