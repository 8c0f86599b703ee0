"""One control plane for all tests of this directory that run in the same process, one after the other.

Sizes: `small` in `make test-all`, with the same random numbers in every run; `large` in
`make nightly`, with those of PROPERTY_SEED, which the head of the report names.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

import pytest

from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane, control_plane
from tests.cluster.made_up_kubelet import made_up_kubelet
from tests.hosts.running import Machine, machine

WORKLOADS = ("CronJob", "Job", "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "ReplicationController")
KUBERNETES_OWN = frozenset({"default", "kube-root-ca.crt"})  # in each namespace


class Sizes(NamedTuple):
    """How much of a random test runs. large: the sizes of a release, by a fresh seed."""

    large: bool
    seed: str

    def __call__(self, small: int, large: int) -> int:
        """How many of something."""
        return large if self.large else small

    def random(self, what: str) -> Random:
        """The random numbers of one test."""
        return Random(f"{self.seed} {what}")  # noqa: S311 (not for secrets)


@pytest.fixture(scope="session")
def sizes(pytestconfig: pytest.Config) -> Sizes:
    large = pytestconfig.getoption("--cluster") == "large"
    return Sizes(large, os.environ.get("PROPERTY_SEED", "0") if large else "0")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    directory: Path = tmp_path_factory.mktemp("control-plane")
    with control_plane(directory) as made, made_up_kubelet(made.api):
        yield made


@pytest.fixture(scope="session")
def api(cluster: ControlPlane) -> Api:
    return cluster.api


@pytest.fixture(scope="module", autouse=True)
def no_contrast_class(api: Api) -> Iterator[None]:
    """The cluster has no class of Contrast's when a file begins, and after it."""
    yield
    clear_runtime_classes(api)


@pytest.fixture(scope="session")
def krm_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture
def namespace(api: Api, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of a test's own, in which pods can be made."""
    name = f"test-{crc32(request.node.nodeid.encode()):08x}"
    add_namespace(api, name)
    yield name
    api.delete("Namespace", name)  # first, so that no controller makes a pod again
    empty_namespace(api, name)


@pytest.fixture
def shop(api: Api) -> Iterator[str]:
    """The namespace of the examples, which only some of them create; it stays, without what a test left in it."""
    if api.get("Namespace", "shop").code == 404:
        add_namespace(api, "shop")
    yield "shop"
    clear_namespace(api, "shop")


@pytest.fixture
def no_shop(api: Api) -> Iterator[str]:
    """The same namespace, which the test creates."""
    remove_namespace(api, "shop")
    yield "shop"
    remove_namespace(api, "shop")


def clear_runtime_classes(api: Api) -> None:
    """Delete the classes that renders, releases and tests have brought."""
    for value in api.items("RuntimeClass"):
        if value["metadata"]["name"].startswith("contrast-cc"):
            api.delete("RuntimeClass", value["metadata"]["name"])


def add_namespace(api: Api, name: str) -> None:
    """Create a namespace and wait for its service account: without it no pod is admitted."""
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).ok()
    until(f"the service account of {name}", lambda: api.get("ServiceAccount", "default", name).code == 200)


def empty_namespace(api: Api, name: str) -> None:
    """Delete all workloads of a namespace, and wait for the end of their pods, which would take other nodes."""
    for kind in WORKLOADS:
        api.delete_all(kind, name)
    until(f"the end of the pods of {name}", lambda: _no_pods(api, name), 180)


def clear_namespace(api: Api, name: str) -> None:
    """Delete all that somebody put into a namespace."""
    empty_namespace(api, name)
    for kind in ("PersistentVolumeClaim", "ConfigMap", "Secret", "Service", "RoleBinding", "Role", "ServiceAccount"):
        for value in api.items(kind, name):
            if value["metadata"]["name"] not in KUBERNETES_OWN:
                api.delete(kind, value["metadata"]["name"], name)


def remove_namespace(api: Api, name: str) -> None:
    """Delete a namespace with all that is in it, and wait for its end, which takes Kubernetes five seconds."""
    api.delete("Namespace", name)
    empty_namespace(api, name)
    until(f"the end of {name}", lambda: api.get("Namespace", name).code == 404)


def _no_pods(api: Api, namespace: str) -> bool:
    api.delete_all("Pod", namespace)
    return not api.items("Pod", namespace)
