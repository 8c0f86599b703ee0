"""Both plugin manifests load in the real Helm they are for, and say the version of the package."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from krm_function import __version__
from tools.real import tool

ROOT = Path(__file__).parents[2]
VERSION = re.sub(r"\.dev(\d+)$", r"-dev.\1", __version__)  # the same in Helm's way of writing, SemVer
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
    "templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map\n",
}
STUB = """#!/bin/sh
printf '%s\\n' "$*" >"$STUB_ARGUMENTS"
case $1 in post-render) cat ;; esac
"""


class Helm:
    """One real Helm with homes of its own, and a `contrast-krm` on PATH that only writes down how it was called."""

    def __init__(self, name: str, home: Path) -> None:
        self.program = tool(name)
        self.arguments = home / "arguments"
        self.bin = home / "bin"
        self.bin.mkdir()
        self.environment = {
            "HOME": str(home),
            "PATH": f"{self.bin}{os.pathsep}{os.defpath}",
            "STUB_ARGUMENTS": str(self.arguments),
            **{f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("DATA", "CONFIG", "CACHE")},
        }
        self.chart = home / "chart"
        for path, text in CHART.items():
            (self.chart / path).parent.mkdir(parents=True, exist_ok=True)
            (self.chart / path).write_text(text)

    def put_stub(self) -> None:
        (self.bin / "contrast-krm").write_text(STUB)
        (self.bin / "contrast-krm").chmod(0o755)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, *arguments], env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

    def ok(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def helm3(tmp_path: Path) -> Helm:
    return Helm("helm3", tmp_path)


@pytest.fixture
def helm4(tmp_path: Path) -> Helm:
    return Helm("helm4", tmp_path)


def for_helm3(directory: Path) -> str:
    """Copy the root plugin.yaml alone: Helm links a local plugin directory as a whole."""
    directory.mkdir()
    shutil.copy(ROOT / "plugin.yaml", directory)
    return str(directory)


def test_helm4_lists_a_postrenderer(helm4: Helm) -> None:
    helm4.ok("plugin", "install", str(ROOT / "helm_plugin"))
    assert helm4.ok("plugin", "list").splitlines()[1].split()[:4] == ["contrast-krm", VERSION, "postrenderer/v1", "v1"]


def test_helm4_runs_the_postrenderer_with_its_arguments(helm4: Helm) -> None:
    helm4.put_stub()
    helm4.ok("plugin", "install", str(ROOT / "helm_plugin"))
    flags = [f"--post-renderer-args={word}" for word in ("--config", "a b.yaml")]
    assert "name: map" in helm4.ok("template", "x", str(helm4.chart), "--post-renderer", "contrast-krm", *flags)
    assert helm4.arguments.read_text() == "post-render --config a b.yaml\n"


def test_helm4_names_the_program_that_is_missing(helm4: Helm) -> None:
    """Why the manifest has a bare name: what a launcher would write to stderr is never shown."""
    helm4.ok("plugin", "install", str(ROOT / "helm_plugin"))
    done = helm4.run("template", "x", str(helm4.chart), "--post-renderer", "contrast-krm")
    assert done.returncode != 0
    assert '"contrast-krm": executable file not found' in done.stderr


def test_helm3_runs_the_commands(helm3: Helm) -> None:
    helm3.put_stub()
    helm3.ok("plugin", "install", for_helm3(helm3.chart.parent / "contrast"))
    assert helm3.ok("plugin", "list").splitlines()[1].split()[:2] == ["contrast", VERSION]
    helm3.ok("contrast", "plan", "--config", "c.yaml")
    assert helm3.arguments.read_text() == "plan --config c.yaml\n"


def test_helm3_post_renders_without_a_plugin(helm3: Helm) -> None:
    helm3.put_stub()
    flags = ["--post-renderer", "contrast-krm", "--post-renderer-args", "post-render"]
    assert "name: map" in helm3.ok("template", "x", str(helm3.chart), *flags)


def test_helm4_runs_the_commands_too(helm4: Helm) -> None:
    helm4.put_stub()
    helm4.ok("plugin", "install", for_helm3(helm4.chart.parent / "contrast"))
    helm4.ok("contrast", "plan", "--config", "c.yaml")
    assert helm4.arguments.read_text() == "plan --config c.yaml\n"


def test_helm3_keeps_its_other_plugins(helm3: Helm) -> None:
    other = helm3.chart.parent / "other"
    other.mkdir()
    (other / "plugin.yaml").write_text("name: other\nversion: 1.0.0\nusage: u\ndescription: d\ncommand: echo other\n")
    helm3.ok("plugin", "install", str(other))
    helm3.ok("plugin", "install", for_helm3(helm3.chart.parent / "contrast"))
    done = helm3.run("other")
    assert (done.returncode, done.stdout, done.stderr) == (0, "other\n", "")


def test_versions_are_that_of_the_package() -> None:
    manifests = [yaml.safe_load((ROOT / path).read_text()) for path in ("plugin.yaml", "helm_plugin/plugin.yaml")]
    assert [each["version"] for each in manifests] == [VERSION, VERSION], json.dumps(manifests)


def test_no_manifest_downloads_anything() -> None:
    for path in ("plugin.yaml", "helm_plugin/plugin.yaml"):
        assert not {"hooks", "platformHooks", "downloaders"} & set(yaml.safe_load((ROOT / path).read_text()))
