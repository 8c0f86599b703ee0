"""Every condition of the rules that is asked about has a row in the table, and every row is one of a condition."""

from collections.abc import Iterator

import pytest

from krm_function.contrast.profiles import KATA, PROFILES
from krm_function.operations.replay import row_of
from krm_function.operations.rule_conditions import (
    CONDITIONS,
    KINDS,
    Body,
    Probe,
    bodies,
    condition_of,
    definitions,
    probes_of,
    terms,
)
from krm_function.policy.rules import load_rules
from tests.policy.host import ENTRY_POINTS_DENIED
from tests.replay.logs import rich_rego

ASKED = (
    "CreateContainerRequest",
    "ExecProcessRequest",
    "CreateSandboxRequest",
    "RemoveContainerRequest",
    "StartContainerRequest",
)
NEVER_FAIL = (
    "ops :=",
    "candidates :=",
    "name :=",
    "namespace :=",
    "sandbox_id :=",
    "masked :=",
    "readonly :=",
    "used :=",
    "pod_ops :=",
    "own :=",
    'contrast_krm_value := {"allowed": true, "ops": ops}',
    "given :=",
    "wanted :=",
    "some ",
    "key ==",
)
OLDER = [("complete", "not is_pinned"), ("CreateContainerRequest", "id_ops")]  # of policies with earlier rules
RULES = {name: load_rules(profile) for name, profile in PROFILES.items()}


def leaves(probes: tuple[Probe, ...], calls: tuple[Probe, ...] = ()) -> Iterator[tuple[Probe, ...]]:
    """Each condition that is not taken apart, behind the calls that lead to it."""
    for probe in probes:
        here = (*calls, probe)
        yield from leaves(probe.inner, here) if probe.inner else (here,)


def conditions(rules: str) -> Iterator[tuple[Probe, ...]]:
    known = bodies(rules)
    for kind in ASKED:
        for body in known.get(kind, ()):
            yield from leaves(probes_of(body, known, 0 if kind == "CreateContainerRequest" else None).probes)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_condition_of_a_container_or_a_command_has_a_row(rules: str) -> None:
    found = list(conditions(rules))
    assert len(found) > 60
    unknown = [
        (one[-1].function, one[-1].statement)
        for one in found
        if row_of(one) is None and not one[-1].statement.startswith(NEVER_FAIL)
    ]
    assert unknown == []


def test_every_row_is_about_a_condition_of_some_rules() -> None:
    found = {
        condition_of(probe.function, probe.statement)
        for rules in RULES.values()
        for one in conditions(rules)
        for probe in one
    }
    unused = [(row.function, row.statement) for row in CONDITIONS if row not in found]
    assert unused == OLDER


def test_every_request_of_which_more_is_said_is_an_entry_point() -> None:
    assert KINDS.keys() - definitions(RULES[KATA.name]).keys() == set()
    assert {kind for kind in KINDS if kind in ENTRY_POINTS_DENIED} == {
        "UpdateContainerRequest",
        "PauseContainerRequest",
        "SetPolicyRequest",
    }


def test_what_is_added_to_a_policy_has_names_of_its_own() -> None:
    known = bodies(rich_rego())
    made = probes_of(known["CreateContainerRequest"][0], known, 1)
    assert len(set(terms(made.probes))) == len(terms(made.probes))
    assert all(term.startswith("data.agent_policy.contrast_krm_") for term in terms(made.probes))
    assert "contrast_krm_" not in rich_rego()


def test_a_definition_is_found_with_its_conditions_as_they_are_written() -> None:
    text = """package agent_policy

default A := false

A if {
\t# a remark
\tinput.x == "}"
\tb := [one |
\t\tone := input.list[_]
\t]
\tc(b, _)
}

c(list, _) if {
\tcount(list) == 1
}

d(x) if x == 1

d(x) if {
\tx == 2
}

e := {"allowed": f(id)} if id := input.id

g := 1

g := 1 if input.x
"""
    found = bodies(text)
    assert found["A"] == (Body("A", (), ('input.x == "}"', "b := [one |\none := input.list[_]\n]", "c(b, _)")),)
    assert found["c"] == (Body("c", ("list", "unused_1"), ("count(list) == 1",)),)
    assert found["d"] == (Body("d", ("x",), ("x == 1",)), Body("d", ("x",), ("x == 2",)))
    assert found["e"] == (Body("e", (), ("id := input.id", 'contrast_krm_value := {"allowed": f(id)}')),)
    assert "g" not in found, "one of its definitions has no condition"
    counted = definitions(text)
    assert (counted["A"], counted["d"], counted["g"], "f" in counted) == (1, 2, 2, False)
