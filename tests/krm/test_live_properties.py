# ruff: noqa: S311 - seeds make the same changes twice
"""Random changes in place: the text says what a copy of the data says, and keeps what was not changed."""

import copy
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.krm import KubeObject
from krm_function.krm.fields import outline
from krm_function.krm.kube_object import difference
from krm_function.text.changes import apply, same
from krm_function.text.parse import parse
from tests.krm.test_live import DEPLOYMENT

TEXTS = {
    "deployment": DEPLOYMENT,
    "flow": 'kind: A\nspec: {a: [1, \'two\', {name: x, l: ["q"]}, {name: "y"}], b: {c: d}} # end\n',
    "json": '{"kind": "A", "spec": {"list": [{"name": "b", "v": 1}, {"name": "a"}], "n": [3, 1, 2]}}\n',
    "anchors": (
        "kind: A\nx: &x {k: 1, l: [1, 2]}\ny: *x\nz:\n  <<: *x\n  own: [a, b]\nw:\n- *x\n- {name: n}\n- name: m # m\n"
    ),
    "comments": (
        "# head\nkind: A # a\nlist:\n# one\n- a # A\n# two\n- b\n\n# three\n- |\n  text\n# foot\nmap:\n  # in\n  k: v\n"
    ),
    "lists": "kind: A\nm:\n- - 1\n  - 2\n- - 3\n- []\n- {}\nn:\n  - x: 1\n    y: [a]\n  - x: 2\n  # three\n  - x: 3\n",
    "windows": "kind: A\r\nlist:\r\n- name: b # b\r\n- name: a # a\r\nx: 'y'\r\n",
}
LEAVES: tuple[Any, ...] = (
    "x",
    "",
    "yes",
    "multi\nline\n",
    0,
    7,
    -1.5,
    True,
    None,
    {},
    [],
    {"name": "n"},
    ["p", "q"],
    {"k": [1, {"z": "y"}]},
)


def collections(value: Any) -> list[Any]:
    """Every map and list in a value, itself included, each once."""
    found: dict[int, Any] = {}

    def walk(one: Any) -> None:
        if isinstance(one, dict | list) and id(one) not in found:
            found[id(one)] = one
            for below in one.values() if isinstance(one, dict) else one:
                walk(below)

    walk(value)
    return list(found.values())


def change(value: Any, rng: random.Random) -> None:
    """Make one change in place; equal values and generators make equal changes."""
    places = [one for one in collections(value) if one] or [value]
    place = rng.choice(places)
    leaf = copy.deepcopy(rng.choice(LEAVES))
    if isinstance(place, dict):
        key = rng.choice([*place, "new", "a.b/c"])
        match rng.randrange(3):
            case 0:
                place.pop(key, None)
            case 1:
                place[key] = leaf
            case _:
                place.setdefault(key, leaf)
        return
    at = rng.randrange(len(place))
    match rng.randrange(7):
        case 0:
            del place[at]
        case 1:
            place[at] = leaf
        case 2:
            place.insert(at, leaf)
        case 3:
            place.append(leaf)
        case 4:
            place.reverse()
        case 5:
            rng.shuffle(place)
        case _:
            place.sort(key=repr)


@settings(max_examples=400)
@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 2**32), st.integers(1, 6))
def test_changes_in_place_are_those_of_a_copy(name: str, seed: int, count: int) -> None:
    item = KubeObject(TEXTS[name])
    twin = copy.deepcopy(item.value)
    mine, theirs = random.Random(seed), random.Random(seed)
    for _ in range(count):
        change(item.value, mine)
        change(twin, theirs)
        assert item.value == twin
        if mine.randrange(2):
            assert same(KubeObject(item.text).value, twin)
        theirs.setstate(mine.getstate())
    assert same(KubeObject(item.text).value, twin)
    assert item.changed == (not same(parse(TEXTS[name]).value, twin) or item.text != TEXTS[name])


@settings(max_examples=200)
@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 2**32), st.integers(1, 6))
def test_the_difference_of_two_values_makes_one_of_the_other(name: str, seed: int, count: int) -> None:
    old = parse(TEXTS[name]).value
    new = copy.deepcopy(old)
    before = outline(new)
    rng = random.Random(seed)
    for _ in range(count):
        change(new, rng)
    assert same(apply(old, difference(None, old, new)), new)
    assert same(apply(old, difference(before, old, new)), new)


@settings(max_examples=200)
@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 2**32))
def test_lines_that_no_change_concerns_stay(name: str, seed: int) -> None:
    text = TEXTS[name]
    item = KubeObject(text)
    rng = random.Random(seed)
    keys = [key for key in item.value if key != "kind"]
    key = rng.choice(keys)
    if isinstance(item.value[key], dict | list) and item.value[key]:
        change(item.value[key], rng)
    else:
        item.value[key] = "other"
    document = parse(text)
    assert document.node is not None
    pairs = {pair[2]: pair for pair in document.node.parts}
    start, end = pairs[key][0].start, pairs[key][1].end
    if "*" in text:
        return  # an alias of what was changed is written out elsewhere
    assert item.text.startswith(text[:start].rpartition("\n")[0])
    after = text[end:].partition("\n")[2] if text[end - 1 : end] != "\n" else text[end:]
    assert item.text.endswith(after.partition("# foot\n")[2] or after)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=2, unique=True),
    st.randoms(use_true_random=False),
)
def test_a_shuffled_block_list_is_the_same_lines_in_another_order(names: list[str], rng: random.Random) -> None:
    lines = {one: f"# about {one}\n- name: {one} # {one}\n  args: ['{one}',   x]\n" for one in names}
    item = KubeObject("kind: A\nlist:\n" + "".join(lines[one] for one in names) + "end: 1\n")
    rng.shuffle(item.value["list"])
    order = [one["name"] for one in item.value["list"]]
    assert item.text == "kind: A\nlist:\n" + "".join(lines[one] for one in order) + "end: 1\n"
