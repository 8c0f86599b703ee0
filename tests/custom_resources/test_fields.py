"""A render reads, ignores or refuses each field beside the pod templates, as docs/facts/controllers.md lists them."""

import copy
from pathlib import Path
from typing import Any

import pytest

from krm_function.kubernetes.kinds import CATALOGUED
from krm_function.kubernetes.pod_kinds import DIRECTORY
from krm_function.kubernetes.workload import INITDATA
from tests.custom_resources.fields import ROWS, Row
from tests.custom_resources.kinds import SEALED
from tests.custom_resources.objects import OPTIONS, Json, data_of, ran, rendered, stream, template
from tests.custom_resources.planted import Planted, replicated, thing

CONTENT = {"annotations": {INITDATA: "other"}, "labels": {"a": "b"}}
PLANTED = {planted.value["kind"]: planted for planted in SEALED}


def rows(answer: str) -> list[Any]:
    return [pytest.param(row, id=f"{row.kind} {row.field}") for row in ROWS if row.answer == answer]


def with_content(row: Row) -> Planted:
    """An object of the kind that has content in the field."""
    planted = copy.deepcopy(PLANTED[row.kind])
    holder: Any = planted.value
    *steps, last = row.field.split(".")
    for step, below in zip(steps, [*steps[1:], last], strict=True):
        if isinstance(holder, list):
            holder[:] = holder or [{}]
            holder = holder[0]
        else:
            holder = holder.setdefault(step, [] if below == "*" else {})
    holder[last] = {**holder.get(last, {}), **CONTENT}
    return planted


@pytest.mark.parametrize("row", rows("none"))
def test_what_no_pod_gets_changes_no_policy(row: Row) -> None:
    planted = with_content(row)
    before, after = rendered(PLANTED[row.kind].value).ok(), rendered(planted.value).ok()
    for address in planted.sealed:
        assert data_of(after, address) == data_of(before, address)


@pytest.mark.parametrize("row", rows("refused"))
def test_what_a_policy_cannot_describe_is_refused(row: Row) -> None:
    if row.field == "spec.workloadRef":
        pods: Json = {**thing("apps/v1", "Deployment", template=template())}
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "llm"}
        run = ran(
            *("generate", "-", *OPTIONS),
            stdin=stream(pods, thing("argoproj.io/v1alpha1", "Rollout", workloadRef=reference)),
        )
        assert (run.code, "CC0260" in run.err) == (1, True)
        return
    run = rendered(with_content(row).value)
    assert (run.code, "CC0694" in run.err) == (1, True), run.err


def test_options_of_the_autoscaler_are_refused_with_the_autoscaler() -> None:
    planted = with_content(Row("RayCluster", "spec.autoscalerOptions", "none"))
    planted.value["spec"]["enableInTreeAutoscaling"] = True
    assert "CC0694" in rendered(planted.value).err


def test_claims_of_a_job_set_are_refused() -> None:
    for mode in ({}, {"completionMode": "NonIndexed"}):
        job_set = thing("jobset.x-k8s.io/v1alpha2", "JobSet", replicatedJobs=[replicated("main", **mode)])
        rendered(job_set).ok()
        job_set["spec"]["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "data"}}]}]
        assert "CC0694" in rendered(job_set).err


@pytest.mark.parametrize("row", rows("read"))
def test_an_entry_has_what_it_reads(row: Row) -> None:
    (group,) = (group for group in CATALOGUED[row.kind])
    assert row.field.split(".")[-1] in (Path(DIRECTORY) / f"{group}.yaml").read_text()
