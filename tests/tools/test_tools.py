"""The pinned tools are there, and are what their pins say."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.real_tools import needing
from tools import build, golang, interpreters, rust
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


def test_helm3_renders_for_the_kubernetes_of_its_release(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (chart / "templates" / "kube.yaml").write_text("kube: {{ .Capabilities.KubeVersion.Minor }}\n")
    command = [tool("helm3"), "template", str(chart)]
    told = subprocess.run(command, env={"HOME": str(tmp_path)}, capture_output=True, text=True, timeout=30, check=True)
    helm3 = next(each for each in build.TOOLS if isinstance(each, golang.Tool) and each.name == "helm3")
    assert f"kube: {golang.pin(helm3).kube}\n" in told.stdout


@pytest.mark.parametrize(("one", "other"), [("helm3", "helm4"), ("opa", "opa-cli")])
def test_what_two_tools_share_has_one_version_so_that_it_is_compiled_once(one: str, other: str) -> None:
    ours, theirs = (
        dict(re.findall(r"^\t(\S+) (v\S+)", Path(HERE, name, "go.mod").read_text(), re.MULTILINE))
        for name in (one, other)
    )
    both = ours.keys() & theirs.keys()
    assert len(both) > 10
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}


def test_a_missing_tool_is_an_error_that_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAST_KRM_TOOLS", str(tmp_path))
    with pytest.raises(ToolError, match="make tools"):
        build.current(build.TOOLS[0])


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


def test_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(ToolError, match="no such tool"):
        tool("helm5")


@needing("goyaml")
def test_the_identity_of_goyaml_reads_and_writes_every_document_with_its_comments() -> None:
    text = "# first\nb: 1 # one\na:\n  - 'x'\n---\n{c: 'd'} # flow\n---\nd: &d {e: f}\ng: *d\n"
    done = subprocess.run([tool("goyaml")], input=text, capture_output=True, text=True, timeout=30, check=True)
    assert list(yaml.safe_load_all(done.stdout)) == list(yaml.safe_load_all(text))
    assert done.stdout.startswith("# first\nb: 1 # one\na:\n  - 'x'\n---\n")


@needing("goyaml")
def test_the_identity_of_goyaml_fails_on_what_it_cannot_read() -> None:
    done = subprocess.run([tool("goyaml")], input="a: [", capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("yaml: ")


def test_without_cargo_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = r"^regorus: no cargo on PATH to build it with; install Rust 1\.87 or newer \(Debian 12: cargo-web\)$"
    with pytest.raises(ToolError, match=message):
        rust.toolchain("1.87")


def test_an_old_cargo_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cargo").write_text("#!/bin/sh\necho 'cargo 1.63.0 (fd9c4297c 2022-07-01)'\n")
    (tmp_path / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    with pytest.raises(ToolError, match=r"cargo 1\.63\.0 on PATH is too old; install Rust 1\.87 or newer"):
        rust.toolchain("1.87")


@pytest.mark.parametrize(("name", "version"), [("regorus", "=0.9.1"), ("regorus-agent", "=0.10.0")])
def test_regorus_has_the_builtins_of_the_agent_only(name: str, version: str) -> None:
    manifest = tomllib.loads(Path(HERE, name, "Cargo.toml").read_text())
    wanted = manifest["dependencies"]["regorus"]
    assert wanted["version"] == version
    assert wanted["default-features"] is False
    assert set(wanted["features"]) == {"arc", "base64", "base64url", "regex", "std"}


RUST = [each for each in build.TOOLS if isinstance(each, rust.Tool)]


@pytest.mark.parametrize("each", RUST, ids=lambda each: each.name)
def test_the_pin_of_a_rust_tool_covers_every_file_that_is_compiled(
    each: rust.Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_source = shutil.ignore_patterns(".gitignore", "target")
    for one in RUST:
        shutil.copytree(Path(HERE, one.name), tmp_path / one.name, ignore=no_source)
    monkeypatch.setattr(rust, "HERE", str(tmp_path))
    before = rust.pin(each).digest
    compiled = [path for path in (tmp_path / each.name).rglob("*") if path.is_file()]
    for source in [path for path in compiled if path.suffix == ".rs"]:
        named = re.findall(r'^#\[path = "(.+)"\]$', source.read_text(), re.MULTILINE)
        compiled += [source.parent / path for path in named]
    shared = (tmp_path / "regorus" / "src" / "lines.rs").resolve() in [path.resolve() for path in compiled]
    assert shared == (each.name != "regorus-cli")
    for path in compiled:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert rust.pin(each).digest != before, path
        path.write_bytes(content)
    assert rust.pin(each).digest == before


def test_a_rust_tool_without_its_shared_source_has_no_pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = next(each for each in RUST if each.name == "regorus-agent")
    shutil.copytree(Path(HERE, agent.name), tmp_path / agent.name)
    monkeypatch.setattr(rust, "HERE", str(tmp_path))
    with pytest.raises(ToolError, match=r"^regorus-agent: no pin: .*lines\.rs"):
        rust.pin(agent)


def test_a_proxy_of_rustup_finds_its_toolchains_beside_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".cargo" / "bin").mkdir(parents=True)
    proxy = tmp_path / ".cargo" / "bin" / "cargo"
    proxy.write_text('#!/bin/sh\n[ -n "$RUSTUP_HOME" ] && echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"\n')
    proxy.chmod(0o755)
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{proxy.parent}{os.pathsep}{os.defpath}")
    assert rust.toolchain("1.87") == ("rust1.95.0", str(proxy), str(tmp_path / ".rustup"))


@needing("python314")
def test_an_interpreter_that_is_not_unpacked_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "cache", lambda: str(tmp_path))
    with pytest.raises(ToolError, match=r"^Python 3\.14: .*run `make tools`$"):
        interpreters.interpreter("3.14")
    with pytest.raises(ToolError, match=r"^pyodide: .*run `make tools`$"):
        interpreters.pyodide()
