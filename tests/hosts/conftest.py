"""One machine for all tests of a worker, and one render of the quickstart in each host: both are only looked at."""

from pathlib import Path

import pytest

from tests.hosts.hosts import HOSTS, Deployment, emitting, quickstart
from tests.hosts.running import Machine, machine, recorder


@pytest.fixture(scope="session")
def krm_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="session")
def recording_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return recorder(tmp_path_factory.mktemp("recorder"))


class Renders:
    """The quickstart, rendered by each host once; on the recording machine: not rendered by each host."""

    def __init__(self, on: Machine, directory: Path, deployment: Deployment | None = None) -> None:
        self._on = on
        self._deployment = deployment or quickstart()
        self._directory = directory
        self._outputs: dict[str, bytes] = {}
        self._seen: dict[str, bytes] = {}

    def directory(self, host: str) -> Path:
        """Where the host found it."""
        self[host]
        return self._directory / host

    def seen(self, host: str) -> bytes:
        """What the host sent to the program."""
        self[host]
        return self._seen[host]

    def __getitem__(self, host: str) -> bytes:
        if host not in self._outputs:
            self._outputs[host] = HOSTS[host].render(self._on, self._directory / host, self._deployment).ok()
            seen = self._on.home / "seen"
            self._seen[host] = seen.read_bytes() if seen.exists() else b""
        return self._outputs[host]


@pytest.fixture(scope="session")
def rendered(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Renders:
    return Renders(krm_machine, tmp_path_factory.mktemp("rendered"))


@pytest.fixture(scope="session")
def with_classes(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Renders:
    """The quickstart with its RuntimeClasses in the output."""
    return Renders(krm_machine, tmp_path_factory.mktemp("classes"), emitting())


@pytest.fixture(scope="session")
def untouched(recording_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Renders:
    return Renders(recording_machine, tmp_path_factory.mktemp("untouched"))
