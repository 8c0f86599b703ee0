"""The initializers look for one Service: where it was renamed with the coordinator, no pod would ever start."""

import pytest

from krm_function.check.check_output import check_output
from tests.world import Json, an_object, codes, coordinator, good, run, stream, values


def service(name: str = "coordinator-ready", namespace: str = "shop") -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 7777}]}}


@pytest.mark.parametrize(
    "services",
    [[], [service()], [service(namespace="")], [service(), service("x-coordinator-ready")], [service("web")]],
    ids=["none", "right", "without a namespace", "another beside it", "something else"],
)
def test_a_service_that_can_be_the_coordinators_is_right(services: list[Json]) -> None:
    good(coordinator(), an_object(), *services)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (service("x-coordinator-ready"), "x-coordinator-ready.shop"),
        (service("coordinator-ready-prod"), "coordinator-ready-prod.shop"),
        (service(namespace="contrast"), "coordinator-ready.contrast"),
    ],
    ids=["a prefix", "a suffix", "another namespace"],
)
def test_a_renamed_service_is_an_error_of_render_and_check(wrong: Json, said: str) -> None:
    made = run(coordinator(), an_object(), wrong)
    (found,) = (one for one in made.findings if one.code == "CC0771")
    assert "coordinator-ready.shop" in found.message
    assert said in found.message
    assert codes(run(coordinator(), an_object(), {"apiVersion": "v1", "kind": "List", "items": [wrong]})) == ["CC0771"]
    rendered = values(good(coordinator(), an_object()))
    assert "CC0771" in {one.code for one in check_output(stream(*rendered, wrong)).findings}


def test_where_the_coordinator_is_elsewhere_nothing_is_known() -> None:
    assert "CC0771" not in codes(run(an_object(), service("x-coordinator-ready")))
