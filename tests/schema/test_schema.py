"""The schema language by itself: one table, every kind of fault."""

from typing import Any

import pytest

from krm_function.schema.check import Fault, faults, remedy_of, suggestion, unknown_fields, wrong_type
from krm_function.schema.table import read_value
from krm_function.schema.values import (
    ANY_TEXT,
    Anything,
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Record,
    Scalar,
    Spec,
    Text,
    a_type,
    hexadecimal,
    type_name,
)


def load(text: str) -> dict[str, Any]:
    if text == "bad":
        raise ValueError("is bad")
    return {"read": text}


COLOURS = Choice(("Red", "Green"), fold=True)
INNER = Record({"name": Field(Text("a name", "[a-z]+", 8, "web"), required=True), "on": Field(Flag("it burns"))})
TABLE = Record(
    {
        "text": Field(ANY_TEXT),
        "colour": Field(COLOURS),
        "count": Field(Number(0, 9)),
        "inner": Field(INNER),
        "many": Field(ListOf(INNER)),
        "pair": Field(ListOf(ANY_TEXT, 2)),
        "some": Field(OneOrMany(INNER)),
        "by_name": Field(MapOf(Text("a name", "[a-z]+"), Number(0, 9))),
        "free": Field(MapOf(Anything(), ANY_TEXT, nulls=True)),
        "json": Field(JsonObject("a map", load)),
        "gone": Field(Only((False, []))),
        "none": Field(OrNull(ListOf(OrNull(ANY_TEXT)))),
        "scalar": Field(Scalar(lambda value: "" if value == 1 else "is not one", "write 1", {"const": 1})),
    }
)


def found(value: Any, spec: Spec = TABLE) -> list[tuple[Any, ...]]:
    return [(fault.path, fault.kind, fault.problem) for fault in faults(spec, value)]


def test_a_value_that_fits_has_no_fault() -> None:
    inner = {"name": "web", "on": False}
    value = {
        "text": "ä",
        "colour": "Red",
        "count": 9,
        "inner": inner,
        "many": [inner, inner],
        "pair": ["a", "b"],
        "some": inner,
        "by_name": {"a": 0},
        "free": {1: "x", "y": None},
        "json": {},
        "gone": False,
        "none": [None, "x"],
        "scalar": 1,
    }
    assert found(value) == []
    assert found(dict.fromkeys(value)) == [], "a null is an absent field"


@pytest.mark.parametrize(
    ("field", "value", "path", "kind", "problem"),
    [
        ("text", 1, (), "type", "must be a string, not an integer"),
        ("text", "\ud800", (), "unicode", "must be valid Unicode"),
        ("colour", "Blue", (), "value", "must be one of Red, Green"),
        ("colour", 1, (), "type", "must be one of Red, Green"),
        ("count", 10, (), "value", "must be an integer from 0 to 9"),
        ("count", True, (), "type", "must be an integer from 0 to 9, not a boolean"),
        ("count", 1.5, (), "type", "must be an integer from 0 to 9, not a fractional number"),
        ("inner", [], (), "type", "must be a map, not a list"),
        ("inner", {"name": "web", "on": True}, ("on",), "value", "must be false: it burns"),
        ("inner", {}, ("name",), "missing", "is missing"),
        ("many", [{"name": "X"}], (0, "name"), "value", "must be a name"),
        ("many", [{"name": "a" * 9}], (0, "name"), "value", "is longer than 8 characters"),
        ("many", [None], (0,), "type", "must be a map, not null"),
        ("pair", ["a"], (), "type", "must have exactly 2 entries, not 1"),
        ("some", {"name": ""}, ("name",), "value", "must be a name"),
        ("some", [{"name": "a"}, {"name": ""}], (1, "name"), "value", "must be a name"),
        ("by_name", {"A": 1}, ("A",), "value", "the key must be a name"),
        ("by_name", {2: 1}, ("2",), "type", "the key must be a string, not an integer"),
        ("by_name", {"a": None}, ("a",), "type", "must be an integer from 0 to 9, not null"),
        ("free", {"a": 1}, ("a",), "type", "must be a string, not an integer"),
        ("json", 1, (), "type", "must be a map, not an integer"),
        ("json", "bad", (), "value", "is bad"),
        ("gone", 0, (), "value", "must not be set"),
        ("none", [1], (0,), "type", "must be a string, not an integer"),
        ("scalar", 2, (), "value", "is not one"),
    ],
)
def test_each_kind_names_what_is_wrong_and_where(field: str, value: Any, path: Any, kind: str, problem: str) -> None:
    assert found({field: value}) == [((field, *path), kind, problem)]


def test_a_field_that_must_be_there_may_be_null_where_null_is_a_value() -> None:
    spec = Record({"a": Field(OrNull(ANY_TEXT), required=True)})
    assert found({"a": None}, spec) == []
    assert found({}, spec) == [(("a",), "missing", "is missing")]


def test_every_fault_comes_at_once_and_unknown_fields_come_first() -> None:
    value = {"text": 1, "inner": {"nam": 1}, "txt": 1, "pair": [1]}
    assert [fault.path for fault in faults(TABLE, value)] == [
        ("txt",),
        ("text",),
        ("inner", "nam"),
        ("inner", "name"),
        ("pair",),
        ("pair", 0),
    ]


def test_an_open_record_ignores_other_fields() -> None:
    assert found({"x": 1}, TABLE._replace(closed=False)) == []


def test_a_check_is_asked_only_of_what_is_right_otherwise() -> None:
    asked: list[Any] = []

    def check(value: dict[str, Any]) -> tuple[tuple[tuple[str], str], ...]:
        asked.append(value)
        return ((("text",), "is not what it should be"),)

    spec = TABLE._replace(check=check)
    assert found({"text": 1}, spec) == [(("text",), "type", "must be a string, not an integer")]
    assert asked == []
    assert found({"text": "x"}, spec) == [(("text",), "value", "is not what it should be")]


def test_no_fault_holds_a_value() -> None:
    canary = "s3cr3t-canary"
    value = dict.fromkeys(TABLE.fields, canary) | {"text": 1, "pair": [canary, canary, canary], "json": 1}
    assert len(faults(TABLE, value)) >= 9
    assert canary not in repr([(fault.path, fault.problem, fault.actual) for fault in faults(TABLE, value)])


def test_the_type_of_one_value_is_asked_without_those_in_it() -> None:
    assert wrong_type(TABLE, {"text": 1}) is None
    assert wrong_type(ListOf(ANY_TEXT), ("x",)) is None
    assert wrong_type(Anything(), object()) is None
    fault = wrong_type(TABLE, "x")
    assert fault is not None
    assert fault.actual == "a string"
    assert [one.path for one in unknown_fields(TABLE, {"text": 1, 2: 3})] == [("2",)]


@pytest.mark.parametrize(
    ("field", "value", "normal"),
    [
        ("colour", "gREEN", "Green"),
        ("count", 2.0, 2),
        ("by_name", {"a": 1.0}, {"a": 1}),
        ("json", "text", {"read": "text"}),
        ("inner", {"name": "web", "on": None}, {"name": "web"}),
        ("some", [{"name": "web", "on": None}], [{"name": "web"}]),
    ],
)
def test_reading_makes_the_same_of_what_yaml_holds_for_the_same(field: str, value: Any, normal: Any) -> None:
    assert read_value(TABLE, {field: value, "text": None}) == ({field: normal}, ())


def test_a_number_and_its_text_as_keys_of_one_map_are_a_fault() -> None:
    digits = MapOf(Text("digits", "[0-9]+"), ANY_TEXT)
    assert read_value(digits, {2: "a"}) == ({"2": "a"}, ())
    assert found(read_value(digits, {2: "a", "2": "b"})[0], digits) == [
        (("2",), "type", "the key must be a string, not an integer")
    ]


def test_what_is_wrong_stays_as_it_is() -> None:
    made = read_value(TABLE, {"colour": "Blue", "count": 2.5, "x": None})
    assert made[0] == {"colour": "Blue", "count": 2.5, "x": None}
    assert [fault.path for fault in made[1]] == [("x",), ("colour",), ("count",)]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"text": 1}, "put it in quotes"),
        ({"text": []}, "write a string"),
        ({"colour": "Gren"}, "did you mean Green?"),
        ({"colour": 1}, "write one of Red, Green"),
        ({"count": "1"}, "write it in digits, without quotes"),
        ({"count": 10}, "correct the number"),
        ({"inner": 1}, "write a map of name, on"),
        ({"inner": {}}, "add it"),
        ({"inner": {"name": "web", "on": 1}}, "write true or false, without quotes"),
        ({"inner": {"name": "web", "on": True}}, "set it to false"),
        ({"inner": {"name": "X"}}, "write a name, for instance web"),
        ({"many": {}}, "write a list, even for a single entry"),
        ({"pair": []}, "correct the list"),
        ({"by_name": 1}, "write a map"),
        ({"scalar": 2}, "write 1"),
        ({"json": 1}, "write a map"),
    ],
)
def test_each_fault_has_a_remedy(value: Any, told: str) -> None:
    (fault,) = faults(TABLE, value)
    inner: Any = value
    for part in fault.path:
        inner = inner.get(part)
    assert remedy_of(fault, inner) == told


@pytest.mark.parametrize(("name", "meant"), [("txt", "text"), ("onn", "inner.on"), ("zzz", "one of text, colour, ")])
def test_an_unknown_field_may_have_been_meant_for_another(name: str, meant: str) -> None:
    (fault,) = faults(TABLE, {name: 1})
    assert suggestion(fault).startswith(meant)


def test_types_have_the_names_of_yaml() -> None:
    values = [True, 1, 1.5, "x", [], (), {}, None, b""]
    assert [a_type(type_name(value)) for value in values] == [
        *("a boolean", "an integer", "a fractional number", "a string", "a list", "a list", "a map", "null", "a bytes"),
    ]


@pytest.mark.parametrize(("spec", "good", "bad"), [(hexadecimal(1), "aF", ""), (hexadecimal(1, empty=True), "", "a")])
def test_hex_digits_are_counted(spec: Text, good: str, bad: str) -> None:
    assert faults(spec, good) == ()
    assert faults(spec, bad) == (Fault((), "value", "must be 2 hex digits (1 bytes)", spec),)


def test_off_may_stand_without_quotes() -> None:
    """YAML 1.1 reads it as false then."""
    spec = Choice(("check", "off"))
    assert read_value(spec, False) == ("off", ())
    assert read_value(spec, True)[1]
    assert read_value(Choice(("check", "emit")), False)[1]
