"""The tutorial, executed: its commands, word for word and in its order, by the real tools."""

import re
import shutil
from pathlib import Path

import pytest

from tests.hosts.running import EXAMPLES, Machine, machine

PAGE = Path(__file__).parents[2] / "docs/tutorial/ten-minutes.md"
COMMANDS = ("cp", "cd", "contrast-krm", "cat", "kustomize", "sed")
NOT_RUN = ("contrast set ",)  # needs a cluster


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = machine(tmp_path_factory.mktemp("tutorial"))
    shutil.copytree(EXAMPLES / "from-scratch", made.home / "examples/from-scratch")
    return made


def blocks() -> list[str]:
    """The indented blocks of the page; an empty line ends one."""
    text = PAGE.read_text()
    return [
        re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in re.findall(r"(?:^ {4}.+\n)+", text, re.MULTILINE)
    ]


def scripts() -> list[str]:
    return [block for block in blocks() if block.split()[0] in COMMANDS]


def test_every_command_does_what_the_page_says(tutorial: Machine) -> None:
    said = tutorial.home / "said"
    script = f"exec 2>{said}\nset -x\n" + "\n".join(scripts())
    ran = tutorial.run(["bash", "-euo", "pipefail", "-c", script])
    errors = said.read_text()
    assert ran.code == 0, errors
    shown = [line.strip() for block in blocks() if block not in scripts() for line in block.splitlines()]
    everything = [" ".join(line.split()) for line in (ran.out.decode() + errors).splitlines()]
    for line in shown:
        if not line.startswith(NOT_RUN):
            assert " ".join(line.split()) in everything, line
    assert ran.out.decode().count("refused\n") == 2
    for code in ("CC1101", "CC1103"):
        assert f"error {code} " in errors
    work = tutorial.home / "my-shop"
    assert (work / "workload-owner.pem").stat().st_mode & 0o777 == 0o600
    assert (work / "manifest.json").read_bytes().startswith(b"{")


def test_the_page_shows_nothing_else() -> None:
    assert len(scripts()) >= 8
    assert [one for one in blocks() if one not in scripts() and one.startswith(("kpt", "helm", "pip", "kubectl"))] == []


def test_the_new_files_of_the_tutorial_hold_no_private_key(tutorial: Machine) -> None:
    for path in (tutorial.home / "my-shop").rglob("*"):
        if path.is_file() and path.suffix != ".pem":
            assert b"PRIVATE KEY" not in path.read_bytes(), path
