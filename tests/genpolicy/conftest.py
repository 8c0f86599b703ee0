"""The stand-ins as executables, and the small deployment of tests/cli to call it for."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.failures.running import Zygote


@pytest.fixture(scope="session")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    zygote = Zygote(tmp_path_factory.mktemp("streams"))
    yield zygote
    zygote.close()


@pytest.fixture
def shop(tmp_path: Path, call: Zygote) -> Shop:
    return Shop(tmp_path, call)


ROOT = Path(__file__).parents[2]


def program(directory: Path, kind: str, *, tells: bool = True, more: str = "") -> str:
    """An executable that is the stand-in of one kind. tells: as for its `main`. more: a line before the call of it."""
    path = directory / "genpolicy"
    lines = (
        f"#!{sys.executable}",
        "import sys",
        "sys.dont_write_bytecode = True",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from tests.genpolicy.standin import main",
        *([more] if more else []),
        f"main({kind!r}, tells={tells})",
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="session")
def standin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program, as Kata makes it."""
    return program(tmp_path_factory.mktemp("plain"), "plain")


@pytest.fixture(scope="session")
def patched_standin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program, as Contrast patches it."""
    return program(tmp_path_factory.mktemp("patched"), "patched")


@pytest.fixture
def rendered_shop(shop: Shop) -> str:
    """The deployment, rendered natively into a file."""
    run = shop.generate("-o", "rendered.yaml")
    assert run.code == 0, run.stderr
    return "rendered.yaml"
