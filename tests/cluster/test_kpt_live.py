"""`kpt live apply` of the example: the cluster gets what was rendered, waits until it runs, and gives it back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.runtime_classes_option import set_runtime_classes
from tests.cluster.test_examples_applied import check_errors, live
from tests.hosts.applied import APPLIED
from tests.hosts.running import Machine, Ran, copied

EXAMPLE = next(example for example in APPLIED if example.rendered.startswith("kpt/"))._replace(config="")
SNP = {
    "metadata": {"name": "kpt-snp", "labels": {"example.com/tee": "sev-snp"}},
    "status": {"allocatable": {"cpu": "63", "memory": "251Gi", "sev-snp.amd.com/esids": "99"}},
}


@pytest.fixture
def nodes(api: Api, shop: str) -> Iterator[None]:
    """A node that takes the pods, as long as the namespace has some."""
    with made_up_nodes(api, [SNP]):
        yield


@pytest.mark.usefixtures("shop", "nodes")
def test_kpt_applies_updates_and_destroys(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path
) -> None:
    package = copied("kpt", tmp_path)
    set_runtime_classes(package / "contrast.yaml", "emit")

    def kpt(*arguments: str) -> str:
        return krm_machine.run(["kpt", *arguments], package, env={"KUBECONFIG": str(cluster.kubeconfig)}).ok().decode()

    kpt("fn", "render", "--allow-exec")
    kpt("live", "install-resource-group")
    kpt("live", "init", "--name", "shop", "--inventory-id", "shop")
    assert "0 failed" in kpt("live", "apply", "--reconcile-timeout", "50s", "--output", "events")
    assert check_errors(live(cluster), EXAMPLE) == []
    names = {value["metadata"]["name"] for value in api.items("ConfigMap", "shop")}
    assert "contrast-manifest" not in names  # a file of the package, for `contrast set`

    def check() -> Ran:
        return krm_machine.krm("check", str(package), "--cluster", KUBECONFIG=str(cluster.kubeconfig))

    ran = check()
    assert (ran.code, "error" in ran.err, ", which no host applies" in ran.err) == (0, False, True), ran.err

    manifest = tmp_path / "manifest.json"  # in the package, and not in the cluster
    manifest.write_bytes(krm_machine.krm("manifest", str(package)).ok())

    def piped() -> Ran:
        listed = cluster.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml").stdout
        return krm_machine.krm("check", "--manifest", str(manifest), stdin=listed.encode())

    for change in (["rollout", "restart", "deployment/web"], ["scale", "deployment/web", "--replicas=3"]):
        done = cluster.kubectl(*change, "-n", "shop")
        assert done.returncode == 0, done.stderr
        for ran in (check(), piped()):  # in the middle of it, too
            assert (ran.code, "error " in ran.err) == (0, False), (change, ran.err)
    cluster.kubectl("set", "image", "deployment/web", "web=registry.example.com/evil@sha256:" + "0" * 64, "-n", "shop")
    ran = check()
    assert (ran.code, ran.err.count("error ")) == (1, 1), ran.err
    assert "web: image; last written by kubectl-set\n  hint: restore the package with kpt live apply" in ran.err
    assert [line for line in piped().err.splitlines() if line.startswith("error CC1103")]
    kpt("live", "apply", "--reconcile-timeout", "50s")
    until("the pods of the package", lambda: check().code == 0)
    generation = api.get("Deployment", "web", "shop").ok()["metadata"]["generation"]

    kpt("fn", "render", "--allow-exec")
    kpt("live", "apply", "--reconcile-timeout", "50s")
    assert api.get("Deployment", "web", "shop").ok()["metadata"]["generation"] == generation

    kpt("live", "destroy")
    assert api.get("Deployment", "web", "shop").code == 404
