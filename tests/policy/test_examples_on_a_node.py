"""Every container of every example starts on a Contrast node, and with any one thing changed it does not.

The policies are those in the committed output of the examples, ID blocks of SNP included, and every engine is asked.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import pytest

from tests.policy.engines import agreed
from tests.policy.engines.corpus import allows
from tests.policy.host import Json
from tests.policy.oracle import workloads
from tests.policy.oracle.requests import Asked, life

CREATE = "CreateContainerRequest"


@functools.cache
def distinct() -> dict[str, str]:
    """The policies of the examples, each once: hosts seal the same pod alike."""
    found: dict[str, str] = {}
    for name, rego in workloads.examples().items():
        found.setdefault(rego, name)
    return {name: rego for rego, name in found.items()}


@functools.cache
def created(name: str) -> tuple[Asked, ...]:
    """The requests that create a container, all of which were allowed; regorus and OPA are asked about the others."""
    return tuple(asked for asked in life(distinct()[name], quick=True) if asked.entry_point == CREATE)


def _pull(request: Json) -> Json:
    return next(one for one in request["storages"] if one["driver"] == "image_guest_pull")


def _is_sandbox(request: Json) -> bool:
    return bool(request["OCI"]["Annotations"]["io.kubernetes.cri.container-type"] == "sandbox")


def _another_digest(request: Json) -> None:
    source = _pull(request)["source"]
    last = "0" if source[-1] != "0" else "1"
    _pull(request)["source"] = f"evil.example/x@sha256:{'0' * 64}" if _is_sandbox(request) else source[:-1] + last


def _device(request: Json) -> None:
    request["devices"].append(
        {"id": "x", "type_": "blk", "vm_path": "01/01", "container_path": "/dev/x", "options": []}
    )


def _gpu(request: Json) -> None:
    path, options = "/dev/vfio/devices/vfio9", ["0000:09:00.0=01/09"]
    gpu = {"id": "vfio9", "type_": "vfio-pci-gk", "vm_path": "", "container_path": path, "options": options}
    request["devices"].append(gpu)
    request["OCI"]["Annotations"]["cdi.k8s.io/vfio9"] = "nvidia.com/gpu=9"


def _mount(request: Json) -> None:
    source = f"/run/kata-containers/shared/containers/{request['container_id']}-0123456789abcdef-x"
    options = ["rbind", "rprivate", "rw"]
    request["OCI"]["Mounts"].append({"destination": "/x", "source": source, "type_": "bind", "options": options})


def _propagation(request: Json) -> None:
    linux = request["OCI"]["Linux"]
    linux["RootfsPropagation"] = "rslave" if linux["RootfsPropagation"] != "rslave" else "rshared"


def _user(field: str) -> Callable[[Json], None]:
    def change(request: Json) -> None:
        request["OCI"]["Process"]["User"][field] += 1

    return change


CHANGES: dict[str, Callable[[Json], Any]] = {
    "the digest of the image": _another_digest,
    "an image without a digest": lambda r: _pull(r).update(source="busybox:latest"),
    "no image": lambda r: r["storages"].remove(_pull(r)),
    "two images": lambda r: r["storages"].append(copy.deepcopy(_pull(r))),
    "the place of the image": lambda r: _pull(r).update(mount_point="/proc"),
    "a driver option": lambda r: _pull(r)["driver_options"].append("image_guest_pull={}"),
    "an empty driver option": lambda r: _pull(r)["driver_options"].append(""),
    "another user": _user("UID"),
    "another group": _user("GID"),
    "one more group": lambda r: r["OCI"]["Process"]["User"]["AdditionalGids"].append(4242),
    "a group less": lambda r: r["OCI"]["Process"]["User"]["AdditionalGids"].clear(),
    "a mount more": _mount,
    "a device more": _device,
    "a GPU more": _gpu,
    "another propagation": _propagation,
    "a storage more": lambda r: r["storages"].append({**copy.deepcopy(_pull(r)), "driver": "blk", "source": "01/01"}),
}


def test_all_examples_are_here() -> None:
    names = {name.partition(" ")[0] for name in distinct()}
    assert names >= {"quickstart", "gpu", "multi-runtime", "every-field", "strict", "from-scratch", "helm"}
    assert any(len(line) > 5464 for rego in distinct().values() for line in rego.splitlines()), "SNP pods among them"


@pytest.mark.slow
@pytest.mark.parametrize("name", distinct())
def test_every_container_starts_on_every_engine(name: str) -> None:
    rego = distinct()[name]
    assert len(created(name)) > 1
    for asked in created(name):
        assert asked.request["OCI"]["Version"] == "1.3.0"
        assert allows(agreed.ask(rego, CREATE, asked.state, asked.request, asked.name)), asked.name


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("name", distinct())
def test_a_container_with_one_thing_changed_does_not(name: str, what: str, *, whole: bool) -> None:
    """One container for each policy and change, in turn; every night each of them."""
    turn = list(CHANGES).index(what) + list(distinct()).index(name)
    for number, asked in enumerate(created(name)):
        if not whole and number != turn % len(created(name)):
            continue
        request = copy.deepcopy(asked.request)
        CHANGES[what](request)
        assert request != asked.request
        answer = agreed.ask(distinct()[name], CREATE, asked.state, request, what)
        assert not allows(answer), f"{asked.name}: {what}"
