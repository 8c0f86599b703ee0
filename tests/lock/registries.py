"""The real registry on loopback, and a front before it that misbehaves as it is told to and remembers all requests."""

import base64
import http.client
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from tests.lock.content import MANIFEST, Image
from tools.real import tool

USER, PASSWORD = "lock", "CANARY-password"
# bcrypt, cost 4, as `htpasswd -B` writes it
HTPASSWD = "lock:$2b$04$abcdefghijklmnopqrstuuDlwEjrjuS6qq82iEFt8xl3YVCDVVwd2"


class Registry:
    """A running registry."""

    def __init__(self, address: str, log: Path, login: bool) -> None:
        self.address = address
        self._log = log
        self._login = login

    def push(self, image: Image, repository: str = "shop/web", tag: str = "1.0") -> str:
        """Upload an image; its reference, pinned."""
        for digest, data in image.blobs.items():
            if data.startswith(b'{"schemaVersion"'):
                self._call("PUT", f"/v2/{repository}/manifests/{digest}", data, {"Content-Type": MANIFEST})
                continue
            place = self._call("POST", f"/v2/{repository}/blobs/uploads/", b"")["Location"]
            path = re.sub(r"\Ahttps?://[^/]+", "", place)
            self._call("PUT", f"{path}&digest={digest}", data, {"Content-Type": "application/octet-stream"})
        self._call("PUT", f"/v2/{repository}/manifests/{tag}", image.manifest, {"Content-Type": image.media_type})
        return f"{self.address}/{repository}:{tag}@{image.digest}"

    def _call(self, method: str, path: str, data: bytes, headers: Mapping[str, str] = {}) -> Mapping[str, str]:
        connection = http.client.HTTPConnection(self.address, timeout=30)
        login = {"Authorization": basic(USER, PASSWORD)} if self._login else {}
        connection.request(method, path, data, {**headers, **login})
        answer = connection.getresponse()
        assert answer.status in (201, 202), (method, path, answer.status, answer.read())
        answer.read()
        connection.close()
        return dict(answer.headers)

    def asked(self) -> list[tuple[str, str]]:
        """Method and path of every request so far, out of the registry's own log."""
        lines = re.finditer(r'"(GET|HEAD|PUT|POST|PATCH) (/v2/\S*) HTTP', self._log.read_text())
        return [(line[1], line[2]) for line in lines]

    def asked_for(self, what: str) -> int:
        """How many GETs had this in their path."""
        return sum(method == "GET" and what in path for method, path in self.asked())


@contextmanager
def registry(directory: Path, *, htpasswd: str = "", token: str = "") -> Iterator[Registry]:
    """Run a registry. htpasswd: text of that file; token: the `auth.token` block in YAML."""
    directory.mkdir(exist_ok=True)
    auth = ""
    if htpasswd:
        (directory / "htpasswd").write_text(htpasswd)
        auth = f"auth: {{htpasswd: {{realm: here, path: {directory / 'htpasswd'}}}}}\n"
    if token:
        auth = f"auth: {{token: {token}}}\n"
    (directory / "config.yaml").write_text(
        f"version: 0.1\nlog: {{level: info, accesslog: {{disabled: false}}}}\n{auth}"
        f"storage: {{filesystem: {{rootdirectory: {directory / 'data'}}}}}\n"
        'http: {addr: "127.0.0.1:0", secret: here}\n'
    )
    log = directory / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [tool("registry"), "serve", str(directory / "config.yaml")],
            stdout=out,
            stderr=out,
            env={"OTEL_TRACES_EXPORTER": "none"},
        )
    try:
        yield Registry(_address(process, log), log, bool(htpasswd))
    finally:
        process.terminate()
        process.wait(10)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    for _ in range(600):
        found = re.search(r"listening on (127\.0\.0\.1:\d+)", log.read_text())
        if found:
            return found[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Asked(NamedTuple):
    """One request that a front has seen."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """What a front answers. cut: close the connection after so many bytes of it; pause: seconds between pieces."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    cut: int = -1
    pause: float = 0


Rule = Callable[[Asked, int], "Answer | None"]


class Front:
    """An HTTP server. `rule` sees each request and how often its path came before; None means the registry's answer."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.rule: Rule = lambda asked, count: None
        self.asked: list[Asked] = []
        self._registry = registry
        self._lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up are what we test
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def named(self, reference: str) -> str:
        """A reference to the registry as one to this front."""
        return f"{self.address}/{reference.partition('/')[2]}"

    def paths(self, what: str = "") -> list[str]:
        return [one.path for one in self.asked if what in one.path]

    def answer(self, asked: Asked) -> Answer:
        with self._lock:
            count = sum(one.path == asked.path for one in self.asked)
            self.asked.append(asked)
        made = self.rule(asked, count)
        return made if made is not None else self._forwarded(asked)

    def _forwarded(self, asked: Asked) -> Answer:
        assert self._registry is not None
        connection = http.client.HTTPConnection(self._registry.address, timeout=30)
        kept = {key: value for key, value in asked.headers.items() if key in ("Accept", "Authorization")}
        connection.request(asked.method, asked.path, headers=kept)
        response = connection.getresponse()
        body = response.read()
        kept = {key: value for key, value in response.headers.items() if key in ("Content-Type", "Www-Authenticate")}
        connection.close()
        return Answer(response.status, body, kept)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._do()

            def do_POST(self) -> None:
                self._do()

            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                made = front.answer(Asked(self.command, self.path, dict(self.headers.items()), body))
                self.send_response(made.status)
                for key, value in {"Content-Length": str(len(made.body)), **made.headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                try:
                    self._send(made)
                except OSError:
                    self.close_connection = True

            def _send(self, made: Answer) -> None:
                data = made.body if made.cut < 0 else made.body[: made.cut]
                step = 1024 if made.pause else max(len(data), 1)
                for at in range(0, len(data), step):
                    self.wfile.write(data[at : at + step])
                    self.wfile.flush()
                    time.sleep(made.pause)
                if made.cut >= 0:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        return Handler
