"""The wheel and the source distribution: the same bytes wherever they are built, and what users install them with.

No network: the installers find the libraries in the directory of wheels that `make tools` has fetched by their hashes.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

import tools.wheels
from krm_function import __version__
from tests.docs.commands import blocks
from tests.install.quickstart import ROOT, assert_renders
from tests.real_tools import needing

pytestmark = needing("locked-wheels")

BIN = Path(sys.executable).parent
SYSTEM = "/usr/bin:/bin"
PAGE = ROOT / "docs" / "how-to" / "install.md"
SHARED = {
    "share/bash-completion/completions/contrast-krm": "bash",
    "share/zsh/site-functions/_contrast-krm": "zsh",
    "share/fish/vendor_completions.d/contrast-krm.fish": "fish",
}


class Built(NamedTuple):
    """Two files."""

    wheel: Path
    sdist: Path


def source(directory: Path) -> Path:
    """A copy of what git knows of this tree, or would take into its next commit."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, directory / name)  # with the mode that the umask gives, and a new time
    return directory


def build(tree: Path, *what: str, umask: int = 0o022, seed: str = "0") -> Path:
    """Build as `make dist` does; the directory."""
    out = tree.parent / f"{tree.name}-built"
    command = [str(BIN / "hatchling"), "build", *what, "--directory", str(out)]
    variables = {"PATH": SYSTEM, "PYTHONHASHSEED": seed, "HOME": str(tree.parent)}
    subprocess.run(command, cwd=tree, env=variables, umask=umask, capture_output=True, check=True)
    return out


def files(directory: Path) -> Built:
    (wheel,), (sdist,) = directory.glob("*.whl"), directory.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return files(build(source(tmp_path_factory.mktemp("built") / "tree")))


@pytest.fixture(scope="module")
def wheels(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, what it and its extras need."""
    directory = tmp_path_factory.mktemp("wheels")
    for one in [*Path(tools.wheels.wheels()).iterdir(), built.wheel]:
        (directory / one.name).symlink_to(one)
    return directory


def test_another_folder_umask_hash_seed_and_repository_build_the_same_bytes(built: Built, tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        tree = source(tmp_path / "another name")
    finally:
        os.umask(umask)
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    (tree / "dist").mkdir()
    (tree / "dist" / "left-over.whl").write_text("no part of it")
    again = files(build(tree, umask=0o077, seed="1"))
    for one, two in zip(built, again, strict=True):
        assert one.name == two.name
        assert one.read_bytes() == two.read_bytes()


def test_the_source_distribution_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (again,) = build(tmp_path / f"contrast_krm-{__version__}", "-t", "wheel").glob("*.whl")
    assert again.read_bytes() == built.wheel.read_bytes()


def test_a_build_in_a_clone_knows_its_commit_and_one_of_a_changed_tree_none(tmp_path: Path) -> None:
    """So does the wheel that its source distribution builds somewhere else, inside another repository."""
    tree = source(tmp_path / "clone")
    git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    made = files(build(tree))
    with tarfile.open(made.sdist) as archive:
        archive.extractall(tree / "dist", filter="data")
    (again,) = build(tree / "dist" / f"contrast_krm-{__version__}", "-t", "wheel").glob("*.whl")
    assert again.read_bytes() == made.wheel.read_bytes()
    assert noted(made.wheel) == head
    (tree / "README.md").write_text("changed")
    assert noted(files(build(tree)).wheel) == ""


def noted(wheel: Path) -> str:
    """The commit in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (found,) = re.findall(rb'^__commit__ = "(.*?)"', archive.read("krm_function/__init__.py"), re.MULTILINE)
    return bytes(found).decode()


def test_the_wheel_holds_the_packages_and_the_files_of_shells(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = wheel.namelist()
        stem = f"contrast_krm-{__version__}"
        data = f"{stem}.data/data/"
        shared = {name.removeprefix(data) for name in names if name.startswith(data)}
        assert shared == set(SHARED)
        for name, shell in SHARED.items():
            printed = subprocess.run([BIN / "contrast-krm", "completion", shell], capture_output=True, check=True)
            assert wheel.read(f"{data}{name}") == printed.stdout
        packages = {"krm_function", "helm_plugin"}
        assert {name.split("/")[0] for name in names} - {f"{stem}.data", f"{stem}.dist-info"} == packages
        modules = {path.relative_to(ROOT).as_posix() for package in packages for path in (ROOT / package).rglob("*.py")}
        assert modules <= set(names)
        assert [name for name in names if "__pycache__" in name or str(ROOT).encode() in wheel.read(name)] == []


def test_the_source_distribution_holds_nothing_of_this_machine(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        for member in archive:
            assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", ""), member.name
            content = archive.extractfile(member)
            assert content is None or str(ROOT).encode() not in content.read(), member.name


class Home(NamedTuple):
    """The home of a user who has never installed anything."""

    directory: Path
    wheels: Path

    def run(self, *command: str | Path) -> None:
        """Call an installer, which finds libraries in the directory of wheels and nowhere else."""
        done = subprocess.run(
            [str(word) for word in command], env=self.variables(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def variables(self) -> dict[str, str]:
        """No network and no configuration of this machine."""
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}
        uv = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(self.wheels), "UV_OFFLINE": "1", "UV_NO_CONFIG": "1"}
        pipx = {"PIPX_DEFAULT_BACKEND": "uv"}  # its other one wants the newest pip first
        python = {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
        return {"HOME": str(self.directory), "PATH": SYSTEM, **pip, **uv, **pipx, **python}


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home", wheels)


def test_pipx_installs_the_wheel_with_its_completions(built: Built, home: Home) -> None:
    home.run(BIN / "pipx", "install", built.wheel)
    local = home.directory / ".local"
    assert_renders([str(local / "bin" / "contrast-krm")])
    assert [name for name in SHARED if not (local / name).is_file()] == []


def test_uv_installs_the_wheel_as_a_tool(built: Built, home: Home) -> None:
    home.run(BIN / "uv", "tool", "install", built.wheel)
    assert_renders([str(home.directory / ".local/bin/contrast-krm")])
    (environment,) = (home.directory / ".local/share/uv/tools").glob("contrast-krm")
    assert [name for name in SHARED if not (environment / name).is_file()] == []


def test_uvx_runs_the_wheel(built: Built, home: Home) -> None:
    assert_renders([str(BIN / "uvx"), "--from", str(built.wheel), "contrast-krm"], home.variables())


@pytest.mark.parametrize("installer", ["pipx install", "uv tool install", "uvx contrast-krm"])
def test_a_command_of_the_page_is_all_it_takes(installer: str, home: Home) -> None:
    (command,) = (block for block in blocks(PAGE.read_text()) if block.startswith(installer))
    programs = home.directory / "programs"  # the installers, and not the contrast-krm beside them
    programs.mkdir()
    for name in ("pipx", "uv", "uvx"):
        (programs / name).symlink_to(BIN / name)
    home.run("env", f"PATH={programs}:{SYSTEM}", "bash", "-euc", command)
    if "uvx" not in installer:
        program = str(home.directory / ".local/bin/contrast-krm")
        assert_renders([program])
        for arguments in (("completion", "bash"), ("lock", "--help")):
            home.run(program, *arguments)


def test_bash_takes_the_completions(built: Built, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if "/bash-completion/" in name)
        script = wheel.extract(name, tmp_path)
    done = subprocess.run(
        ["bash", "-euc", f". '{script}'; complete -p contrast-krm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("contrast-krm")
