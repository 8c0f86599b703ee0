"""A Kubernetes control plane on ports of 127.0.0.1: etcd, API server, scheduler, controllers; no node, no kubelet.

Rule of this file: everything it writes is in its own directory, and every process ends with the one that started it,
even with one that is killed (`setpriv --pdeathsig`). The node lifecycle controller is off: the nodes are made up, their
leases are not renewed, and it would taint them all. What it starts is pinned in tools/kubernetes.
"""

import json
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.cluster.api import Api, until
from tests.cluster.certificates import write_certificates
from tools.real import tool

START = 120  # seconds for one program to answer, on a machine that does other things
CONTROLLERS = "*,-node-lifecycle-controller,-taint-eviction-controller"


class ControlPlane(NamedTuple):
    """A control plane that answers. kubeconfig: of its administrator."""

    api: Api
    kubeconfig: Path

    def kubectl(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run kubectl as the administrator."""
        command = [tool("kubernetes"), "kubectl", "--kubeconfig", str(self.kubeconfig), *arguments]
        environment = {"HOME": str(self.kubeconfig.parent), "PATH": "/usr/bin:/bin"}  # `kubectl diff` runs diff
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=120, check=False, env=environment
        )


@contextmanager
def control_plane(directory: Path) -> Iterator[ControlPlane]:
    """Start a control plane with its data in `directory`, and stop it at the end of the block."""
    write_certificates(directory)
    token = secrets.token_hex(16)
    (directory / "tokens.csv").touch(0o600)
    (directory / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    client, peer, port = free_ports(3)
    kubeconfig = _write_kubeconfig(directory, port, token)
    with ExitStack() as running:

        def start(name: str, flags: Sequence[str]) -> "subprocess.Popen[bytes]":
            return running.enter_context(_running(directory, name, flags))

        start("etcd", _etcd(client, peer))
        server = start("kube-apiserver", _server(client, port))
        api = Api(port, str(directory / "ca.crt"), token)
        running.callback(api.close)
        _wait(directory, api, server)
        shared = ("--kubeconfig", str(kubeconfig), "--leader-elect=false", "--secure-port", "0")
        start("kube-scheduler", (*shared, "--kube-api-qps", "1000", "--kube-api-burst", "2000"))
        start("kube-controller-manager", (*shared, *_controllers()))
        until("the controllers", lambda: api.get("ServiceAccount", "default", "default").code == 200, START)
        yield ControlPlane(api, kubeconfig)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with ExitStack() as open_now:
        sockets = [open_now.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def _running(directory: Path, name: str, flags: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run one of the programs; it gets ten seconds to end by itself."""
    command = ["setpriv", "--pdeathsig", "KILL", tool("kubernetes"), name, *flags]
    with (directory / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(directory: Path, api: Api, server: "subprocess.Popen[bytes]") -> None:
    """Wait for the API server; if it ends instead, say what it said last."""
    end = time.monotonic() + START
    while True:
        try:
            if api("GET", "/readyz").value == "ok":
                return
        except OSError:
            pass
        if server.poll() is not None or time.monotonic() > end:
            raise AssertionError((directory / "kube-apiserver.log").read_text()[-2000:])
        time.sleep(0.1)


def _etcd(client: int, peer: int) -> list[str]:
    here, beside = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    flags = ["--name", "here", "--data-dir", "etcd", "--unsafe-no-fsync", "--log-level", "warn"]
    flags += ["--listen-client-urls", here, "--advertise-client-urls", here, "--initial-cluster", f"here={beside}"]
    return [*flags, "--listen-peer-urls", beside, "--initial-advertise-peer-urls", beside]


def _server(client: int, port: int) -> list[str]:
    key = "service-accounts.key"
    flags = ["--etcd-servers", f"http://127.0.0.1:{client}", "--bind-address", "127.0.0.1", "--secure-port", str(port)]
    flags += ["--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key", "--cert-dir", "."]
    flags += ["--token-auth-file", "tokens.csv", "--authorization-mode", "RBAC", "--allow-privileged=true"]
    flags += ["--service-account-issuer", "https://kubernetes.default.svc"]
    flags += ["--service-account-key-file", key, "--service-account-signing-key-file", key]
    flags += ["--service-cluster-ip-range", "10.0.0.0/24,fd00:10:96::/112", "--endpoint-reconciler-type", "none"]
    return [*flags, "--max-requests-inflight", "2000", "--max-mutating-requests-inflight", "1000"]


def _controllers() -> list[str]:
    flags = ["--use-service-account-credentials", "--service-account-private-key-file", "service-accounts.key"]
    flags += ["--root-ca-file", "ca.crt", "--controllers", CONTROLLERS]
    flags += ["--horizontal-pod-autoscaler-sync-period", "1s"]
    return [*flags, "--kube-api-qps", "500", "--kube-api-burst", "1000"]


def _write_kubeconfig(directory: Path, port: int, token: str) -> Path:
    path = directory / "kubeconfig"
    server = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(directory / "ca.crt")}
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": server}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "admin"}}],
        "current-context": "here",
    }
    path.touch(0o600)
    path.write_text(json.dumps(value))
    return path
