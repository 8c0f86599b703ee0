"""Undo records against the rules of vCPUs and memory: a record takes back what a render writes again, or nothing."""

import json
from copy import deepcopy
from typing import Any

import pytest

from tests.adversary.record_cases import OWN, POD
from tests.world import WEB, an_object, codes, config, coordinator, named, pod_spec, run

ORIGINAL = "contrast-krm.dev/original"
Json = dict[str, Any]
ABSENT = [["-", f"{POD}/resources"], OWN]


def subject(resources: Json, undo: list[Any]) -> Json:
    made = an_object(spec=pod_spec(containers=[{"name": "web", "image": WEB}], resources=deepcopy(resources)))
    made["metadata"]["annotations"] = {**made["metadata"].get("annotations", {}), ORIGINAL: json.dumps(undo)}
    return made


def before(resources: Json) -> list[Any]:
    return [["=", f"{POD}/resources", resources], OWN]


LIMIT = {"limits": {"cpu": "3"}}


@pytest.mark.parametrize(
    ("resources", "undo", "minimum"),
    [
        (LIMIT, ABSENT, 0),
        (LIMIT, ABSENT, "gpus"),
        (LIMIT, ABSENT, 9),
        (LIMIT, before({"limits": {"cpu": "64"}}), 4),
        (LIMIT, before({"limits": {"cpu": "64"}}), 0),
        ({"limits": {"cpu": "3000m"}}, ABSENT, 0),
        ({"limits": {"cpu": "3"}, "requests": {"cpu": "1"}}, ABSENT, 4),
        ({"limits": {"memory": "64Mi"}}, before({"limits": {"cpu": "3"}}), 4),
    ],
)
def test_the_pod_that_leaves_is_never_another_one_than_the_input_shows(
    resources: Json, undo: list[Any], minimum: Any
) -> None:
    made = run(coordinator(), subject(resources, undo), to=config(vcpus=minimum))
    assert codes(made) == ["CC0115"]


def test_a_record_of_what_the_rule_writes_again_changes_nothing() -> None:
    made = run(coordinator(), subject(LIMIT, ABSENT), to=config(vcpus=4))
    assert codes(made) == []
    assert named(made, "web").pod_spec["resources"] == LIMIT
