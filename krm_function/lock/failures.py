"""Turn failures of the network into problems: which may pass, and their codes.

Rule of this file: of the library's texts only the reasons of OpenSSL are passed on; others quote URLs, and with them
credentials.
"""

import ssl
from typing import Any

from urllib3.exceptions import (
    ConnectTimeoutError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from krm_function.lock.lock_problem import LockProblem

UNREACHABLE = (NewConnectionError, NameResolutionError, ConnectTimeoutError, ReadTimeoutError, TimeoutError)


class AgainError(Exception):
    """A failure that may pass. wait: seconds that the server asked for, 0 if it did not."""

    def __init__(self, problem: LockProblem, wait: float = 0, unreachable: str = "") -> None:
        """Keep the problem to report if no retry succeeds. unreachable: the host, if it did not answer at all."""
        super().__init__(problem.code)
        self.problem = problem
        self.wait = wait
        self.unreachable = unreachable


def trouble(code: str, registry: str, **values: Any) -> LockProblem:
    """Return a problem of the network or of a server. code: CC1250 with a variant."""
    return LockProblem(code, registry=registry, **values)


def network_trouble(problem: Exception, registry: str) -> LockProblem:
    """Turn an exception of the library into the problem that it stands for."""
    match problem:
        case NameResolutionError():
            return trouble("CC1250.name", registry)
        case NewConnectionError():
            return trouble("CC1250.connection", registry)
        case ConnectTimeoutError() | ReadTimeoutError() | TimeoutError():
            return trouble("CC1250.silent", registry)
        case SSLError() | ssl.SSLError():
            return trouble("CC1250.tls", registry, error=_tls(problem))
        case _:
            return trouble("CC1250.broken", registry)


def _tls(problem: Exception) -> str:
    """Return the reason in the words of OpenSSL, which name no URL."""
    inner: object = problem
    while isinstance(inner, SSLError) and inner.args:
        inner = inner.args[0]
    if isinstance(inner, ssl.SSLCertVerificationError):
        return inner.verify_message.lower()
    return (
        (inner.reason or "no reason given").lower().replace("_", " ") if isinstance(inner, ssl.SSLError) else "no TLS"
    )
