"""`plan` and `check` on a deployment whose namespace refuses the injected containers; the page says what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.hosts import Deployment, make_files, quickstart
from tests.hosts.running import ROOT, called
from tests.quick_yaml import safe_load

PAGE = ROOT / "docs" / "how-to" / "namespaces.md"
LEVEL = "metadata:\n  name: shop\n  labels:\n    pod-security.kubernetes.io/enforce: baseline\n"
QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata:
  name: compute
  namespace: shop
spec:
  hard:
    requests.cpu: "4"
"""


def strict_shop() -> Deployment:
    shop = quickstart().changed("namespace.yaml", "metadata:\n  name: shop\n", LEVEL)
    return shop._replace(resources={**shop.resources, "quota.yaml": QUOTA})


def blocks() -> list[Any]:
    """The YAML of the page."""
    found, text = [], ""
    for line in [*PAGE.read_text().splitlines(), "end"]:
        if line.startswith("    ") or not line:
            text += f"{line}\n"
            continue
        found.append(text)
        text = ""
    return [safe_load(text) for text in found if "apiVersion:" in text]


def findings(*arguments: str) -> tuple[int, list[Any]]:
    ran = called(*arguments, "--format", "json")
    return ran.code, [one for one in json.loads(ran.err)["findings"] if one["code"] in {"CC0315", "CC0316", "CC0317"}]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_files(None, tmp_path, strict_shop())  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_plan_and_check_warn_at_the_place_and_do_not_fail(shop: Path) -> None:
    code, planned = findings("plan", "resources", "--config", "config")
    assert code == 0
    assert [(one["code"], one["severity"], Path(one["file"]).name) for one in planned] == [
        ("CC0315", "warning", "namespace.yaml"),
        ("CC0316", "warning", "quota.yaml"),
    ]
    assert [one["line"] for one in planned] == [6, 7]
    output = called("generate", "resources", "--config", "config")
    assert "warning CC0315" in output.err
    (shop / "rendered.yaml").write_bytes(output.out)
    code, checked = findings("check", "rendered.yaml")
    assert code == 0
    assert [(one["code"], one["message"]) for one in checked] == [(one["code"], one["message"]) for one in planned]


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "html"])
def test_every_form_of_the_plan_can_hold_them(shop: Path, form: str) -> None:
    ran = called("plan", "resources", "--config", "config", "-o", form)
    assert ran.code == 0
    assert "warning CC0315 shop metadata.labels" in ran.err
    assert "at: resources/namespace.yaml:6:" in ran.err


def test_the_limit_range_of_the_page_satisfies_the_quota(shop: Path) -> None:
    (limit_range,) = [block for block in blocks() if block["kind"] == "LimitRange"]
    (shop / "resources" / "limits.yaml").write_text(json.dumps(limit_range))
    assert [one["code"] for one in findings("plan", "resources", "--config", "config")[1]] == ["CC0315"]


def test_the_exemption_of_the_page_is_for_the_class_that_the_hint_names(shop: Path) -> None:
    (exempt,) = [block for block in blocks() if block["kind"] == "AdmissionConfiguration"]
    (plugin,) = exempt["plugins"]
    assert plugin["name"] == "PodSecurity"
    (name,) = plugin["configuration"]["exemptions"]["runtimeClasses"]
    _, (found, _) = findings("plan", "resources", "--config", "config")
    assert name.rpartition("-")[0] in found["hint"]
