"""The JSON Schemas and the parsers, held against each other."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.config.generate import GENERATE, parse_generate
from krm_function.config.image_lock import IMAGE_LOCK, parse_image_lock
from krm_function.config.json_schema import KINDS, schema, schema_of
from krm_function.config.release import RELEASE, parse_release
from krm_function.schema.table import read_value
from krm_function.schema.values import Choice, ListOf, MapOf, Record, Spec, Text
from tests.api.documents import EXAMPLES, document

TABLES: dict[str, Record] = {"ContrastGenerate": GENERATE, "ContrastRelease": RELEASE, "ImageLock": IMAGE_LOCK}
PARSERS: dict[str, Any] = {
    "ContrastGenerate": parse_generate,
    "ContrastRelease": parse_release,
    "ImageLock": parse_image_lock,
}


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
    """The keyword `pattern` as ECMA has it, where $ is the end and not also the place before a last newline."""
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield jsonschema.ValidationError("does not match")


Validator = jsonschema.validators.extend(jsonschema.Draft7Validator, {"pattern": _pattern})


@cache
def validator(kind: str) -> Any:
    return Validator(schema(kind))


def parses(value: dict[str, Any], kind: str) -> bool:
    made, _ = PARSERS[kind](document(value))
    return made is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_valid_and_is_json(kind: str) -> None:
    made = schema(kind)

    jsonschema.Draft7Validator.check_schema(made)
    assert json.loads(json.dumps(made)) == made
    assert made["title"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_fit_their_schema(kind: str) -> None:
    assert validator(kind).is_valid(EXAMPLES[kind])
    assert parses(EXAMPLES[kind], kind)


def test_every_pattern_says_the_same_in_ecmascript() -> None:
    """No construct that ECMA's unicode mode lacks: \\A, \\Z, (?P, (?#, inline flags, possessive quantifiers."""
    patterns = [
        text for kind in KINDS for text in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(schema(kind)))
    ]

    assert patterns
    for text in map(json.loads, patterns):
        assert text.startswith("^")
        assert text.endswith("$")
        assert not re.search(r"\\[AZ]|\(\?[P#a-z<]|[*+}]\+", text)


JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 3.0, 0.5, 256, 10**30, "", " ", "x", "true", "1", "682Mi", "-1", "\n", "a\n", "é",
    [], {}, ["x"], [None], [{}], {"x": "y"}, {"x": {}}, {"": ""}, {"enabled": True}, {"name": "x"}, {"Debug": True},
    "metal-qemu-snp", "Metal-QEMU-TDX", "metal-qemu-snp\n", "native", "emit", "Exists", "nginx", "nginx:1\n", "a" * 300,
    "0" * 96, "0" * 95, "sha256:" + "a" * 64, "x@sha256:" + "a" * 64, "v1.2.3", "1.2.3-rc.1",
    "contrast-cc-metal-qemu-snp-00", "contrast-cc-metal-qemu-snp-gpu", {"snp": []}, {"tdx": []}, "220", "221",
    {"1": "0" * 96}, {"221": "0" * 96},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


def known_to_differ(value: dict[str, Any], kind: str) -> bool:
    """Whether a document may only break rules that a schema cannot tell: the `check` of a spec, or JSON as text."""
    _, findings = PARSERS[kind](document(value))
    told = (
        "is there twice", "must be Exists when", "must be NoExecute when", "must be empty when", "must be cpu, memory",
        "must be a whole number", "is the second entry", "JSON", "is no manifest", "is larger than",
        "is not an image reference", "must be Rego of package", "code of a", "needs either",
        "is not a resource name",  # the domain before `/` may have 253 characters, the whole name 317
    )  # fmt: skip
    return all(found.code == "CC0505" or any(text in found.message for text in told) for found in findings)


def mutate(value: Any, data: st.DataObject) -> None:
    """Change one place of a document."""
    found = places(value)[1:]
    if not found:
        return
    *parents, last = data.draw(st.sampled_from(found))
    inner: Any = value
    for part in parents:
        inner = inner[part]
    match data.draw(st.sampled_from(["junk", "remove", "add", "rename", "swap"])):
        case "remove":
            del inner[last]
        case "add" if isinstance(inner, dict):
            name = data.draw(st.sampled_from(["x", "enabled", "Platform", "spec", "nginx", "metal-qemu-snp-gpu"]))
            inner[name] = {}
        case "rename" if isinstance(inner, dict):
            inner[data.draw(st.sampled_from([f"{last}s", last.swapcase(), f"{last}\n"]))] = inner.pop(last)
        case "swap":
            keys = list(inner) if isinstance(inner, dict) else range(len(inner))
            inner[last] = deepcopy(inner[data.draw(st.sampled_from(keys))])
        case _:
            inner[last] = deepcopy(data.draw(st.sampled_from(JUNK)))


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(KINDS), st.data())
def test_schema_and_parser_accept_the_same_documents(kind: str, data: st.DataObject) -> None:
    value = deepcopy(EXAMPLES[kind])
    for _ in range(data.draw(st.integers(1, 2))):
        mutate(value, data)

    accepted = validator(kind).is_valid(value)

    assert accepted or not parses(value, kind)
    assert not accepted or parses(value, kind) or known_to_differ(value, kind)


def leaves(spec: Spec, seen: dict[Spec, None]) -> dict[Spec, None]:
    """All specs without fields of their own below a spec."""
    match spec:
        case Record():
            for field in spec.fields.values():
                leaves(field.spec, seen)
        case ListOf():
            leaves(spec.items, seen)
        case MapOf():
            leaves(spec.keys, seen)
            leaves(spec.values, seen)
        case Text() | Choice():
            seen[spec] = None
        case _:
            pass
    return seen


LEAVES = [spec for table in TABLES.values() for spec in leaves(table, {})]


@pytest.mark.slow
@pytest.mark.parametrize("spec", [spec for spec in LEAVES if isinstance(spec, Text)], ids=lambda spec: spec.meaning)
def test_a_text_is_accepted_by_schema_and_parser_alike(spec: Text) -> None:
    bare = spec._replace(check=None)
    check = Validator(schema_of(bare))

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.sampled_from([text for text in JUNK if isinstance(text, str)]) | near(spec))
    def compare(text: str) -> None:
        assert check.is_valid(text) == (not read_value(bare, text)[1])

    compare()


def near(spec: Text) -> st.SearchStrategy[str]:
    """Texts that fit a pattern, and some that nearly do."""
    if not spec.pattern:
        return st.text(st.characters(codec="utf-8"), max_size=20)
    fitting = st.from_regex(spec.pattern, fullmatch=True)
    return fitting | st.tuples(fitting, st.sampled_from(["\n", " ", "x", "-", "é"])).map("".join)


def test_an_unknown_kind_has_no_schema() -> None:
    with pytest.raises(KeyError):
        schema("Deployment")
