"""`plan` with nodes: where they come from, what goes wrong with them, and where the plan goes."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import Run, Zygote, listing
from tests.failures.world import NOTE, World, canaries
from tests.wording import wording


def node(name: str = "snp-1", tee: str = "snp", **status: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"hardware": tee}, "annotations": {"secret": "CANARY"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, **({"status": status} if status else {})}


def listed(*nodes: dict[str, Any], kind: str = "NodeList") -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": kind, "items": list(nodes)})


def plan(shop: Shop, *arguments: str, data: bytes = b"") -> Run:
    return shop("plan", "deployment", "--config", CONFIG, *arguments, data=data)


def fitting(run: Run) -> dict[str, Any]:
    found = json.loads(run.stdout)["workloads"]
    return {one["name"]: one["nodes"] and one["nodes"]["fitting"] for one in found}


@pytest.mark.parametrize("kind", ["NodeList", "List"])
def test_nodes_from_a_file(shop: Shop, kind: str) -> None:
    name = shop.write("nodes.yaml", listed(node(), node("tdx-1", "tdx"), kind=kind))
    run = plan(shop, "--nodes", name, "-o", "json")
    assert (run.code, messages(run)) == (0, "")
    assert fitting(run) == {"coordinator": ["snp-1"], "web": ["snp-1"]}
    others = json.loads(run.stdout)["workloads"][0]["nodes"]["others"]
    assert others == [{"nodes": ["tdx-1"], "reasons": ["label hardware is tdx, not snp"]}]


def test_nodes_from_json_and_from_several_files(shop: Shop) -> None:
    first = shop.write("a.json", json.dumps({"kind": "NodeList", "items": [node("a")]}))
    second = shop.write("b.yaml", yaml.safe_dump(node("b")))
    run = plan(shop, "--nodes", first, "--nodes", second, "-o", "json")
    assert fitting(run)["web"] == ["a", "b"]


def test_nodes_from_standard_input(shop: Shop) -> None:
    run = plan(shop, "--nodes", "-", "-o", "json", data=listed(node()).encode())
    assert fitting(run)["web"] == ["snp-1"]


def test_nodes_among_the_resources_unless_others_are_named(shop: Shop) -> None:
    shop.write("deployment/nodes.yaml", listed(node("among")))
    assert fitting(plan(shop, "-o", "json"))["web"] == ["among"]
    other = shop.write("nodes.yaml", listed(node("named")))
    assert fitting(plan(shop, "--nodes", other, "-o", "json"))["web"] == ["named"]


def test_no_nodes_at_all_is_no_statement(shop: Shop) -> None:
    run = plan(shop, "-o", "json")
    assert fitting(run) == {"coordinator": None, "web": None}
    assert json.loads(run.stdout)["pools"] is None


def test_a_label_of_other_nodes_is_told_without_any_nodes(shop: Shop) -> None:
    world = World()
    world.pod["nodeSelector"] = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    shop.change(world)
    run = plan(shop)
    assert run.code == 0
    assert "CC0325" in run.stderr
    assert "cloud.google.com/gke-accelerator=nvidia-l4, which GKE sets" in run.stderr


def test_a_workload_that_fits_no_node_is_a_conflict(shop: Shop) -> None:
    name = shop.write("nodes.yaml", listed(node("tdx-1", "tdx")))
    run = plan(shop, "--nodes", name, "--format", "json")
    assert run.code == 1
    assert {found["code"] for found in run.errors} == {"CC0311"}
    assert all(found["file"] == "deployment/resources.yaml" and found["line"] for found in run.errors)
    last = run.stdout.decode().splitlines()[-1]
    assert last == "2 workloads, 0 skipped, 1 node, 2 without a node that fits"


def test_a_broken_workload_is_not_judged_by_half_of_its_requests(shop: Shop) -> None:
    world = World()
    world.container["image"] = "example.com/unpinned"
    shop.change(world)
    name = shop.write("nodes.yaml", listed(node(), node("tdx-1", "tdx")))
    run = plan(shop, "--nodes", name, "-o", "json")
    assert run.code == 1
    assert fitting(run) == {"web": None, "coordinator": ["snp-1"]}


def test_warnings_about_room_and_handlers(shop: Shop) -> None:
    world = World()
    world["web"]["spec"]["replicas"] = 50
    shop.change(world)
    room = {"cpu": "4", "memory": "4Gi"}
    name = shop.write("nodes.yaml", listed(node(allocatable=room, runtimeHandlers=[{"name": "runc"}])))
    run = plan(shop, "--nodes", name)
    assert run.code == 0
    warnings = [line.split(":")[0] for line in run.stderr.splitlines() if line.startswith("warning")]
    assert sorted(line.split()[1] for line in warnings) == ["CC0312", "CC0313"]
    assert "CC0313 shop/coordinator spec.template.spec.runtimeClassName and 1 more" in run.stderr
    assert "have room for 4 even" in run.stderr


@pytest.mark.parametrize(
    ("mesh", "memory", "needed"),
    [
        (False, {}, 200 + 682),
        (True, {}, 200 + 682 + 400),
        (True, {"serviceMesh": "1Gi"}, 200 + 682 + 1024),
        # init containers that end before the pod starts count only where they need more than all the others
        (False, {"initializer": "199Mi"}, 200 + 682),
        (False, {"initializer": "201Mi"}, 201 + 682),
    ],
)
def test_memory_of_injected_containers_is_room_that_a_node_must_have(
    mesh: bool, memory: dict[str, Any], needed: int, shop: Shop
) -> None:
    world = World()
    world["release"]["spec"]["memory"] = memory
    world.notes.update({f"{NOTE}servicemesh-ingress": ""} if mesh else {})
    shop.change(world)
    nodes = [
        node(name, allocatable={"cpu": "4", "memory": f"{size}Mi"}) for name, size in (("a", needed), ("b", needed - 1))
    ]
    run = plan(shop, "--nodes", shop.write("nodes.yaml", listed(*nodes)), "-o", "json")
    (web,) = [one for one in json.loads(run.stdout)["workloads"] if one["name"] == "web"]
    assert web["nodes"]["requests"]["memory"] == str(needed * 2**20)
    assert web["nodes"]["fitting"] == ["a"]
    (other,) = web["nodes"]["others"]
    assert other["nodes"] == ["b"]
    assert "memory" in other["reasons"][0]


@pytest.mark.parametrize(
    ("text", "code", "says", "exit_code"),
    [
        ("kind: Pod\napiVersion: v1\n", "CC0909", wording("CC0909.no-node"), 2),
        ("# none\n", "CC0909", wording("CC0909.no-node"), 2),
        ("", "CC0109", "the input is empty", 1),
        (listed(node(), node()), "CC0314", wording("CC0314.twice"), 1),
        (listed(node(allocatable={"cpu": "many"})), "CC0314", "not a Kubernetes quantity", 1),
        (listed({"metadata": {}}), "CC0314", "must be a string", 1),
        ("kind: NodeList\nitems: [\n", "CC0101", "", 1),
    ],
)
def test_nodes_that_cannot_be_used(shop: Shop, text: str, code: str, says: str, exit_code: int) -> None:
    name = shop.write("nodes.yaml", text)
    run = plan(shop, "--nodes", name, "--format", "json")
    assert run.code == exit_code, run.stderr
    (error,) = run.errors
    assert error["code"] == code
    assert says in error["message"]
    assert error["hint"]
    assert not list(canaries(run.stderr))


def test_a_node_that_is_wrong_is_found_in_its_file(shop: Shop) -> None:
    name = shop.write("nodes.yaml", "kind: Node\nmetadata:\n  name: a\nspec:\n  taints:\n  - key: b\n    effect: no\n")
    (error,) = plan(shop, "--nodes", name, "--format", "json").errors
    assert (error["file"], error["line"], error["resource"]["name"]) == ("nodes.yaml", 7, "a")


def test_mistakes_of_the_command_line(shop: Shop) -> None:
    missing = plan(shop, "--nodes", "none.yaml")
    assert (missing.code, missing.stdout) == (3, b"")
    assert "CC1001" in missing.stderr
    both = plan(shop, "--nodes", "nodes.yaml", "--cluster")
    assert (both.code, both.stdout) == (2, b"")
    stdin = shop("plan", "--config", CONFIG, "--nodes", "-", data=b"a: b\n")
    assert stdin.code == 2
    assert wording("CC0909.stdin-resources") in stdin.stderr


# --- where the plan goes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "file", "start"),
    [
        (["-o", "plan.html"], "plan.html", "<!doctype html>"),
        (["-o", "html", "--output", "plan.html"], "plan.html", "<!doctype html>"),
        (["--output", "plan.json"], "plan.json", "{"),
        (["-o", "plan.mmd"], "plan.mmd", "flowchart LR"),
        (["-o", "plan.txt"], "plan.txt", "Contrast v1.25.0, runtime class"),
        (["-o", "mermaid", "-o", "plan.txt"], "plan.txt", "flowchart LR"),
    ],
)
def test_the_plan_goes_to_a_file(shop: Shop, arguments: list[str], file: str, start: str) -> None:
    before = listing(shop.directory)
    run = plan(shop, *arguments)
    assert (run.code, run.stdout) == (0, b"")
    after = listing(shop.directory)
    assert {name for name in after if after[name] != before.get(name)} == {file}
    assert after[file].decode().startswith(start)


def messages(run: Run | subprocess.CompletedProcess[str]) -> str:
    """Standard error, without the acknowledged warning about a Secret."""
    return re.sub(r"(?m)^info CC0294 .*\n(?:  .*\n)*(?:more: .* CC0294\n)?", "", run.stderr)


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "html"])
def test_a_form_goes_to_standard_output_and_writes_nothing(shop: Shop, form: str) -> None:
    before = listing(shop.directory)
    run = plan(shop, "-o", form)
    assert (run.code, messages(run)) == (0, "")
    assert run.stdout.endswith(b"\n")
    assert listing(shop.directory) == before
    assert not list(canaries(run.stdout.decode()))
    assert plan(shop, "-o", form).stdout == run.stdout


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("htlm", "did you mean html?"),
        ("plan.pdf", "use one of text, json, mermaid, html, FILE.html"),
        ("", "use one of"),
    ],
)
def test_a_form_that_is_none_is_refused(shop: Shop, value: str, hint: str) -> None:
    before = listing(shop.directory)
    run = plan(shop, "-o", value)
    assert (run.code, run.stdout) == (2, b"")
    assert run.stderr.startswith(f"contrast-krm: --output {value} is not known\n  hint: ")
    assert hint in run.stderr
    assert listing(shop.directory) == before


def test_the_plan_never_replaces_an_input(shop: Shop) -> None:
    name = shop.write("nodes.json", json.dumps(node()))
    before = listing(shop.directory)
    run = plan(shop, "--nodes", name, "-o", "nodes.json")
    assert (run.code, run.stdout) == (2, b"")
    assert "one of the inputs" in run.stderr
    assert listing(shop.directory) == before


# --- a cluster


HANDLER = "contrast-cc-metal-qemu-snp-1a2b3c4d"


class Api(BaseHTTPRequestHandler):
    """As much of the API server as answers for nodes and RuntimeClasses."""

    status = 200
    classes: tuple[dict[str, Any], ...] = (
        {
            "metadata": {"name": HANDLER},
            "handler": HANDLER,
            "overhead": {"podFixed": {"memory": "682Mi"}},
            "scheduling": {"nodeSelector": {"hardware": "snp"}},
        },
    )

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/apis/node.k8s.io/v1/runtimeclasses":
            head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClassList"}
            body = json.dumps({**head, "items": [*self.classes]}).encode()
        else:
            assert path == "/api/v1/nodes"
            value = {"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": [node("live-1")]}
            body = json.dumps(value).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Make the pod as it was sent, which nothing stores."""
        assert urlsplit(self.path).query.startswith("dryRun=All")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def api() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), type("Answer", (Api,), {}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def kubeconfig(directory: Path, port: int) -> dict[str, str]:
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": "CANARY-token"}}],
    }
    (directory / "kubeconfig").write_text(yaml.safe_dump(value))
    return {"KUBECONFIG": str(directory / "kubeconfig"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def ask(shop: Shop, call: Zygote, variables: dict[str, str], *arguments: str) -> Run:
    command = ("plan", "deployment", "--config", CONFIG, "--cluster", *arguments)
    run = call(*command, directory=shop.directory, variables=variables)
    assert not list(canaries(run.stderr))
    assert "Traceback" not in run.stderr
    return run


def test_nodes_from_a_cluster(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    run = ask(shop, call, kubeconfig(shop.directory, api.server_port), "-o", "json")
    assert (run.code, messages(run)) == (0, "")
    assert fitting(run)["web"] == ["live-1"]


def test_pods_are_placed_by_the_class_of_the_cluster(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    """Somebody patched it; and one that the deployment applies itself will be as it is there."""
    patched = {**Api.classes[0], "scheduling": {"nodeSelector": {"hardware": "other"}}}
    api.RequestHandlerClass.classes = (patched,)  # type: ignore[attr-defined]
    variables = kubeconfig(shop.directory, api.server_port)
    run = ask(shop, call, variables, "-o", "json")
    said = f"{HANDLER}: {wording('CC0319.differs', fields='scheduling.nodeSelector')}\n"
    assert (run.code, said in run.stderr) == (1, True)
    assert fitting(run)["web"] == []
    applied = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", **Api.classes[0]}
    shop.write("deployment/class.yaml", yaml.safe_dump(applied))
    run = ask(shop, call, variables, "-o", "json")
    assert (run.code, messages(run)) == (0, "")


def test_a_class_that_the_cluster_does_not_have_is_a_warning(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    api.RequestHandlerClass.classes = ()  # type: ignore[attr-defined]
    run = ask(shop, call, kubeconfig(shop.directory, api.server_port), "-o", "json")
    assert f"warning CC0319 {HANDLER}: the cluster has no such RuntimeClass" in run.stderr
    assert (run.code, fitting(run)["web"]) == (0, ["live-1"])


def test_the_page_names_the_context_that_was_asked(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    run = ask(shop, call, kubeconfig(shop.directory, api.server_port), "-o", "html")
    assert b"Nodes from context dev." in run.stdout
    assert not list(canaries(run.stdout.decode()))


def test_a_cluster_that_refuses(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    api.RequestHandlerClass.status = 401  # type: ignore[attr-defined]
    run = ask(shop, call, kubeconfig(shop.directory, api.server_port))
    assert run.code == 3
    assert f"error CC1003: {wording('CC1003', problem='it answered 401 Unauthorized')}" in run.stderr


def test_a_cluster_that_shows_no_nodes_has_a_plan(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    """Who may deploy to a namespace may not list what belongs to the cluster."""
    api.RequestHandlerClass.status = 403  # type: ignore[attr-defined]
    run = ask(shop, call, kubeconfig(shop.directory, api.server_port))
    assert (run.code, b"web" in run.stdout) == (0, True), run.stderr
    assert f"warning CC1134: {wording('CC1134', answer='403 Forbidden')}" in run.stderr
    assert "warning CC1121: the RuntimeClasses of the cluster were not compared" in run.stderr


def test_a_cluster_that_does_not_answer(shop: Shop, call: Zygote, api: HTTPServer) -> None:
    variables = kubeconfig(shop.directory, api.server_port)
    api.shutdown()
    api.server_close()
    run = ask(shop, call, variables)
    assert run.code == 3
    assert run.stderr.startswith(f"error CC1003: {wording('CC1003', problem='no answer (')}")
    assert run.stderr.count("\n") == 2


@pytest.mark.parametrize("text", [None, "", "nonsense: [", "kind: Config\n", "current-context: 3\ncontexts: 4\n"])
def test_no_usable_kubeconfig(shop: Shop, call: Zygote, text: str | None) -> None:
    if text is not None:
        (shop.directory / "kubeconfig").write_text(text)
    run = ask(shop, call, {"KUBECONFIG": str(shop.directory / "kubeconfig"), "HOME": str(shop.directory)})
    assert (run.code, run.stdout) == (3, b"")
    assert run.stderr.startswith("error CC1003")
    assert run.stderr.count("\n") == 2


def test_inside_a_cluster(shop: Shop, tmp_path: Path, api: HTTPServer) -> None:
    """No kubeconfig, a service account: nothing but the plan on standard output."""
    secrets = tmp_path / "serviceaccount"
    secrets.mkdir()
    (secrets / "token").write_text("CANARY-token")
    (secrets / "ca.crt").write_text("CANARY-certificate")
    code = f"""
import sys
from kubernetes.config import incluster_config as inside
inside.SERVICE_TOKEN_FILENAME, inside.SERVICE_CERT_FILENAME = {str(secrets / "token")!r}, {str(secrets / "ca.crt")!r}
plain = inside.InClusterConfigLoader._set_config
def http(loader, configuration):
    plain(loader, configuration)
    configuration.host, configuration.ssl_ca_cert = configuration.host.replace("https", "http"), None
inside.InClusterConfigLoader._set_config = http
from krm_function.cli import main
sys.exit(main())
"""
    arguments = ["plan", "deployment", "--config", CONFIG, "--cluster", "-o", "json"]
    variables = {
        "KUBECONFIG": str(tmp_path / "none"),
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(api.server_port),
        "NO_PROXY": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=shop.directory,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, messages(done)) == (0, "")
    assert json.loads(done.stdout)["workloads"][0]["nodes"]["fitting"] == ["live-1"]


def test_the_client_is_optional(shop: Shop) -> None:
    code = "import sys; sys.modules['kubernetes'] = None\nfrom krm_function.cli import main\nsys.exit(main())"
    command = [sys.executable, "-c", code, "plan", "deployment", "--config", CONFIG, "--cluster"]
    done = subprocess.run(command, cwd=shop.directory, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--cluster: the Python package kubernetes is not installed" in done.stderr
    assert "hint: pip install 'contrast-krm[cluster]'" in done.stderr
