"""One registry for all tests, a front before it for each, and the command as an operator calls it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.failures.running import Run, Zygote
from tests.failures.world import canaries
from tests.lock.content import pods
from tests.lock.registries import Front, Registry, registry


@pytest.fixture(scope="session")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    zygote = Zygote(tmp_path_factory.mktemp("streams"))
    yield zygote
    zygote.close()


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory, registry_tool: None) -> Iterator[Registry]:
    """The registry, without a login."""
    with registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture
def front(hub: Registry) -> Iterator[Front]:
    made = Front(hub)
    yield made
    made.close()


class Locking:
    """`contrast-krm lock` in a directory of its own, without the login and the proxies of whoever runs the tests."""

    def __init__(self, directory: Path, call: Zygote) -> None:
        self.directory = directory
        self.variables = {"DOCKER_CONFIG": str(directory / "docker"), "no_proxy": "*", "NO_PROXY": "*"}
        self.lock = directory / "images.yaml"
        self._call = call

    def __call__(self, *arguments: str, data: bytes = b"") -> Run:
        run = self._call("lock", *arguments, data=data, directory=self.directory, variables=self.variables)
        assert "Traceback" not in run.stderr
        assert "internal error" not in run.stderr
        assert not list(canaries(run.stderr))
        return run

    def images(self, *references: str, flags: tuple[str, ...] = ()) -> Run:
        """Lock some images into images.yaml, the first one's registry over plain HTTP."""
        host = references[0].partition("/")[0]
        return self("-o", "images.yaml", "--insecure-registry", host, *flags, data=pods(*references))

    def entries(self, *references: str, flags: tuple[str, ...] = ()) -> dict[str, Any]:
        """The entries of a run that works."""
        run = self.images(*references, flags=flags)
        assert run.code == 0, run.stderr
        return self.written()

    def written(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.lock.read_text())["spec"]["images"]
        return found

    def refused(self, code: str, *references: str, exit: int = 1, flags: tuple[str, ...] = ()) -> dict[str, Any]:  # noqa: A002
        """The one error of a run that fails; nothing was written."""
        run = self.images(*references, flags=("--format", "json", *flags))
        assert run.code == exit, run.stderr
        assert run.stdout == b""
        assert not self.lock.exists()
        (error,) = run.errors
        assert error["code"] == code, error
        assert error["hint"]
        return error


@pytest.fixture
def lock(tmp_path: Path, call: Zygote) -> Locking:
    return Locking(tmp_path, call)
