"""KIND/[NAMESPACE/]NAME: what it finds, and what it says when it finds nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import Finding, Ref
from krm_function.kubernetes.address import Address, address_of, find_by_address, parse_address

WEB = Ref("apps/v1", "Deployment", "shop", "web")
DB = Ref("apps/v1", "StatefulSet", "shop", "db")
JOB = Ref("batch/v1", "CronJob", "", "nightly-report")
OTHER = Ref("apps/v1", "Deployment", "other", "db")
REFS = [WEB, DB, JOB, OTHER]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Deployment/web", WEB),
        ("deployment/web", WEB),
        ("DEPLOYMENTS/web", WEB),
        ("deploy/web", WEB),
        ("Deployment/shop/web", WEB),
        ("sts/db", DB),
        ("StatefulSet/shop/db", DB),
        ("deploy/db", OTHER),
        ("cj/nightly-report", JOB),
        ("CronJob/default/nightly-report", JOB),
    ],
)
def test_an_address_finds_one_object(text: str, meant: Ref) -> None:
    assert find_by_address(text, REFS) == meant


@pytest.mark.parametrize("ref", REFS)
def test_the_address_of_an_object_finds_it(ref: Ref) -> None:
    assert find_by_address(address_of(ref), REFS) == ref


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("Deployment/wbe", "is not in the input", "did you mean Deployment/shop/web?"),
        ("Deploymnet/web", "is not in the input", "did you mean Deployment/shop/web?"),
        ("sts/web", "is not in the input", "did you mean Deployment/shop/web?"),
        ("deploy/other/web", "is not in the input", "did you mean Deployment/shop/web?"),
        ("Deployment/shop/WEB", "is not in the input", "did you mean Deployment/shop/web?"),
        ("cj/nightly-reports", "is not in the input", "did you mean CronJob/nightly-report?"),
        ("web", "is not a workload name (KIND/NAME, e.g. Deployment/web)", "did you mean Deployment/shop/web?"),
        (
            "",
            "an empty text is not a workload name (KIND/NAME, e.g. Deployment/web)",
            "use one of Deployment/shop/web, StatefulSet/shop/db",
        ),
        ("a/b/c/zzzzzzzz", "is not a workload name (KIND/NAME, e.g. Deployment/web)", "use one of"),
        ("Deployment/", "is not a workload name (KIND/NAME, e.g. Deployment/web)", "use one of Deployment/shop/web"),
        (
            "Deployment//web",
            "is not a workload name (KIND/NAME, e.g. Deployment/web)",
            "did you mean Deployment/shop/web?",
        ),
        ("zzz/qqqqqq", "is not in the input", "use one of"),
    ],
)
def test_an_address_that_finds_nothing_suggests_what_is_near(text: str, problem: str, hint: str) -> None:
    found = find_by_address(text, REFS)
    assert isinstance(found, Finding)
    assert found.code == "CC0909"
    assert problem in found.message
    assert hint in found.hint


def test_one_of_several_is_never_picked() -> None:
    twin = WEB._replace(namespace="prod")
    found = find_by_address("deploy/web", [*REFS, twin])
    assert isinstance(found, Finding)
    assert "matches 2 objects" in found.message
    assert found.hint == "use one of Deployment/shop/web, Deployment/prod/web"
    assert find_by_address("deploy/prod/web", [*REFS, twin]) == twin


def test_nothing_to_choose_from_says_how_an_address_looks() -> None:
    found = find_by_address("deploy/web", [])
    assert isinstance(found, Finding)
    assert "KIND/NAME" in found.hint


def test_a_kind_that_we_do_not_know_is_kept_as_it_is() -> None:
    assert parse_address("Rollout/web") == Address("Rollout", "", "web")


@given(st.text(max_size=40))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(find_by_address(text, REFS), Ref | Finding)
