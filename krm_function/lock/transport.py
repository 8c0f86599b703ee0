"""HTTP as we allow it: TLS, except for hosts that were named; few redirects, no waiting without end, no lost secrets.

Rule of this file: an Authorization header goes to the origin that it was made for and is dropped at the first redirect
to any other. A failure that may pass is an AgainError, which `retried` turns into another try; whoever could not be
reached in the end is not tried again for the other images. Every text about a failure is ours, because those of the
library quote URLs.
"""

import random
import re
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from http.client import HTTPException
from threading import Lock
from typing import TypeVar
from urllib.parse import urljoin
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.util import Url, make_headers, parse_url

from krm_function import __version__
from krm_function.lock.budget import Budget
from krm_function.lock.problem import Problem
from krm_function.lock.wire import CURRENT, POOLS, Pace, Wire, WireError, tls
from krm_function.record import NamedTuple

T = TypeVar("T")
AGENT = {"User-Agent": f"contrast-krm/{__version__}"}
CHUNK = 1 << 16
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PASSING = frozenset({408, 429, 500, 502, 503, 504})
TRIES = 5
UNREACHABLE_TRIES = 2  # of a name that leads nowhere, or to nobody who listens or answers
LONGEST_URL = 8192  # characters; storage puts long signatures there
CHECK = "check the registry's name and the network, and run it again"


class Reply(NamedTuple):
    """An answer, its body unread, and the URL that gave it: after redirects, another than was asked."""

    url: str
    raw: urllib3.BaseHTTPResponse
    wire: Wire

    @property
    def status(self) -> int:
        """The status code."""
        return self.raw.status

    def header(self, name: str) -> str:
        """A header, "" when it is absent."""
        return self.raw.headers.get(name, "")

    def challenges(self) -> list[str]:
        """The lines of WWW-Authenticate."""
        return self.raw.headers.getlist("WWW-Authenticate")

    def close(self) -> None:
        """Give up the body."""
        self.raw.close()


class AgainError(Exception):
    """It failed, and may work in a while. wait: seconds that the server asked for, 0 if it did not."""

    def __init__(self, problem: Problem, wait: float = 0, unreachable: str = "") -> None:
        """Remember what to say when it fails to the end. unreachable: the host, if it did not answer at all."""
        super().__init__(problem.code)
        self.problem = problem
        self.wait = wait
        self.unreachable = unreachable


class Transport:
    """Connections to all registries of a run."""

    def __init__(self, plain_http: Collection[str], workers: int, pace: Pace = Pace()) -> None:  # noqa: B008 (immutable)
        """plain_http: the hosts (`host` or `host:port`) that are spoken to without TLS, and no others."""
        self._plain = frozenset(plain_http)
        self._workers = workers
        self._pace = pace
        self._lock = Lock()
        self._managers: dict[str, urllib3.PoolManager] = {}
        self._unreachable: dict[str, Problem] = {}

    def retried(self, action: Callable[[], T], budget: Budget) -> T:
        """What `action` answers, in as many tries as it takes and we have. Raises Problem."""
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
        """How a host is spoken to."""
        return "http" if host in self._plain else "https"

    def get(self, url: str, headers: Mapping[str, str], budget: Budget, body: int) -> Reply:
        """The answer to a GET, after redirects. body: bytes that it may have. Raises Problem and AgainError."""
        sent = dict(headers)
        for _ in range(MOST_REDIRECTS + 1):
            reply = self.once("GET", url, sent, budget, body)
            if reply.status not in REDIRECTS:
                return reply
            reply.close()
            target = _redirected(url, reply.header("Location"))
            if origin(target) != origin(url):
                sent.pop("Authorization", None)
            url = target
        raise trouble(_host(url), "redirects too often")

    def once(
        self, method: str, url: str, headers: Mapping[str, str], budget: Budget, body: int, data: bytes | None = None
    ) -> Reply:
        """The answer to one request, redirect or not."""
        place = _host(url)
        scheme = origin(url)[0]
        if not place or (scheme != "https" and (scheme != "http" or place not in self._plain)):
            raise Problem("CC1253", registry=place or "a redirect without a host")
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
            raise AgainError(trouble(place, str(problem)), unreachable=place) from None
        except (HTTPError, HTTPException, OSError, ValueError) as problem:
            budget.check()
            said = trouble(place, _reason(problem), _remedy(problem, place))
            if isinstance(problem, SSLError | ssl.SSLError):
                self._unreachable.setdefault(place, said)
                raise said from None
            raise AgainError(said, unreachable=place if isinstance(problem, UNREACHABLE) else "") from None
        reply = Reply(url, raw, wire)
        if reply.status in PASSING:
            reply.close()
            raise AgainError(trouble(place, f"answers {reply.status} again and again"), _asked_to_wait(reply))
        return reply

    def _manager(self, url: str) -> urllib3.PoolManager:
        """The connections for a URL: direct, or through the proxy that the environment names for it."""
        scheme, host, _ = origin(url)
        proxy = "" if proxy_bypass(host) else getproxies().get(scheme, "")
        with self._lock:
            if proxy not in self._managers:
                self._managers[proxy] = self._made(proxy)
            return self._managers[proxy]

    def _made(self, proxy: str) -> urllib3.PoolManager:
        made: urllib3.PoolManager
        if not proxy:
            made = urllib3.PoolManager(maxsize=self._workers, ssl_context=tls())
        else:
            login = parse_url(proxy).auth
            headers = make_headers(proxy_basic_auth=login) if login else None
            made = urllib3.ProxyManager(
                proxy, maxsize=self._workers, proxy_headers=headers, proxy_ssl_context=tls(), ssl_context=tls()
            )
        made.pool_classes_by_scheme = POOLS
        return made


def body_of(reply: Reply, budget: Budget) -> Iterator[bytes]:
    """The body in pieces, as they arrive. Raises AgainError when the connection breaks, Problem when time is up."""
    try:
        while True:
            budget.check()
            CURRENT.set(reply.wire)
            try:
                piece = reply.raw.read1(CHUNK, decode_content=False)
            except WireError as problem:
                place = _host(reply.url)
                raise AgainError(trouble(place, str(problem)), unreachable=place) from None
            except (HTTPError, HTTPException, OSError, ValueError) as problem:
                raise AgainError(trouble(_host(reply.url), _reason(problem))) from None
            if not piece:
                return
            yield piece
    finally:
        reply.close()


def trouble(registry: str, problem: str, remedy: str = CHECK) -> Problem:
    """A problem of the network or of a server."""
    return Problem("CC1250", registry=registry, problem=problem, remedy=remedy)


def whole_body(reply: Reply, budget: Budget, most: int) -> bytes | None:
    """The body of a small answer, None when it is longer than `most`."""
    data = bytearray()
    for piece in body_of(reply, budget):
        data += piece
        if len(data) > most:
            reply.close()
            return None
    return bytes(data)


def is_url(text: str) -> bool:
    """Whether a text is an absolute URL that everybody reads alike: no login, nothing that would need escaping."""
    parsed = _parsed(text)
    return bool(_is_plain(text) and parsed.scheme in ("http", "https") and parsed.host and parsed.auth is None)


def _is_plain(text: str) -> bool:
    return len(text) <= LONGEST_URL and bool(re.fullmatch(r"""(?![^"<>\\]*["<>\\])[!-~]+""", text))


def _redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises Problem for what is no URL; `once` refuses other schemes."""
    try:
        target = urljoin(url, location)
    except ValueError:
        target = ""
    web = target[:5].lower() in ("http:", "https")
    if not location or not _is_plain(target) or (web and not is_url(target)):
        raise trouble(_host(url), "redirects to what is no URL", "ask whoever runs the registry")
    return target


def _asked_to_wait(reply: Reply) -> float:
    """Seconds of a Retry-After header; 0 without one that can be read."""
    value = reply.header("Retry-After")
    try:
        return urllib3.Retry().parse_retry_after(value) if value else 0
    except (HTTPError, ValueError, OverflowError):
        return 0


def _parsed(url: str) -> Url:
    try:
        return parse_url(url)
    except (HTTPError, ValueError):
        return Url()


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL."""
    parsed = _parsed(url)
    scheme = parsed.scheme or ""
    return scheme, parsed.host or "", parsed.port or (443 if scheme == "https" else 80)


def _host(url: str) -> str:
    """`host` or `host:port`, as a reference writes it: no user, no path."""
    return _parsed(url).netloc or ""


UNREACHABLE = (NewConnectionError, NameResolutionError, ConnectTimeoutError, ReadTimeoutError, TimeoutError)


def _reason(problem: Exception) -> str:
    match problem:
        case NameResolutionError():
            return "its name cannot be resolved"
        case NewConnectionError():
            return "cannot be connected to"
        case ConnectTimeoutError() | ReadTimeoutError() | TimeoutError():
            return "does not answer in time"
        case SSLError() | ssl.SSLError():
            return f"TLS fails: {_tls(problem)}"
        case _:
            return "the connection broke"


def _remedy(problem: Exception, host: str) -> str:
    if isinstance(problem, SSLError | ssl.SSLError):
        return f"name a CA bundle in SSL_CERT_FILE or, if it speaks plain HTTP only, add --insecure-registry {host}"
    return CHECK


def _tls(problem: Exception) -> str:
    """The reason that OpenSSL gives, in its own words: they name no URL."""
    inner: object = problem
    while isinstance(inner, SSLError) and inner.args:
        inner = inner.args[0]
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.lower()
    return (
        (inner.reason or "no reason given").lower().replace("_", " ") if isinstance(inner, ssl.SSLError) else "no TLS"
    )
