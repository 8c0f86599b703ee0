"""A record as a table: what is declared once, and everything that follows."""

from collections.abc import Mapping
from typing import Any, Literal

import pytest

from krm_function.config.generate import (
    Coordinator,
    ExternalSource,
    Generate,
    ManifestOptions,
    PolicyOptions,
    Scheduling,
    SharedSecret,
    WorkloadPolicy,
)
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import InjectedMemory, Release
from krm_function.record import Annotated, Declared, NamedTuple
from krm_function.schema.check import faults
from krm_function.schema.table import EMPTY, UNREAD, filled, only, table
from krm_function.schema.values import ANY_TEXT, Choice, Field, Flag, ListOf, MapOf, Record


class Inner(NamedTuple):
    names: Annotated[tuple[str, ...], Field(ListOf(ANY_TEXT))] = ()


class Options(NamedTuple):
    name: str
    needed: Annotated[str, Field(ANY_TEXT, "that one needs")]
    how_it_runs: Annotated[Literal["fast", "slow"], "how", "mark"] = "fast"
    is_on: Annotated[bool, "on or off"] = False
    switch: Annotated[bool, Field(Record({"enabled": Field(Flag())}, make=only))] = True
    empty: Annotated[str, Field(ANY_TEXT)] = ""
    shown: Annotated[str | None, Field(ANY_TEXT, default="for readers")] = None
    by_name: Annotated[Mapping[str, Inner], Field(MapOf(ANY_TEXT, table(Inner)))] = EMPTY
    inner: Annotated[Inner, Field(table(Inner))] = Inner()


OPTIONS = table(Options, unread={"more": Field(ListOf(ANY_TEXT)), "of": Field(ANY_TEXT)})


def test_a_field_follows_from_its_attribute() -> None:
    switch = Record({"enabled": Field(Flag(), default=True)}, make=only)
    assert {name: field for name, field in OPTIONS.fields.items() if name not in {"byName", "inner"}} == {
        "needed": Field(ANY_TEXT, "that one needs", required=True),
        "howItRuns": Field(Choice(("fast", "slow")), "how", default="fast", marks=("mark",)),
        "isOn": Field(Flag(), "on or off", default=False),
        "switch": Field(switch),
        "empty": Field(ANY_TEXT),
        "shown": Field(ANY_TEXT, default="for readers"),
        "more": Field(ListOf(ANY_TEXT), marks=(UNREAD,)),
        "of": Field(ANY_TEXT, marks=(UNREAD,)),
    }
    assert list(OPTIONS.fields)[-4:] == ["byName", "inner", "more", "of"]


def test_what_is_absent_is_what_the_class_says() -> None:
    assert filled(OPTIONS, {"needed": "a"}, name="b") == Options("b", "a")
    assert filled(OPTIONS, {"needed": "a", "switch": {}, "inner": {}, "byName": {}}, name="b") == Options(
        "b", "a", by_name={}
    )


def test_what_is_there_is_read_into_the_class() -> None:
    value = {
        "needed": "a",
        "howItRuns": "slow",
        "isOn": True,
        "switch": {"enabled": False},
        "byName": {"x": {"names": ["y"]}},
        "inner": {"names": ["z"]},
        "more": ["dropped"],
        "of": "dropped",
    }
    assert not faults(OPTIONS, value)
    assert filled(OPTIONS, value, name="b") == Options(
        "b", "a", "slow", True, False, "", None, {"x": Inner(("y",))}, Inner(("z",))
    )


@pytest.mark.parametrize(
    "form",
    [
        *(Coordinator, ExternalSource, Generate, ImageFacts, InjectedMemory, ManifestOptions, PolicyOptions, Release),
        *(Scheduling, SharedSecret, WorkloadPolicy),
    ],
)
def test_each_attribute_of_a_kind_is_a_field_but_for_the_name_of_the_object(form: Any) -> None:
    undeclared = {name for name, hint in form.__annotations__.items() if not isinstance(hint, Declared)}
    assert undeclared == ({"name"} if form in (Generate, Release) else set())
