"""How much a Helm release holds, and the way out: two releases whose workloads share a coordinator and a manifest."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api
from tests.cluster.conftest import Sizes, clear_namespace
from tests.cluster.control_plane import ControlPlane
from tests.hosts.hosts import COMMAND, CONFIG, POST_RENDER
from tests.hosts.many_workloads import many_workloads
from tests.hosts.running import Machine, Ran, copied

# Annotations of each pod; how many workloads a release holds, and how many it does not: see docs/how-to/helm.md.
MESH = "{contrast.edgeless.systems/servicemesh-ingress: ''}"
PORTS = "{contrast.edgeless.systems/servicemesh-ingress: 'web#8080#false##health#8081#true'}"
CHARTS = {
    "short": ("{}", 100, 260),
    "with-mesh": (MESH, 30, 200),
    "realistic": (PORTS, 30, 150),
}
REFUSED = re.compile("Too long: (may not|must have at most).*1048576|Request entity too large")


@pytest.fixture
def empty(api: Api, shop: str) -> Iterator[str]:
    """The namespace of the releases."""
    yield shop
    clear_namespace(api, shop)


class Chart:
    """A copy of the example's chart, which one of both Helms installs."""

    def __init__(self, helm: str, machine: Machine, cluster: ControlPlane, directory: Path) -> None:
        self.helm, self.machine, self.kubeconfig = helm, machine, str(cluster.kubeconfig)
        self.directory = copied("helm", directory)
        self.templates = self.directory / "chart" / "templates"

    def __call__(self, *arguments: str) -> Ran:
        environment = {"KUBECONFIG": self.kubeconfig}
        return self.machine.run(["helm", *arguments], self.directory, helm=self.helm, env=environment)

    def install(self, name: str) -> Ran:
        report = ("--post-renderer-args", "--report", "--post-renderer-args", "report.txt")
        renderer = (*POST_RENDER, *(COMMAND if self.helm == "helm3" else ()), *CONFIG, *report)
        return self("install", name, "chart", "--namespace", "shop", "--no-hooks", *renderer)

    def install_many(self, count: int, annotations: str) -> tuple[bool, bool]:
        """Install so many workloads; whether Helm did, and whether the post-renderer warned. They are removed."""
        (self.templates / "many.yaml").write_text(many_workloads(count, annotations, realistic=annotations == PORTS))
        ran = self.install("many")
        assert ran.code == 0 or REFUSED.search(ran.err), ran.err
        if ran.code == 0:
            self("uninstall", "many", "--namespace", "shop").ok()
        return ran.code == 0, "CC1004" in (self.directory / "report.txt").read_text()


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("pods", CHARTS)
@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_the_warning_comes_before_the_release_is_too_large(
    cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, sizes: Sizes, name: str, pods: str
) -> None:
    annotations, few, many = CHARTS[pods]
    chart = Chart(name, krm_machine, cluster, tmp_path)
    assert chart.install_many(few, annotations) == (True, False)
    assert chart.install_many(many, annotations) == (False, True)
    if sizes.large:  # the largest one that Helm installs comes with the warning
        most = _most(few, many, lambda count: chart.install_many(count, annotations)[0])
        print(f"{name}, {pods}: a release holds {most} confidential workloads")
        assert chart.install_many(most, annotations) == (True, True)


def _most(low: int, high: int, holds: Callable[[int], bool]) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_a_second_release_has_the_manifest_of_the_first_as_its_base(
    api: Api, cluster: ControlPlane, krm_machine: Machine, tmp_path: Path, name: str
) -> None:
    """As docs/how-to/helm.md has it: no coordinator in the second chart, and another name for its manifest."""
    first = Chart(name, krm_machine, cluster, tmp_path / "first")
    first.install("shop").ok()
    deployed = first("get", "manifest", "shop", "--namespace", "shop").ok()
    base = krm_machine.krm("manifest", stdin=deployed).ok().decode()

    second = Chart(name, krm_machine, cluster, tmp_path / "second")
    for template in ("coordinator.yaml", "announce-job.yaml"):
        (second.templates / template).unlink()
    contrast = second.directory / "config" / "contrast.yaml"
    indented = "".join(f"      {line}\n" for line in base.splitlines())
    options = f"  manifest:\n    name: contrast-manifest-more\n    base: |\n{indented}"
    contrast.write_text(contrast.read_text().replace("  manifest:\n", options))
    second.install("more").ok()
    added = second("get", "manifest", "more", "--namespace", "shop").ok()

    assert krm_machine.krm("check", stdin=deployed).code == 0
    config = str(second.directory / "config")
    alone = krm_machine.krm("check", "--config", config, stdin=added)
    assert (alone.code, alone.err) == (0, "checked 1 Contrast workload\n")
    together = krm_machine.krm("check", stdin=deployed + b"\n---\n" + added)
    assert (together.code, together.err.splitlines()[0]) == (0, "checked 3 Contrast workloads"), together.err
    whole = krm_machine.krm("manifest", stdin=deployed + b"\n---\n" + added).ok()
    assert whole == krm_machine.krm("manifest", stdin=added).ok() != base.encode()

    live = cluster.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml").stdout
    ran = krm_machine.krm("check", stdin=live.encode())
    assert (ran.code, "checked 3 Contrast workloads" in ran.err.splitlines()) == (0, True), ran.err
    assert ran.err.count("one more cannot be made: pods ") == 2, "the cluster of this test has no such class"
    for text, more in ((deployed, ()), (added, ("--config", config)), (added, ())):
        file = tmp_path / "rendered.yaml"
        file.write_bytes(text)
        ran = krm_machine.krm("check", str(file), "--cluster", *more, KUBECONFIG=str(cluster.kubeconfig))
        errors = [line for line in ran.err.splitlines() if line.startswith("error ")]
        assert [line for line in errors if "the cluster has no such RuntimeClass" not in line] == []
