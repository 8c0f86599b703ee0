"""The plugin of the Argo CD page, run as a sidecar does: several applications at once, in one file system."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.commands import ROOT, blocks
from tests.docs.scenes import overlays
from tests.hosts.running import Machine, Ran, machine

PAGE = (ROOT / "docs/how-to/argo-cd.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = machine(tmp_path_factory.mktemp("sidecar"))
    for name in ("a", "b"):
        overlays(made, made.home / name)
        with (made.home / name / "confidential/kustomization.yaml").open("a") as file:
            file.write(f"commonAnnotations: {{app: application-{name}}}\n")
    return made


def plugin() -> dict[str, Any]:
    (found,) = (block for block in blocks(PAGE) if "kind: ConfigManagementPlugin" in block)
    made: dict[str, Any] = yaml.safe_load(found)
    return made


def rendered(sidecar: Machine, name: str) -> Ran:
    generate = plugin()["spec"]["generate"]
    return sidecar.run([*generate["command"], *generate["args"]], sidecar.home / name / "confidential")


def test_applications_that_are_rendered_at_once_get_their_own_resources(sidecar: Machine) -> None:
    alone = {name: rendered(sidecar, name).ok() for name in ("a", "b")}
    assert b"application-a" in alone["a"]
    assert b"application-a" not in alone["b"]
    with ThreadPoolExecutor(4) as pool:
        names = ["a", "b"] * 4
        for name, ran in zip(names, pool.map(lambda name: rendered(sidecar, name), names), strict=True):
            assert ran.ok() == alone[name]


@pytest.mark.parametrize("broken", ["kustomization.yaml", "images.yaml"])
def test_a_build_that_fails_gives_nothing(sidecar: Machine, broken: str, tmp_path: Path) -> None:
    here = tmp_path / "here"
    overlays(sidecar, here)
    (here / "confidential" / broken).write_text("")
    generate = plugin()["spec"]["generate"]
    ran = sidecar.run([*generate["command"], *generate["args"]], here / "confidential")
    assert ran.code != 0
    assert ran.out == b""


def test_no_recipe_writes_to_a_path_that_others_share() -> None:
    found = subprocess.run(
        ["git", "grep", "-nE", r"(>|-o|of=) */(tmp|var)/", "--", "README.md", "docs", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
