"""`version` and `help`: what this program is, and the help of a command by its name."""

import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import krm_function
from krm_function.cli import build
from krm_function.cli.build import Build, this_build
from krm_function.cli.commands import SUMMARIES, version
from krm_function.contrast.profiles import PROFILES
from tests.failures.running import Zygote
from tests.hosts.running import called

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef" * 2 + "01234567"


def test_the_version_has_all_that_a_report_of_a_bug_needs() -> None:
    lines = called("version").out.decode().splitlines()
    assert lines[0] == f"contrast-krm {krm_function.__version__}"
    known = dict(line.split(": ", 1) for line in lines[1:])
    assert known["Python"].startswith(platform.python_version())
    assert known["build"] == this_build().kind
    assert known["commit"] == this_build().commit or known["commit"] == "unknown"
    assert [name.split()[0] for name in known["policy profiles"].split(", ")] == list(PROFILES)


def test_json_has_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads(called("version", "--json").out)
    assert data["version"] == krm_function.__version__
    assert [one["name"] for one in data["profiles"]] == list(PROFILES)
    assert [one["name"] for one in data["profiles"] if one["default"]] == ["contrast-1.25"]
    releases = {"contrast-1.25": "1.25", "strict": "1.25"}
    assert {one["name"]: one["release"] for one in data["profiles"] if "release" in one} == releases
    assert data["python"]["version"] == platform.python_version()
    assert data.get("commit", "") == this_build().commit
    monkeypatch.setattr(krm_function, "__commit__", COMMIT)
    monkeypatch.setattr(build, "DOCUMENTATION", "https://example.com/docs")
    assert json.loads(called("version", "--json").out)["commit"] == COMMIT


def test_an_installation_without_byte_code_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(version, "cache_from_source", lambda _: str(tmp_path / "none.pyc"))
    assert "byte code: none" in called("version").out.decode()
    monkeypatch.setattr(version, "cache_from_source", lambda _: str(tmp_path))
    assert "byte code" not in called("version").out.decode()


class Noted:
    """What an installer has noted."""

    def __init__(self, note: str | None) -> None:
        self.note = note

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.note


GIT = json.dumps({"url": "https://example.com/x", "vcs_info": {"vcs": "git", "commit_id": COMMIT}})


@pytest.mark.parametrize(
    ("note", "kind", "commit"),
    [
        (GIT, "git", COMMIT),
        ('{"url": "file:///x", "dir_info": {"editable": true}}', "editable", ""),
        ('{"url": "file:///x", "dir_info": {}}', "package", ""),
        ('{"url": "file:///x.whl", "archive_info": {}}', "package", ""),
        ("no JSON", "package", ""),
        ("[]", "package", ""),
        (None, "package", ""),
    ],
)
def test_what_an_installer_has_noted(note: str | None, kind: str, commit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "distribution", lambda name: Noted(note))
    assert this_build() == Build(krm_function.__version__, kind, commit)  # type: ignore[arg-type]
    monkeypatch.setattr(krm_function, "__commit__", "f" * 40)  # as a build in a clone writes it
    expected = Build(krm_function.__version__, kind, "f" * 40 if kind == "package" else commit)  # type: ignore[arg-type]
    assert this_build() == expected
    monkeypatch.setattr(build, "DOCUMENTATION", "https://example.com/docs")  # as only a release has it
    assert this_build() == Build(krm_function.__version__, "release", "f" * 40)


@pytest.mark.parametrize("commit", ["", "f" * 40])
def test_an_image_is_known_by_the_place_that_the_dockerfile_gives_the_program(
    commit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"venv --without-pip {build.IMAGE} " in (ROOT / "Dockerfile").read_text()
    monkeypatch.setattr(sys, "prefix", build.IMAGE)
    monkeypatch.setattr(krm_function, "__commit__", commit)
    assert this_build() == Build(krm_function.__version__, "image", commit)


def test_a_tree_that_was_never_installed_and_a_copy(tmp_path: Path) -> None:
    code = "from krm_function.cli.build import this_build; print(*this_build())"
    ignored = shutil.ignore_patterns("__pycache__")
    for name, kind in (("tree", "source"), ("lib/contrast-krm-1-abc", "copy")):
        shutil.copytree(ROOT / "krm_function", tmp_path / name / "krm_function", ignore=ignored)
        command = [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / name)!r}); {code}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [krm_function.__version__, kind]


@pytest.mark.parametrize("name", ["", *SUMMARIES])
def test_help_prints_what_the_option_prints(name: str, call: Zygote) -> None:
    asked = call("help", *name.split())
    assert (asked.code, asked.stderr) == (0, "")
    assert asked.stdout == call(*name.split(), "--help").stdout


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("generat",), "did you mean generate?"),
        (("release", "imprt"), "did you mean import?"),
        (("CC0304",), "contrast-krm explain CC0304"),
        (("generate", "--confg"), "see contrast-krm help --help"),
    ],
)
def test_a_mistyped_command_has_a_suggestion(words: tuple[str, ...], hint: str, call: Zygote) -> None:
    run = call("help", *words)
    assert (run.code, run.stdout) == (2, b"")
    assert re.fullmatch(rf"contrast-krm: .+\n  hint: {re.escape(hint)}\n", run.stderr)
