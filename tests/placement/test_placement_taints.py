"""Taints and tolerations: the scheduler's answers, row by row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.nodes import (
    BY_DEFAULT,
    EFFECTS,
    EVERY_DAEMON,
    HARD,
    UNSCHEDULABLE,
    Taint,
    given_by_default,
    tolerates,
    untolerated,
)
from krm_function.kubernetes.runtime_classes import covers

TAINT = Taint("gpu", "h100", "NoSchedule")
WISH = Taint("gpu", "h100", "PreferNoSchedule")


@pytest.mark.parametrize(
    ("toleration", "passes"),
    [
        ({"key": "gpu", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "h100", "effect": "NoSchedule"}, True),  # no operator means Equal
        ({"key": "gpu", "operator": "", "value": "h100"}, True),  # no effect means every effect
        ({"key": "gpu", "operator": "Equal", "value": "a100"}, False),
        ({"key": "gpu", "operator": "Equal"}, False),  # an absent value is the empty one
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists", "value": "a100"}, True),  # refused by the API server; Exists ignores it
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "tpu", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),  # every taint
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"value": "h100"}, True),  # refused by the API server; the scheduler would let it pass
        ({}, False),
        ({"key": "gpu", "operator": "Gt", "value": "1"}, False),
        ({"key": "gpu", "operator": "exists"}, False),
        ({"key": 3, "operator": "Exists"}, True),  # a key that is no text reads as none, as in the merge
    ],
)
def test_a_toleration_passes_a_taint(toleration: dict[str, Any], passes: bool) -> None:
    assert tolerates(toleration, TAINT) is passes


def test_an_empty_value_is_a_value() -> None:
    assert tolerates({"key": "gpu", "operator": "Equal"}, Taint("gpu", "", "NoSchedule"))


def test_seconds_do_not_matter_where_a_pod_is_placed() -> None:
    assert tolerates(
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}, Taint("a", "", "NoExecute")
    )


def test_a_wish_keeps_nobody_away() -> None:
    assert untolerated([WISH, TAINT], ()) == [TAINT]


def test_of_several_taints_each_must_be_tolerated() -> None:
    other = Taint("b", "", "NoExecute")
    assert untolerated([TAINT, other], [{"key": "gpu", "operator": "Exists"}]) == [other]


def test_only_daemons_stay_on_a_cordoned_node() -> None:
    assert untolerated([UNSCHEDULABLE], EVERY_DAEMON) == []


texts = st.sampled_from(["", "a", "b"])
tolerations = st.fixed_dictionaries(
    {},
    optional={
        "key": texts,
        "operator": st.sampled_from(["", "Equal", "Exists"]),
        "value": texts,
        "effect": st.sampled_from(["", *sorted(EFFECTS)]),
    },
).filter(lambda one: one.get("key") or one.get("operator") == "Exists")  # the rest the API server refuses
taints = st.builds(Taint, st.sampled_from(["a", "b"]), texts, st.sampled_from(sorted(HARD)))


@given(tolerations, tolerations, taints)
def test_what_covers_another_toleration_passes_all_that_it_passes(
    first: dict[str, Any], second: dict[str, Any], taint: Taint
) -> None:
    """Hence dropping a covered one, as RuntimeClass admission does, never takes a node away."""
    if covers(first, second) and tolerates(second, taint):
        assert tolerates(first, taint)


def test_a_taint_reads_as_kubectl_writes_it() -> None:
    assert [str(TAINT), str(UNSCHEDULABLE)] == [
        "gpu=h100:NoSchedule",
        "node.kubernetes.io/unschedulable:NoSchedule",
    ]


NOT_READY, UNREACHABLE = BY_DEFAULT


@pytest.mark.parametrize(
    ("own", "given"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"key": "gpu", "operator": "Exists"}], [NOT_READY, UNREACHABLE]),
        ([{"key": NOT_READY["key"], "value": "mine", "effect": "NoExecute"}], [UNREACHABLE]),
        ([{"key": NOT_READY["key"], "value": "mine"}], [UNREACHABLE]),
        ([{"key": NOT_READY["key"], "operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], []),
        ([{"operator": "Exists", "effect": "NoExecute"}], []),
        ([{"operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
    ],
)
def test_a_toleration_of_the_pod_prevents_one_by_default(own: list[dict[str, Any]], given: list[Any]) -> None:
    assert given_by_default(own) == given
