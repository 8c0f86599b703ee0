"""The lock files of requirements/ fit pyproject.toml, and nothing in them is without a hash."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
EXTRAS = PROJECT["project"]["optional-dependencies"]
OWN = PROJECT["project"]["name"]
DEV = [*RUN, *(line for lines in EXTRAS.values() for line in lines if not line.startswith(OWN))]
CASES = {"run.txt": RUN, "dev.txt": DEV}


def locked(name: str) -> dict[str, Requirement]:
    """What a lock file pins, by its name; each with all its hashes."""
    text = (ROOT / "requirements" / name).read_text()
    entries = re.findall(
        r"^([a-z0-9][^\\\n]*?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
    )
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", " "))]
    assert len(entries) == len(lines), "an entry without hashes"
    found = [Requirement(entry) for entry, _ in entries]
    return {requirement.name: requirement for requirement in found}


@pytest.mark.parametrize("name", CASES)
def test_it_has_a_version_that_the_project_allows_of_all_it_asks_for(name: str) -> None:
    pinned = locked(name)
    for line in CASES[name]:
        wanted = Requirement(line)
        found = pinned[re.sub(r"[._-]+", "-", wanted.name).lower()]
        (version,) = found.specifier
        assert version.operator == "=="
        assert wanted.specifier.contains(version.version), line


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14", "3.15"])
def test_a_library_of_some_pythons_is_left_out_for_the_others(python: str) -> None:
    marker = locked("run.txt")["backports-zstd"].marker
    assert marker is not None
    asked = marker.evaluate({"python_version": python, "python_full_version": f"{python}.0"})
    assert asked == (python not in {"3.14", "3.15"})


def test_both_files_pin_the_same_versions() -> None:
    run, dev = locked("run.txt"), locked("dev.txt")
    assert {name: str(each) for name, each in run.items()} == {name: str(dev[name]) for name in run}


def test_the_build_backend_is_the_one_that_builds() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_an_installation_takes_nothing_else() -> None:
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"^\t\$\(PIP\) (.*)$", makefile, re.MULTILINE)
    assert len(installs) == 4
    assert all(
        line.startswith(("--require-hashes -r requirements/", "--no-deps --no-build-isolation")) for line in installs
    )


def test_the_help_of_make_is_short() -> None:
    lines = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    lines = [line for line in lines if not line.startswith("make[")]
    assert len(lines) <= 12
    assert [line for line in lines if len(line) > 100] == []
