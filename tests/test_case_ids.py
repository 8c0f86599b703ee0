"""Ids of cases: short, the same everywhere, and of plain data only."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.case_ids import LONGEST, id_of


class Row(NamedTuple):
    name: str
    value: int


class Nameless(NamedTuple):
    value: int


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"a": 1, "b": ["x", None]}, "{a: 1, b: [x, None]}"),
        (("spec", "template", 0), "spec template 0"),
        ([], "[]"),
        ((), "()"),
        ("", "''"),
        ({"b", "a"}, "[a, b]"),
        (Row("first", 1), "first"),
        (id_of, "id_of"),
        (re.compile("a+"), "a+"),
        (Path("/somewhere/a.yaml"), "a.yaml"),
        (b"a\xff", "a\\xff"),
        ("short", None),
        (3, None),
        (None, None),
        (Nameless(1), None),
        (lambda: None, None),
        (object(), None),
    ],
)
def test_a_value_is_told_in_short(value: Any, wanted: str | None) -> None:
    assert id_of(value) == wanted


@pytest.mark.parametrize("value", ["x" * 1000, ["x" * 10] * 100, {"a": "x" * 61}], ids=["text", "list", "map"])
def test_a_long_value_is_cut(value: Any) -> None:
    text = id_of(value)
    assert text is not None
    assert len(text) <= LONGEST
    assert ".." in text
