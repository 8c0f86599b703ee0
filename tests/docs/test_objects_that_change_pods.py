"""The table of objects that change pods: beside a sealed Deployment, each row's objects get the finding of the row."""

import re

import pytest

from krm_function.contrast.sidecar_injectors import CHANGING_KINDS
from tests.hosts.running import ROOT
from tests.mistakes.test_injectors import (
    ADMISSION,
    GATEKEEPER,
    KYVERNO,
    OF_PODS,
    ON_PODS,
    OWN,
    ROLE,
    WEB,
    autoscaler,
    of_rules,
    other_object,
    sidecar_set,
    spread,
)
from tests.world import Json, an_object, coordinator, pod_spec, run

PAGE = ROOT / "docs/facts/sidecar-injectors.md"
CODES = {"CC0260", "CC0292", "CC0293", "CC0317"}
MUTATES = {"rules": [{"mutate": {}, "match": OF_PODS}]}
OF_PODS_ALONE = {"applyTo": [{"groups": [""], "versions": ["v1"], "kinds": ["Pod"]}]}
LIMITS = {"limits": [{"type": "Container", "default": {"cpu": "2"}}]}
PRESETS = (("kubeflow.org/v1alpha1", "PodDefault"), ("redhatcop.redhat.io/v1alpha1", "PodPreset"))
IN_SHOP = {"metadata": {"namespace": "shop"}}

OBJECTS: dict[str, list[Json]] = {
    "SidecarSet (OpenKruise) that may select the pod and is not paused": [sidecar_set(selector=OWN)],
    "WorkloadSpread (OpenKruise) with a patch, for the workload": [spread(patch={})],
    "VerticalPodAutoscaler for the workload, if the pod has CPU limits": [autoscaler()],
    'VerticalPodAutoscaler with `updateMode: "Off"`, `controlledValues: RequestsOnly`, or without `cpu`': [
        autoscaler(updatePolicy={"updateMode": "Off"}),
        autoscaler({"containerName": "*", "controlledValues": "RequestsOnly"}),
        autoscaler({"containerName": "*", "controlledResources": ["memory"]}),
    ],
    "ServiceAccount of the pod with `eks.amazonaws.com/role-arn`": [
        other_object("v1", "ServiceAccount", {}, metadata={"name": "web", **ROLE})
    ],
    "Rollout (Argo) whose `workloadRef` is the workload": [
        other_object("argoproj.io/v1alpha1", "Rollout", {"workloadRef": WEB})
    ],
    "PodDefault (Kubeflow) or PodPreset (redhatcop.redhat.io) that selects the pod": [
        other_object(version, kind, {"env": [{"name": "A", "value": "b"}], "selector": selector})
        for version, kind in PRESETS
        for selector in (OWN, {})
    ],
    "PodDefault that adds only tolerations": [
        other_object(*PRESETS[0], {"desc": "of GPUs", "selector": OWN, "tolerations": [{"operator": "Exists"}]})
    ],
    "the Deployment itself, with the annotation `deprecated.deployment.rollback.to`": [],
    "MutatingAdmissionPolicy, MutatingWebhookConfiguration for pods": [
        of_rules(ADMISSION, kind, ON_PODS) for kind in ("MutatingAdmissionPolicy", "MutatingWebhookConfiguration")
    ],
    "Kyverno's Policy, ClusterPolicy and MutatingPolicy that mutate pods": [
        other_object(KYVERNO, "Policy", MUTATES, **IN_SHOP),
        other_object(KYVERNO, "ClusterPolicy", MUTATES),
        of_rules("policies.kyverno.io/v1", "MutatingPolicy", ON_PODS),
    ],
    "Gatekeeper's Assign, AssignImage, AssignMetadata and ModifySet for pods": [
        other_object(GATEKEEPER, kind, OF_PODS_ALONE)
        for kind in ("Assign", "AssignImage", "AssignMetadata", "ModifySet")
    ],
    "LimitRange with default CPU limits": [other_object("v1", "LimitRange", LIMITS, **IN_SHOP)],
}


def rows() -> dict[str, str]:
    """Object -> finding, "" for none."""
    section = PAGE.read_text().partition("## Objects that change pods\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| ([^|]+) \| [^|]+ \|([^|]*)\|$", section, re.MULTILINE)
    return {row.strip(): code.strip() for row, code in found if row.strip() not in ("object", "---")}


def findings_beside(value: Json | None) -> list[str]:
    subject = an_object(spec=pod_spec(serviceAccountName="web"), labels={"app": "web"})
    if value is None:
        subject["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": "0"}
    values = [coordinator(), subject, *([value] if value else [])]
    return sorted({item.code for item in run(*values).findings} & CODES)


def test_every_row_has_an_object_and_every_kind_a_row() -> None:
    assert set(rows()) == set(OBJECTS)
    words = set(re.findall(r"\w+", " ".join(rows())))
    assert words >= CHANGING_KINDS


@pytest.mark.parametrize("row", OBJECTS, ids=str)
def test_an_object_of_a_row_gets_the_finding_of_the_row(row: str) -> None:
    code = rows()[row]
    for value in (*OBJECTS[row], *([None] if "itself" in row else [])):
        assert findings_beside(value) == [code] * bool(code)
