"""The real tools, as the tests of the hosts have them, and one process that forks every run of the fault tests."""

from collections.abc import Iterator

import pytest

from tests.adversary.faults import Faulty
from tests.hosts.conftest import krm_machine

__all__ = ["krm_machine"]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    server = Faulty(tmp_path_factory.mktemp("faults"))
    yield server
    server.close()
