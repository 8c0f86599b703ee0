"""The figures that pages show, in one file of the repository: what was measured, when, where and by which command.

Rule of this file: figures come from a run and from nowhere else; nobody types one. A benchmark records its own section
and leaves the others; the pages read what is recorded (`benchmarks/pages.py`).
"""

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(ROOT, "benchmarks", "figures.json")


class Run(NamedTuple):
    """Where the figures of a section are from."""

    command: str
    date: str
    python: str
    cores: int
    commit: str  # what was measured; with "changed" if the tree had uncommitted changes of the program

    def shown(self) -> str:
        """Return the line below a table."""
        return f"`{self.command}`, {self.cores} cores, {self.python}, {self.date}, commit {self.commit}."


class Section(NamedTuple):
    """What one benchmark measured: name -> figure, or name -> name -> figure."""

    run: Run
    figures: Mapping[str, Any]


def recorded(section: str, path: str = FILE) -> Section:
    """Return a section of the file. Raises KeyError for one that no run has recorded."""
    data = _read(path)[section]
    return Section(Run(**data["run"]), data["figures"])


def record(section: str, command: str, figures: Mapping[str, Any], path: str = FILE) -> None:
    """Replace a section of the file by the figures of a run that has just ended."""
    data = {**_read(path), section: {"run": _run(command)._asdict(), "figures": figures}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(data.items())), file, indent=2)
        file.write("\n")


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            data: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    return data


def _run(command: str) -> Run:
    return Run(
        command,
        time.strftime("%Y-%m-%d", time.gmtime()),
        f"{platform.python_implementation()} {platform.python_version()}",
        len(os.sched_getaffinity(0)),
        _git("rev-parse", "--short=12", "HEAD")
        + (" changed" if _git("status", "--short", "--", "krm_function") else ""),
    )


def _git(*arguments: str) -> str:
    """Return what git says of the tree, "" where there is no git."""
    try:
        done = subprocess.run(("git", "-C", ROOT, *arguments), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
