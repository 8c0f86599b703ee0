"""Turns failures of the network into problems: which may pass, and their texts.

Rule of this file: no text of the library is passed on, because those quote URLs, and with them credentials.
"""

import ssl

from urllib3.exceptions import (
    ConnectTimeoutError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from krm_function.lock.problem import Problem

CHECK = "check the registry's name and the network, and run it again"
UNREACHABLE = (NewConnectionError, NameResolutionError, ConnectTimeoutError, ReadTimeoutError, TimeoutError)


class AgainError(Exception):
    """A failure that may pass. wait: seconds that the server asked for, 0 if it did not."""

    def __init__(self, problem: Problem, wait: float = 0, unreachable: str = "") -> None:
        """Keep the problem to report if no retry succeeds. unreachable: the host, if it did not answer at all."""
        super().__init__(problem.code)
        self.problem = problem
        self.wait = wait
        self.unreachable = unreachable


def trouble(registry: str, problem: str, hint: str = CHECK) -> Problem:
    """A problem of the network or of a server."""
    return Problem("CC1250", registry=registry, problem=problem, remedy=hint)


def reason(problem: Exception) -> str:
    """The problem that an exception of the library stands for."""
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


def remedy(problem: Exception, host: str) -> str:
    """What to do about it."""
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
