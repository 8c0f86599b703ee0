"""The parts list of a release is of what the lock file says; the real one is made in test_release_workflow.py."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools import sbom
from tools.cache import ToolError

ROOT = Path(__file__).parents[2]
LOCKED = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements/run.txt").read_text(), re.MULTILINE))


def listing(versions: dict[str, str]) -> Any:
    """What cyclonedx-py would say of an environment, as far as it matters; each part needs the next one."""
    refs = [f"{name}=={version}" for name, version in versions.items()]
    parts = zip(versions.items(), refs, strict=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "contrast-krm", "bom-ref": "root"}, "properties": []},
        "components": [
            {"type": "library", "name": name, "version": version, "bom-ref": ref} for (name, version), ref in parts
        ],
        "dependencies": [
            {"ref": "root"},
            *({"ref": ref, "dependsOn": refs[at + 1 : at + 2]} for at, ref in enumerate(refs)),
        ],
    }


def made(versions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sbom, "_listed", lambda: listing(versions))
    return json.loads(sbom.sbom())


def test_another_version_than_that_of_the_lock_file_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match=r"pyyaml 1\.0 is installed"):
        made({**LOCKED, "pyyaml": "1.0"}, monkeypatch)


def test_what_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolError, match="tqdm is not installed"):
        made({name: version for name, version in LOCKED.items() if name != "tqdm"}, monkeypatch)


def test_the_extras_are_those_of_the_lock_file() -> None:
    (line,) = [
        one for one in (ROOT / "Makefile").read_text().splitlines() if "requirements/run.txt" in one and "LOCKED" in one
    ]
    assert tuple(re.findall(r"--extra (\w+)", line)) == sbom.EXTRAS
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras) - set(sbom.EXTRAS) == {"cluster", "all", "dev"}
