"""Connections with bounds for one answer: its time, its pace and its length.

Rule of this file: a time-out of the library is one for each read, so a server that sends a byte a second never exceeds
it. So each read of a socket counts for the answer that it belongs to, whatever it reads: a header, `100 Continue`, a
chunk's extension, a trailer, TLS records. Time counts while we wait, not while we work.

    an answer ends when            after
    nothing can be connected to    Pace.connect seconds for each of the first addresses, the TLS handshake as long again
    it comes too slowly            Pace.quiet seconds of waiting for the next Pace.least bytes: 64 KiB a minute
    it is too long                 its head and 1 MiB, and twice what its body may have
    the image's time is up         Budget
"""

import socket
import ssl
import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.ssl_ import create_urllib3_context

from krm_function.lock.budget import Budget
from krm_function.record import NamedTuple

MOST_ADDRESSES = 4
SLICE = 0.5  # seconds after which a read looks whether the run is over
HEAD = 1 << 20  # bytes of a head, with all that is said before it


class Pace(NamedTuple):
    """What a server has to keep up with. connect, quiet: seconds; least: bytes; wait: seconds before a second try."""

    connect: float = 15.0
    quiet: float = 60.0
    least: int = 1 << 16
    wait: float = 1.0


class WireError(Exception):
    """An answer that costs too much. code: CC1250 with a variant."""

    def __init__(self, code: str, **values: Any) -> None:
        """Remember the code and the values of its placeholders."""
        super().__init__(code)
        self.code = code
        self.values = values


class Wire:
    """Counts the time and the bytes of one answer. body: bytes that its body may have."""

    __slots__ = ("_arrived", "_budget", "_pace", "_room", "_waited")

    def __init__(self, pace: Pace, budget: Budget, body: int) -> None:
        """Begin before the request."""
        self._pace = pace
        self._budget = budget
        self._room = HEAD + 2 * max(body, 0)
        self._waited = 0.0
        self._arrived = 0

    def connect_seconds(self) -> float:
        """Return how long one address is tried. Raises LockProblem when time is up."""
        return min(self._pace.connect, self._budget.left)

    def read(self, sock: Any, receive: Any) -> int:
        """Read once, waiting as long as the answer may. Raises WireError, and Problem when time is up."""
        count: int | None = None
        while count is None:
            sock.settimeout(max(min(self._pace.quiet - self._waited, self._budget.left, SLICE), 0.001))
            start = time.monotonic()
            with suppress(TimeoutError):
                count = receive()
            self._waited += time.monotonic() - start
            if count is None and self._waited >= self._pace.quiet:
                raise self._slow()
        self._arrived += count
        self._room -= count
        if self._room < 0:
            raise WireError("CC1250.endless")
        if self._arrived >= self._pace.least:
            self._waited, self._arrived = 0.0, 0
        elif count and self._waited >= self._pace.quiet:
            raise self._slow()
        return count

    def _slow(self) -> WireError:
        if self._arrived == 0:
            return WireError("CC1250.silent")
        return WireError("CC1250.slow", least=self._pace.least, seconds=f"{self._pace.quiet:g}")


CURRENT: ContextVar[Wire] = ContextVar("wire")  # of the request that this thread is making


class _Plain(socket.socket):
    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        return CURRENT.get().read(self, lambda: super(_Plain, self).recv_into(buffer, nbytes, flags))


class _Tls(ssl.SSLSocket):
    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        return CURRENT.get().read(self, lambda: super(_Tls, self).recv_into(buffer, nbytes, flags))


class _HTTPConnection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        """Connect to the first address that takes a connection, out of a few."""
        try:
            addresses = socket.getaddrinfo(self._dns_host.strip("[]"), self.port, 0, socket.SOCK_STREAM)
        except (OSError, UnicodeError) as problem:
            raise NameResolutionError(self.host, self, socket.gaierror(str(problem))) from None
        failed: Exception = NewConnectionError(self, "no address")
        for family, kind, protocol, _, address in addresses[:MOST_ADDRESSES]:
            sock = _Plain(family, kind, protocol)
            try:
                sock.settimeout(CURRENT.get().connect_seconds())
                for option in self.socket_options or ():
                    sock.setsockopt(*option)
                sock.connect(address)
            except TimeoutError:
                sock.close()
                failed = ConnectTimeoutError(self, "no answer")
            except OSError:
                sock.close()
                failed = NewConnectionError(self, "no connection")
            except BaseException:
                sock.close()
                raise
            else:
                sys.audit("http.client.connect", self, self.host, self.port)
                return sock
        raise failed


class _HTTPSConnection(_HTTPConnection, HTTPSConnection):
    pass


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


POOLS = {"http": _HTTPPool, "https": _HTTPSPool}


def tls() -> ssl.SSLContext:
    """Make the context that urllib3 would: certificates are checked, by the system's authorities or SSL_CERT_FILE."""
    context = create_urllib3_context()
    context.load_default_certs()
    return secured(context)


def secured(context: ssl.SSLContext) -> ssl.SSLContext:
    """Let the connections of a context count what they read."""
    context.sslsocket_class = _Tls
    return context
