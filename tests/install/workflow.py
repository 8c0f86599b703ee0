"""Run the steps of a workflow as a runner of GitHub does: each job in a directory of its own, artefacts in between.

Rule of this file: what is not run is named by the caller; a step that is not named runs, and so does an action that
only moves files (checkout, artefacts). An expression that the caller gives no value for is an error.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")


class Workflow(NamedTuple):
    """A workflow file."""

    jobs: Mapping[str, Any]
    permissions: Mapping[str, str]

    def steps(self) -> list[tuple[str, Any]]:
        """All steps with the job of each."""
        return [(name, step) for name, job in self.jobs.items() for step in job["steps"]]


def read(path: Path) -> Workflow:
    data = yaml.safe_load(path.read_text())
    return Workflow(data["jobs"], data["permissions"])


class Stopped(Exception):
    """A step has failed; the message has its name and what it printed."""


class Runner:
    """Runs jobs. checkout: fills a directory. values: of expressions. variables: of all steps."""

    def __init__(
        self,
        directory: Path,
        checkout: Callable[[Path], None],
        values: Mapping[str, str],
        variables: Mapping[str, str],
        left_out: Collection[str],
    ) -> None:
        self.directory = directory
        self.ran: list[str] = []
        self._checkout = checkout
        self._values = values
        self._variables = variables
        self._left_out = left_out
        (directory / "temporary").mkdir()

    def artefact(self, name: str) -> Path:
        return self.directory / "artefacts" / name

    def job(self, name: str, workflow: Workflow) -> Path:
        """Run the steps of a job; its directory. Raises Stopped."""
        here = self.directory / name
        here.mkdir()
        for step in workflow.jobs[name]["steps"]:
            if "uses" in step:
                self._use(step["uses"].partition("@")[0], step.get("with", {}), here)
            elif step["name"] not in self._left_out:
                self._run(step, here)
        return here

    def _use(self, action: str, inputs: Mapping[str, Any], here: Path) -> None:
        match action:
            case "actions/checkout":
                self._checkout(here)
            case "actions/upload-artifact":
                source, target = here / inputs["path"], self.artefact(inputs["name"])
                if source.is_dir():
                    shutil.copytree(source, target)
                else:
                    target.mkdir(parents=True)
                    shutil.copy(source, target)
            case "actions/download-artifact":
                shutil.copytree(self.artefact(inputs["name"]), here / inputs["path"], dirs_exist_ok=True)
            case _:
                pass  # of others; the test lists them

    def _run(self, step: Mapping[str, Any], here: Path) -> None:
        environment = {
            **self._variables,
            "GITHUB_OUTPUT": str(self.directory / "output"),
            "RUNNER_TEMP": str(self.directory / "temporary"),
            **{name: self._value(text) for name, text in step.get("env", {}).items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-c", step["run"]],
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Stopped(f"{step['name']}: {done.returncode}\n{done.stdout}")
        self.ran.append(step["name"])

    def _value(self, text: str) -> str:
        return EXPRESSION.sub(lambda match: self._values[match[1]], str(text))


def copy_of_repository(root: Path, target: Path, leave_out: Collection[str] = ()) -> None:
    """What git knows or would take, as it lies there, without some folders at the top."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    for name in map(os.fsdecode, listed.stdout.split(b"\0")):
        if name and name.partition("/")[0] not in leave_out and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
