"""No module imports itself by way of others: not at the top of a file, not in a function, not for its types only."""

import ast
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from krm_function import krm
from krm_function.cli.cluster import LIVE_CLUSTER, Cluster, live_cluster
from krm_function.cli.command_line import load_command
from krm_function.cli.commands import GROUPS, SUMMARIES, module_of
from krm_function.operations import cluster_checks

ROOT = Path(__file__).parents[1]
COMMANDS = [name for name in SUMMARIES if name not in GROUPS]
FILES = {module_of(name) for name in COMMANDS}
DYNAMIC = {"import_module", "importlib.import_module", "__import__"}
LOADER = "krm_function.cli.command_line"
CLUSTER = "krm_function.cli.cluster"
OFFERED = {  # modules of the command line to operations, beside all packages below it
    *("cluster", "configuration", "exits", "inputs", "messages", "parser"),
    *("render_inputs", "sealed_policies", "streams"),
}
LATE = "krm_function.krm"  # its late imports are in the graph as well, for type checkers


def imports(*packages: str) -> dict[str, set[str]]:
    """What each module of some packages imports of them, in any statement."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle, the first one again at the end; none if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        modules: list[str] = found.args[1]
        return modules
    return []


def test_the_program_has_no_circle() -> None:
    graph = imports("krm_function", "helm_plugin")
    assert graph.keys() >= FILES
    graph[LOADER] |= FILES  # it imports them by their names
    assert LIVE_CLUSTER in graph
    assert circle(graph) == []


def test_no_other_module_is_imported_by_a_name_that_is_made_at_run_time() -> None:
    """Such imports are in no graph, so they could close a circle unseen."""
    dynamic = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "krm_function").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DYNAMIC
    }
    assert dynamic == {LOADER, CLUSTER, f"{LATE}.__init__"}
    late = {f"{LATE}.{name}" for name in krm._FILES}
    assert late <= imports("krm_function")[LATE]


@pytest.mark.parametrize("package", ["tools", "benchmarks"])
def test_what_is_around_the_program_has_no_circle(package: str) -> None:
    assert circle(imports(package)) == []


def test_a_circle_of_an_import_inside_a_function_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "__init__.py").write_text("")
    (tmp_path / "round" / "one.py").write_text("from round import two\n")
    (tmp_path / "round" / "two.py").write_text("def late():\n    from round import one\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert set(circle(imports("round"))) == {"round.one", "round.two"}


def test_every_command_has_a_file_and_every_file_is_a_command() -> None:
    modules = {
        f"krm_function.{part}.commands.{path.stem}"
        for part in ("cli", "operations")
        for path in (ROOT / "krm_function" / part / "commands").glob("*.py")
        if path.stem != "__init__"
    }
    assert modules == FILES


def test_the_module_that_answers_for_a_cluster_has_what_plan_and_check_ask_of_it() -> None:
    cluster: Cluster = cluster_checks
    assert live_cluster() is cluster


@pytest.mark.parametrize("name", COMMANDS)
def test_the_file_of_a_command_has_its_arguments_and_its_run(name: str) -> None:
    command = load_command(name)
    assert isinstance(command.DESCRIPTION, str)
    assert callable(command.add_arguments)
    assert callable(command.run)


def test_operations_uses_of_the_command_line_what_it_offers() -> None:
    graph = imports("krm_function")
    used = set().union(*(graph[module] for module in graph if module.startswith("krm_function.operations")))
    assert {module.partition(".cli.")[2] for module in used if ".cli." in module} == OFFERED
