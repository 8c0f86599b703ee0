"""What the code of this repository is called: modules, what they define, words that occur in code.

Rule of this file: files are parsed and never imported, so that a name is what stands there and not what a start leaves.
"""

import ast
import io
import re
import subprocess
import tokenize
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
SOURCES = [path for path in TRACKED if path.endswith(".py")]
PROSE = (".md", ".py")  # in other files every word counts as code
QUOTES = "tests/docs/test_named_code.py"  # names what does not exist
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module(NamedTuple):
    """What one file defines: name -> the names in that, the fields and methods of a class, parameters of a function."""

    path: str
    defined: dict[str, set[str]]


@cache
def modules() -> dict[str, Module]:
    """Every module by its dotted name."""
    found = {}
    for path in SOURCES:
        parts = list(Path(path).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = Module(path, _defined(tree(path).body))
    return found


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def _defined(body: list[ast.stmt]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {*_defined(node.body), *_set_on_self(node)}
        elif isinstance(node, FUNCTIONS):
            arguments = node.args
            found[node.name] = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
            found.update({name: set() for name in names})
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update({(each.asname or each.name).partition(".")[0]: set() for each in node.names})
        elif isinstance(node, ast.If | ast.Try):
            found.update(_defined([*node.body, *node.orelse]))
    return found


def _set_on_self(node: ast.ClassDef) -> set[str]:
    return {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }


@cache
def exists(dotted: str) -> bool:
    """Whether a dotted name, or the end of one such as `render.read` or `read.read`, is a module or stands in one.

    A class's member or a function's parameter may follow; what follows a constant is not looked at.
    """
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:length]), parts[length:]
        for name, module in modules().items():
            if (name == head or name.endswith(f".{head}")) and _has(module, rest):
                return True
    return _elsewhere(parts)


def _has(module: Module, rest: list[str]) -> bool:
    if not rest:
        return True
    if rest[0] not in module.defined:
        return False
    members = module.defined[rest[0]]
    return len(rest) == 1 or not members or rest[1] in members


def _elsewhere(parts: list[str]) -> bool:
    """Whether the name begins with a module of the standard library or of a dependency."""
    try:
        return find_spec(parts[0]) is not None and parts[0] not in {"tests", "tools", "benchmarks", "krm_function"}
    except (ImportError, ValueError):
        return False


@cache
def defined_in(path: str) -> frozenset[str]:
    """Every name that a file defines, on the top level or in a class or function."""
    found = {name for module in modules().values() if module.path == path for name in module.defined}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return frozenset(found)


@cache
def words() -> frozenset[str]:
    """Every word of the code: names and texts of Python without docstrings and comments, and of files but pages."""
    found: set[str] = set()
    for path in (path for path in TRACKED if path != QUOTES):
        if path.endswith(".py"):
            found.add(Path(path).stem)
            for node in ast.walk(tree(path)):
                found.update(_words_of(node))
        elif not path.endswith(PROSE) and (ROOT / path).is_file():
            found.update(re.findall(r"\w+", (ROOT / path).read_text(encoding="utf-8", errors="ignore")))
    return frozenset(found)


def _words_of(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n\n" not in node.value:
        return set(re.findall(r"\w+", node.value))
    named = (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname"))
    return {name for name in named if isinstance(name, str)}


def said_in(path: str) -> list[str]:
    """The docstrings and comments of a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = ["\n".join(token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)]
    documented = (ast.Module, ast.ClassDef, *FUNCTIONS)
    found += [ast.get_docstring(node) or "" for node in ast.walk(tree(path)) if isinstance(node, documented)]
    return found
