"""Rules for the source tree as a whole."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.for_each import for_each

ROOT = Path(__file__).parents[2]
NOT_SOURCES = {"out", "build", "dist", "__pycache__", "node_modules"}
PROGRAM = sorted((ROOT / "krm_function").rglob("*.py"))
MODULES = [
    *PROGRAM,
    *(path for name in ("helm_plugin", "tools", "benchmarks") for path in sorted((ROOT / name).rglob("*.py"))),
]
LONGEST = 350  # lines

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


@for_each("path", MODULES)
def test_a_module_says_what_it_is_and_is_short(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= LONGEST


def test_most_modules_have_70_to_200_lines() -> None:
    lengths = [len(path.read_text().splitlines()) for path in PROGRAM if path.name != "__init__.py"]
    assert 70 <= median(lengths) <= 200
