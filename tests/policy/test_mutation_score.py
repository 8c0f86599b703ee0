"""The score of `make bench-policy` counts what it says: conditions found, mutants caught, survivors explained."""

from pathlib import Path

import pytest

from benchmarks.policy.conditions import Condition, conditions, without
from benchmarks.policy.score import Part, fates, mutants, rules_of_profiles
from benchmarks.policy.survivors import EQUIVALENT
from tests.policy.engines import agreed
from tests.policy.engines.corpus import Corpus, Question, read

RULES = """package agent_policy

import future.keywords.every
import future.keywords.if
import future.keywords.in

default x := false

x if {
\tsize := count(input.a)
\tsize > 0
\tevery e in input.a {
\t\tallowed(e)
\t}
\tnot input.b == "\u00fc{\\"" # not } a condition
}

allowed(e) if e in [k | some k in policy_data.known; k != 3]
"""
TEXTS = ["size := count(input.a)", "size > 0", "allowed(e)", 'not input.b == "\u00fc{\\""', "k != 3"]


def test_every_expression_is_a_condition_where_it_stands() -> None:
    found = conditions(RULES)

    assert [each for each in TEXTS if each not in {condition.text for condition in found}] == []
    assert len(found) == 8
    (negated,) = (each for each in found if each.text.startswith("not"))
    assert RULES.splitlines()[negated.row - 1].strip().startswith(negated.text)
    assert without(RULES, negated) == RULES.replace(negated.text, "true")
    assert not any("not }" in each.text for each in found)


def test_rules_that_are_none_are_an_error() -> None:
    with pytest.raises(ValueError, match="rego_parse_error"):
        conditions("package agent_policy\nx if {")


def test_a_mutant_is_caught_by_a_verdict_that_changes() -> None:
    policy = f'{RULES}\npolicy_data := {{\n  "known": [1, 2, 3]\n}}'
    asked = [({"a": [1, 2], "b": ""}, True), ({"a": [], "b": ""}, False), ({"a": [4], "b": ""}, False)]
    rules = {"ours": (Part("rules", RULES),)}
    questions = [Question("p", "x", {}, request, allowed, f"test {n}") for n, (request, allowed) in enumerate(asked)]

    known = {fate.condition.text: fate for fate in fates(rules, mutants(rules), Corpus({"p": policy}, questions))}

    assert known["size > 0"].fate == "caught"
    assert known["size > 0"].by == "test 1"
    (every,) = (fate for text, fate in known.items() if text.startswith("every"))
    assert every.fate == "caught"
    assert known["allowed(e)"].fate == "invalid"  # OPA wants the variable of an `every` used
    assert known["k != 3"].fate == "survived"
    assert known[TEXTS[3]].fate == "survived"
    assert known["size := count(input.a)"].fate == "invalid"
    assert known["some k in policy_data.known"].fate == "invalid"


def test_what_a_request_changes_in_the_state_is_a_part_of_its_verdict() -> None:
    text = """package agent_policy

x := {"allowed": true, "ops": [{"key": key} | some key in input.keys; key != "b"]} if {
	key := input.key
	input.known[key]
}
"""
    listed = {"keys": ["a", "b"], "key": "c", "known": {"c": 1}}
    questions = [
        Question("p", "x", {}, listed, True, "a list", ({"key": "a"},)),
        Question("p", "x", {}, {"keys": [], "key": "d", "known": {"c": 1}}, False, "another key"),
    ]
    rules = {"ours": (Part("rules", text),)}
    known = {fate.condition.text: fate.fate for fate in fates(rules, mutants(rules), Corpus({"p": text}, questions))}
    assert known['key != "b"'] == "caught"
    assert known["key := input.key"] == "caught"


def test_a_condition_is_lost_in_all_profiles_that_have_its_file() -> None:
    shared, more, other = Part("shared", RULES), Part("more", "\nallowed(e) if e == 9\n"), Part("other", "\ny := 1\n")
    rules = {"lax": (shared, other), "odd": (shared, other, more), "strict": (shared, more)}
    found = mutants(rules)
    known = {(mutant.condition.text, mutant.condition.file, mutant.profiles) for mutant in found}

    assert ("size > 0", "shared", ("lax", "odd", "strict")) in known
    assert ("e == 9", "more", ("odd", "strict")) in known
    assert len(known) == 9
    (nine,) = (mutant.condition for mutant in found if mutant.condition.text == "e == 9")
    assert without(more.text, nine) == more.text.replace("e == 9", "true")
    assert nine.row == 2


def test_every_survivor_with_a_reason_is_a_condition_of_the_rules() -> None:
    texts = [(each.condition.rule, each.condition.line) for each in mutants(rules_of_profiles())]
    assert not [row for row in EQUIVALENT if texts.count((row.rule, row.text)) < row.nth]


def test_a_condition_is_never_cut_out_elsewhere() -> None:
    with pytest.raises(ValueError, match="line 3"):
        without("package p\n", Condition("x", 3, 1, "true"))


def test_a_test_run_can_be_written_down_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAST_KRM_CORPUS", str(tmp_path))
    policy = "package agent_policy\nimport future.keywords.if\ndefault x := false\nx if input.n == 1 # \u00fc\n"
    for number in (1, 2, 2):
        agreed.ask(policy, "x", {"s": "t"}, {"n": number}, "why")

    corpus = read(str(tmp_path))

    assert list(corpus.policies.values()) == [policy]
    assert [(each.request["n"], each.allowed, each.state) for each in corpus.questions] == [
        (1, True, {"s": "t"}),
        (2, False, {"s": "t"}),
    ]
    assert all("read_back why" in each.asked_by for each in corpus.questions)
