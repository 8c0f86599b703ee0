"""Rules for the source tree as a whole."""

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
NOT_SOURCES = {"out", "build", "dist", "__pycache__", "node_modules"}
PROGRAM = sorted((ROOT / "krm_function").rglob("*.py"))
MODULES = [
    *PROGRAM,
    *(path for name in ("helm_plugin", "tools", "benchmarks") for path in sorted((ROOT / name).rglob("*.py"))),
]
# modules that one other of their package imports alone, each with the reason why they are no part of it
APART = {
    **dict.fromkeys(("cli.command_line", "cli.legacy", "cli.unconfigured"), "a call loads what it needs"),
    "lock.layers": "the rules of layers, beside the way from a reference to an entry",
    "lock.registry": "it needs urllib3, which a lock from files or `lock --check` has not",
    "operations.rule_conditions": "a table, and how it is read out of rules",
    **dict.fromkeys(("render.roles", "render.write"), "a stage"),
}

# Written in two parts, so that this file passes its own test.
HOSTS = [host + ".org" for host in ("pypi", "files.pythonhosted", "proxy.golang", "sum.golang", "registry.npmjs")]
OWN = r"(?<![\w./-])/(?:work|root(?!/\.(?:profile|bash|zsh|ssh))|home/(?!argocd/)\w+)/"  # but for places in images
MACHINE = re.compile("|".join((OWN, *map(re.escape, HOSTS))))


def sources() -> Iterator[Path]:
    for directory, below, names in os.walk(ROOT):
        below[:] = [
            name
            for name in below
            if name not in NOT_SOURCES and (name in {".ci", ".github"} or not name.startswith("."))
        ]
        yield from (Path(directory, name) for name in names if name != ".git")  # a file in a worktree


def test_no_source_names_a_package_registry_or_a_path_of_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE.search(line)
    ]
    assert not found, "\n".join(found)


def test_no_file_is_named_after_nothing() -> None:
    words = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
    assert not [path for path in sources() if words & {part.split(".")[0] for part in path.relative_to(ROOT).parts}]


def test_a_module_says_what_it_is() -> None:
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text())), "no docstring"


def test_a_module_that_serves_one_other_is_part_of_it() -> None:
    graph = grimp.build_graph("krm_function", cache_dir=None)
    packages = {module.rpartition(".")[0] for module in graph.modules}
    alone = set()
    for module in graph.modules - packages - {"krm_function"}:
        importers = graph.find_modules_that_directly_import(module)
        if [one.rpartition(".")[0] for one in importers] == [module.rpartition(".")[0]]:
            alone.add(module.removeprefix("krm_function."))
    assert alone == set(APART)
    assert len(APART) <= 10


def test_few_imports_are_late() -> None:
    """A library that is heavy, and what a single option needs: everything else is imported at the top."""
    late = {
        (path, statement.lineno)
        for path in PROGRAM
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Import | ast.ImportFrom)
    }
    assert len(late) <= 150


def test_no_two_modules_have_one_name_but_a_command_and_what_it_runs() -> None:
    names = Counter(path.name for path in PROGRAM if path.name != "__init__.py" and path.parent.name != "commands")
    assert [name for name, count in names.items() if count > 1] == []


def test_only_these_tests_may_be_skipped() -> None:
    """A machine may lack a shell, the tools of ext4, or the right to mount or to give files away."""
    word = re.compile(r"\bpytest\.(?:skip|importorskip|xfail|mark\.(?:skip|skipif|xfail))\b")
    tests = ROOT / "tests"
    counts = {path.relative_to(tests).as_posix(): len(word.findall(path.read_text())) for path in tests.rglob("*.py")}
    skipped = {"cli/test_completion.py": 2, "adversary/test_places_to_write.py": 1, "stages/test_volume_owner.py": 3}
    assert {name: count for name, count in counts.items() if count and name != "tools/test_sources.py"} == skipped
