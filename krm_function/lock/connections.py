"""HTTP with bounds: connections, requests, redirects, and the failures of the network."""

import random
import re
import socket
import ssl
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from http.client import HTTPException
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urljoin
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.util import Url, make_headers, parse_url
from urllib3.util.ssl_ import create_urllib3_context

from krm_function import __version__
from krm_function.lock.media import Budget, LockProblem
from krm_function.record import NamedTuple

# --- Connections with bounds for one answer: its time, its pace and its length
#
# Rule: a time-out of the library is one for each read, so a server that sends a byte a second never
# exceeds it. So each read of a socket counts for the answer that it belongs to, whatever it reads: a header, `100
# Continue`, a chunk's extension, a trailer, TLS records. Time counts while we wait, not while we work.
#
#   an answer ends when            after
#   nothing can be connected to    Pace.connect seconds for each of the first addresses, the TLS handshake as long again
#   it comes too slowly            Pace.quiet seconds of waiting for the next Pace.least bytes: 64 KiB a minute
#   it is too long                 its head and 1 MiB, and twice what its body may have
#   the image's time is up         Budget


MOST_ADDRESSES = 4
SLICE = 0.5  # seconds after which a read looks whether the run is over
HEAD = 1 << 20  # bytes of a head and everything before it


class Pace(NamedTuple):
    """The least pace of a server. connect, quiet: seconds; least: bytes; wait: seconds before a second try."""

    connect: float = 15.0
    quiet: float = 60.0
    least: int = 1 << 16
    wait: float = 1.0


class WireError(Exception):
    """An answer that costs too much. code: CC1250 with a variant."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


class Wire:
    """Counts the time and the bytes of one answer. body: bytes that its body may have."""

    __slots__ = ("_arrived", "_budget", "_pace", "_room", "_waited")

    def __init__(self, pace: Pace, budget: Budget, body: int) -> None:
        self._pace = pace
        self._budget = budget
        self._room = HEAD + 2 * max(body, 0)
        self._waited = 0.0
        self._arrived = 0

    def connect_seconds(self) -> float:
        """Return how long one address is tried. Raises LockProblem when time is up."""
        return min(self._pace.connect, self._budget.left)

    def read(self, sock: Any, receive: Any) -> int:
        """Read once, waiting as long as the answer may take. Raises WireError, and LockProblem when time is up."""
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
        """Try a few addresses, one after the other."""
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
            except BaseException as problem:
                sock.close()
                if not isinstance(problem, OSError):
                    raise
                late = isinstance(problem, TimeoutError)
                failed = ConnectTimeoutError(self, "no answer") if late else NewConnectionError(self, "no connection")
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
    """Make urllib3's context: certificates are checked with the system's authorities or SSL_CERT_FILE."""
    context = create_urllib3_context()
    context.load_default_certs()
    return secured(context)


def secured(context: ssl.SSLContext) -> ssl.SSLContext:
    """Let the connections of a context count the bytes that they read."""
    context.sslsocket_class = _Tls
    return context


# --- Turn failures of the network into problems: temporary ones, and codes
#
# Rule: of the library's texts only the reasons of OpenSSL are passed on; others quote URLs, and with them
# credentials.


UNREACHABLE = (NewConnectionError, NameResolutionError, ConnectTimeoutError, ReadTimeoutError, TimeoutError)


class AgainError(Exception):
    """A temporary failure. wait: seconds that the server asked for, 0 if it did not."""

    def __init__(self, problem: LockProblem, wait: float = 0, unreachable: str = "") -> None:
        """Keep the problem to report if no retry succeeds. unreachable: the host, if it did not answer at all."""
        super().__init__(problem.code)
        self.problem = problem
        self.wait = wait
        self.unreachable = unreachable


def network_trouble(problem: Exception, registry: str) -> LockProblem:
    """Turn an exception of the library into a problem."""
    match problem:
        case NameResolutionError():
            return LockProblem("CC1250.name", registry=registry)
        case NewConnectionError():
            return LockProblem("CC1250.connection", registry=registry)
        case ConnectTimeoutError() | ReadTimeoutError() | TimeoutError():
            return LockProblem("CC1250.silent", registry=registry)
        case SSLError() | ssl.SSLError():
            return LockProblem("CC1250.tls", registry=registry, error=_openssl_reason(problem))
        case _:
            return LockProblem("CC1250.broken", registry=registry)


def _openssl_reason(problem: Exception) -> str:
    """OpenSSL's own text has no URL."""
    inner: object = problem
    while isinstance(inner, SSLError) and inner.args:
        inner = inner.args[0]
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.lower()
    if isinstance(inner, ssl.SSLError):
        return (inner.reason or "no reason given").lower().replace("_", " ")
    return "no TLS"


# --- Parse and bound the URLs that servers send: of a redirect, of a token server
#
# Rule: one parser, that of the library which opens the connection, decides what the host is. A text that
# another parser could read differently, or that has a login, is refused as a URL.


LONGEST = 8192  # characters; storage puts long signatures there
LONGEST_HOST = 255


def is_url(text: str) -> bool:
    """Tell whether a text is an absolute URL that all parsers read alike: no login, nothing to be escaped."""
    parsed = _parse_url_or_empty(text)
    host = parsed.netloc or ""
    web = parsed.scheme in ("http", "https") and not parsed.auth
    return web and _is_plain_text(text) and 0 < len(host) <= LONGEST_HOST


def redirected(url: str, location: str) -> str:
    """Return the URL that a redirect leads to, unchanged for a scheme other than HTTP's; "" if it is not a URL."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return ""
    web = target[:5].lower() in ("http:", "https")
    return target if location and _is_plain_text(target) and (is_url(target) or not web) else ""


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of a URL."""
    parsed = _parse_url_or_empty(url)
    scheme = parsed.scheme or ""
    return scheme, parsed.host or "", parsed.port or (443 if scheme == "https" else 80)


def host_of(url: str) -> str:
    """Write `host` or `host:port`, as a reference writes it: no user, no path."""
    return _parse_url_or_empty(url).netloc or ""


def _is_plain_text(text: str) -> bool:
    return len(text) <= LONGEST and bool(re.fullmatch(r"""(?![^"<>\\]*["<>\\])[!-~]+""", text))


def _parse_url_or_empty(url: str) -> Url:
    try:
        return parse_url(url)
    except (HTTPError, ValueError):
        return Url()


# --- An answer of a server, whose body is read as it arrives
#
# Rule: nothing is decompressed and nothing is kept beyond what is read; a caller that stops reading
# early closes the connection.


CHUNK = 1 << 16


class Reply(NamedTuple):
    """An answer with its body unread. url: after redirects, another than the request's."""

    url: str
    raw: urllib3.BaseHTTPResponse
    wire: Wire

    @property
    def status(self) -> int:
        """The status code."""
        return self.raw.status

    def header(self, name: str) -> str:
        """Return a header, "" when it is absent."""
        return self.raw.headers.get(name, "")

    def close(self) -> None:
        """Give up the body."""
        self.raw.close()


def body_of(reply: Reply, budget: Budget) -> Iterator[bytes]:
    """Yield the body as it arrives. Raises AgainError when the connection breaks, LockProblem when time is up."""
    try:
        while True:
            budget.check()
            CURRENT.set(reply.wire)
            try:
                piece = reply.raw.read1(CHUNK, decode_content=False)
            except WireError as problem:
                place = host_of(reply.url)
                failure = LockProblem(problem.code, registry=place, **problem.values)
                raise AgainError(failure, unreachable=place) from None
            except (HTTPError, HTTPException, OSError, ValueError) as problem:
                raise AgainError(network_trouble(problem, host_of(reply.url))) from None
            if not piece:
                return
            yield piece
    finally:
        reply.close()


def whole_body(reply: Reply, budget: Budget, most: int) -> bytes | None:
    """Return the body of a small answer, None when it is longer than `most`."""
    data = bytearray()
    for piece in body_of(reply, budget):
        data += piece
        if len(data) > most:
            reply.close()
            return None
    return bytes(data)


# --- HTTP requests: TLS but for named hosts, few redirects, bounded waits, credentials for their origin only
#
# Rule: an Authorization header goes to the origin that it was made for and is dropped at the first
# redirect to any other. A failure that may pass is an AgainError, which `retried` turns into another try; a host that
# could not be reached in the end is not tried again for other images.


T = TypeVar("T")
AGENT = {"User-Agent": f"contrast-krm/{__version__}"}
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PASSING = frozenset({408, 429, 500, 502, 503, 504})
TRIES = 5
UNREACHABLE_TRIES = 2  # of a name without an address, or a host that does not answer


class Transport:
    """Connections to all registries of a run."""

    def __init__(self, plain_http: Collection[str], workers: int, pace: Pace = Pace()) -> None:  # noqa: B008 (immutable)
        """Use TLS except for the hosts in plain_http (`host` or `host:port`)."""
        self._plain = frozenset(plain_http)
        self._workers = workers
        self._pace = pace
        self._lock = Lock()
        self._managers: dict[str, urllib3.PoolManager] = {}
        self._unreachable: dict[str, LockProblem] = {}

    def retried(self, action: Callable[[], T], budget: Budget) -> T:
        """Call `action` until a try succeeds, and return its answer. Raises LockProblem after the last try."""
        number = 0
        while True:
            try:
                return action()
            except AgainError as again:
                number += 1
                if again.unreachable in self._unreachable:
                    raise self._unreachable[again.unreachable] from None
                if number >= (UNREACHABLE_TRIES if again.unreachable else TRIES):
                    if again.unreachable:
                        self._unreachable.setdefault(again.unreachable, again.problem)
                    raise again.problem from None
                backoff = self._pace.wait * 2 ** (number - 1) * random.uniform(0.5, 1)  # noqa: S311 (no secret)
                budget.wait(again.wait or backoff)

    def scheme(self, host: str) -> str:
        """Return the URL scheme for a host."""
        return "http" if host in self._plain else "https"

    def get(self, url: str, headers: Mapping[str, str], budget: Budget, body: int) -> Reply:
        """Send a GET and follow redirects. body: bytes that the answer may have. Raises LockProblem and AgainError."""
        sent = dict(headers)
        for _ in range(MOST_REDIRECTS + 1):
            reply = self.once("GET", url, sent, budget, body)
            if reply.status not in REDIRECTS:
                return reply
            reply.close()
            target = redirected(url, reply.header("Location"))
            if not target:
                raise LockProblem("CC1250.redirect", registry=host_of(url))
            if origin(target) != origin(url):
                sent.pop("Authorization", None)
            url = target
        raise LockProblem("CC1250.redirects", registry=host_of(url))

    def once(
        self, method: str, url: str, headers: Mapping[str, str], budget: Budget, body: int, data: bytes | None = None
    ) -> Reply:
        """Send one request and return the answer, redirect or not."""
        place = host_of(url)
        scheme = origin(url)[0]
        if not place or (scheme != "https" and (scheme != "http" or place not in self._plain)):
            raise LockProblem("CC1253", registry=place or "a redirect without a host")
        if place in self._unreachable:
            raise self._unreachable[place]
        wire = Wire(self._pace, budget, body)
        CURRENT.set(wire)
        seconds = wire.connect_seconds()
        try:
            raw = self._manager(url).request(
                method,
                url,
                body=data,
                headers={**AGENT, **headers},
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=seconds, read=seconds),  # of the TLS handshake; Wire has its own
            )
        except WireError as problem:
            raise AgainError(LockProblem(problem.code, registry=place, **problem.values), unreachable=place) from None
        except (HTTPError, HTTPException, OSError, ValueError) as problem:
            budget.check()
            failure = network_trouble(problem, place)
            if isinstance(problem, SSLError | ssl.SSLError):
                self._unreachable.setdefault(place, failure)
                raise failure from None
            raise AgainError(failure, unreachable=place if isinstance(problem, UNREACHABLE) else "") from None
        reply = Reply(url, raw, wire)
        if reply.status in PASSING:
            reply.close()
            failure = LockProblem("CC1250.status-again", registry=place, status=reply.status)
            raise AgainError(failure, _retry_after(reply))
        return reply

    def _manager(self, url: str) -> urllib3.PoolManager:
        """Connect directly, or through the proxy of the environment."""
        scheme, host, _ = origin(url)
        proxy = "" if proxy_bypass(host) else getproxies().get(scheme, "")
        with self._lock:
            if proxy not in self._managers:
                self._managers[proxy] = self._make_pools(proxy)
            return self._managers[proxy]

    def _make_pools(self, proxy: str) -> urllib3.PoolManager:
        pools: urllib3.PoolManager
        if not proxy:
            pools = urllib3.PoolManager(maxsize=self._workers, ssl_context=tls())
        else:
            login = parse_url(proxy).auth
            headers = make_headers(proxy_basic_auth=login) if login else None
            pools = urllib3.ProxyManager(
                proxy, maxsize=self._workers, proxy_headers=headers, proxy_ssl_context=tls(), ssl_context=tls()
            )
        pools.pool_classes_by_scheme = POOLS
        return pools


def _retry_after(reply: Reply) -> float:
    """Return seconds, 0 without a valid header."""
    value = reply.header("Retry-After")
    try:
        return urllib3.Retry().parse_retry_after(value) if value else 0
    except (HTTPError, ValueError, OverflowError):
        return 0
