"""GPUs of a pod."""

from typing import Any

import pytest

from krm_function.contrast.gpus import PASSED, GpuName, gpu_count, gpu_name, gpu_problems, passed_names, wants_gpu
from krm_function.contrast.profiles import CONTRAST, KATA
from krm_function.findings import Cause


def container(count: object, key: str = "nvidia.com/gpu", **more: object) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": {key: count}}, **more}


@pytest.mark.parametrize(
    "key", ["nvidia.com/gpu", "nvidia.com/pgpu", "nvidia.com/GH100_H100_PCIE", "nvidia.com/GB110_B300_SXM6_AC"]
)
def test_any_nvidia_gpu_counts(key: str) -> None:
    assert gpu_count({"containers": [container("2", key)]}) == 2


NAMES: dict[str, GpuName] = {
    "nvidia.com/pgpu": "passed",
    "nvidia.com/GH100_H100_PCIE": "passed",
    "nvidia.com/GH100_H100_SXM5_80GB": "other",
    "nvidia.com/gpu": "other",
    "nvidia.com/anything-new": "other",
    "amd.com/gpu": "other",
    "gpu.intel.com/i915": "other",
    "nvidia.com/mig-1g.5gb": "part",
    "nvidia.com/gpu.shared": "part",
    "volcano.sh/vgpu-number": "part",
    "nvidia.com/gpumem": "share",
    "nvidia.com/gpumem-percentage": "share",
    "nvidia.com/gpucores": "share",
    "gpu.intel.com/millicores": "share",
    "volcano.sh/vgpu-memory": "share",
    "nvidia.com/hostdev": "",
    "nvidia.com/rdma_shared_device_a": "",
    "nvidia.com/": "",
    "example.com/dongle": "",
    "cpu": "",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_a_name_stands_for_decides_whether_it_counts(name: str) -> None:
    assert gpu_name(name) == NAMES[name]
    spec = {"containers": [container(1024, name)]}
    assert gpu_count(spec) == (1024 if NAMES[name] in {"passed", "other"} else 0)
    assert wants_gpu(spec) == (NAMES[name] in {"passed", "other", "part"})


def test_the_settings_of_the_policy_say_which_names_are_passed() -> None:
    mine = {"devices": {"vfio": {"nvidia": {"pgpu_resource_keys": ["nvidia.com/gpu", "example.com/mine"]}}}}
    passed = passed_names(mine, KATA)
    assert [gpu_name(one, passed) for one in ("nvidia.com/gpu", "example.com/mine", "nvidia.com/pgpu")] == [
        "passed", "passed", "other",
    ]  # fmt: skip
    assert passed_names(None, KATA) == ("nvidia.com/pgpu",)
    assert passed_names(None, CONTRAST) == passed_names({}, None) == PASSED


@pytest.mark.parametrize("key", ["gpu.nvidia.com/x", "nvidia.com", "cpu"])
def test_other_resources_do_not(key: str) -> None:
    assert gpu_count({"containers": [container(2, key)]}) == 0


def test_requests_do_not_count() -> None:
    assert gpu_count({"containers": [{"resources": {"requests": {"nvidia.com/gpu": 1}}}]}) == 0


def test_containers_and_sidecars_add_up_and_init_containers_are_counted_on_their_own() -> None:
    spec = {
        "containers": [container(1), container("1", "nvidia.com/pgpu")],
        "initContainers": [container(1, restartPolicy="Always"), container(1)],
    }

    assert gpu_count(spec) == 3
    assert gpu_count({**spec, "initContainers": [container(4)]}) == 4
    assert gpu_count({"initContainers": [container(1)], "containers": [{}]}) == 1


def test_none_asked_for_is_none() -> None:
    assert gpu_count({"containers": [container(0)]}) == 0
    assert gpu_count({}) == 0


@pytest.mark.parametrize("value", ["two", None, True, [], "1e99"])
def test_a_gpu_that_cannot_be_counted_still_counts_as_one(value: object) -> None:
    spec = {"containers": [{}, container(value)]}

    assert gpu_count(spec) == 1
    assert [path for path, _ in gpu_problems(spec)] == [("containers", 1, "resources", "limits", "nvidia.com/gpu")]


def test_a_negative_count_is_a_problem_and_no_gpu() -> None:
    spec = {"containers": [container(-1)]}

    assert gpu_count(spec) == 0
    assert [cause for _, cause in gpu_problems(spec)] == [Cause("CC0408.negative")]


@pytest.mark.parametrize(
    "spec", [{"containers": None}, {"containers": ["x"]}, {"containers": [{"resources": 1}]}, {"initContainers": {}}]
)
def test_a_pod_of_any_shape_is_counted(spec: dict[str, Any]) -> None:
    assert gpu_count(spec) == 0
    assert gpu_problems(spec) == ()
