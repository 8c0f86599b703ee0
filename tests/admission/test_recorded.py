"""What Kubernetes 1.36.3 itself answered: its pod-security-admission module, its LimitRanger, its quota evaluator.

data/pod-security.json: securityContext and more of a container, of its pod, admitted at baseline, at restricted.
data/limits.json: resources of a container, its pod, limit ranges and a quota; the resources after admission, whether a
range refuses the container, and whether the quota admits the pod, refuses it, or is about other pods.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from krm_function.contrast.namespace_admission import (
    Level,
    admitted_resources,
    applies,
    missing,
    refused_amounts,
    violations,
    wanted_of_containers,
)
from krm_function.kubernetes.quantity import nano

DATA = Path(__file__).parent / "data"
PODS: list[Any] = json.loads((DATA / "pod-security.json").read_text())
LIMITS: list[Any] = json.loads((DATA / "limits.json").read_text())
LEVELS: dict[Level, int] = {"baseline": 2, "restricted": 3}


@pytest.mark.parametrize("level", LEVELS)
def test_the_verdict_on_a_container_is_that_of_the_standard(level: Level) -> None:
    admitted = [not violations(row[0], {"securityContext": row[1]}, level) for row in PODS]
    assert admitted == [row[LEVELS[level]] for row in PODS]
    assert {True, False} == set(admitted)


def values(amounts: Any) -> dict[str, int]:
    return {name: nano(value) for name, value in (amounts or {}).items()}


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_limit_ranges_and_quotas_do_what_those_of_the_api_server_do(number: int) -> None:
    case = LIMITS[number]
    ranges = [{"spec": spec} for spec in case["ranges"]]
    container, quota = {"resources": case["resources"]}, {"spec": case["quota"]}
    requests, limits = admitted_resources(container, ranges)
    assert values(requests) == values(case["admitted"].get("requests"))
    assert values(limits) == values(case["admitted"].get("limits"))
    assert case["outside"] == any(list(refused_amounts(container, ranges, one)) for one in ranges)
    lacks = missing(container, wanted_of_containers(quota), ranges) if applies(quota, case["pod"]) else []
    assert bool(lacks) == (case["by_quota"] == "refused")
