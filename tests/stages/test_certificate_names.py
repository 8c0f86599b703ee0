"""Names in certificates: the workload's own, those of the configuration, and none of another workload."""

from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import ManifestOptions, WorkloadPolicy
from krm_function.contrast.identity import Names
from krm_function.findings import Finding
from krm_function.render.roles import check_names, read_identities
from krm_function.render.select import select
from tests.world import an_object, config


def told(*keys: str) -> Config:
    return config(
        manifest=ManifestOptions(
            policies={key: WorkloadPolicy((f"{index}.example.com",)) for index, key in enumerate(keys)}
        )
    )


def found(*documents: Any, to: Config, complete: bool = True) -> tuple[Finding, ...]:
    workloads = [one for document in documents for one in select(document).workloads]
    skipped = {template.ref: template.skipped for document in documents for template in select(document).skipped}
    return check_names(workloads, read_identities(workloads, to), to, skipped, complete=complete)


def test_names_of_no_workload_are_errors_with_a_suggestion() -> None:
    to = told("wbe", "zzzzzzzz", "web", "Deployment/shop/wbe")
    errors = found(an_object("StatefulSet", "db"), an_object(), to=to)
    assert [(one.code, one.path[-1]) for one in errors] == [
        ("CC0708", "wbe"),
        ("CC0708", "zzzzzzzz"),
        ("CC0708", "Deployment/shop/wbe"),
    ]
    assert "did you mean web?" in errors[0].hint
    assert "db, web" in errors[1].hint
    assert "did you mean Deployment/shop/web?" in errors[2].hint
    assert all(one.ref and one.ref.kind == "ContrastGenerate" for one in errors)
    assert found(an_object(), to=to, complete=False) == ()


@pytest.mark.parametrize("key", ["web", "Deployment/shop/web"])
def test_a_workload_that_is_not_contrasts_has_no_certificate(key: str) -> None:
    plain = an_object()
    del plain["spec"]["template"]["spec"]["runtimeClassName"]
    (error,) = found(plain, to=told(key))
    assert (error.code, error.path[-1]) == ("CC0708", key)
    assert "no runtimeClassName" in error.message


def test_an_absent_namespace_is_default() -> None:
    assert found(an_object(namespace=""), to=told("Deployment/default/web")) == ()


def test_both_keys_of_one_workload_count() -> None:
    workloads = select(an_object()).workloads
    (one,) = read_identities(workloads, told("web", "Deployment/shop/web")).workloads
    assert sorted(one.names) == ["0.example.com", "1.example.com", "web"]


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("web", "web", True),
        ("web", "WEB.", True),
        ("web", "web2", False),
        ("*", "web", True),
        ("*.a.example", "web.a.example", True),
        ("*.a.example", "b.web.a.example", False),
        ("*.a.example", "a.example", False),
        ("*.a.example", "*.A.example", True),
        ("10.0.0.1", "10.0.0.1", True),
    ],
)
def test_a_name_is_anothers_if_a_client_may_take_it_for_it(first: str, second: str, same: bool) -> None:
    for one, other in ((first, second), (second, first)):
        names = Names()
        names.add(one, "holder")
        assert names.holders(other) == (["holder"] if same else [])


@pytest.mark.parametrize("owner, kept", [("old", True), ("web", False)])
def test_the_name_of_every_workload_is_told_where_the_base_keeps_it(owner: str, kept: bool) -> None:
    entry = {"SANs": [owner, "*"], "WorkloadSecretID": f"apps/v1/Deployment/shop/{owner}"}
    to = config(manifest=ManifestOptions(base={"Policies": {"ab" * 32: entry}}))
    told_at = [("CC0727", ("spec", "manifest", "base"))] if kept else []
    assert [(one.code, one.path) for one in found(an_object(), to=to)] == told_at
