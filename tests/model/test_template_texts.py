"""Texts and conditions of entries: pieces, fields, defaults, versions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.pod_kinds import FORMS, MissingFieldError, applies, pieces, text_problem, written

TEMPLATE = ("spec", "groups", 1, "template")
OBJECT: dict[str, Any] = {
    "metadata": {"name": "llm", "namespace": "shop", "annotations": {"example.com/x": "note"}},
    "spec": {
        "size": 3,
        "fast": True,
        "empty": "",
        "map": {},
        "version": "v2.53.1",
        "groups": [{"name": "a"}, {"name": "b", "params": {"num-cpus": "4"}}],
    },
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{metadata.name}-{spec.size}", "llm-3"),
        ("{spec.fast}", "true"),
        ("{spec.none=1}", "1"),
        ("{spec.empty=x}", "x"),
        ("{spec.none=}", ""),
        ("{spec.empty}", ""),
        ("{.name}/{.params['num-cpus']}", "b/4"),
        ("{metadata.annotations['example.com/x']}", "note"),
        ("{{metadata.name}}", "{metadata.name}"),
        ("{number}-{pod}", f"\0{FORMS['number']}\0-\0{FORMS['pod']}\0"),
    ],
)
def test_a_text_is_written_of_an_object(text: str, value: str) -> None:
    assert text_problem(text) == ""
    assert written(text, OBJECT, TEMPLATE) == value


@pytest.mark.parametrize("text", ["{spec.none}", "{spec.map}", "{spec.groups}", "{.none}"])
def test_a_field_that_is_no_text_and_no_number_is_missing(text: str) -> None:
    with pytest.raises(MissingFieldError):
        written(text, OBJECT, TEMPLATE)


def test_a_field_of_a_list_entry_needs_a_list() -> None:
    with pytest.raises(MissingFieldError):
        written("{.name}", OBJECT, ("spec", "template"))


def test_a_value_of_the_object_is_never_read_as_a_form() -> None:
    value = {"metadata": {"name": f"\0{FORMS['number']}\0"}}
    with pytest.raises(MissingFieldError):
        written("{metadata.name}", value, ("spec", "template"))


@given(st.text(alphabet=st.characters(exclude_characters="\0")))
def test_any_text_can_be_said_with_doubled_braces(text: str) -> None:
    said = text.replace("{", "{{").replace("}", "}}")
    assert text_problem(said) == ""
    assert written(said, {}, ()) == text


@given(st.text("{}=.[]'abc number\0", max_size=20))
def test_whatever_has_no_problem_has_pieces(text: str) -> None:
    if text_problem(text) == "":
        assert all(piece.value for piece in pieces(text))


@pytest.mark.parametrize(
    ("when", "unless", "holds"),
    [
        ({}, {}, True),
        ({"spec.size": ["3"]}, {}, True),
        ({"spec.size": ["2", "4"]}, {}, False),
        ({"spec.fast": ["true"]}, {}, True),
        ({"spec.none": [""]}, {}, True),
        ({"spec.size": ["3"], "spec.none": ["x"]}, {}, False),
        ({}, {"spec.size": ["3"]}, False),
        ({}, {"spec.none": ["x"], "spec.size": ["3"]}, False),
        ({"spec.size": ["3"]}, {"spec.none": [""]}, False),
        ({}, {"spec.map": [""]}, True),
        ({"spec.map": ["{}"]}, {}, False),
        ({".name": ["b"]}, {}, True),
        ({".name": ["a"]}, {}, False),
        ({"spec.version": [">=2.53"]}, {}, True),
        ({"spec.version": [">=2.53.1"]}, {}, True),
        ({"spec.version": [">=2.53.2"]}, {}, False),
        ({"spec.version": [">=2.6"]}, {}, True),
        ({"spec.version": [">=10"]}, {}, False),
        ({"spec.version": [">=v2"]}, {}, True),
        ({"spec.version": [">=x"]}, {}, False),
        ({"spec.none": [">=0"]}, {}, False),
        ({"metadata.name": [">=0"]}, {}, False),
    ],
)
def test_a_condition_is_all_of_when_and_none_of_unless(when: Any, unless: Any, *, holds: bool) -> None:
    assert applies({"when": when, "unless": unless}, OBJECT, TEMPLATE) is holds


VERSIONS = st.lists(st.integers(0, 30), min_size=1, max_size=4)


@given(VERSIONS, VERSIONS)
def test_a_version_is_compared_number_by_number(one: list[int], other: list[int]) -> None:
    value = {"spec": {"version": ".".join(map(str, one))}}
    wanted = {"when": {"spec.version": [f">={'.'.join(map(str, other))}"]}}
    longest = max(len(one), len(other))
    padded = [[*numbers, *[0] * (longest - len(numbers))] for numbers in (one, other)]
    assert applies(wanted, value, ()) is (padded[0] >= padded[1])


def test_what_follows_the_numbers_of_a_version_does_not_count() -> None:
    value = {"spec": {"version": "2.53.0-py311-gpu"}}
    assert applies({"when": {"spec.version": [">=2.53"]}}, value, ())
