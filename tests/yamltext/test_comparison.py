"""The walk over two values: which places it hands out, and with which rule of a table."""

from typing import Any

import pytest

from krm_function.text.changes import ABSENT, differing_paths, differing_places

Places = list[tuple[Any, ...]]


def places(left: Any, right: Any, rules: dict[Any, str] | None = None, **how: Any) -> Places:
    return list(differing_places(left, right, rules or {}, **how))


def test_equal_values_have_no_places_and_no_rule_is_asked() -> None:
    assert places({"a": [1, {"b": 1.0}]}, {"a": [1.0, {"b": 1}]}, {("a",): "rule", ("**",): "any"}) == []


def test_without_a_rule_the_deepest_places_are_handed_out_and_lists_as_a_whole() -> None:
    assert places({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 1, "c": 3}, "d": [1, 2], "e": None}) == [
        (("a", "c"), 2, 3, None),
        (("d",), [1], [1, 2], None),
        (("e",), ABSENT, None, None),
    ]


def test_lists_are_walked_by_entry_where_the_user_pairs_them() -> None:
    one, other = {"a": [{"n": 1}, 2], "b": [1]}, {"a": [{"n": 3}, 2], "b": []}
    assert places(one, other, pairs=lambda left, right: len(left) == len(right)) == [
        (("a", 0, "n"), 1, 3, None),
        (("b",), [1], [], None),
    ]


@pytest.mark.parametrize(
    "pattern, wins",
    [
        (("a", "b", 0), True),
        (("a", "b", "[]"), True),
        (("a", "*", "[]"), True),
        (("**",), True),
        (("**", "b", "[]"), True),
        (("**", "a", "b", "[]"), True),
        (("**", "x", "a", "b", "[]"), False),
        (("a", "b", "*"), False),
        (("a", "[]", "[]"), False),
        (("b", "[]"), False),
    ],
    ids=str,
)
def test_a_rule_counts_where_its_path_fits(pattern: tuple[Any, ...], wins: bool) -> None:
    found = places({"a": {"b": [1]}}, {"a": {"b": [2]}}, {pattern: "rule"}, pairs=lambda *_: True)
    assert any(rule == "rule" for *_, rule in found) == wins


def test_an_exact_path_counts_before_one_with_wildcards_and_of_these_the_first() -> None:
    rules = {("**", "b"): "second", ("*",): "third", ("b",): "first", ("**",): "last"}
    assert [rule for *_, rule in places({"a": 1, "b": 1}, {"a": 2, "b": 2}, rules)] == ["third", "first"]


@pytest.mark.parametrize("nothing", [{}, {"a": None}, {"a": {"b": None}}], ids=str)
def test_on_the_way_to_a_rule_null_and_absent_maps_have_no_keys(nothing: Any) -> None:
    rules = {("a", "b", "c"): "rule", ("**",): "any"}
    assert places({"a": {"b": {"c": 1}}}, nothing, rules) == [(("a", "b", "c"), 1, ABSENT, "rule")]
    assert places({"a": {"b": {"c": 1, "d": 2}}}, nothing, rules)[1:] == [(("a", "b", "d"), 2, ABSENT, "any")]


def test_what_is_no_map_on_the_way_to_a_rule_is_a_difference_without_a_rule() -> None:
    assert places({"a": {"b": 1}}, {"a": [1]}, {("a", "b"): "rule"}) == [(("a",), {"b": 1}, [1], None)]


def test_the_user_says_what_is_equal_and_what_stands_for_no_value() -> None:
    assert places({"a": 1}, {"a": 1.0, "b": True}, equal=lambda one, other: repr(one) == repr(other), absent=None) == [
        (("a",), 1, 1.0, None),
        (("b",), None, True, None),
    ]


@pytest.mark.parametrize("key", ["[]", "**", "x"])
def test_a_key_that_looks_like_a_wildcard_is_a_key(key: str) -> None:
    rules = {("a", "[]", "b"): "entry", ("a", "**"): "depth"}
    assert [rule for *_, rule in places({"a": {key: {"b": 1}}}, {"a": {key: {"b": 2}}}, rules)] == [None]


def test_paths_are_listed_but_where_an_excuse_says_that_both_sides_mean_the_same() -> None:
    one, other = {"cpu": "1", "memory": "1Gi", "args": ["a"]}, {"cpu": "1000m", "memory": "2Gi", "args": ["b"]}
    assert differing_paths(one, other) == [("cpu",), ("memory",), ("args", 0)]
    assert differing_paths(one, other, {("cpu",): lambda *_: True, ("memory",): lambda *_: False}) == [
        ("memory",),
        ("args", 0),
    ]


@pytest.mark.parametrize(
    "one, other, paths",
    [
        ([{"name": "a", "x": 1}], [{"name": "a", "x": 2}], [(0, "x")]),
        ([{"name": "a", "x": 1}], [{"name": "b", "x": 2}], [()]),
        ([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], [()]),
        ([1, {"name": "a"}], [2, {"name": "a"}], [(0,)]),
        ([1], [1, 2], [()]),
    ],
    ids=str,
)
def test_lists_are_compared_entry_by_entry_where_names_and_their_order_are_the_same(
    one: Any, other: Any, paths: list[Any]
) -> None:
    assert differing_paths(one, other) == paths
