"""What the text of our rules may not hold, because one of the engines would read it as something else."""

import re

import pytest
from regopy import Interpreter

from krm_function.contrast.profiles import PROFILES
from krm_function.policy.rules import load_rules, with_external_sources

TEXTS = [load_rules(profile) for profile in PROFILES.values()] + [with_external_sources(load_rules())]
NAMES = [*PROFILES, "with open variables"]
EVERY = re.compile(r"^(\t+)every .*? \{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL)


def _x(module: str) -> str:
    engine = Interpreter()
    engine.add_module("p", "package p\nimport future.keywords.every\nimport future.keywords.if\n" + module)
    return str(engine.query("x := data.p.x"))


def test_the_engine_of_these_tests_ignores_not_inside_every() -> None:
    # the defect that the next test guards against (docs/facts/kata-rules.md#engine-defects): it fails open
    assert "true" in _x('default x := false\nx if {\n\tevery e in ["lo"] {\n\t\tnot e == "lo"\n\t}\n}')


def test_the_engine_of_these_tests_loses_a_comprehension_over_some() -> None:
    # hence no `| some` below: the first answer is empty, the second is not
    body = """
f(text) if { values(json.unmarshal(text)) == {"x"} }
values(map) := {map[key] | some key in ["a"]}
g(text) if { text != ""; f(text) }
x := [count([1 | g(`{"a": "x"}`)]), count([1 | g(`{"a": "x"}`)])]"""
    assert "[0,1]" in _x("import future.keywords.in\n" + body)


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_no_comprehension_begins_with_some(text: str) -> None:
    assert not re.search(r"\|\s*some\b", text)


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_every_bodies_hold_neither_negations_nor_loops(text: str) -> None:
    bodies = [found[2] for found in EVERY.finditer(text)]

    assert len(bodies) == len(re.findall(r"^\t+every ", text, re.MULTILINE))
    for body in bodies:
        assert not re.search(r"\b(not|every|some)\b|\[_\]", body), body


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_calls_do_not_enumerate(text: str) -> None:
    # rego-cpp gives nothing for `[f(a[i]) | …]` with a free i, and says nothing
    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    assert not re.search(r"\w\([^()\n\[{]*\[(_|i)\]", code)


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_lines_are_short(text: str) -> None:
    assert max(map(len, text.splitlines())) < 1000


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_no_triple_apostrophe(text: str) -> None:
    assert "'''" not in text


@pytest.mark.parametrize("builtin", ["glob", "net", "time", "crypto", "http", "yaml", "semver", "uuid"])
def test_no_builtin_the_agent_lacks(builtin: str) -> None:
    assert not any(re.search(rf"\b{builtin}\.", text) for text in TEXTS)
