"""The entries for catalogues of functions are what kyaml and the catalogues read."""

import json
import re
import subprocess
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_function import __version__
from tests.real_tools import needing
from tools import catalogue
from tools.cache import ToolError
from tools.machines import MACHINES
from tools.real import tool
from tools.release import PROJECT

ROOT = Path(__file__).parents[2]
NAME = f"contrast-krm-{__version__}"
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


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the entries are about: an image, both bundles, and a SECURITY.md as a release has it."""
    archive(tmp_path, DIGEST)
    for machine in MACHINES:
        (tmp_path / f"{NAME}-linux-{machine}.tar.gz").write_text(machine)
    monkeypatch.setattr(catalogue, "contacts", lambda _: {"mail address": "security@example.com"})
    return tmp_path


def test_the_manifest_of_krew_has_what_its_page_requires(dist: Path) -> None:
    """https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest"""
    plugin = catalogue.krew(catalogue.bundles(str(dist)))
    assert (plugin["apiVersion"], plugin["kind"]) == ("krew.googlecontainertools.github.com/v1alpha2", "Plugin")
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", plugin["metadata"]["name"])
    spec = plugin["spec"]
    assert spec.keys() == {"version", "homepage", "shortDescription", "description", "platforms"}
    assert re.match(r"v\d+\.\d+\.\d+", spec["version"])
    assert len(spec["shortDescription"]) <= 50
    assert [one["selector"]["matchLabels"] for one in spec["platforms"]] == [
        {"os": "linux", "arch": "amd64"},
        {"os": "linux", "arch": "arm64"},
    ]
    for platform, machine in zip(spec["platforms"], MACHINES, strict=True):
        assert platform.keys() == {"selector", "uri", "sha256", "bin"}
        assert platform["uri"] == f"{PROJECT}/releases/download/v{__version__}/{NAME}-linux-{machine}.tar.gz"
        assert platform["sha256"] == sha256(machine.encode()).hexdigest()
        assert platform["bin"] == f"{NAME}-linux-{machine}/contrast-krm", "the directory of the archive"


def test_the_formula_names_both_bundles_and_their_digests(dist: Path) -> None:
    text = catalogue.formula(catalogue.bundles(str(dist)))
    assert text.startswith("class ContrastKrm < Formula\n"), "the class that Homebrew loads from contrast-krm.rb"
    assert len(re.findall(r" do$", text, re.MULTILINE)) + len(re.findall(r"^ *(?:class|def) ", text, re.MULTILINE)) == (
        len(re.findall(r"^ *end$", text, re.MULTILINE))
    )
    urls, digests = (re.findall(rf'^    {key} "(.+)"$', text, re.MULTILINE) for key in ("url", "sha256"))
    assert urls == [f"{PROJECT}/releases/download/v{__version__}/{NAME}-linux-{machine}.tar.gz" for machine in MACHINES]
    assert digests == [sha256(machine.encode()).hexdigest() for machine in MACHINES]
    for field in ("desc", "homepage", "license", "version"):
        assert re.search(rf'^  {field} ".+"$', text, re.MULTILINE), field


def test_without_an_address_there_is_no_entry_for_artifact_hub(dist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert catalogue.artifact_hub() == {"owners": [{"name": "contrast-krm", "email": "security@example.com"}]}
    monkeypatch.setattr(catalogue, "contacts", lambda _: {})
    with pytest.raises(ToolError, match="no mail address"):
        catalogue.main([str(dist)])


def test_the_files_are_written_with_the_digest_of_the_image(dist: Path) -> None:
    tmp_path, name = dist, NAME
    assert catalogue.main([str(tmp_path)]) == 0
    assert DIGEST in (tmp_path / f"{name}.krm-function.yaml").read_text()
    assert yaml.safe_load((tmp_path / f"{name}.kpt-function.yaml").read_text()) == catalogue.metadata()
    assert json.loads((tmp_path / f"{name}.schemastore.json").read_text()) == catalogue.schema_store()
    archives = catalogue.bundles(str(tmp_path))
    assert yaml.safe_load((tmp_path / f"{name}.krew.yaml").read_text()) == catalogue.krew(archives)
    assert (tmp_path / f"{name}.homebrew.rb").read_text() == catalogue.formula(archives)
    assert yaml.safe_load((tmp_path / f"{name}.artifacthub-repo.yml").read_text()) == catalogue.artifact_hub()
