"""Bytes that kustomize 5.5 and kpt 1.0.0-beta.56 sent to a function."""

from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
NAMES = sorted(path.stem for path in DATA.glob("*.yaml"))
Payload = Callable[[str], bytes]


@pytest.fixture
def payload() -> Payload:
    return lambda name: (DATA / f"{name}.yaml").read_bytes()


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest) -> bytes:
    return (DATA / f"{request.param}.yaml").read_bytes()
