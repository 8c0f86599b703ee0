"""Which CPU limits of a pod enter the vCPU count (docs/facts/contrast.md#vcpus)."""

from typing import Any

import pytest

from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding
from tests.world import WEB, pod_template, workload


def container(name: str, cpu: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": WEB, "resources": {"limits": {"cpu": cpu}}, **fields}


def counted(**spec: Any) -> int | Finding:
    return vcpus(workload(template=pod_template(**spec)))


def test_the_worked_example_has_three() -> None:
    assert counted() == 3


@pytest.mark.parametrize(
    ("init", "regular", "pod", "expected"),
    [
        ([], [], None, 1),
        ([], ["1"], None, 2),
        ([], ["1", "1001m"], None, 4),
        ([("Always", "1")], ["1"], None, 3),
        ([("Never", "1")], ["1"], None, 2),
        ([(None, "2"), (None, "2")], ["1"], None, 5),
        ([("Always", "2"), (None, "2")], ["1"], None, 5),
        ([("Always", "2"), (None, "500m")], ["1"], None, 4),
        ([], ["1"], "6", 7),
        ([(None, 0.5)], [0.25], 0, 2),
        ([], [None], None, 1),
    ],
)
def test_which_limits_count(init: list[Any], regular: list[Any], pod: Any, expected: int) -> None:
    assert (
        counted(
            initContainers=[container(f"i{at}", cpu, restartPolicy=policy) for at, (policy, cpu) in enumerate(init)],
            containers=[container(f"c{at}", cpu) for at, cpu in enumerate(regular)],
            resources={"limits": {"cpu": pod}},
        )
        == expected
    )


@pytest.mark.parametrize("spec", [{"containers": "x"}, {"initContainers": [None, 1]}, {"resources": []}])
def test_it_reads_any_shape(spec: dict[str, Any]) -> None:
    assert isinstance(counted(**spec), int)


def test_a_limit_that_is_none_is_a_finding_at_its_place() -> None:
    found = counted(initContainers=[container("i", "-1m")])
    assert isinstance(found, Finding)
    assert (found.code, found.message) == ("CC0408", "resources.limits.cpu: must not be negative")
    assert found.path[3:5] == ("initContainers", 0)
    found = counted(resources={"limits": {"cpu": "x"}})
    assert isinstance(found, Finding)
    assert found.path == ("spec", "template", "spec", "resources", "limits", "cpu")
