"""Names that no new volume of a pod may have."""

from typing import Any

import pytest

from krm_function.adapt.choices import free_name, taken_names
from krm_function.contrast.owned import VOLUMES
from krm_function.findings import Ref
from krm_function.kubernetes.workload import PREFIX, Workload


def workload(spec: dict[str, Any], **more: Any) -> Workload:
    value = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {"template": {"metadata": more.pop("metadata", {}), "spec": spec}, **more},
    }
    return Workload(value, (), Ref("apps/v1", "StatefulSet", "", "web"), ("spec", "template"))


@pytest.mark.parametrize(
    "made",
    [
        workload({"containers": [], "volumes": [{"name": "mine", "emptyDir": {}}]}),
        workload({"containers": [{"name": "a", "volumeMounts": [{"name": "mine", "mountPath": "/a"}]}]}),
        workload({"containers": [], "initContainers": [{"name": "a", "volumeMounts": [{"name": "mine"}]}]}),
        workload({"containers": []}, volumeClaimTemplates=[{"metadata": {"name": "mine"}}]),
        workload({"containers": []}, metadata={"annotations": {f"{PREFIX}secure-pv": "disk:mine"}}),
    ],
    ids=["volume", "mount", "mount of an init container", "claim", "encrypted volume"],
)
def test_a_name_that_the_pod_has_is_taken(made: Workload) -> None:
    taken = taken_names(made)
    assert "mine" in taken
    assert taken >= set(VOLUMES)
    assert free_name("m", "ine", taken) == "m-ine"
    assert free_name("m", "ine", {*taken, "m-ine"}) != "m-ine"


def test_a_pod_without_volumes_has_those_of_a_render_alone() -> None:
    assert taken_names(workload({"containers": [{"name": "a"}]})) == set(VOLUMES)
