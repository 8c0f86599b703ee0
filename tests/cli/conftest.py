"""A deployment as files, its configuration beside it, and one process that forks all calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failures.checking import CONFIG, written
from tests.failures.running import Run, Zygote
from tests.failures.world import World


@pytest.fixture(scope="session")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    zygote = Zygote(tmp_path_factory.mktemp("streams"))
    yield zygote
    zygote.close()


def warned() -> World:
    """A deployment that renders with one warning."""
    world = World()
    world.pod["nodeName"] = "node-1"
    return world


class Shop:
    """The small deployment of tests/failures in a directory; `generate` renders it with more arguments."""

    def __init__(self, directory: Path, call: Zygote) -> None:
        self.directory = directory
        self._call = call
        written(World(), directory)

    def __call__(self, *arguments: str, data: bytes = b"") -> Run:
        run = self._call(*arguments, data=data, directory=self.directory)
        assert "Traceback" not in run.stderr
        assert "internal error" not in run.stderr
        return run

    def generate(self, *arguments: str) -> Run:
        return self("generate", "deployment", "--config", CONFIG, *arguments)

    def write(self, name: str, data: str | bytes) -> str:
        (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (self.directory / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def change(self, world: World) -> None:
        """Put other files in the place of the deployment's."""
        (self.directory / "deployment/resources.yaml").write_bytes(world.stream())
        (self.directory / CONFIG).write_bytes(world.config())


@pytest.fixture
def shop(tmp_path: Path, call: Zygote) -> Shop:
    return Shop(tmp_path, call)


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory, call: Zygote) -> bytes:
    """The deployment, rendered once, with its RuntimeClass."""
    made = Shop(tmp_path_factory.mktemp("shop"), call)
    world = World()
    world.spec["runtimeClasses"] = "emit"
    made.change(world)
    run = made.generate()
    assert run.code == 0, run.stderr
    return run.stdout
