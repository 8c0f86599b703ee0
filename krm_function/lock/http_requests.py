"""HTTP requests: TLS but for named hosts, few redirects, bounded waits, credentials for their origin only.

Rule of this file: an Authorization header goes to the origin that it was made for and is dropped at the first redirect
to any other. A failure that may pass is an AgainError, which `retried` turns into another try; a host that could
not be reached in the end is not tried again for other images.
"""

import random
import ssl
from collections.abc import Callable, Collection, Mapping
from http.client import HTTPException
from threading import Lock
from typing import TypeVar
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError, SSLError
from urllib3.util import make_headers, parse_url

from krm_function import __version__
from krm_function.lock.budget import Budget
from krm_function.lock.failures import UNREACHABLE, AgainError, network_trouble, trouble
from krm_function.lock.lock_problem import LockProblem
from krm_function.lock.reply import Reply
from krm_function.lock.server_urls import host_of, origin, redirected
from krm_function.lock.wire import CURRENT, POOLS, Pace, Wire, WireError, tls

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
        """plain_http: the hosts (`host` or `host:port`) that are spoken to without TLS, and no others."""
        self._plain = frozenset(plain_http)
        self._workers = workers
        self._pace = pace
        self._lock = Lock()
        self._managers: dict[str, urllib3.PoolManager] = {}
        self._unreachable: dict[str, LockProblem] = {}

    def retried(self, action: Callable[[], T], budget: Budget) -> T:
        """Call `action` in as many tries as it takes and we have, and return its answer. Raises LockProblem."""
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
        """Return how a host is spoken to."""
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
                raise trouble("CC1250.redirect", host_of(url))
            if origin(target) != origin(url):
                sent.pop("Authorization", None)
            url = target
        raise trouble("CC1250.redirects", host_of(url))

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
            raise AgainError(trouble(problem.code, place, **problem.values), unreachable=place) from None
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
            raise AgainError(trouble("CC1250.status-again", place, status=reply.status), _asked_to_wait(reply))
        return reply

    def _manager(self, url: str) -> urllib3.PoolManager:
        """Return the connections for a URL: direct, or through the proxy of the environment."""
        scheme, host, _ = origin(url)
        proxy = "" if proxy_bypass(host) else getproxies().get(scheme, "")
        with self._lock:
            if proxy not in self._managers:
                self._managers[proxy] = self._made(proxy)
            return self._managers[proxy]

    def _made(self, proxy: str) -> urllib3.PoolManager:
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


def _asked_to_wait(reply: Reply) -> float:
    """Return seconds of a Retry-After header; 0 without one that can be read."""
    value = reply.header("Retry-After")
    try:
        return urllib3.Retry().parse_retry_after(value) if value else 0
    except (HTTPError, ValueError, OverflowError):
        return 0
