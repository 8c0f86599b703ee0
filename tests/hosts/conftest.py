"""One machine for all tests of a worker: the tools are only called, never changed."""

import pytest

from tests.hosts.running import Machine, machine


@pytest.fixture(scope="session")
def krm_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))
