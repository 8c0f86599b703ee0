import copy
import time
from typing import Any

import pytest

from krm_function.krm import KubeObject
from krm_function.krm.kube_object import in_order, match, moved
from krm_function.text.parse import parse


def reordered(text: str, new: Any) -> str:
    return moved(parse(text), None, new)[0].text


def test_several_lists_are_moved_at_once_and_the_lists_inside_after_them() -> None:
    text = "a:\n- 1 # one\n- 2 # two\nb:\n- name: x # x\n  l: [1, 2]\n- name: z # z\n  l:\n  - p # p\n  - q # q\n"
    new = {"a": [2, 1], "b": [{"name": "z", "l": ["q", "p"]}, {"name": "x", "l": [2, 1]}]}
    assert reordered(text, new) == (
        "a:\n- 2 # two\n- 1 # one\nb:\n- name: z # z\n  l:\n  - q # q\n  - p # p\n- name: x # x\n  l: [2, 1]\n"
    )


LEFT = {
    "an alias would come before its anchor": ("- &x {name: a} # a\n- {name: b, l: *x}\n", [1, 0]),
    "an alias would mean another anchor": (
        *("- {name: a, v: &x 1}\n- {name: b, v: *x}\n- {name: c, v: &x 2}\n", [0, 2, 1]),
    ),
    "a list on the line of its key's dash": ("- - 1\n  - 2\n", None),
    "no line end at the end": ("- 1 # one\n- 2 # two", [1, 0]),
}


@pytest.mark.parametrize(("text", "order"), LEFT.values(), ids=LEFT)
def test_what_cannot_be_moved_is_left_to_the_difference(text: str, order: list[int] | None) -> None:
    text = f"l:\n{text}"
    old = parse(text).value["l"]
    new = {"l": [old[at] for at in order] if order is not None else [[2, 1]]}
    assert reordered(text, new) == text
    item = KubeObject(text)
    item.set_nested((), copy.deepcopy(new))
    assert parse(item.text).value == new


def test_one_list_that_cannot_be_moved_does_not_hold_the_others() -> None:
    text = "a: [1, 2] # a\nb:\n- &x {name: a} # a\n- {name: b, l: *x}\nc: [3, 4]\n"
    old = parse(text).value
    new = {"a": [2, 1], "b": old["b"][::-1], "c": [4, 3]}
    assert reordered(text, new) == text.replace("[1, 2]", "[2, 1]").replace("[3, 4]", "[4, 3]")


def test_removed_elements_stay_behind_their_neighbour_until_they_are_taken_out() -> None:
    text = "l:\n- a # a\n- b # b\n- c # c\n- d # d\n"
    assert reordered(text, {"l": ["d", "a"]}) == "l:\n- d # d\n- a # a\n- b # b\n- c # c\n"
    item = KubeObject(text)
    item.value["l"][:] = ["d", "a"]
    assert item.text == "l:\n- d # d\n- a # a\n"


def test_many_sorted_lists_are_one_pass() -> None:
    text = "kind: A\nschemas:\n" + "".join(
        f"- name: s{number}\n  required:\n  - c # c\n  - b # b\n  - a # a\n" for number in range(300)
    )
    item = KubeObject(text)
    for schema in item.value["schemas"]:
        schema["required"].sort()
    start = time.process_time()
    assert item.text == text.replace("  - c # c\n  - b # b\n  - a # a\n", "  - a # a\n  - b # b\n  - c # c\n")
    once = time.process_time() - start
    start = time.process_time()
    parse(text)
    assert once < 40 * (time.process_time() - start)


@pytest.mark.parametrize(
    ("matches", "kept"),
    [
        ([], []),
        ([None, None], [None, None]),
        ([0, 1, 2], [0, 1, 2]),
        ([2, 0, 1], [None, 0, 1]),
        ([0, 3, None, 1, 2], [0, None, None, 1, 2]),
    ],
    ids=str,
)
def test_the_longest_run_in_order_is_kept(matches: list[int | None], kept: list[int | None]) -> None:
    assert in_order(matches) == kept


def test_elements_without_a_name_are_matched_by_value_then_by_place() -> None:
    assert match(None, ["a", "b", "c"], ["b", "x", "a"]) == [1, 2, 0]
    assert match(None, [True, 1], [1, True]) == [1, 0]
    assert match(None, [{"name": "a"}, {"name": "b"}], [{"name": "b", "v": 1}, {"name": "c"}]) == [1, None]


TIED = """l:
- name: web
  r: &r {cpu: 1} # r
# about log
- {name: log, i: 'b'} # flow
- name: m # m
  r: *r # mm
- name: o # o
"""
WEB, LOG, METRICS, ODD = (
    "- name: web\n  r: &r {cpu: 1} # r\n",
    "# about log\n- {name: log, i: 'b'} # flow\n",
    "- name: m",
    "- name: o # o\n",
)


@pytest.mark.parametrize(
    "names", [("o", "m", "log", "web"), ("m", "log", "web", "o"), ("log", "m", "o", "web")], ids=str
)
def test_an_alias_before_its_anchor_costs_only_the_element_that_has_it(names: tuple[str, ...]) -> None:
    item = KubeObject(TIED)
    item.value["l"].sort(key=lambda element: names.index(element["name"]))
    places = [
        item.text.index(part) for part in sorted((WEB, LOG, METRICS, ODD), key=lambda part: names.index(_name(part)))
    ]
    assert places == sorted(places)
    assert parse(item.text).value["l"] == item.value["l"]


def _name(part: str) -> str:
    return next(name for name in ("web", "log", "m", "o") if f"name: {name}" in part)
