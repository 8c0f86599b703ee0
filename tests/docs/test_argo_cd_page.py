"""Recipes for renders of several applications on one machine; tests/hosts/test_argo_cd.py runs the plugin itself."""

import subprocess

from tests.docs.commands import ROOT


def test_the_page_has_the_lines_of_the_plugin() -> None:
    page = (ROOT / "docs/how-to/argo-cd.md").read_text(encoding="utf-8")
    plugin = (ROOT / "examples/argo-cd/plugin.yaml").read_text(encoding="utf-8")
    script = plugin.partition("- |\n")[2].replace(" " * 8, " " * 4)
    assert script
    assert script in page


def test_no_recipe_writes_to_a_path_that_others_share() -> None:
    found = subprocess.run(
        ["git", "grep", "-nE", r"(>|-o|of=) */(tmp|var)/", "--", "README.md", "docs", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
