"""Conditions that the policies of our own generator never exercise alone, so the policy itself is changed here.

Found by taking each condition of the rules away (`python -m benchmarks.policy`): nobody else would notice.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.policy import host, pods

Json = dict[str, Any]
GPU: Json = {"limits": {"nvidia.com/GH100_H100_PCIE": 1}}
PREFIX = "/dev/vfio/devices/vfio"


def edited(rego: str, change: Callable[[Json], object]) -> str:
    """The policy with other data."""
    head, data = rego.split("\npolicy_data := ")
    made = json.loads(data)
    change(made)
    return f"{head}\npolicy_data := {json.dumps(made, indent=2, ensure_ascii=False)}"


def container(rego: str, name: str, change: Callable[[Json], object]) -> str:
    """The policy with another entry for one container."""
    index = host.Host(rego).index(name)
    return edited(rego, lambda data: change(data["containers"][index]))


def created(rego: str, request: Json) -> bool:
    """Whether a fresh agent creates the container."""
    return host.Agent(rego).verdict("CreateContainerRequest", request) is not False


@pytest.fixture(scope="module")
def rego() -> str:
    return pods.sealed(pods.rich()).rego


def _noted(key: str, value: str) -> Callable[[Json], None]:
    return lambda entry: entry["OCI"]["Annotations"].update({key: value})


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("pause", "io.kubernetes.cri.container-type", "container"),
        ("pause", "io.kubernetes.cri.container-name", "pause"),
        ("app", "io.kubernetes.cri.container-type", "sandbox"),
        ("app", "nerdctl/network-namespace", "^/"),
        ("app", "io.kubernetes.cri.sandbox-log-directory", "^/"),
    ],
)
def test_the_policy_s_own_role_counts_too(rego: str, name: str, key: str, value: str) -> None:
    request = host.Host(rego).create(name)
    assert created(rego, request)
    assert not created(container(rego, name, _noted(key, value)), request)


def test_no_container_has_a_network_of_its_own_whatever_its_patterns_permit(rego: str) -> None:
    lax = container(rego, "app", lambda entry: entry["runtime_anno_patterns"].update({"^x/|^nerdctl/": "^/"}))
    request = host.Host(rego).create("app")
    request["OCI"]["Annotations"]["x/y"] = "/z"
    assert created(lax, request)
    request["OCI"]["Annotations"]["nerdctl/network-namespace"] = "/z"
    assert not created(lax, request)


def test_a_mount_that_could_be_two_of_the_policy_is_denied(rego: str) -> None:
    doubled = container(rego, "app", lambda entry: entry["OCI"]["Mounts"].append(entry["OCI"]["Mounts"][-1]))
    assert not created(doubled, host.Host(rego).create("app"))


@pytest.mark.parametrize("source", ["0:1", "01/02", "01"])
def test_an_address_is_the_source_of_a_block_device_only(rego: str, source: str) -> None:
    request = host.Host(rego).create("app")
    storage = next(each for each in request["storages"] if each["driver"] == "ephemeral")
    storage["source"] = source
    assert not created(rego, request)


@pytest.mark.parametrize("changes", [{"fstype": "xfs"}, {"options": ["x"]}, {"driver_options": []}, {"shared": False}])
def test_a_scsi_device_is_the_policy_s_storage_too(rego: str, changes: Json) -> None:
    request = host.Host(rego).create("app")
    storage = next(each for each in request["storages"] if each["driver"] == "blk")
    mount = next(each for each in request["OCI"]["Mounts"] if each["source"] == storage["mount_point"])
    place = "/run/kata-containers/sandbox/storage/MDox"  # base64 of 0:1
    storage.update(driver="scsi", source="0:1", mount_point=place)
    mount["source"] = place
    assert created(rego, request)
    storage.update(changes)
    assert not created(rego, request)


@pytest.mark.parametrize("driver", ["blk", "overlayfs"])
def test_a_policy_names_no_driver_that_the_host_chooses(rego: str, driver: str) -> None:
    other = container(rego, "app", lambda entry: entry["storages"][-1].update(driver=driver))
    request = host.Host(rego).create("app")
    request["storages"][-1]["driver"] = driver
    assert not created(other, request)


def test_a_file_system_without_a_rule_for_its_place_is_denied(rego: str) -> None:
    other = container(rego, "app", lambda entry: entry["storages"][-1].update(fstype="xfs"))
    assert not created(other, host.Host(other).create("app"))


def test_a_gpu_is_known_by_its_prefix_number_and_kind() -> None:
    rego = pods.sealed(pods.simple(resources=GPU)).rego
    good = host.Host(rego).create("app")
    assert created(rego, good)

    def allowed(policy: str, **device: Any) -> bool:
        request = copy.deepcopy(good)
        request["devices"][0].update(device)
        return created(policy, request)

    assert not allowed(rego, container_path="0", id="vfio0")
    assert not allowed(rego, container_path=f"{PREFIX}0x", id="vfio0x")
    plain = {"id": "", "type_": "", "vm_path": "", "container_path": f"{PREFIX}0", "options": []}
    other = container(rego, "app", lambda entry: entry["devices"].append(plain))
    assert allowed(other)
    assert not allowed(other, id="vfio9")
    assert not allowed(other, type_="")


def test_a_known_value_followed_by_more_is_no_token(rego: str) -> None:
    other = container(rego, "app", lambda entry: entry["OCI"]["Process"]["Env"].append("ZONE=$(node-name)=a"))
    request = host.Host(rego).create("app")
    request["OCI"]["Process"]["Env"].append("ZONE=$(node-name)=a")
    assert created(other, request)
    request["OCI"]["Process"]["Env"][-1] = "ZONE=b"
    assert not created(other, request)


@pytest.mark.parametrize(
    "name", ["CloseStdin", "GetDiagnosticData", "ReadStream", "UpdateEphemeralMounts", "WriteStream"]
)
@pytest.mark.parametrize("value", [True, False])
def test_a_switch_of_the_settings_is_the_verdict(rego: str, name: str, *, value: bool) -> None:
    entry_point = f"{name}Request"
    policy = edited(rego, lambda data: data["request_defaults"].update({entry_point: value}))
    assert host.Agent(policy).verdict(entry_point, {}) is value
