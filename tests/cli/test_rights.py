"""The rights that docs/how-to/check-the-cluster.md lists are those of the requests that each command sends."""

import threading
from collections.abc import Callable, Iterator
from http.server import HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.cli.test_check_admitted import QUOTA, SHOP, WEBHOOK, changed, refused, sidecar
from tests.cli.test_check_cluster import Admit, Api
from tests.cli.test_check_running import with_pods
from tests.cli.test_plan import kubeconfig
from tests.failures.running import Run, Zygote
from tests.hosts.running import EXAMPLES, ROOT

PAGE = ROOT / "docs/how-to/check-the-cluster.md"
QUICK = EXAMPLES / "quickstart"
RENDER = (str(QUICK / "resources"), "--config", str(QUICK / "config"))
COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("check", str(QUICK / "expected/rendered.yaml")),
    "plan": ("plan", *RENDER),
    "why": ("why", "deploy/shop/web"),
    "upgrade": ("upgrade", *RENDER, "--to", "next.yaml"),
}
Right = tuple[str, str]  # verb and resource, with its group
Cells = dict[str, dict[Right, str]]


def table() -> Cells:
    """The table of rights: command -> right -> its cell."""
    text = PAGE.read_text(encoding="utf-8").partition("## Rights\n")[2].partition("\n## ")[0]
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    cells: Cells = {name.strip("`"): {} for name in head[2:]}
    for resources, verb, *marks in rows:
        for name, mark in zip(cells, marks, strict=True):
            cells[name] |= {(verb, resource.strip().strip("`")): mark for resource in resources.split(",") if mark}
    return cells


def right(method: str, path: str) -> Right:
    """The verb and resource of a request, as the API server's authorizer reads it."""
    _, root, *parts = urlsplit(path).path.split("/")
    group = "" if root == "api" else parts.pop(0)
    _, *rest = parts
    is_namespace = rest[0] == "namespaces" and len(rest) <= 2
    resource, *name = rest[2:] if rest[0] == "namespaces" and not is_namespace else rest
    verb = "create" if method == "POST" else "get" if name else "list"
    return verb, f"{resource}.{group}" if group else resource


Asked = Callable[..., tuple[Run, set[Right]]]


@pytest.fixture
def asked(tmp_path: Path, call: Zygote) -> Iterator[Asked]:
    rights: set[Right] = set()

    class Recording(Api):
        def log_request(self, *_: Any) -> None:
            rights.add(right(self.command, self.path))

    server = HTTPServer(("127.0.0.1", 0), Recording)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    release = (QUICK / "config/release.yaml").read_text()
    (tmp_path / "next.yaml").write_text(release.replace("v1.25.0", "v1.26.0").replace("18a1a065", "28a1a065"))

    def run(command: str, admit: Admit = lambda pod: (201, pod)) -> tuple[Run, set[Right]]:
        objects = with_pods()
        nodes = yaml.safe_load((QUICK / "nodes.yaml").read_text())["items"]
        objects |= {f"v1/nodes/{node['metadata']['name']}": node for node in nodes}
        objects |= {"v1/mutatingwebhookconfigurations/a": WEBHOOK, "v1/namespaces/shop": SHOP}
        vars(Api)["objects"].clear()
        vars(Api)["objects"].update(objects)
        Recording.admit = staticmethod(admit)
        rights.clear()
        variables = kubeconfig(tmp_path, server.server_port)
        ran = call(*COMMANDS[command], "--cluster", directory=tmp_path, variables=variables)
        return ran, set(rights)

    yield run
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_uses_the_rights_of_the_table(asked: Asked, command: str) -> None:
    cells = table()
    assert set(cells) == {*COMMANDS}
    ran, rights = asked(command)
    assert "CC1003" not in ran.stderr
    assert rights == {key for key, mark in cells[command].items() if mark == "yes"}


@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_pod_that_is_changed_or_refused_needs_the_conditional_ones(asked: Asked, command: str) -> None:
    cells = table()[command]
    rights = asked(command, changed(sidecar))[1] | asked(command, refused(403, QUOTA))[1]
    conditional = {key for key, mark in cells.items() if mark == "if"} - {("list", "services")}  # of profile kata-4.1
    assert rights - {key for key, mark in cells.items() if mark == "yes"} <= conditional
    used = {resource for _, resource in rights}
    assert {resource for _, resource in conditional} <= used | {
        "statefulsets.apps",
        "daemonsets.apps",
        "cronjobs.batch",
    }


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/nodes?limit=250", ("list", "nodes")),
        ("GET", "/api/v1/namespaces/shop", ("get", "namespaces")),
        ("GET", "/api/v1/namespaces/shop/pods?limit=250", ("list", "pods")),
        ("GET", "/apis/apps/v1/namespaces/shop/deployments/web", ("get", "deployments.apps")),
        ("POST", "/apis/batch/v1/namespaces/shop/jobs?dryRun=All", ("create", "jobs.batch")),
        ("GET", "/apis/node.k8s.io/v1/runtimeclasses", ("list", "runtimeclasses.node.k8s.io")),
    ],
)
def test_a_request_needs_this_right(method: str, path: str, expected: Right) -> None:
    assert right(method, path) == expected
