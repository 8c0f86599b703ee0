"""The quickstart is applied once for this package, and its classes stay until the end of it."""

from collections.abc import Iterator

import pytest

from tests.cluster.api import Api, until
from tests.cluster.conftest import clear_runtime_classes, remove_namespace
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.quickstart.shop import CONFIG, NODES, RENDERED, Shop, ready
from tests.hosts.running import Machine


@pytest.fixture(scope="module", autouse=True)
def no_contrast_class() -> None:
    """In place of what clears the classes after each file."""


@pytest.fixture(scope="package")
def applied(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    classes = tmp_path_factory.mktemp("classes") / "classes.yaml"
    classes.write_bytes(krm_machine.krm("release", "runtime-classes", "--config", CONFIG).ok())
    made = Shop(api, cluster, krm_machine, classes)
    remove_namespace(api, "shop")
    with made_up_nodes(api, NODES):
        made.kubectl("apply", "-f", str(classes))
        made.kubectl("apply", "-f", str(RENDERED))
        until("the pods of the quickstart", lambda: ready(api))
        yield made
        remove_namespace(api, "shop")
        clear_runtime_classes(api)
