"""A pod whose GPU was renamed by rule: the agent allows what a node asks for it, and no other number of GPUs."""

from collections.abc import Callable

import pytest

from krm_function.adapt.gpu_names import rename_gpus
from krm_function.contrast.profiles import CONTRAST
from tests.policy.host import Json
from tests.policy.test_contrast_node import _gpu
from tests.policy.test_shared_gpus import Running, workload

NAMES = {"nvidia.com/gpu": "nvidia.com/pgpu"}


def drop(request: Json) -> None:
    request["devices"].pop()


def announce_less(request: Json) -> None:
    del request["OCI"]["Annotations"]["cdi.k8s.io/vfio0"]


@pytest.fixture(scope="module")
def running() -> Running:
    asked = {"resources": {"limits": {"nvidia.com/gpu": 2}}}
    subject = workload({"name": "asks", **asked}, {"name": "plain"})
    return Running(subject.after(rename_gpus(subject, NAMES).edits), CONTRAST)


@pytest.mark.parametrize("container", ["pause", "asks", "plain"])
def test_what_a_node_asks_for_the_renamed_pod_is_allowed(running: Running, container: str) -> None:
    assert running.allows(container)


@pytest.mark.parametrize("change", [drop, announce_less, lambda request: _gpu(request, 2)], ids=["one", "said", "more"])
@pytest.mark.parametrize("container", ["pause", "asks"])
def test_one_gpu_less_or_more_is_not(running: Running, container: str, change: Callable[[Json], None]) -> None:
    assert not running.allows(container, change)


def test_a_container_that_asked_for_none_gets_none(running: Running) -> None:
    assert not running.allows("plain", lambda request: _gpu(request, 0))
