"""The short cut that proves a splice has the same opinion as the parser, on every text."""

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.text.errors import YamlError
from krm_function.text.parse import parse, read_value

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ODD = (
    "",
    "# nothing",
    "a",
    "- a",
    "- a: 1\n",
    "[a]",
    "- a\n- b",
    "{a: 1, 2: b}",
    "8080: x",
    "yes: x",
    "~: x",
    "? a\n: b",
    "? [a]\n: b",
    "a: 1\na: 2",
    "a: &x 1\nb: *x",
    "b: *x",
    "<<: {a: 1}",
    '"<<": {a: 1}',
    "a: !!str 1",
    "a: !mine 1",
    "a: !!binary aGk=",
    "a: 1\n---\nb: 2",
    "a: [1, 2",
    "a: 'x",
    "a: 0755\nb: 1e3\nc: 22:22\nd: =\ne: '1'\nf: .inf\n",
    "a: |\n  x\nb: >-\n  y\n  z\n",
    "[" * 101 + "]" * 101,
    "[" * 100 + "]" * 100,
    "a: {b: [{c: }]}",
    "\ta: 1",
    "a: \x01",
)


def said(read: Callable[[str], object], text: str) -> tuple[str, object]:
    """The value, or the error's own words and place."""
    try:
        return "value", repr(read(text))
    except YamlError as error:
        return error.code, str(error)


def same_opinion(text: str) -> None:
    for ends in (text, text.replace("\n", "\r\n")):
        assert said(read_value, ends) == said(lambda one: parse(one).value, ends)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts(text: str) -> None:
    same_opinion(text)


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_documents(write: Callable[..., str], seed: int) -> None:
    same_opinion(write(seed))


@given(st.text(alphabet="ab:-?#&*!|>'\"[]{},<~ \n\t1", max_size=40))
@settings(max_examples=2000, deadline=None)
def test_random_texts(text: str) -> None:
    same_opinion(text)


def test_every_document_of_the_examples() -> None:
    seen = 0
    for directory, _, names in os.walk(os.path.join(ROOT, "examples")):
        for name in names:
            if name.endswith(".yaml"):
                with open(os.path.join(directory, name), encoding="utf-8", newline="") as file:
                    for part in file.read().split("\n---\n"):
                        same_opinion(part)
                        seen += 1
    assert seen > 100
