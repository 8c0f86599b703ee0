"""Bytes that kustomize 5.5 and kpt 1.0.0-beta.56 sent to a function."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.krm.third_party import Environment, make

DATA = Path(__file__).parent / "data"
NAMES = sorted(path.stem for path in DATA.glob("*.yaml"))
Payload = Callable[[str], bytes]


@pytest.fixture
def payload() -> Payload:
    return lambda name: (DATA / f"{name}.yaml").read_bytes()


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest) -> bytes:
    return (DATA / f"{request.param}.yaml").read_bytes()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One environment with the built wheel for all tests of a worker."""
    return make(tmp_path_factory.mktemp("third-party"))
