"""The hooks of .pre-commit-hooks.yaml, installed and run by the real pre-commit on commits of a GitOps repository.

The repository of the hooks is this tree, committed under a tag. pre-commit installs it with pip, which finds the pinned
wheels and no index (docs/facts/delivery.md#pre-commit).
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.docs.commands import ROOT, blocks
from tests.docs.scenes import production
from tests.hosts.running import EXAMPLES, SYSTEM, machine
from tools.wheels import wheels

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
TAG = "v0.0.0"
GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_CONFIG_NOSYSTEM": "1"}
GIT |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in GIT.items()}
INSTALLED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
    "krm_function",
    "helm_plugin",
    "tools",
    "docs",
)
PAGE = (ROOT / "docs/how-to/pre-commit.md").read_text()
ADVISED = next(yaml.safe_load(text) for text in blocks(PAGE) if text.startswith("repos:"))


class Ran(NamedTuple):
    code: int
    said: str


class Deployment(NamedTuple):
    """A GitOps repository: resources, configuration and rendered output, with the hooks installed."""

    directory: Path
    home: Path

    def run(self, *command: str) -> Ran:
        variables = {
            **GIT,
            "PATH": f"{BIN}:{SYSTEM}",
            "HOME": str(self.home),
            "PRE_COMMIT_HOME": str(self.home / "pre-commit"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheels(),
        }
        done = subprocess.run(
            command, cwd=self.directory, env=variables, capture_output=True, text=True, timeout=300, check=False
        )
        return Ran(done.returncode, done.stdout + done.stderr)

    def commit(self) -> Ran:
        """Commit everything, as a user does."""
        assert self.run("git", "add", "-A").code == 0
        return self.run("git", "commit", "-m", "change")

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.directory / name
        before = path.read_text()
        assert old in before
        path.write_text(before.replace(old, new))


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a repository with a tag."""
    made = tmp_path_factory.mktemp("hooks") / "contrast-krm"
    made.mkdir()
    for name in INSTALLED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, made)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "all"], ["tag", TAG]):
        subprocess.run(["git", *command], cwd=made, env={**os.environ, **GIT}, check=True)
    return made


@pytest.fixture(scope="module")
def committed(hooks: Path, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The quickstart as a repository whose first commit has passed the hooks."""
    directory = tmp_path_factory.mktemp("gitops")
    for name in ("resources", "config"):
        shutil.copytree(EXAMPLES / "quickstart" / name, directory / name)
    shutil.copy(EXAMPLES / "quickstart/expected/rendered.yaml", directory)
    (advised,) = ADVISED["repos"]
    ours = {"repos": [advised | {"repo": str(hooks), "rev": TAG}]}
    (directory / ".pre-commit-config.yaml").write_text(yaml.safe_dump(ours, width=10**6))
    made = Deployment(directory, tmp_path_factory.mktemp("home"))
    assert made.run("git", "init", "-q", "-b", "main").code == 0
    assert made.run("pre-commit", "install").code == 0
    first = made.commit()
    assert first.code == 0, first.said
    assert first.said.count("Passed") == 2, first.said
    return made


@pytest.fixture
def deployment(committed: Deployment) -> Deployment:
    """The same with the tree of its last commit."""
    assert committed.run("git", "reset", "-q", "--hard").code == 0
    return committed


def test_a_commit_that_changes_nothing_confidential_passes(deployment: Deployment) -> None:
    (deployment.directory / "README.md").write_text("# shop\n")
    done = deployment.commit()
    assert done.code == 0, done.said


@pytest.mark.parametrize(
    ("file", "old", "new", "hook", "code"),
    [
        ("rendered.yaml", "image: registry.example.com/shop/web:", "image: registry.example.com/shop/wbe:", 0, "CC11"),
        ("config/contrast.yaml", "- shop.example.com", "- other.example.com", 0, "CC11"),
        ("resources/web.yaml", "shop/web:2.3.1@sha256:eb", "shop/web:2.3.2@sha256:ec", 1, "CC1216"),
        ("config/images.yaml", "shop/web:2.3.1@sha256:eb", "shop/web:2.3.1@sha256:ec", 1, "CC05"),
    ],
    ids=["rendered", "configuration", "other-image", "other-entry"],
)
def test_a_commit_is_refused_by_the_hook_that_it_concerns(
    file: str, old: str, new: str, hook: int, code: str, deployment: Deployment
) -> None:
    deployment.edit(file, old, new)
    done = deployment.commit()
    assert done.code == 1
    name = ("contrast-krm check", "contrast-krm lock --check")[hook]
    (line,) = (line for line in done.said.splitlines() if line.startswith(f"{name}."))
    assert line.endswith("Failed"), done.said
    assert f"error {code}" in done.said
    log = deployment.run("git", "log", "--oneline")
    assert "change" in log.said
    assert deployment.run("git", "diff", "--cached", "--quiet").code == 1, "nothing was committed"


def test_what_is_not_staged_is_not_looked_at(deployment: Deployment) -> None:
    (deployment.directory / "NOTES.md").write_text("notes\n")
    assert deployment.run("git", "add", "NOTES.md").code == 0
    deployment.edit("rendered.yaml", "contrast-cc-metal-qemu-snp-", "contrast-cc-metal-qemu-snp-0")
    done = deployment.run("git", "commit", "-m", "notes")
    assert done.code == 0, done.said


@pytest.mark.parametrize("hook", ["contrast-krm-check", "contrast-krm-lock"])
def test_a_hook_without_arguments_fails(hook: str, deployment: Deployment) -> None:
    path = deployment.directory / ".pre-commit-config.yaml"
    config = yaml.safe_load(path.read_text())
    for each in config["repos"][0]["hooks"]:
        del each["args"]
    path.write_text(yaml.safe_dump(config))
    done = deployment.run("pre-commit", "run", hook, "--all-files")
    assert done.code == 1
    assert "error CC" in done.said


def test_the_installed_program_renders_the_committed_bytes(committed: Deployment) -> None:
    (program,) = (committed.home / "pre-commit").glob("repo*/py_env-*/bin/contrast-krm")
    done = committed.run(str(program), "generate", "resources", "--config", "config", "-o", str(committed.home / "out"))
    assert done.code == 0, done.said
    assert (committed.home / "out").read_bytes() == (EXAMPLES / "quickstart/expected/rendered.yaml").read_bytes()


def test_the_page_pins_the_libraries_that_are_locked() -> None:
    (line,) = (text for text in blocks(PAGE) if text.startswith("additional_dependencies:"))
    locked = (ROOT / "requirements/run.txt").read_text()
    for each in yaml.safe_load(line)["additional_dependencies"]:
        assert f"\n{each} \\\n" in locked


def test_the_hook_of_the_page_for_an_overlay_sees_a_lock_that_lacks_an_image(tmp_path: Path) -> None:
    (text,) = (text for text in blocks(PAGE) if text.startswith("- repo: local"))
    (hook,) = yaml.safe_load(text)[0]["hooks"]
    made = machine(tmp_path)
    here = tmp_path / "here"
    production(made, here)
    command = shlex.split(hook["entry"])
    made.run(command, here).ok()
    path = here / "overlays/prod/images.yaml"
    path.write_text(path.read_text().replace("shop/web:", "shop/wbe:"))
    ran = made.run(command, here)
    assert ran.code == 1
    assert "error CC1216" in ran.err
