"""What a change means."""

from math import isnan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.text.changes import Change, ChangeError, apply, same


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


def test_a_value_that_is_set_is_not_changed_by_later_changes() -> None:
    new: dict[str, Any] = {"list": [1]}
    changes = [
        Change(("a",), "set", new),
        Change(("b",), "set", new),
        Change(("a", "list", 1), "insert", 2),
        Change(("a", "list", 2), "insert", 3),
    ]
    assert apply({}, changes) == {"a": {"list": [1, 2, 3]}, "b": {"list": [1]}}
    assert new == {"list": [1]}


def test_values_are_the_same_only_when_kubernetes_reads_the_same() -> None:
    assert same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1})
    assert same(float("nan"), float("nan"))
    assert not same(True, 1)
    assert not same({"a": None}, {})
    assert not same("1", 1)
    assert not same([1], [1, 2])
    assert not same(None, False)


LEAVES = (None, True, False, 0, 1, 2, 0.0, 1.0, 1.5, -1, 2**63, float("nan"), float("inf"), "", "1", "a", "True", "nan")
VALUES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def alike(left: Any, right: Any) -> bool:
    """What `same` says, in as many words."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(alike(*pair) for pair in zip(left, right, strict=True))
    for kinds in ((bool,), (type(None),), (str,), (dict,), (list, tuple)):
        if isinstance(left, kinds) or isinstance(right, kinds):
            return isinstance(left, kinds) and isinstance(right, kinds) and bool(left == right)
    return bool(left == right) or (isnan(left) and isnan(right))


@given(VALUES, VALUES)
@settings(max_examples=1000, deadline=None, database=None, derandomize=True)
def test_same_says_what_its_definition_says(left: Any, right: Any) -> None:
    assert same(left, right) == alike(left, right) == same(right, left)
    assert same(left, copied(left))
    assert same({"a": [left]}, {"a": [right]}) == alike(left, right)


@pytest.mark.parametrize("left", LEAVES)
def test_every_leaf_against_every_other(left: Any) -> None:
    for right in LEAVES:
        assert same([left], [right]) == alike(left, right)


def copied(value: Any) -> Any:
    """The same value, and no collection or number of it the same object."""
    if isinstance(value, dict):
        return {key: copied(value[key]) for key in reversed(value)}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return float(repr(value)) if isinstance(value, float) else value
