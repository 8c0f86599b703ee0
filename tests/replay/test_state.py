"""The state after an allowed request is what its operations make; what does not apply is a denial."""

from typing import Any

import pytest

from krm_function.operations.replay import Verdict, judge

STATE = {"a": 1, "list": {"b": 2}}


def ops(*operations: Any) -> list[Any]:
    return [{"allowed": True, "ops": list(operations)}]


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        ({"op": "add", "path": "/pstate/c", "value": 3}, {"a": 1, "list": {"b": 2}, "c": 3}),
        ({"op": "add", "path": "/pstate/a", "value": 3}, {"a": 3, "list": {"b": 2}}),
        ({"op": "replace", "path": "/pstate/a", "value": None}, {"a": None, "list": {"b": 2}}),
        ({"op": "remove", "path": "/pstate/a"}, {"list": {"b": 2}}),
        ({"op": "add", "path": "/pstate/list/x~1y~0", "value": 1}, {"a": 1, "list": {"b": 2, "x/y~": 1}}),
        ({"op": "remove", "path": "/pstate/list/b"}, {"a": 1, "list": {}}),
    ],
)
def test_operations_change_the_state_and_not_the_one_before(operation: Any, after: Any) -> None:
    assert judge(ops(operation), STATE) == Verdict(True, after, changed=True)
    assert STATE == {"a": 1, "list": {"b": 2}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/pstate/c"},
        {"op": "replace", "path": "/pstate/c", "value": 1},
        {"op": "add", "path": "/pstate/c"},
        {"op": "add", "path": "/pstate/c/d", "value": 1},
        {"op": "add", "path": "/pstate/a/d", "value": 1},
        {"op": "add", "path": "/policy", "value": 1},
        {"op": "move", "path": "/pstate/c", "from": "/pstate/a"},
        {"op": ["add"], "path": "/pstate/c", "value": 1},
        {"op": "add", "path": 1},
        "add",
    ],
)
def test_an_operation_that_does_not_apply_is_a_denial(operation: Any) -> None:
    verdict = judge(ops(operation), STATE)
    assert (verdict.allowed, verdict.state, verdict.changed) == (False, STATE, False)
    assert verdict.problem


@pytest.mark.parametrize("values", [[], [False], [None], ["true"], [1], [{"allowed": "yes"}], [{}], [True, True], [[]]])
def test_whatever_is_neither_true_nor_allowed_is_a_denial(values: list[Any]) -> None:
    assert judge(values, STATE) == Verdict(False, STATE)


def test_true_and_an_object_without_operations_are_allowed() -> None:
    assert judge([True], STATE) == judge([{"allowed": True}], STATE) == Verdict(True, STATE)
