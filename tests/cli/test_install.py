"""`install`: a copy that runs, exchanged in one step, and nothing of somebody else's overwritten."""

import os
import stat
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from unittest import mock

import pytest

from krm_function import __version__
from krm_function.cli.build import NotCopied, installed_files
from krm_function.cli.installation import launcher
from tests.failures.running import EXECUTABLE, Run, environment, spawned

PLUGIN = "plugin/contrast-krm.dev/v1alpha1/contrastgenerate/ContrastGenerate"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("copy") / "not yet" / "there"
    run = spawned("install", str(target))
    assert (run.code, run.stdout) == (0, b"")
    assert f"contrast-krm {__version__} for " in run.stderr
    return target


def files(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file with its inode and its time of change."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(directory))] = (status.st_ino, status.st_ctime_ns)
    return found


def said(path: Path, *arguments: str) -> Run:
    done = subprocess.run([path, *arguments], env={}, capture_output=True, check=False)
    return Run(done.returncode, done.stdout, done.stderr.decode())


def test_it_runs_with_an_empty_environment(copy: Path) -> None:
    for name in ("contrast-krm", PLUGIN):
        assert said(copy / name, "--version") == Run(0, f"contrast-krm {__version__}\n".encode(), "")


def test_every_module_comes_from_the_copy(copy: Path, tmp_path: Path) -> None:
    """Also when PYTHONPATH has other packages of these names."""
    (tmp_path / "yaml.py").write_text("raise SystemExit('the wrong yaml')")
    run = subprocess.run(
        [copy / "contrast-krm", "schema", "ImageLock"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0
    (library,) = (copy / "lib").iterdir()
    names = ("yaml", "cryptography", "krm_function", "shtab")
    script = f"import sys; sys.path.insert(0, {str(library)!r}); import {', '.join(names)}\n"
    script += f"print(*(sys.modules[name].__file__ for name in {names}), sep='\\n')"
    done = subprocess.run([sys.executable, "-IS", "-c", script], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(names)
    assert all(line.startswith(str(library)) for line in done.stdout.splitlines())


def test_it_works_after_the_directory_was_moved(copy: Path, tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", copy, tmp_path / "moved"], check=True)
    assert said(tmp_path / "moved" / PLUGIN, "--version").code == 0


def test_a_second_time_changes_nothing(copy: Path) -> None:
    before = files(copy)
    run = spawned("install", str(copy))
    assert run.code == 0
    assert "as before" in run.stderr
    assert files(copy) == before


def test_another_user_may_run_it_whatever_the_umask_is(tmp_path: Path) -> None:
    command = f"umask 077; {EXECUTABLE} install {tmp_path / 'a'}"
    subprocess.run(["bash", "-c", command], env=environment(), capture_output=True, check=True)
    for path in (tmp_path / "a").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() or path.name in {"contrast-krm", "ContrastGenerate"} else 0o644), path


def test_the_copy_of_an_earlier_version_goes_away(copy: Path) -> None:
    old = copy / "lib/contrast-krm-0.0.1-000000000000"
    old.mkdir()
    (copy / "lib/mine").mkdir()
    assert spawned("install", str(copy)).code == 0
    assert not old.exists()
    assert (copy / "lib/mine").exists()


def test_a_program_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "contrast-krm").write_text("#!/bin/sh\necho mine\n")
    run = spawned("install", str(tmp_path))
    assert (run.code, run.stdout) == (3, b"")
    assert "exists, but not from an earlier install" in run.stderr
    assert os.listdir(tmp_path) == ["contrast-krm"]


def test_a_python_that_does_not_fit_leaves_the_old_copy_in_use(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho 'no such version' >&2; exit 3\n")
    other.chmod(0o755)
    before = (copy / "contrast-krm").read_bytes()
    run = spawned("install", str(copy), "--python", str(other))
    assert run.code == 1
    assert "error CC1320: contrast-krm cannot be installed: it does not run: no such version" in run.stderr
    assert (copy / "contrast-krm").read_bytes() == before
    assert said(copy / "contrast-krm", "--version").code == 0
    assert not [name for name in os.listdir(copy) if name.startswith(".")]


def test_a_python_of_another_version_is_an_error_of_one_line(copy: Path, tmp_path: Path) -> None:
    text = (copy / "contrast-krm").read_text().replace(f"!= {sys.version_info[:2]}", "!= (3, 99)")
    path = tmp_path / "contrast-krm"
    path.write_text(text)
    path.chmod(0o755)
    run = said(path, "--version")
    assert run.code == 3
    assert len(run.stderr.splitlines()) == 2
    assert "contrast-krm: this copy is for cpython" in run.stderr


def test_a_python_that_is_elsewhere_is_accepted_with_a_warning(tmp_path: Path) -> None:
    run = spawned("install", str(tmp_path / "a"), "--python", "/opt/elsewhere/python3")
    assert run.code == 0
    assert "warning CC1321: /opt/elsewhere/python3 is not on this machine" in run.stderr
    assert (tmp_path / "a/contrast-krm").read_text().startswith("#!/opt/elsewhere/python3 -IS\n")


@pytest.mark.parametrize("python", ["bin/python3", "./python3"])
def test_a_relative_python_is_refused(python: str, tmp_path: Path) -> None:
    run = spawned("install", str(tmp_path / "a"), "--python", python)
    assert run.code == 2
    assert "must be an absolute path, or a name without a slash" in run.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("name", ["with space", "it's", "l" * 130])
def test_a_path_that_no_interpreter_line_takes_runs_all_the_same(name: str, copy: Path, tmp_path: Path) -> None:
    python = tmp_path / name / "python3"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
    (library,) = (path.name for path in (copy / "lib").iterdir() if path.name.startswith("contrast-krm"))
    path = tmp_path / "contrast-krm"
    path.write_text(launcher(str(python), library))
    path.chmod(0o755)
    (tmp_path / "lib").symlink_to(copy / "lib")
    assert said(path, "--version") == Run(0, f"contrast-krm {__version__}\n".encode(), "")


def test_a_directory_that_cannot_be_written_is_an_environment_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = spawned("install", str(tmp_path / "file" / "a"))
    assert run.code == 3
    assert run.stderr.startswith("error CC1002 ")


def test_what_is_copied_is_what_is_needed() -> None:
    names = {member.name.split("/")[0] for member in installed_files()}
    extras = {"urllib3", "jinja2", "jsonpatch.py", "shtab"}  # those of them that are installed here
    assert {"krm_function", "helm_plugin", "yaml", "_yaml", "cryptography", *extras} <= names
    assert not names & {"pytest", "hypothesis", "mypy", "jsonschema", "pip", "kubernetes"}
    everything = [member.name for member in installed_files()]
    assert not [name for name in everything if name.endswith((".pyc", ".pth")) or "direct_url" in name]
    assert [name for name in everything if "licenses" in name.lower() and "pyyaml" in name.lower()]


def test_an_extra_that_is_not_installed_is_not_copied() -> None:
    def installed(name: str) -> Distribution:
        if name in {"jinja2", "shtab"}:
            raise PackageNotFoundError(name)
        return distribution(name)

    with mock.patch("krm_function.cli.build.distribution", installed):
        names = {member.name.split("/")[0] for member in installed_files()}
    assert not names & {"jinja2", "shtab"}
    assert "urllib3" in names


def test_a_distribution_without_a_list_of_files_is_an_error(tmp_path: Path) -> None:
    with (
        mock.patch.object(Distribution, "files", None),
        pytest.raises(NotCopied, match="install it with pip"),
    ):
        installed_files()
