"""One process that forks every run of the fault tests."""

from collections.abc import Iterator

import pytest

from tests.adversary.faults import Faulty


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    server = Faulty(tmp_path_factory.mktemp("faults"))
    yield server
    server.close()
