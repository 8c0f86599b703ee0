"""The life of a release with Helm 3 and Helm 4: the example's chart beside another release, with our post-renderer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api, until
from tests.cluster.conftest import clear_namespace
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.cluster.runtime_classes_option import set_runtime_classes
from tests.hosts.hosts import COMMAND, CONFIG, POST_RENDER
from tests.hosts.running import EXAMPLES, Machine, Ran, copied

CLASS = "contrast-cc-metal-qemu-snp-18a1a065"
RUNTIME = (
    EXAMPLES / "from-scratch" / "assets" / "runtime-metal-qemu-snp.yml"
)  # as Contrast publishes it: class and node installer
SNP = {
    "metadata": {"name": "helm-snp", "labels": {"example.com/tee": "sev-snp"}},
    "status": {"allocatable": {"cpu": "63", "memory": "251Gi", "sev-snp.amd.com/esids": "99"}},
}


@pytest.fixture
def ready(api: Api, cluster: ControlPlane, shop: str) -> Iterator[str]:
    """A cluster with a node and Contrast's own runtime file; the namespace of the release."""
    for name in ("contrast-system", "beside"):
        if api.get("Namespace", name).code == 404:
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).ok()
    with made_up_nodes(api, [SNP]):
        done = cluster.kubectl("apply", "-f", str(RUNTIME))
        assert done.returncode == 0, done.stderr
        yield shop
        for name in ("contrast-system", "beside"):
            clear_namespace(api, name)
        clear_namespace(api, shop)
    api.delete("RuntimeClass", CLASS)


class Helm:
    """One of both Helms, on the chart of the example in a directory of its own."""

    def __init__(self, name: str, machine: Machine, cluster: ControlPlane, directory: Path) -> None:
        self.name = name
        self._machine = machine
        self._environment = {"KUBECONFIG": str(cluster.kubeconfig)}
        self.chart = copied("helm", directory)

    def __call__(self, *arguments: str) -> Ran:
        return self._machine.run(["helm", *arguments], self.chart, helm=self.name, env=self._environment)

    def deploy(self, verb: str, release: str, namespace: str, *more: str) -> Ran:
        """`install` or `upgrade` with the post-renderer."""
        renderer = (*POST_RENDER, *(COMMAND if self.name == "helm3" else ()), *CONFIG)
        wait = ("--wait", "--timeout", "50s")
        return self(verb, release, "chart", "--namespace", namespace, *renderer, *wait, *more)

    def deployed(self, release: str, namespace: str) -> bytes:
        """What Helm keeps of a release."""
        return self("get", "manifest", release, "--namespace", namespace).ok()

    def checked(self, release: str, namespace: str) -> str:
        """`check` of what Helm keeps; it has to pass."""
        ran = self._machine.krm("check", stdin=self.deployed(release, namespace))
        assert ran.code == 0, ran.err
        return ran.err


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("classes", ["off", pytest.param("", id="as-committed")])
@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_install_upgrade_rollback_and_uninstall(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, name: str, classes: str
) -> None:
    """The cluster has the class already, as each has that can run such pods.

    classes: `spec.runtimeClasses`, or "" for the one of the example.
    """
    helm = Helm(name, krm_machine, cluster, tmp_path)
    if classes:
        set_runtime_classes(helm.chart / "config" / "contrast.yaml", classes)

    helm.deploy("install", "shop", "shop").ok()
    helm.deploy("install", "other", "beside").ok()
    first = helm.deployed("shop", "shop")
    assert "Contrast workload" in helm.checked("shop", "shop")
    web = api.get("Deployment", "shop-web", "shop").ok()

    helm.deploy("upgrade", "shop", "shop").ok()
    assert helm.deployed("shop", "shop") == first
    assert api.get("Deployment", "shop-web", "shop").ok()["metadata"]["generation"] == web["metadata"]["generation"]

    helm.deploy("upgrade", "shop", "shop", "--set", "web.logLevel=debug").ok()
    changed = helm.deployed("shop", "shop")
    assert b"debug" in changed
    assert changed != first
    helm.checked("shop", "shop")

    helm("rollback", "shop", "1", "--namespace", "shop", "--wait", "--timeout", "50s").ok()
    assert helm.deployed("shop", "shop") == first
    assert api.get("Deployment", "shop-web", "shop").ok()["spec"]["template"] == web["spec"]["template"]

    helm("uninstall", "shop", "--namespace", "shop", "--wait", "--timeout", "50s").ok()
    assert api.get("Deployment", "shop-web", "shop").code == 404
    assert api.get("RuntimeClass", CLASS).code == 200
    api.delete_all("Pod", "beside").ok()  # the other release is not only there: its pods start again
    until("the pods of the other release", lambda: _runs(api, "beside"))


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_what_both_forms_of_check_say_in_the_life_of_a_release(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, name: str
) -> None:
    """Restart, scale, a change by hand, and the way back that the hint names: no false alarm, no missed change."""
    helm = Helm(name, krm_machine, cluster, tmp_path)
    helm.deploy("install", "shop", "shop").ok()
    file = tmp_path / "rendered.yaml"

    def codes() -> tuple[list[str], list[str]]:
        """The errors of `check --cluster` of what Helm keeps, and of what kubectl prints."""
        file.write_bytes(helm.deployed("shop", "shop"))
        live = krm_machine.krm("check", str(file), "--cluster", KUBECONFIG=str(cluster.kubeconfig))
        listed = cluster.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml").stdout
        piped = krm_machine.krm("check", stdin=listed.encode())
        hints.append(live.err)
        return re.findall(r"(?m)^error (CC\d+)", live.err), re.findall(r"(?m)^error (CC\d+)", piped.err)

    def kubectl(*arguments: str) -> None:
        done = cluster.kubectl(*arguments, "-n", "shop")
        assert done.returncode == 0, done.stderr

    def settled() -> None:
        kubectl("rollout", "status", "deployment/shop-web", "--timeout=50s")

    hints: list[str] = []
    assert codes() == ([], [])
    kubectl("rollout", "restart", "deployment/shop-web")
    assert codes() == ([], []), "in the middle of it, too"
    settled()
    kubectl("scale", "deployment/shop-web", "--replicas=3")
    settled()
    assert codes() == ([], [])
    kubectl("scale", "deployment/shop-web", "--replicas=2")
    debug = ("--set", "web.logLevel=debug")
    force = ("--force-conflicts",) if name == "helm4" else ()  # of the replicas, which somebody else has set
    helm.deploy("upgrade", "shop", "shop", *debug, *force).ok()
    settled()
    assert codes() == ([], [])

    container = api.get("Deployment", "shop-web", "shop").ok()["spec"]["template"]["spec"]["containers"][0]["name"]
    kubectl("set", "image", "deployment/shop-web", f"{container}=registry.example.com/evil@sha256:{'0' * 64}")
    found = codes()
    assert found == (["CC1120"], ["CC1103"]), "once for the workload, in both forms"
    assert f"{container}: image; last written by kubectl-set\n  hint: restore the chart with helm upgrade" in hints[-1]
    assert "in Helm 4 with --force-conflicts" in hints[-1]
    helm.deploy("upgrade", "shop", "shop", *debug, *force).ok()
    settled()
    assert codes() == ([], [])
    helm.deploy("upgrade", "shop", "shop", *debug).ok()  # and so does the next one without

    kubectl("set", "env", "deployment/shop-web", "-c", container, "HTTP_PROXY=http://proxy")
    assert codes()[0] == ["CC1120"]
    kubectl("rollout", "undo", "deployment/shop-web")  # which the hint names for what somebody added
    settled()
    assert codes() == ([], [])
    helm.deploy("upgrade", "shop", "shop", *debug).ok()


def _runs(api: Api, namespace: str) -> bool:
    web = api.get("Deployment", "other-web", namespace).ok()
    pods = [pod for pod in api.items("Pod", namespace) if pod["status"]["phase"] == "Running"]
    return bool(pods) and web.get("status", {}).get("readyReplicas") == web["spec"]["replicas"]


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_a_release_whose_render_fails_changes_nothing(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, name: str
) -> None:
    """An image that the ImageLock does not know: Helm fails, and the cluster has nothing of the release."""
    helm = Helm(name, krm_machine, cluster, tmp_path)
    ran = helm.deploy("install", "shop", "shop", "--set", "web.image=registry.example.com/shop/web:9")
    assert ran.code != 0
    assert [value["metadata"]["name"] for value in api.items("Deployment", "shop")] == []
    assert [value for value in api.items("ConfigMap", "shop") if "contrast" in json.dumps(value)] == []
