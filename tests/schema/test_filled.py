"""What a value is made to, once it has no faults."""

from typing import Any

import pytest

from krm_function.record import NamedTuple
from krm_function.schema.table import filled
from krm_function.schema.values import ANY_TEXT, Anything, Field, ListOf, MapOf, OneOrMany, OrNull, Record, Spec


class Point(NamedTuple):
    x: str
    y: str = "default"


POINT = Record({"x": Field(ANY_TEXT, required=True), "y": Field(ANY_TEXT)}, closed=False, make=Point)


@pytest.mark.parametrize(
    ("spec", "value", "made"),
    [
        (ANY_TEXT, "a", "a"),
        (POINT, {"x": "1", "z": "dropped"}, Point("1")),
        (POINT, {"x": "1", "y": None}, Point("1")),
        (Record({"p": Field(POINT)}), {"p": {"x": "1"}}, {"p": Point("1")}),
        (Record({"p": Field(POINT)}, closed=False), {"q": {"x": "1"}}, {"q": {"x": "1"}}),
        (ListOf(POINT), ({"x": "1"}, {"x": "2"}), [Point("1"), Point("2")]),
        (MapOf(Anything(), POINT), {1: {"x": "1"}}, {"1": Point("1")}),
        (MapOf(Anything(), ANY_TEXT, nulls=True), {"a": None}, {"a": None}),
        (OrNull(POINT), None, None),
        (OrNull(POINT), {"x": "1"}, Point("1")),
        (Record({"p": Field(OrNull(POINT))}, make=dict), {"p": None}, {"p": None}),
        (OneOrMany(POINT), {"x": "1"}, [Point("1")]),
        (OneOrMany(POINT), [{"x": "1"}], [Point("1")]),
    ],
)
def test_each_kind(spec: Spec, value: Any, made: Any) -> None:
    assert filled(spec, value) == made


def test_a_map_without_a_maker_is_a_new_one() -> None:
    spec = Record({"names": Field(ListOf(ANY_TEXT))})
    value = {"names": ["a"]}
    made = filled(spec, value)
    value["names"].clear()
    assert made == {"names": ["a"]}
