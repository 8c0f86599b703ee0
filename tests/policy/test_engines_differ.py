"""Where the engines read Rego in different ways: each difference is shown, and the rules must do without it.

regorus has the features that the agent's has. A difference that is gone fails its test, so that the guard can go too.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, DEFAULT, PROFILES, Profile
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import load_rules, with_external_sources
from krm_function.policy.settings import default_document
from tests.policy.engines.agreed import engines
from tests.policy.engines.answer import Answer
from tests.policy.engines.lines import Lines
from tests.policy.oracle import workloads
from tests.policy.oracle.requests import life
from tests.real_tools import needing

HEAD = "package agent_policy\nimport future.keywords.every\nimport future.keywords.if\nimport future.keywords.in\n"
CODE = re.sub(r"^\s*#.*$", "", with_external_sources(load_rules()), flags=re.MULTILINE)

RULES = {  # a rule that the engines answer differently -> what the text of the rules may not hold
    'default x := false\nx if { every e in ["lo"] { not e == "lo" } }': r"every [^{]*\{[^}]*\bnot\b",
    "default x := false\nx if { every a in [1, 2] { every b in [1] { b <= a } } }": r"every [^{]*\{[^}]*\bevery\b",
    'x := [v | some k, v in {"a": 1}; k == "a"]': r"\|\s*some \w+, \w+ in",
    'x := to_number("01")': r"\bto_number\(",
    'x := upper("\u00df")': r"\bupper\(",
    'x := count([p | walk({"a": 1}, [p, _])])': r"\bwalk\(",
    'x := glob.match("a*", [], "ab")': r"\bglob\.",
    'x := regex.replace("aXb", "X", "$0y")': r"\bregex\.replace\(",
    'x := concat(",", {"b", "a"})': r"\bconcat\(.*, \{",
    'x := 1 < "a"': r' [<>]=? "',
    'default x := "u"\nx := [1, 2][-1]': r"\[-\d",
    'x := "\\u00e4" == "\u00e4"': r"\\u[0-9a-fA-F]{4}",
}
PATTERNS = {  # a regular expression and a text on which the engines differ -> what no pattern of ours may hold
    (r"^\d$", "\u0663"): r"\\[dD]",
    (r"^\w$", "\u00e4"): r"\\[wWbB]",
    (r"^\s$", "\u00a0"): r"\\[sS]",
    (r"(?i)^k$", "\u212a"): r"\(\?[a-zA-Z]",
    (r"a\z", "a"): r"\\[AzZ]",
    ("(?=a)", "a"): r"\(\?<?[=!]",
    ("^(?P<n>a)$", "a"): r"\(\?P?<",
    (r"^\pL$", "\u00e4"): r"\\[pP]",
    ("^[a[b]]$", "a"): r"\[[^]]*\[",
    ("^[a&&b]$", "a"): "&&",
    ("^a{,3}$", "a{,3}"): r"\{,",
}


def _answers(rule: str) -> list[Answer]:
    return [engine.ask(HEAD + rule, "x", {}, {}) for engine in engines()]


def _differ(answers: list[Answer]) -> bool:
    return not all(answer.same(answers[0]) for answer in answers)


@needing("regorus", "regorus-agent")
@pytest.mark.parametrize("rule", RULES)
def test_the_engines_differ_and_the_rules_do_without(rule: str) -> None:
    assert _differ(_answers(rule))
    assert re.search(RULES[rule], rule), "the guard does not see what it guards against"
    assert not re.search(RULES[rule], CODE)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_a_dot_is_the_end_of_a_line_for_rego_cpp_alone_and_one_pattern_of_a_policy_has_it(profile: Profile) -> None:
    """Kata's own, of a path that no one opens; no other engine reads it so."""
    answers = dict(
        zip([engine.name for engine in engines()], _answers('x := regex.match("^/.*$", "/a\\n")'), strict=True)
    )
    assert {name for name, answer in answers.items() if answer.value} == {"rego-cpp"}
    held = [
        text for text in _patterns(read_policy_data(workloads.everything(profile))) if re.search(r"(?<!\\)\.[*+]", text)
    ]
    assert set(held) == {"^/.*$"}


def _patterns(value: Any) -> Iterator[str]:
    """Every text of the default settings that is a pattern, or goes into one."""
    if isinstance(value, dict):
        for below in value.values():
            yield from _patterns(below)
    elif isinstance(value, list):
        for below in value:
            yield from _patterns(below)
    elif isinstance(value, str):
        yield value


def ours() -> set[str]:
    quoted = re.findall(r'"(\^(?:[^"\\]|\\.)*)"', CODE)
    return {*quoted, *re.findall(r"`([^`]*)`", CODE), *_patterns(default_document(DEFAULT))}


ENGINES = [*(pytest.param(name, marks=needing(name)) for name in ("regorus-agent", "regorus")), "opa"]


@needing("regorus", "regorus-agent")
@pytest.mark.parametrize(("pattern", "text"), PATTERNS)
def test_the_engines_differ_on_patterns_and_ours_do_without(pattern: str, text: str) -> None:
    assert _differ(_answers(f'default x := "undefined"\nx := regex.match(`{pattern}`, "{text}")'))
    forbidden = PATTERNS[pattern, text]
    assert re.search(forbidden, pattern)
    assert not [each for each in ours() if re.search(forbidden, each)]


def test_some_patterns_are_ours() -> None:
    assert {"^[0-9]+$", r"(^|/)\.\.($|/)", "[0-9]{1,5}"} <= ours()


@pytest.mark.parametrize("name", ENGINES)
def test_an_agent_that_reads_the_language_before_1_0_gives_the_same_verdicts(name: str) -> None:
    rego = workloads.gpus(CONTRAST)
    engine = Lines(name, v0=True)
    for asked in life(rego, quick=True):
        answer = engine.ask(rego, asked.entry_point, asked.state, asked.request)
        assert answer.value is True or answer.value["allowed"] is True, asked.name
    assert engine.ask(rego, "CreateContainerRequest", {}, {}).value is False
    engine.close()


def test_a_forked_process_has_engines_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Lines("opa")
    assert engine.ask(HEAD + "x := 1", "x", {}, {}).value == 1
    first = engine._process
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert engine.ask(HEAD + "x := 2", "x", {}, {}).value == 2
    assert engine._process is not first
    engine.close()
    assert first is not None
    first.communicate()


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_what_is_wrong_and_goes_on(name: str) -> None:
    engine = Lines(name)
    assert engine.ask("package", "x", {}, {}).kind == "error"
    assert engine.ask(HEAD + "x := 1\nx := 2", "x", {}, {}).kind == "error"
    assert engine.ask(HEAD + "x := data.pstate.a", "x", {}, {}).kind == "undefined"
    assert engine.ask(HEAD + "x := data.pstate.a", "x", {"a": "\u00fc"}, {}).value == "\u00fc"
    assert engine.ask(HEAD + "x := input.n", "x", {}, {"n": 4294967295}).value == 4294967295
    engine.close()
