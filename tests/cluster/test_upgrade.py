"""The waves of `upgrade`, by the commands that it prints: at each moment each pod is one that its coordinator knows.

`contrast` is a stand-in that does of `contrast set` what is known of it: it takes a manifest only with exactly its
policies among the workloads that it is given (docs/facts/contrast-manifest.md#set-and-verify).
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from krm_function.policy.initdata import digest, from_annotation
from tests.cluster.api import Api, Json, until
from tests.cluster.conftest import add_namespace, remove_namespace
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.docs.scenes import SCENES
from tests.hosts.running import Machine, machine
from tools.real import tool

INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
OLD, NEW = (f"contrast-cc-metal-qemu-snp-{number}8a1a065" for number in "12")
CONTRAST = """#!{python}
import json, sys
import yaml
from krm_function.policy.initdata import digest, from_annotation
from krm_function.render.select import select
_, command, _, _, option, manifest, *files = sys.argv
assert (command, option) == ("set", "--manifest")
policies = json.load(open(manifest))["Policies"]
objects = [value for file in files for value in yaml.load_all(open(file), yaml.CSafeLoader)]
workloads = [one for value in objects for one in select(value).workloads]
sealed = [digest(from_annotation(one.annotations["{initdata}"])) for one in workloads]
if sorted(sealed) != sorted(policies):
    sys.exit(f"{{len(sealed)}} workloads, {{len(policies)}} policies")
open("active.json", "w").write(open(manifest).read())
"""


@pytest.fixture
def user(tmp_path: Path) -> Machine:
    """A machine with kubectl, and with something that looks like Contrast's own program."""
    (tmp_path / "machine").mkdir()
    kubectl = f'#!/bin/sh\nexec {tool("kubernetes")} kubectl "$@"\n'
    contrast = CONTRAST.format(python=sys.executable, initdata=INITDATA)
    return machine(tmp_path / "machine").with_program("kubectl", kubectl).with_program("contrast", contrast)


def node(name: str, *handlers: str) -> Json:
    """A node that says which handlers its container runtime has."""
    status = {"allocatable": {"cpu": "63", "memory": "251Gi"}, "runtimeHandlers": [{"name": one} for one in handlers]}
    return {"metadata": {"name": name}, "status": status}


@pytest.fixture
def nodes(api: Api, shop: str) -> Iterator[None]:
    """Nodes with the runtime of the earlier release, as long as the namespace has pods."""
    assert shop
    remove_namespace(api, "contrast-system")  # other tests of the same control plane leave theirs
    add_namespace(api, "contrast-system")
    with made_up_nodes(api, [node("first", OLD), node("second", OLD)]):
        yield
    remove_namespace(api, "contrast-system")


class Deployment:
    """A deployment in a directory, its cluster, and the manifest that was set last."""

    def __init__(self, api: Api, cluster: ControlPlane, user: Machine, directory: Path) -> None:
        self.api, self.user, self.directory = api, user, directory
        self.variables = {"KUBECONFIG": str(cluster.kubeconfig)}

    def bash(self, script: str) -> str:
        ran = self.user.run(["bash", "-eo", "pipefail", "-c", script], self.directory, env=self.variables)
        assert ran.code == 0, f"{script}\n{ran.err}"
        return ran.out.decode()

    def pods(self) -> list[Json]:
        listed = self.api.items("Pod", "shop")
        return [
            one
            for one in listed
            if one["spec"].get("runtimeClassName") and not one["metadata"].get("deletionTimestamp")
        ]

    def known(self, moment: str) -> None:
        """Each pod has its policy and the measurement of its handler in the manifest that was set last."""
        active = json.loads((self.directory / "active.json").read_text())
        measured = {one["TrustedMeasurement"] for one in active["ReferenceValues"]["snp"]}
        for pod in self.pods():
            sealed = digest(from_annotation(pod["metadata"]["annotations"][INITDATA]))
            assert sealed in active["Policies"], (moment, pod["metadata"]["name"])
            assert measured >= self.measurements[pod["spec"]["runtimeClassName"]], moment

    @property
    def measurements(self) -> dict[str, set[str]]:
        """Of the VMs of each handler, by the files of both releases."""
        found: dict[str, set[str]] = {}
        for name, handler in (("assets", OLD), ("v1.25.1", NEW)):
            values = json.loads((self.directory / name / "manifest.json").read_text())["ReferenceValues"]["snp"]
            found[handler] = {one["TrustedMeasurement"] for one in values if one["Platform"] == "Metal-QEMU-SNP"}
        assert not found[OLD] & found[NEW]
        return found

    def restart(self, moment: str) -> None:
        """All pods restart; their successors run, and are known."""
        self.api.delete_all("Pod", "shop")
        until(f"pods that run, {moment}", self.runs)
        self.known(moment)

    def runs(self) -> bool:
        every = [one for kind in ("Deployment", "StatefulSet") for one in self.api.items(kind, "shop")]
        return len(every) == 2 and all(
            one["status"].get("readyReplicas") == one["status"].get("updatedReplicas") == one["spec"]["replicas"]
            and one["status"].get("observedGeneration") == one["metadata"]["generation"]
            for one in every
        )

    def states(self) -> dict[str, str]:
        """How far `upgrade --cluster` says it is."""
        call = "contrast-krm upgrade rendered.yaml --config config --from earlier-release.yaml --to config/release.yaml"
        told = json.loads(self.bash(f"{call} --cluster -o json"))
        return {one["name"]: one["state"] for one in told["waves"] if one["state"] != "unknown"}


@pytest.mark.usefixtures("nodes")
def test_the_waves_of_an_upgrade(api: Api, cluster: ControlPlane, user: Machine, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    SCENES["next_release"](user, here)
    made = Deployment(api, cluster, user, here)
    made.bash(
        "contrast-krm release runtime-classes --config config > classes.yaml;"
        "kubectl apply -f classes.yaml -f rendered.yaml;"
        "contrast-krm manifest rendered.yaml > manifest.json;"
        "contrast set --coordinator HOST:1313 --manifest manifest.json rendered.yaml"
    )
    made.restart("installed")
    made.bash("contrast-krm release import v1.25.1/* -o next.yaml")
    plan = "contrast-krm upgrade resources --config config --to next.yaml --host kubectl -o json"
    waves = json.loads(made.bash(plan))["waves"]
    seen: dict[str, dict[str, str]] = {}
    for wave in waves:
        for command in wave["commands"]["kubectl"]:
            files = command.replace("cp coordinator.yml", "cp v1.25.1/coordinator.yml")
            made.bash(files.replace(" config runtime-", " config v1.25.1/runtime-"))
            made.known(command)
        if wave["name"] == "runtime":  # what the node installer does
            for name in ("first", "second"):
                api.patch("Node", name, {"status": node(name, OLD, NEW)["status"]}, part="/status").ok()
        if wave["name"] in {"workloads", "coordinator"}:
            made.known("while it rolls out")
            until(f"the rollout of wave {wave['name']}", made.runs)
        made.restart(wave["name"])
        for gate in wave["before"]:
            if gate["command"].startswith("contrast-krm check"):
                ran = user.run(["bash", "-c", gate["command"]], here, env=made.variables)
                errors = re.findall(r"(?m)^error CC\d+ \S+", ran.err)
                wanted = ["shop/web:", "shop/contrast-manifest:"] if wave["name"] == "coordinator" else []
                assert sorted(line.split()[2] for line in errors) == sorted(wanted), (wave["name"], ran.err)
                kept = wave["name"] in {"coordinator", "workloads"} or gate["command"].endswith("check rendered.yaml")
                assert ("CC0731" in ran.err) == kept, (wave["name"], gate["command"])
        seen[wave["name"]] = made.states()
    assert [seen[name] for name in ("render", "runtime", "coordinator", "workloads")] == [
        {"runtime": "open", "classes": "open", "coordinator": "open", "workloads": "open"},
        {"runtime": "done", "classes": "done", "coordinator": "open", "workloads": "open"},
        {"runtime": "done", "classes": "done", "coordinator": "done", "workloads": "open"},
        {"runtime": "done", "classes": "done", "coordinator": "done", "workloads": "done"},
    ]
    assert {pod["spec"]["runtimeClassName"] for pod in made.pods()} == {NEW}
    assert len(json.loads((here / "active.json").read_text())["Policies"]) == 2
