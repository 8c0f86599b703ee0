"""Find the applications of a directory, and render each with the tool that it is made for.

Rule of this file: a chart is rendered with its own values by Helm 3, a kustomization by kustomize, and every YAML file
that is in neither as it stands. What a tool refuses, or what is a template of something else, is counted and left out.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tools.real import tool

Form = Literal["chart", "kustomization", "file"]
CHART = "Chart.yaml"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
SUFFIXES = (".yaml", ".yml", ".json")
SECONDS = 60
LARGEST = 10_000_000  # bytes of one application


class Application(NamedTuple):
    """A stream of objects as a tool gives it; "" with the reason in `problem` if it gives none."""

    name: str
    form: Form
    text: str
    problem: str = ""


def applications(top: Path) -> Iterator[Application]:
    """Yield the applications below a directory, in the order of their paths."""
    for here, directories, files in os.walk(top):
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        where = Path(here)
        if CHART in files:
            yield _rendered(top, where, "chart")
            directories[:] = [name for name in directories if name not in ("templates", "crds")]
            continue
        listed = next((name for name in KUSTOMIZATIONS if name in files), "")
        if listed:
            yield _rendered(top, where, "kustomization")
        for name in sorted(files):
            if name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS:
                yield _file(top, where / name)


def _rendered(top: Path, where: Path, form: Form) -> Application:
    name = str(where.relative_to(top.parent))
    if form == "chart":
        command = [tool("helm3"), "template", "app", str(where), "--namespace", "shop"]
    else:
        command = [tool("kustomize"), "build", "--load-restrictor", "LoadRestrictionsNone", str(where)]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Application(name, form, "", "takes too long")
    if ran.returncode:
        return Application(name, form, "", f"{Path(command[0]).name} refuses it")
    return _decoded(name, form, ran.stdout)


def _file(top: Path, path: Path) -> Application:
    name = str(path.relative_to(top.parent))
    try:
        return _decoded(name, "file", path.read_bytes())
    except OSError:
        return Application(name, "file", "", "cannot be read")


def _decoded(name: str, form: Form, data: bytes) -> Application:
    if len(data) > LARGEST:
        return Application(name, form, "", "is too large")
    try:
        return Application(name, form, data.decode("utf-8"))
    except UnicodeDecodeError:
        return Application(name, form, "", "is no UTF-8")
