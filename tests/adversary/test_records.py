"""A record in the input is a claim: it is proven or an error, in every verb, and nothing is written."""

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml

from krm_function.model.workload import ORIGINAL
from krm_function.pipeline import Rendered
from tests.adversary.record_cases import CASES, RUNTIME_CLASS, Case
from tests.stages.deployment import a_list, codes, config, coordinator, good, run, stream, values

HARMLESS = {name: case for name, case in CASES.items() if case.code == "sealed"}
HOSTILE = {name: case for name, case in CASES.items() if case.code != "sealed"}


def marked(case: Case) -> Any:
    """The object of a case with its records."""
    value = deepcopy(case.subject)
    metadata = value.setdefault("metadata", {})
    metadata["annotations"] = {**metadata.get("annotations", {}), ORIGINAL: json.dumps(case.records)}
    return value


def untouched(made: Rendered, *documents: Any) -> bool:
    return made.texts == tuple(one.text for one in stream(*documents)) and not made.added and not made.manifest


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_record_is_an_error_at_its_annotation(name: str) -> None:
    subject = marked(HOSTILE[name])
    documents = (subject,) if subject["kind"] == "List" else (coordinator(), subject)
    made = run(*documents)
    assert HOSTILE[name].code in codes(made)
    found = next(one for one in made.findings if one.code == HOSTILE[name].code)
    assert found.path[-1] == ORIGINAL or found.code == "CC0621"
    assert untouched(made, *documents)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_record_changes_nothing(name: str) -> None:
    case = HARMLESS[name]
    made = good(coordinator(), marked(case))
    assert [text.count("\n---") for text in map(str, made.texts)] == [0, 0]
    bare = deepcopy(case.subject)
    bare["spec"]["template"]["metadata"].pop("annotations", None)  # what a render wrote
    assert without_records(values(made)) == without_records(values(good(coordinator(), bare)))


def without_records(objects: list[Any]) -> list[Any]:
    for value in objects:
        (value["metadata"].get("annotations") or {}).pop(ORIGINAL, None)
        if not value["metadata"].get("annotations"):
            value["metadata"].pop("annotations", None)
    return objects
