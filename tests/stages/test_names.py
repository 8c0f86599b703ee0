"""Names so long that a cluster makes no pods: CC0222, of each kind at its limit and one character above it."""

from typing import Any

import pytest

from krm_function.render.pod_checks import check_before_injection, check_rendered
from tests.policy import pods
from tests.policy.test_long_names import with_template

Json = dict[str, Any]
INDEXED = {"completionMode": "Indexed", "completions": 11}
LIMITS: list[tuple[str, Json, int]] = [
    ("StatefulSet", {}, 52),
    ("Job", {}, 63),
    ("Job", {**INDEXED, "completions": 10}, 61),
    ("Job", INDEXED, 60),
    ("CronJob", {}, 52),
    ("CronJob", {**INDEXED, "completions": 10}, 52),
    ("CronJob", INDEXED, 51),
]


@pytest.mark.parametrize(("kind", "fields", "longest"), LIMITS)
def test_the_longest_name_of_which_there_are_pods(kind: str, fields: Json, longest: int) -> None:
    for length, is_refused in ((longest, False), (longest + 1, True)):
        spec = {"jobTemplate": {"spec": dict(fields)}} if kind == "CronJob" else dict(fields)
        workload = with_template({"kind": kind, "metadata": {"name": "n" * length, "namespace": "shop"}, "spec": spec})
        for findings in (check_before_injection(workload, {}), check_rendered(workload)):
            found = [one for one in findings if one.code == "CC0222"]
            assert [one.path for one in found] == [("metadata", "name")] * is_refused


@pytest.mark.parametrize("kind", ["Pod", "ReplicaSet", "ReplicationController", "DaemonSet", "Deployment"])
def test_others_have_no_limit_of_their_own(kind: str) -> None:
    workload = pods.workload({"containers": [pods.APP]}, kind, {"name": "n" * 253, "namespace": "shop"})
    assert "CC0222" not in {one.code for one in check_rendered(workload)}
