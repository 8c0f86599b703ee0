"""A list that was taken apart is put together as if it never had been, whatever stands around it."""

import re
import tracemalloc
from itertools import product

import pytest

from krm_function.text.chunks import join_items, replace_items, take_out_items
from krm_function.text.parse import parse
from krm_function.text.split import split_items

ITEMS = ("- a: 1\n  # foot\n", "- b: 2\n# between\n", "-\n  c:\n  - 3\n\n", "- d: |\n    x\n\n# last\n", "- e: 5\n")
AROUND = (
    ("items:\n", ""),
    ("kind: List\nitems: # here\n", "functionConfig:\n  a: 1\nresults:\n- message: old\n# end\n"),
    ("results:\n- message: old\nfunctionConfig: {a: 1}\nitems:\n# head\n", "kind: List\n"),
)
ADDED = ({"kind": "X", "data": {"k": "a\nb\n"}},)
RESULTS = ({"message": "new", "severity": "info"},)


def lists() -> list[str]:
    whole = [
        before + "".join(f"{pad}{line}" for item in ITEMS[:count] for line in item.splitlines(keepends=True)) + behind
        for (before, behind), count, pad in product(AROUND, range(1, 6), ("", "  "))
    ]
    flow = [
        '{"items": [{"a": 1}, {"b": 2}, {"c": 3}], "kind": "List"}',
        "items: [{a: 1}, {b: 2},\n {c: 3},]\n",
        "items: []\n",
    ]
    return whole + [text[:-1] for text in whole] + [text.replace("\n", "\r\n") for text in whole] + flow


@pytest.mark.slow
@pytest.mark.parametrize("text", lists())
def test_both_ways_say_the_same(text: str) -> None:
    item_list = split_items(text)
    assert item_list is not None
    texts = [chunk.of(text) for chunk in item_list.items]
    apart = take_out_items(text, item_list, texts)
    assert "".join(join_items(apart, texts)) == text
    for choice in product((0, 1, 2), repeat=len(texts)):
        new = [(old, None, re.sub("[1-5]", "7", old).rstrip())[way] for way, old in zip(choice, texts, strict=True)]
        for added, results in product(((), ADDED), (None, (), RESULTS)):
            together = "".join(join_items(apart, new, added, results))
            assert together == replace_items(text, item_list, new, added, results)
            if results == RESULTS:
                assert parse(together).value["results"] == list(RESULTS)
                assert parse(together).value["items"][len(new) - new.count(None) :] == list(added)


def test_the_inner_items_are_held_by_their_owner_alone() -> None:
    text = "items:\n" + "".join(f"- a: {number:09999}\n" for number in range(100))
    item_list = split_items(text)
    assert item_list is not None
    texts = [chunk.of(text) for chunk in item_list.items]
    tracemalloc.start()
    apart = take_out_items(text, item_list, texts)
    pieces = join_items(apart, texts)
    for _ in pieces:
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(text) / 10


def test_the_number_of_texts_must_be_that_of_the_items() -> None:
    text = "items:\n- a\n- b\n- c\n"
    item_list = split_items(text)
    assert item_list is not None
    with pytest.raises(ValueError, match="2 texts for 3 items"):
        join_items(take_out_items(text, item_list, ["- a\n", "- b\n", "- c\n"]), ["- a\n", "- c\n"])
