"""Recipes for renders of several applications on one machine; tests/hosts/test_argo_cd.py runs the plugin itself."""

import shutil
import subprocess
from pathlib import Path

from tests.docs.commands import ROOT, blocks
from tests.docs.scenes import chart
from tests.hosts.documents import digests
from tests.hosts.running import EXAMPLES, machine

PAGE = ROOT / "docs/how-to/argo-cd.md"


def test_the_page_has_the_lines_of_the_plugin() -> None:
    page = PAGE.read_text(encoding="utf-8")
    plugin = (ROOT / "examples/argo-cd/plugin.yaml").read_text(encoding="utf-8")
    script = plugin.partition("- |\n")[2].replace(" " * 8, " " * 4)
    assert script
    assert script in page


def test_the_lines_for_helm_seal_for_the_namespace_of_the_application(tmp_path: Path) -> None:
    (lines,) = (block for block in blocks(PAGE.read_text(encoding="utf-8")) if "helm template" in block)
    made = machine(tmp_path)
    here = tmp_path / "here"
    chart(made, here)
    shutil.move(here / "config", here / "chart/config")
    script = f"set -euo pipefail\n{lines}\nprintf '%s\\n' \"$rendered\""
    env = {"ARGOCD_APP_NAME": "shop", "ARGOCD_APP_NAMESPACE": "shop"}
    out = made.run(["bash", "-c", script], here / "chart", env=env).ok()
    assert digests(out) == digests((EXAMPLES / "helm/expected/helm4.yaml").read_bytes())


def test_no_recipe_writes_to_a_path_that_others_share() -> None:
    found = subprocess.run(
        ["git", "grep", "-nE", r"(>|-o|of=) */(tmp|var)/", "--", "README.md", "docs", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
