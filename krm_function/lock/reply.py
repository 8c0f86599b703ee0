"""An answer of a server, whose body is read as it arrives.

Rule of this file: nothing is decompressed and nothing is kept beyond what is read; a caller that stops reading
early closes the connection.
"""

from collections.abc import Iterator
from http.client import HTTPException

import urllib3
from urllib3.exceptions import HTTPError

from krm_function.lock.budget import Budget
from krm_function.lock.failures import AgainError, network_trouble, trouble
from krm_function.lock.server_urls import host_of
from krm_function.lock.wire import CURRENT, Wire, WireError
from krm_function.record import NamedTuple

CHUNK = 1 << 16


class Reply(NamedTuple):
    """An answer, its body unread, and its URL: after redirects, another than that of the request."""

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

    def challenges(self) -> list[str]:
        """Return the lines of WWW-Authenticate."""
        return self.raw.headers.getlist("WWW-Authenticate")

    def close(self) -> None:
        """Give up the body."""
        self.raw.close()


def body_of(reply: Reply, budget: Budget) -> Iterator[bytes]:
    """Yield the body as it arrives. Raises AgainError when the connection breaks, Problem when time is up."""
    try:
        while True:
            budget.check()
            CURRENT.set(reply.wire)
            try:
                piece = reply.raw.read1(CHUNK, decode_content=False)
            except WireError as problem:
                place = host_of(reply.url)
                raise AgainError(trouble(problem.code, place, **problem.values), unreachable=place) from None
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
