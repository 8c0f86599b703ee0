"""What architecture.md says that packages never do, and how pages describe packages, is so."""

import ast
import re

import pytest

from tests.docs.code_names import ROOT, SOURCES, tree

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
EDITING = {"inject", "stages", "policies"}  # of render/, those that edit a pod


def row(package: str) -> str:
    """The row of a package in the table of packages."""
    (found,) = re.findall(rf"(?m)^\| `{package}/` \|.*$", PAGE)
    return str(found)


def files(package: str) -> list[str]:
    return [path for path in SOURCES if path.startswith(f"krm_function/{package}/")]


def imported(path: str) -> set[str]:
    """The modules of this program that a file imports, at the top or late."""
    return {node.module or "" for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom)}


def raises_findings(path: str) -> bool:
    calls = (node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == "finding" for called in calls)


@pytest.mark.parametrize("package", ["hosts", "report"])
def test_a_package_that_never_raises_a_finding_raises_none(package: str) -> None:
    assert row(package).endswith("| raise a finding |")
    assert [path for path in files(package) if raises_findings(path)] == []


def test_a_finding_that_is_raised_is_seen() -> None:
    assert raises_findings("krm_function/render/classes.py")


def test_the_command_line_edits_no_pod_but_where_the_page_says_so() -> None:
    stages = {f"krm_function.render.{name}" for name in EDITING}
    editing = {path.removeprefix("krm_function/") for path in files("cli") if imported(path) & stages}
    _, knows, never, _ = re.split(r"(?<!\\)\|", row("cli"))[1:]
    assert knows
    assert editing == set(re.findall(r"`(cli/[\w/]+\.py)`", never))


def test_every_package_has_a_row() -> None:
    packages = {path.split("/")[1] for path in SOURCES if re.fullmatch(r"krm_function/\w+/__init__\.py", path)}
    assert packages == set(re.findall(r"(?m)^\| `(\w+)/` \|", PAGE))
