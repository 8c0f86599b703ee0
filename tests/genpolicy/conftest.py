"""The stand-in as an executable, and the small deployment of tests/cli to call it for."""

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


@pytest.fixture(scope="session")
def standin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program."""
    program = tmp_path_factory.mktemp("bin") / "genpolicy"
    program.write_text(f"#!{sys.executable}\n" + (Path(__file__).parent / "standin.py").read_text())
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def rendered_shop(shop: Shop) -> str:
    """The deployment, rendered natively into a file."""
    run = shop.generate("-o", "rendered.yaml")
    assert run.code == 0, run.stderr
    return "rendered.yaml"
