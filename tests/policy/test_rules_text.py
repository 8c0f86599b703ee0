"""What the text of our rules may not hold, because one of the engines would read it as something else."""

import re

import pytest
from regopy import Interpreter

from krm_function.policy import load_rules

EVERY = re.compile(r"^(\t+)every .*? \{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL)


def _x(module: str) -> str:
    engine = Interpreter()
    engine.add_module("p", "package p\nimport future.keywords.every\nimport future.keywords.if\n" + module)
    return str(engine.query("x := data.p.x"))


def test_the_engine_of_these_tests_ignores_not_inside_every() -> None:
    # the defect that the next test guards against (genpolicy.md 9.1): it fails open
    assert "true" in _x('default x := false\nx if {\n\tevery e in ["lo"] {\n\t\tnot e == "lo"\n\t}\n}')


def test_every_bodies_hold_neither_negations_nor_loops() -> None:
    bodies = [found[2] for found in EVERY.finditer(load_rules())]

    assert len(bodies) == load_rules().count("every ") - load_rules().count("an `every `") - 1  # the import
    for body in bodies:
        assert not re.search(r"\b(not|every|some)\b|\[_\]", body), body


def test_calls_do_not_enumerate() -> None:
    # rego-cpp gives nothing for `[f(a[i]) | …]` with a free i, and says nothing
    code = re.sub(r"^\s*#.*$", "", load_rules(), flags=re.MULTILINE)
    assert not re.search(r"\w\([^()\n\[{]*\[(_|i)\]", code)


def test_lines_are_short() -> None:
    assert max(map(len, load_rules().splitlines())) < 1000


def test_no_triple_apostrophe() -> None:
    assert "'''" not in load_rules()


@pytest.mark.parametrize("builtin", ["glob", "net", "time", "crypto", "http", "yaml", "semver", "uuid"])
def test_no_builtin_the_agent_lacks(builtin: str) -> None:
    assert not re.search(rf"\b{builtin}\.", load_rules())
