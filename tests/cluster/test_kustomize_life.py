"""The life of what kustomize renders and kubectl applies, with what both forms of `check` say at each step."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api, until
from tests.cluster.conftest import clear_runtime_classes
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.hosts.running import Machine, copied

NODES = [
    {
        "metadata": {"name": f"kustomize-{tee}", "labels": {"example.com/tee": tee}},
        "status": {"allocatable": {"cpu": "63", "memory": "251Gi", "sev-snp.amd.com/esids": "99"}},
    }
    for tee in ("sev-snp", "tdx")
]


@pytest.fixture
def nodes(api: Api, shop: str) -> Iterator[None]:
    """Nodes that take the pods, as long as the namespace has some."""
    with made_up_nodes(api, NODES):
        yield
        clear_runtime_classes(api)


class Life:
    """A deployment in a directory, and the cluster it is applied to."""

    def __init__(self, cluster: ControlPlane, machine: Machine, directory: Path) -> None:
        self.cluster, self.machine = cluster, machine
        self.directory = copied("kustomize", directory)
        self.file = self.directory / "rendered.yaml"

    def kubectl(self, *arguments: str) -> str:
        done = self.cluster.kubectl(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def build(self) -> None:
        flags = ("--enable-alpha-plugins", "--enable-exec")
        self.file.write_bytes(self.machine.run(["kustomize", "build", *flags, "confidential"], self.directory).ok())

    def errors(self) -> tuple[list[str], list[str]]:
        """The codes of the errors of `check --cluster` and of the piped form."""
        live = self.machine.krm("check", str(self.file), "--cluster", KUBECONFIG=str(self.cluster.kubeconfig))
        listed = self.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml")
        piped = self.machine.krm("check", stdin=listed.encode())
        assert not [line for line in (live.err + piped.err).splitlines() if "hint" in line and "delete" in line]
        return re.findall(r"(?m)^error (CC\d+)", live.err), re.findall(r"(?m)^error (CC\d+)", piped.err)


@pytest.mark.usefixtures("shop", "nodes")
def test_the_life_of_a_deployment(api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path) -> None:
    """Applied both ways, restarted, scaled by hand and by an autoscaler, changed and back, rendered anew."""
    life = Life(cluster, krm_machine, tmp_path)
    life.build()
    classes = tmp_path / "classes.yaml"
    classes.write_bytes(
        krm_machine.krm("release", "runtime-classes", "--config", str(life.directory / "confidential")).ok()
    )
    life.kubectl("apply", "-f", str(classes))
    life.kubectl("apply", "-f", str(life.file))
    assert life.errors() == ([], [])
    life.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(life.file))
    assert life.errors() == ([], [])
    name = f"deployment/{api.items('Deployment', 'shop')[0]['metadata']['name']}"
    life.kubectl("rollout", "restart", name, "-n", "shop")
    life.kubectl("scale", name, "--replicas=3", "-n", "shop")
    assert life.errors() == ([], [])
    life.kubectl("autoscale", name, "--min=4", "--max=5", "--cpu=80%", "-n", "shop")
    until("the autoscaler", lambda: api.items("Deployment", "shop")[0]["spec"]["replicas"] == 4)
    assert life.errors() == ([], []), "the replicas are the autoscaler's"

    template = api.items("Deployment", "shop")[0]["spec"]["template"]
    container = template["spec"]["containers"][0]["name"]
    life.kubectl("set", "image", name, f"{container}=registry.example.com/evil@sha256:{'0' * 64}", "-n", "shop")
    assert life.errors() == (["CC1120"], ["CC1103"])
    life.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(life.file))
    until("the way back", lambda: life.errors() == ([], []))

    before = life.file.read_bytes()
    settings = life.directory / "prod/kustomization.yaml"
    settings.write_text(settings.read_text().replace("LOG_LEVEL=warn", "LOG_LEVEL=trace"))
    life.build()
    assert life.file.read_bytes() != before
    assert set(life.errors()[0]) == {"CC1120"}, "another render is applied"
    life.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(life.file))
    assert life.errors() == ([], []), "in the middle of the rollout, too"
