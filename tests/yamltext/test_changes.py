"""What a change means."""

from typing import Any

import pytest

from krm_function.yamltext import Change, ChangeError, apply
from krm_function.yamltext.changes import same


@pytest.mark.parametrize(
    ("value", "changes", "wanted"),
    [
        ({"a": 1}, [Change(("a",), "set", 2)], {"a": 2}),
        ({"a": 1}, [Change(("b",), "set", 2)], {"a": 1, "b": 2}),
        ({"a": {}}, [Change(("a", "b"), "set", None)], {"a": {"b": None}}),
        ({"a": [1, 2]}, [Change(("a", 0), "set", 3)], {"a": [3, 2]}),
        ({"a": [1, 2]}, [Change(("a", 2), "insert", 3)], {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, [Change(("a", 0), "insert", 0), Change(("a", 1), "remove")], {"a": [0, 2]}),
        ({"a": 1, "b": 2}, [Change(("a",), "remove")], {"b": 2}),
        (1, [Change((), "set", {"a": 1}), Change(("a",), "set", 5)], {"a": 5}),
    ],
)
def test_changes_run_in_order_on_the_tree_before_them(value: Any, changes: list[Change], wanted: Any) -> None:
    assert apply(value, changes) == wanted


@pytest.mark.parametrize(
    "change",
    [
        Change(("x", "y"), "set", 1),
        Change(("x",), "remove"),
        Change(("a", 2), "set", 1),
        Change(("a", 3), "insert", 1),
        Change(("a", -1), "set", 1),
        Change(("a", 2), "remove"),
        Change(("a", "k"), "set", 1),
        Change(("m", 0), "set", 1),
        Change(("m", "k"), "insert", 1),
        Change(("s", "k"), "set", 1),
        Change((), "remove"),
    ],
)
def test_a_path_that_does_not_exist_is_an_error(change: Change) -> None:
    with pytest.raises(ChangeError):
        apply({"a": [1, 2], "m": {}, "s": "text"}, [change])


def test_apply_leaves_its_input_alone_and_shares_the_rest() -> None:
    value = {"a": {"b": [1]}, "c": {"d": 1}}
    new = apply(value, [Change(("a", "b", 0), "set", 2)])
    assert value == {"a": {"b": [1]}, "c": {"d": 1}}
    assert new["c"] is value["c"]


def test_values_are_the_same_only_when_kubernetes_reads_the_same() -> None:
    assert same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1})
    assert same(float("nan"), float("nan"))
    assert not same(True, 1)
    assert not same({"a": None}, {})
    assert not same("1", 1)
    assert not same([1], [1, 2])
    assert not same(None, False)
