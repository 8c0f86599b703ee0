"""examples/flux: what CI renders, and what the library of Flux's kustomize-controller makes of it (tools/flux).

What that does: docs/facts/delivery.md#flux.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hosts.documents import by_name
from tests.hosts.running import EXAMPLES, Machine, Ran, snapshot
from tests.real_tools import needing
from tools.real import tool

pytestmark = needing("flux")

EXAMPLE = EXAMPLES / "flux"
COMMAND = "./render.sh ../kustomize/confidential rendered/prod"
EXPECTED = EXAMPLE / "expected/applied.yaml"
SOURCE, KUSTOMIZATION = yaml.safe_load_all((EXAMPLE / "shop.yaml").read_text())


@pytest.fixture
def ci(tmp_path: Path) -> Path:
    """The example beside the one whose overlay it renders."""
    for name in ("flux", "kustomize"):
        shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("expected"))
    return tmp_path / "flux"


def render(machine: Machine, ci: Path) -> Ran:
    return machine.run(["bash", "-euc", COMMAND], ci)


def applied(machine: Machine, ci: Path, **spec: Any) -> bytes:
    """What Flux applies of a copy of the output, with these fields added to its Kustomization."""
    repository = ci / "repository"
    shutil.copytree(ci / "rendered", repository / "rendered")
    file = ci / "kustomization-of-flux.yaml"
    file.write_text(yaml.safe_dump(KUSTOMIZATION | {"spec": KUSTOMIZATION["spec"] | spec}))
    return machine.run([tool("flux"), str(file), str(repository)]).ok()


def test_flux_applies_the_rendered_objects(krm_machine: Machine, ci: Path) -> None:
    render(krm_machine, ci).ok()
    made = applied(krm_machine, ci)
    rendered = (ci / "rendered/prod/rendered.yaml").read_bytes()
    assert rendered == (EXAMPLES / "kustomize/expected/rendered.yaml").read_bytes()
    assert (ci / "rendered/prod/manifest.json").read_bytes() == (
        EXAMPLES / "kustomize/expected/manifest.json"
    ).read_bytes()
    assert by_name(made) == by_name(rendered)
    if os.environ.get("WRITE_GOLDEN"):
        EXPECTED.write_bytes(made)
    assert made == EXPECTED.read_bytes()


def test_what_flux_applies_passes_check(krm_machine: Machine) -> None:
    ran = krm_machine.krm("check", str(EXPECTED), "--config", str(EXAMPLES / "kustomize/confidential"))
    assert ran.ok() == b""


def test_a_second_run_changes_nothing_and_leaves_nothing_behind(krm_machine: Machine, ci: Path) -> None:
    render(krm_machine, ci).ok()
    before = snapshot(ci)
    render(krm_machine, ci).ok()
    assert snapshot(ci) == before
    assert sorted(path.name for path in (ci / "rendered").iterdir()) == ["prod"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("base/web.yaml", "runtimeClassName: contrast-cc-", "runtimeClassName: contrast-cc-nowhere-"),
        ("confidential/kustomization.yaml", "transformers:\n  - contrast.yaml\n", ""),
        ("confidential/kustomization.yaml", "resources:", "resource:"),
    ],
    ids=["placeholder", "without-function", "kustomization"],
)
def test_a_render_or_a_check_that_fails_keeps_the_last_output(
    file: str, old: str, new: str, krm_machine: Machine, ci: Path
) -> None:
    render(krm_machine, ci).ok()
    before = snapshot(ci / "rendered")
    path = ci.parent / "kustomize" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert render(krm_machine, ci).code != 0
    assert snapshot(ci / "rendered") == before
    assert sorted(path.name for path in (ci / "rendered").iterdir()) == ["prod"]


REPLICAS = "- {op: replace, path: /spec/replicas, value: 5}"
ENVIRONMENT = "- {op: add, path: /spec/template/spec/containers/0/env, value: [{name: A, value: b}]}"
WEB = {"kind": "Deployment"}


@pytest.mark.parametrize(
    ("spec", "passes"),
    [
        ({"patches": [{"patch": REPLICAS, "target": WEB}]}, True),
        ({"patches": [{"patch": ENVIRONMENT, "target": WEB}]}, False),
        ({"images": [{"name": "registry.example.com/shop/web", "newTag": "9"}]}, False),
        ({"namePrefix": "blue-"}, False),
        ({"targetNamespace": "other"}, False),
    ],
    ids=["replicas", "environment", "images", "namePrefix", "targetNamespace"],
)
def test_what_the_page_forbids_breaks_policies_and_check_says_so(
    spec: dict[str, Any], passes: bool, krm_machine: Machine, ci: Path
) -> None:
    render(krm_machine, ci).ok()
    ran = krm_machine.krm("check", stdin=applied(krm_machine, ci, **spec))
    assert (ran.code == 0) == passes, ran.err


def test_the_kustomization_applies_what_the_command_of_the_readme_renders() -> None:
    assert f"    {COMMAND}\n" in (EXAMPLE / "README.md").read_text()
    assert KUSTOMIZATION["spec"]["path"] == f"./{COMMAND.rpartition(' ')[2]}"
    assert KUSTOMIZATION["spec"]["sourceRef"]["name"] == SOURCE["metadata"]["name"]
