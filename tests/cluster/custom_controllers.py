"""A controller of custom resources, as its module builds it, beside the control plane, with its webhooks.

Rule of this file: the CRDs and the webhooks are those of the module that `tools/NAME/go.mod` pins; only the address of
the webhooks and their certificate are the test's. A module is fetched once, and lies beside the builds of the tools.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests import quick_yaml as yaml
from tests.cluster.api import until
from tests.cluster.control_plane import ControlPlane, free_ports
from tools import golang
from tools.cache import cache
from tools.real import tool

Json = dict[str, Any]


class Controller(NamedTuple):
    """Where things are in the module of a controller. path: of its objects, for a namespace.

    crds: files, or a directory with a kustomization. flags: with the numbers of two free ports. configuration: the
    apiVersion of its configuration file, "" if it has none. webhooks: "" for none. environment: variables; like flags
    with the port of the webhooks and the directory of their certificate.
    """

    name: str
    crds: tuple[str, ...]
    path: str
    flags: tuple[str, ...] = ()
    configuration: str = ""
    webhooks: str = ""
    environment: tuple[str, ...] = ()


LWS = Controller(
    "lws",
    ("config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",),
    "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets",
    (),
    "config.lws.x-k8s.io/v1alpha1",
    "config/webhook/manifests.yaml",
)
JOB_SET = Controller(
    "jobset",
    ("config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",),
    "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    (),
    "config.jobset.x-k8s.io/v1alpha1",
    "config/components/webhook/manifests.yaml",
)
ROLLOUTS = Controller(
    "rollouts",
    tuple(
        f"manifests/crds/{name}-crd.yaml"
        for name in ("rollout", "analysis-run", "analysis-template", "cluster-analysis-template", "experiment")
    ),
    "/apis/argoproj.io/v1alpha1/namespaces/{}/rollouts",
    ("--leader-elect=false", "--metricsport={}", "--healthzPort={}"),
)
SANDBOX = Controller(
    "sandbox",
    ("k8s/crds/agents.x-k8s.io_sandboxes.yaml",),
    "/apis/agents.x-k8s.io/v1alpha1/namespaces/{}/sandboxes",
    ("--leader-elect=false", "--metrics-bind-address=127.0.0.1:{}", "--health-probe-bind-address=127.0.0.1:{}"),
)
KUBERAY = Controller(
    "kuberay",
    tuple(f"config/crd/bases/ray.io_ray{name}.yaml" for name in ("clusters", "jobs", "services")),
    "/apis/ray.io/v1/namespaces/{}/rayclusters",
    ("--enable-leader-election=false", "--metrics-addr=127.0.0.1:{}", "--health-probe-bind-address=127.0.0.1:{}"),
)
KRUISE = Controller(
    "kruise",
    ("config/crd",),
    "/apis/apps.kruise.io/v1alpha1/namespaces/{}/clonesets",
    (
        "--enable-leader-election=false",
        "--enable-pprof=false",
        "--metrics-addr=127.0.0.1:{}",
        "--health-probe-addr=127.0.0.1:{}",
    ),
    webhooks="config/webhook/manifests.yaml",  # it gives them a certificate of its own
    environment=("WEBHOOK_HOST=127.0.0.1", "WEBHOOK_PORT={port}", "WEBHOOK_CERT_DIR={certificates}/own", "TZ=UTC"),
)
TRAINING = Controller(
    "training",
    ("manifests/base/crds/kubeflow.org_pytorchjobs.yaml",),
    "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs",
    ("--port={port}", "--certificates={certificates}"),
    webhooks="manifests/base/webhook/manifests.yaml",
)
TRAINER = Controller(
    "trainer",
    ("manifests/base/crds",),
    "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{}/trainjobs",
    ("--port={port}", "--certificates={certificates}"),
    webhooks="manifests/base/webhook/manifests.yaml",
)


def source_of(controller: Controller) -> Path:
    """The directory of the controller's module."""
    return Path(golang.source(golang.Tool(controller.name, ()), os.path.join(cache(), "sources")))


@contextmanager
def running(controller: Controller, cluster: ControlPlane) -> Iterator[ControlPlane]:
    """Run a controller for a block."""
    name = controller.name
    here = cluster.kubeconfig.parent
    source = source_of(controller)
    files = [part for crd in controller.crds for part in ("-k" if (source / crd).is_dir() else "-f", str(source / crd))]
    applied = cluster.kubectl("apply", "--server-side", *files)
    assert applied.returncode == 0, applied.stderr
    for line in applied.stdout.splitlines():
        until(line.split()[0], partial(_is_served, cluster, line.split()[0].partition("/")[2]))
    (port, *others) = free_ports(3)
    certificates = here / name
    certificates.mkdir(exist_ok=True)
    for part in ("crt", "key"):
        (certificates / f"tls.{part}").write_bytes((here / f"server.{part}").read_bytes())
    config = {
        "apiVersion": controller.configuration,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"port": port, "host": "127.0.0.1", "certDir": str(certificates)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
    }
    (certificates / "config.yaml").write_text(json.dumps(config))
    environment = {"HOME": str(here), "KUBECONFIG": str(cluster.kubeconfig), "PATH": os.environ["PATH"]}
    flags = ["--config", str(certificates / "config.yaml")] if controller.configuration else []
    free = iter(others)
    known = {"port": port, "certificates": certificates}
    environment |= dict(one.format(**known).split("=", 1) for one in controller.environment)
    flags += [flag.format(next(free)) if "{}" in flag else flag.format(**known) for flag in controller.flags]
    command = ["setpriv", "--pdeathsig", "KILL", tool(name), *flags]
    with (here / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=here, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        webhooks = list(_webhooks(source / controller.webhooks, name, here, port)) if controller.webhooks else []
        try:
            for one in webhooks:
                cluster.api("POST", _collection(one), one).ok()
            yield cluster
        finally:
            for one in webhooks:
                cluster.api("DELETE", f"{_collection(one)}/{one['metadata']['name']}")
            process.terminate()
            process.wait(20)


def _is_served(cluster: ControlPlane, crd: str) -> bool:
    """Tell whether the API server lists the kind of a definition; a controller that starts before waits, or ends."""
    spec = cluster.api("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}").ok()["spec"]
    for version in (one["name"] for one in spec["versions"] if one["served"]):
        listed = cluster.api("GET", f"/apis/{spec['group']}/{version}")
        if listed.code != 200 or spec["names"]["plural"] not in {one["name"] for one in listed.value["resources"]}:
            return False
    return True


def _webhooks(manifests: Path, name: str, here: Path, port: int) -> Iterator[Json]:
    """The configurations of the module, with this machine's address in place of a Service's."""
    authority = base64.b64encode((here / "ca.crt").read_bytes()).decode()
    for value in yaml.safe_load_all(manifests.read_text()):
        value["metadata"]["name"] = f"{name}-{value['metadata']['name']}"
        for hook in value["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
        yield value


def _collection(configuration: Json) -> str:
    return f"/apis/admissionregistration.k8s.io/v1/{configuration['kind'].lower()}s"


def create(cluster: ControlPlane, controller: Controller, value: Json) -> None:
    """Create an object and the RuntimeClasses that its templates name, once the webhooks answer."""
    for handler in set(re.findall(r"contrast-cc-metal-qemu-[a-z-]+-[0-9a-f]{8}", json.dumps(value))):
        head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": handler}}
        if cluster.api.get("RuntimeClass", handler).code == 404:
            cluster.api.create({**head, "handler": handler}).ok()
    path = controller.path.format(value["metadata"]["namespace"])
    until("the webhooks of the controller", lambda: cluster.api("POST", path, value).code in (201, 409), 120)
