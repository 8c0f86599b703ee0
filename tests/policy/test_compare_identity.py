"""How two outputs differ in what their manifests give away: a role, names, secrets."""

from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import SharedSecret, WorkloadPolicy
from krm_function.contrast.manifest import decode
from krm_function.policy.compare import compare_workloads, given_away
from krm_function.render.select import select
from tests.adversary.test_identity import LABEL, SANS, SECRET, WEB_ID, base, told, web
from tests.world import an_object, coordinator, good, values

ONE = ("Deployment/shop/web", "Job/shop/jobs")


def lines(old: tuple[list[Any], Config], new: tuple[list[Any], Config], *, manifests: bool = True) -> set[str]:
    """The lines about identities: `web weaker role added coordinator`."""
    made = [good(*documents, to=to) for documents, to in (old, new)]
    workloads = [[one for value in values(each) for one in select(value).workloads] for each in made]
    first, second = (
        given_away(found, decode(each.manifest) if manifests else None)
        for found, each in zip(workloads, made, strict=True)
    )
    compared, findings = compare_workloads(workloads[0], workloads[1], (), (first, second))
    assert findings == ()
    said = {
        f"{one.ref.name} {line.verdict} {line.field} {line.op} {line.what}".strip()
        for one in compared
        for line in one.lines
        if not line.container
    }
    return {line for line in said if line.split()[2] in {"role", "name", "workload"}}


def jobs(chosen: str = "") -> Any:
    return an_object("Job", "jobs", annotations={SECRET: chosen} if chosen else None)


PLAIN = ([coordinator(), web(), jobs()], told())


def test_the_same_is_no_difference() -> None:
    assert lines(PLAIN, PLAIN) == set()


@pytest.mark.parametrize("manifests", [True, False])
def test_a_shared_secret_is_weaker_for_both(manifests: bool) -> None:
    shared = (
        [coordinator(), web(annotations={SECRET: "one"}), jobs("one")],
        told(shared_secrets=(SharedSecret("one", ONE),)),
    )
    assert lines(PLAIN, shared, manifests=manifests) == {
        "web weaker workload secret added Job/shop/jobs",
        "jobs weaker workload secret added Deployment/shop/web",
    }


def test_a_foreign_secret_is_weaker_and_an_own_one_is_different() -> None:
    foreign = SharedSecret("apps/v1/Deployment/bank/vault", ("Job/shop/jobs",))
    assert lines(PLAIN, ([coordinator(), web(), jobs(foreign.id)], told(shared_secrets=(foreign,)))) == {
        "jobs weaker workload secret added Deployment/bank/vault"
    }
    assert lines(PLAIN, ([coordinator(), web(), jobs("mine")], told())) == {
        "jobs different workload secret changed batch/v1/Job/shop/jobs -> mine"
    }


def test_a_name_is_weaker_and_one_less_is_stronger() -> None:
    more = ([coordinator(), web(), jobs()], told(policies=SANS))
    assert lines(PLAIN, more) == {"web weaker name added pay.example.com"}
    assert lines(more, PLAIN) == {"web stronger name removed pay.example.com"}


def test_a_new_workload_with_the_name_of_another_is_weaker() -> None:
    named = {f"{kind}/shop/web": WorkloadPolicy() for kind in ("Deployment", "Job")}
    twins = ([coordinator(), web(), jobs(), an_object("Job")], told(policies=named))
    assert {"web weaker name added Job/shop/web", "web weaker workload added"} <= lines(PLAIN, twins)


def test_a_role_is_weaker_and_an_entry_of_the_base_counts() -> None:
    from krm_function.config.generate import Coordinator

    before = ([web()], told(base=base(coordinator())))
    after = (
        [web(), an_object("StatefulSet", "second", labels=LABEL)],
        told(base=base(coordinator()), coordinator=Coordinator("shop", "StatefulSet", "second")),
    )
    assert "second weaker role added coordinator" in lines(before, after)
    shared = SharedSecret(WEB_ID, ("Deployment/shop/web", "Job/shop/jobs"))
    upon = base(coordinator(), web())
    assert lines(([jobs()], told(base=upon)), ([jobs(WEB_ID)], told(base=upon, shared_secrets=(shared,)))) == {
        "jobs weaker workload secret added Deployment/shop/web"
    }
