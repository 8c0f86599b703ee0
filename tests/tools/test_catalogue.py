"""The entries for catalogues of functions are what kyaml and the catalogues read."""

import json
import re
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_function import __version__
from tests.real_tools import needing
from tools import catalogue
from tools.real import tool

ROOT = Path(__file__).parents[2]
DIGEST = "0123456789abcdef" * 4
# what the registry's metadata schema asks for: spec, and each of its versions
REQUIRED = {"group", "names", "description", "publisher", "versions"}
REQUIRED_OF_A_VERSION = {"name", "schema", "idempotent", "runtime", "usage", "examples", "license"}
CONFIGURATIONS = sorted(ROOT.glob("examples/*/config/contrast.yaml"))


@pytest.fixture(name="entry", scope="module")
def the_entry() -> Any:
    return catalogue.definition(DIGEST)


def archive(directory: Path, *digests: str) -> Path:
    """An OCI archive, as far as it is looked at."""
    index = json.dumps({"manifests": [{"digest": f"sha256:{one}"} for one in digests]}).encode()
    path = directory / f"contrast-krm-{__version__}-image.tar"
    with tarfile.open(path, "w") as file:
        member = tarfile.TarInfo("index.json")
        member.size = len(index)
        file.addfile(member, BytesIO(index))
    return path


def test_the_definition_has_what_the_registry_requires_and_no_more(entry: Any) -> None:
    (version,) = entry["spec"]["versions"]
    assert entry["spec"].keys() == REQUIRED | {"home", "maintainers", "tags"}
    assert version.keys() == REQUIRED_OF_A_VERSION
    assert version["runtime"]["container"]["sha256"] == DIGEST
    assert version["license"] == "Apache 2.0"


def test_pages_and_examples_of_both_entries_are_in_the_repository(entry: Any) -> None:
    text = json.dumps(entry) + json.dumps(catalogue.metadata())
    named = re.findall(rf"(?:blob|tree)/v{re.escape(__version__)}/([^\"]+)", text)
    assert len(named) >= 5
    assert all((ROOT / path).exists() for path in named)


def kyaml(entry: Any, config: bytes, directory: Path) -> "subprocess.CompletedProcess[str]":
    """What kyaml's framework says of a functionConfig by this definition."""
    (directory / "definition.yaml").write_text(yaml.safe_dump(entry))
    (directory / "config.yaml").write_bytes(config)
    command = [tool("goreaders"), "definition", str(directory / "definition.yaml"), str(directory / "config.yaml")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needing("goreaders")
@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.parts[-3])
def test_kyaml_takes_the_configuration_of_each_example_by_the_definition(
    path: Path, entry: Any, tmp_path: Path
) -> None:
    said = kyaml(entry, path.read_bytes(), tmp_path)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_files_are_written_with_the_digest_of_the_image(tmp_path: Path) -> None:
    archive(tmp_path, DIGEST)
    assert catalogue.main([str(tmp_path)]) == 0
    name = f"contrast-krm-{__version__}"
    assert DIGEST in (tmp_path / f"{name}.krm-function.yaml").read_text()
    assert yaml.safe_load((tmp_path / f"{name}.kpt-function.yaml").read_text()) == catalogue.metadata()
    assert json.loads((tmp_path / f"{name}.schemastore.json").read_text()) == catalogue.schema_store()
