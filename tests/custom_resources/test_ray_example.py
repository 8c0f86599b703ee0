"""The RayCluster of the example: Ray asks for a token and certificates, which only its own pods can make."""

import functools
import subprocess
from pathlib import Path

import pytest

from tests import quick_yaml as yaml
from tests.custom_resources.objects import Json, data_of, variables
from tests.hosts.running import EXAMPLES

EXAMPLE = EXAMPLES / "custom-resources"
HEAD, WORKER = (f"RayCluster/shop/assistant#{part}" for part in ("head", "worker-gpu"))
SERVICE = "assistant-head-svc.shop.svc.cluster.local"
SEED = "/contrast/secrets/workload-secret-seed"


@functools.cache
def pods() -> list[Json]:
    """The specs of head and worker."""
    (value,) = yaml.safe_load_all((EXAMPLE / "resources/assistant.yaml").read_text())
    templates = [value["spec"]["headGroupSpec"], *value["spec"]["workerGroupSpecs"]]
    return [one["template"]["spec"] for one in templates]


def made(directory: Path, pod: Json, address: str, seed: str = "a" * 64) -> Path:
    """Run the init container of a pod in a directory, with its paths there."""
    (container,) = pod["initContainers"]
    directory.mkdir()
    (directory / "seed").write_text(seed)
    script = container["args"][0].replace(SEED, str(directory / "seed")).replace("/credentials", str(directory))
    subprocess.run(
        [*container["command"], script],
        env={"PATH": "/usr/bin:/bin", "POD_IP": address, "FQ_RAY_IP": SERVICE},
        check=True,
        capture_output=True,
    )
    return directory


def trusts(one: Path, other: Path, *name: str) -> bool:
    command = ["openssl", "verify", "-x509_strict", "-CAfile", str(one / "ca.crt"), *name, str(other / "tls.crt")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_pods_of_one_object_trust_each_other_by_address(tmp_path: Path) -> None:
    head, worker = (made(tmp_path / str(number), pod, f"10.0.0.{number}") for number, pod in enumerate(pods()))
    for one, other, address in ((head, worker, "10.0.0.1"), (worker, head, "10.0.0.0")):
        assert trusts(one, other, "-verify_ip", address)
        assert trusts(one, other, "-verify_ip", "127.0.0.1")
        assert not trusts(one, other, "-verify_ip", "10.0.0.7")
    assert trusts(worker, head, "-verify_hostname", SERVICE)
    assert not trusts(worker, head, "-verify_hostname", "other-head-svc.shop.svc.cluster.local")
    assert (head / "token").read_text() == (worker / "token").read_text()
    assert len((head / "token").read_text().strip()) == 64


def test_a_pod_with_another_workload_secret_is_none_of_them(tmp_path: Path) -> None:
    mine, other = (made(tmp_path / seed, pods()[1], "10.0.0.1", seed * 64) for seed in "ab")
    assert trusts(mine, mine)
    assert not trusts(mine, other)
    assert (mine / "token").read_text() != (other / "token").read_text()
    assert sorted(path.name for path in mine.iterdir()) == ["ca.crt", "seed", "tls.crt", "tls.key", "token"]


@pytest.mark.parametrize(("address", "container"), [(HEAD, "ray"), (WORKER, "ray"), (WORKER, "wait-gcs-ready")])
def test_the_policy_holds_ray_to_them(address: str, container: str) -> None:
    found = variables(data_of((EXAMPLE / "expected/rendered.yaml").read_bytes(), address), container)
    named = {name: value for name, value in found.items() if value.startswith("/credentials")}
    assert (found["RAY_AUTH_MODE"], found["RAY_USE_TLS"]) == ("token", "1")
    assert named == {
        "RAY_AUTH_TOKEN_PATH": "/credentials/token",
        "RAY_TLS_CA_CERT": "/credentials/ca.crt",
        "RAY_TLS_SERVER_CERT": "/credentials/tls.crt",
        "RAY_TLS_SERVER_KEY": "/credentials/tls.key",
    }


@pytest.mark.parametrize("address", [HEAD, WORKER])
def test_the_name_of_the_head_is_the_one_that_the_operator_writes(address: str) -> None:
    found = variables(data_of((EXAMPLE / "expected/rendered.yaml").read_bytes(), address), "credentials")
    assert found["FQ_RAY_IP"] == SERVICE


def test_the_dashboard_of_the_head_listens_to_itself_alone() -> None:
    found = variables(data_of((EXAMPLE / "expected/rendered.yaml").read_bytes(), HEAD), "ray")
    assert " --dashboard-host=127.0.0.1 " in found["KUBERAY_GEN_RAY_START_CMD"]
