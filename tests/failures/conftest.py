"""One process that forks all calls."""

from collections.abc import Iterator

import pytest

from tests.failures.running import Zygote


@pytest.fixture(scope="session")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    zygote = Zygote(tmp_path_factory.mktemp("streams"))
    yield zygote
    zygote.close()
