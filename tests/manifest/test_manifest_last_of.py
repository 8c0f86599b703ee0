"""Which manifest counts where several releases share a coordinator."""

import json
from typing import Any

import pytest

from krm_function.contrast.manifest_merge import last_of

FIRST: dict[str, Any] = {"Policies": {"a" * 64: {"SANs": ["web"]}}, "ReferenceValues": {"snp": [{"APEIP": "00"}]}}
MORE: dict[str, Any] = {"b" * 64: {"SANs": ["other"]}}
LAST = {**FIRST, "Policies": {**FIRST["Policies"], **MORE}}


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0), (1, 1, 0)])
def test_it_is_the_one_with_the_policies_of_all(order: tuple[int, ...]) -> None:
    texts = [text(FIRST), text(LAST)]
    assert last_of([texts[index] for index in order]) == text(LAST)


def test_one_alone_counts_and_none_is_none() -> None:
    assert last_of([b"no manifest"]) == b"no manifest"
    assert last_of([]) is None


OTHERS: dict[str, bytes] = {
    "formatted": json.dumps(FIRST, indent=1).encode(),
    "other policies": text({**FIRST, "Policies": MORE}),
    "another value": text({**LAST, "ReferenceValues": {"snp": [{"APEIP": "01"}]}}),
    "an owner more": text({**LAST, "WorkloadOwnerPubKeys": ["k"]}),
    "an owner less": text({"Policies": LAST["Policies"]}),
    "another name": text({**LAST, "Policies": {"a" * 64: {"SANs": ["evil"]}, **MORE}}),
    "no manifest": b"{",
}


@pytest.mark.parametrize("name", OTHERS)
def test_none_counts_where_more_than_policies_differs(name: str) -> None:
    assert last_of([text(FIRST), OTHERS[name]]) is None
    assert last_of([OTHERS[name], text(FIRST)]) is None
