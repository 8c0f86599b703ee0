"""Policy entries of the manifest: docs/facts/contrast-manifest.md#policy-entries."""

import pytest

from krm_function.contrast.manifest_merge import policy_entry, secret_id, survivors


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace", "name", "expected"),
    [
        ("apps/v1", "StatefulSet", "default", "mysql", "apps/v1/StatefulSet/default/mysql"),
        ("v1", "Pod", "", "p", "core/v1/Pod/default/p"),
        ("batch/v1", "CronJob", "jobs", "nightly", "batch/v1/CronJob/jobs/nightly"),
    ],
)
def test_the_secret_id_names_the_workload(
    api_version: str, kind: str, namespace: str, name: str, expected: str
) -> None:
    assert secret_id(api_version, kind, namespace, name) == expected


def test_an_entry_holds_no_empty_field() -> None:
    assert policy_entry("web", "") == {"SANs": ["web"]}
    assert policy_entry("c", "id", "coordinator") == {"SANs": ["c"], "WorkloadSecretID": "id", "Role": "coordinator"}


def test_extra_names_follow_the_workload_once() -> None:
    assert policy_entry("web", "id", sans=["web.example.com", "web", "10.0.0.1", "10.0.0.1"])["SANs"] == [
        "web",
        "web.example.com",
        "10.0.0.1",
    ]


def test_survivors_are_the_policies_of_other_workloads() -> None:
    base = {
        "Policies": {
            "d1": policy_entry("a", "id-a"),
            "d2": policy_entry("b", "id-b"),
            "d0": {"SANs": ["c"]},
            "d3": None,
        }
    }
    assert survivors(base, ["d1"]) == ("d0", "d2", "d3")
    assert survivors(base, ["d2", "n"]) == ("d0", "d1", "d3")
    assert survivors(None, []) == ()
    assert survivors({"Policies": None}, []) == ()
