"""What counts as a copy that a controller made: row by row; tests/cli/test_live_objects.py has whole clusters."""

from copy import deepcopy
from typing import Any

import pytest

from krm_function.kubernetes.workload import INITDATA
from krm_function.render.copies import find_copies
from tests.world import HANDLERS, Json, an_object, pod_spec


def sealed(kind: str, name: str, initdata: Any = "policy", runtime_class: Any = HANDLERS["metal-qemu-snp"]) -> Json:
    value = an_object(kind, name, spec=pod_spec(runtimeClassName=runtime_class), annotations={INITDATA: initdata})
    value["metadata"]["uid"] = f"uid of {name}"
    return value


def owned(value: Json, owner: Json) -> Json:
    made = deepcopy(value)
    reference = {"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    made["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    return made


@pytest.mark.parametrize(
    "initdata, runtime_class",
    [
        ("other", HANDLERS["metal-qemu-snp"]),
        (7, HANDLERS["metal-qemu-snp"]),
        ("", HANDLERS["metal-qemu-snp"]),
        ("policy", 7),
    ],
    ids=["another policy", "no text", "empty", "a class that is no text"],
)
def test_an_owned_pod_is_a_copy_only_with_the_policy_of_its_owner(initdata: Any, runtime_class: Any) -> None:
    owner = sealed("Job", "report")
    assert find_copies([owner, owned(sealed("Pod", "report-1"), owner)])[1] is not None
    assert find_copies([owner, owned(sealed("Pod", "report-1", initdata, runtime_class), owner)])[1] is None
    same_fault = sealed("Job", "report", initdata, runtime_class)
    both = find_copies([same_fault, owned(sealed("Pod", "report-1", initdata, runtime_class), same_fault)])[1]
    assert (both is not None) == (initdata == "other")


@pytest.mark.parametrize(
    "conditions, retired",
    [
        ([{"type": "Complete", "status": "True"}], "status"),
        ([{"type": "Failed", "status": "True"}], "status"),
        ([{"type": "Complete", "status": "False"}], "earlier"),
        ([{"type": "Suspended", "status": "True"}], "earlier"),
        ([], "earlier"),
    ],
    ids=str,
)
def test_a_job_with_another_policy_has_ended_or_is_of_an_earlier_template(conditions: list[Json], retired: str) -> None:
    owner = sealed("CronJob", "nightly")
    job = owned(sealed("Job", "nightly-1", "other"), owner) | {"status": {"conditions": conditions}}
    copy = find_copies([owner, job])[1]
    assert copy is not None
    assert copy.retired == retired
