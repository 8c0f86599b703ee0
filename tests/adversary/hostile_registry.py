"""A registry on a raw socket, which does on each request what a mode tells it to, down to the single byte.

It has one good image. What a mode does not care about is answered as a registry would.
"""

import contextlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping

from tests.lock.content import Image

ENDLESS = 10**9
STEP = 0.02  # seconds between two bytes that drip


class Talk:
    """One request, and the connection to answer it on."""

    def __init__(self, server: "Server", connection: socket.socket, head: bytes, sent: bytes = b"") -> None:
        self.server = server
        self.head = head
        self.sent = sent  # the body of the request
        self.path = head.split(b" ")[1].decode("latin-1") if head.count(b" ") > 1 else ""
        self._connection = connection

    def send(self, *data: bytes) -> None:
        self._connection.sendall(b"".join(data))

    def flood(self, data: bytes, times: int = ENDLESS) -> None:
        """Send it again and again, as fast as it goes."""
        many = data * max(1, 65536 // len(data))
        for _ in range(max(1, times * len(data) // len(many))):
            self.send(many)

    def drip(self, data: bytes = b"x", times: int = ENDLESS) -> None:
        """Send it byte by byte, with pauses; again and again."""
        for _ in range(times):
            for byte in data:
                self.send(bytes((byte,)))
                if self.server.stop.wait(STEP):
                    return

    def hang(self) -> None:
        """Say nothing until the test is over."""
        self.server.stop.wait(60)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def reset(self) -> None:
        """Break the connection, as a firewall does."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()

    def answer(self, status: int = 200, body: bytes = b"", /, **headers: str) -> None:
        """A whole answer. A header name is written with _ for -."""
        lines = {"Content_Length": str(len(body)), **headers}
        head = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in lines.items())
        self.send(f"HTTP/1.1 {status} OK\r\n{head}\r\n".encode("latin-1"), body)

    def body(self) -> bytes:
        """What a registry has at this path."""
        return self.server.blob(self.path) or (self.server.image.manifest if "/manifests/" in self.path else b"")

    def good(self, **headers: str) -> None:
        """Answer as a registry does."""
        kind = {"Content_Type": self.server.image.media_type} if "/manifests/" in self.path else {}
        self.answer(200, self.body(), **kind, **headers)


Mode = Callable[[Talk], None]
Greet = Callable[[socket.socket], bool]


def go_on(_: socket.socket) -> bool:
    """Read a request, as a server does."""
    return True


class Server:
    """The registry. greet: what happens before a request is read; true to go on. tls: to speak TLS."""

    def __init__(
        self,
        image: Image,
        mode: Mode,
        greet: Greet = go_on,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.image = image
        self.stop = threading.Event()
        self.heads: list[bytes] = []
        self._mode, self._greet, self._tls = mode, greet, tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def name(self) -> str:
        return f"{self.address}/shop/web:1@{self.image.digest}"

    def blob(self, path: str) -> bytes:
        blobs: Mapping[str, bytes] = self.image.blobs
        return blobs.get(path.rpartition("/")[2], b"")

    def close(self) -> None:
        self.stop.set()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.settimeout(30)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self._greet(connection):
                return
            if self._tls:
                with self._tls.wrap_socket(connection, server_side=True) as secured:
                    self._talk(secured)
            else:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        while not self.stop.is_set():
            head = b""
            while b"\r\n\r\n" not in head:
                got = connection.recv(65536)
                if not got:
                    return
                head += got
            head, _, sent = head.partition(b"\r\n\r\n")
            length = re.search(rb"(?im)^content-length: *([0-9]+)", head)
            while length and len(sent) < int(length[1]):
                sent += connection.recv(65536)
            self.heads.append(head + b"\r\n\r\n")
            self._mode(Talk(self, connection, head + b"\r\n\r\n", sent))
