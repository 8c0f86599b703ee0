"""Documents made from the tables of fields: what one side accepts, the other accepts."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, Phase, find, given, settings

from krm_function.config.document import document_spec
from krm_function.config.json_schema import KINDS, schema, schema_of, schema_text
from krm_function.schema.table import read_value
from krm_function.schema.values import ListOf, MapOf, OneOrMany, Record, Spec, Word
from tests.api.strategies import fitting
from tests.api.test_api_schema import TABLES, Validator, known_to_differ, parses, validator

WHOLE: dict[str, Record] = {
    kind: document_spec(kind, table, required=kind != "ContrastGenerate")  # type: ignore[arg-type]
    for kind, table in TABLES.items()
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_that_fits_the_table_fits_the_schema_and_the_parser(kind: str) -> None:
    accepted = []

    @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
    @given(fitting(WHOLE[kind]))
    def compare(value: dict[str, Any]) -> None:
        problem = jsonschema.exceptions.best_match(validator(kind).iter_errors(value))
        assert problem is None, problem.message
        accepted.append(parses(value, kind))
        assert accepted[-1] or known_to_differ(value, kind)

    compare()
    assert sum(accepted) > len(accepted) / 10, "or this would say nothing of the parser"


def tables(table: Record, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Record]]:
    """Every table within a table, by its path."""
    found = [(path, table)]
    for name, field in table.fields.items():
        spec = field.spec
        while isinstance(spec, ListOf | OneOrMany | Word):
            spec = spec.spec if isinstance(spec, Word) else spec.items
        inner = spec.values if isinstance(spec, MapOf) else spec
        if isinstance(inner, Record):
            found += tables(inner, (*path, name))
    return found


PLACES = [
    (kind, ".".join(path), table)
    for kind in KINDS
    for path, table in tables(TABLES[kind])
    if table.closed and table.fields
]


@pytest.mark.parametrize(("kind", "path", "table"), PLACES, ids=[f"{kind}.{path}" for kind, path, _ in PLACES])
def test_an_unknown_and_a_missing_field_are_refused_by_both(kind: str, path: str, table: Record) -> None:
    bare = table._replace(check=None)
    check = Validator(schema_of(bare))
    value = least(bare)
    assert check.is_valid(value)
    assert not read_value(bare, value)[1]
    for name, field in table.fields.items():
        for other in {f"{name}s", name.swapcase()} - table.fields.keys():
            assert not check.is_valid({**value, other: {}})
            assert read_value(bare, {**value, other: {}})[1]
        if field.required:
            less = {key: item for key, item in value.items() if key != name}
            assert not check.is_valid(less)
            assert read_value(bare, less)[1]


def least(table: Record) -> dict[str, Any]:
    """The required fields of a table."""
    return find(
        fitting(pruned(table)),
        lambda _: True,
        settings=settings(max_examples=1, database=None, phases=[Phase.generate]),
    )


def pruned(spec: Spec) -> Spec:
    """A spec without fields that may be left out."""
    match spec:
        case Record():
            needed = {name: field for name, field in spec.fields.items() if field.required}
            fields = {name: field._replace(spec=pruned(field.spec)) for name, field in needed.items()}
            return Record(fields, None, spec.closed)
        case ListOf():
            return ListOf(pruned(spec.items), spec.length)
        case MapOf():
            return MapOf(spec.keys, pruned(spec.values))
        case _:
            return spec


def resolved(value: Any, parts: dict[str, Any]) -> Any:
    """A schema with every reference replaced by what it is to."""
    if isinstance(value, list):
        return [resolved(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    whole = {**parts[value["$ref"].removeprefix("#/definitions/")], **value} if "$ref" in value else value
    return {key: resolved(item, parts) for key, item in whole.items() if key not in {"$ref", "definitions"}}


@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_are_written_once_say_the_same(kind: str) -> None:
    made = schema(kind)
    assert resolved(made, made.get("definitions", {})).items() >= schema_of(WHOLE[kind]).items()


def test_a_schema_that_people_have_beside_their_files_is_not_long() -> None:
    assert {kind: len(schema_text(kind)) < 52_000 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_file_is_what_the_verb_prints(kind: str) -> None:
    from importlib.resources import files

    import krm_function

    published = files(krm_function).joinpath(f"api/schemas/{kind}.json").read_bytes()
    assert json.loads(published) == schema(kind)


EXAMPLES = Path(__file__).parents[2] / "examples"


def is_ours(path: Path) -> bool:
    return "\napiVersion: contrast-krm.dev/" in path.read_text()


CONFIGURATION = [path for path in sorted(EXAMPLES.rglob("*.yaml")) if "expected" not in path.parts and is_ours(path)]


@pytest.mark.parametrize("path", CONFIGURATION, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_every_example_names_its_schema_and_fits_it(path: Path) -> None:
    first, value = path.read_text().splitlines()[0], yaml.safe_load(path.read_text())
    key, _, where = first.partition("$schema=")
    assert key == "# yaml-language-server: "
    named = json.loads((path.parent / where).read_text())
    assert named == schema(value["kind"])
    Validator(named).validate(value)


def test_all_kinds_are_among_the_examples() -> None:
    assert {yaml.safe_load(path.read_text())["kind"] for path in CONFIGURATION} == set(KINDS)
