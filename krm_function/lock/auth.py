"""Answer a registry's challenge with an Authorization header: Basic, or a bearer token.

Rule of this file: a login goes to the registry that it is for, or to the realm which that registry names, no farther:
a token server may not redirect. Protocol: https://distribution.github.io/distribution/spec/auth/token/
"""

import re
from binascii import b2a_base64
from collections.abc import Mapping
from threading import Lock
from urllib.parse import urlencode
from urllib.request import parse_http_list, parse_keqv_list

from krm_function.api.strict_json import load_object
from krm_function.lock.budget import Budget
from krm_function.lock.credentials import Credentials, Login
from krm_function.lock.failures import trouble
from krm_function.lock.http_requests import Transport
from krm_function.lock.lock_problem import LockProblem
from krm_function.lock.reply import Reply, whole_body
from krm_function.lock.server_urls import is_url

TOKEN_LIMIT = 1 << 20
CLIENT = "contrast-krm"


class Authenticator:
    """Authorization headers by registry and repository, kept while they work."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        """Begin with none."""
        self._transport = transport
        self._credentials = credentials
        self._lock = Lock()
        self._headers: dict[tuple[str, str], str] = {}

    def headers(self, registry: str, repository: str) -> dict[str, str]:
        """Return the headers that worked last, or none."""
        with self._lock:
            header = self._headers.get((registry, repository))
        return {"Authorization": header} if header else {}

    def answer(self, registry: str, repository: str, reply: Reply, budget: Budget) -> dict[str, str]:
        """Make the headers with which to ask again after a 401. Raises LockProblem and AgainError."""
        challenges = _challenges(reply)
        login = self._credentials.of(registry)
        if login and login.bearer:
            header = f"Bearer {_fit(login.bearer, registry)}"
        elif "bearer" in challenges:
            token = self._token(registry, repository, challenges["bearer"], login, budget)
            header = f"Bearer {_fit(token, registry)}"
        elif "basic" in challenges and login and login.user:
            header = _basic(login)
        elif "basic" in challenges:
            raise LockProblem("CC1251.no-login", registry=registry)
        else:
            raise LockProblem("CC1251.login-kind", registry=registry)
        with self._lock:
            self._headers[registry, repository] = header
        return {"Authorization": header}

    def _token(
        self, registry: str, repository: str, challenge: Mapping[str, str], login: Login | None, budget: Budget
    ) -> str:
        realm = challenge.get("realm", "")
        if not is_url(realm):
            raise trouble("CC1250.no-token-server", registry)
        asked = challenge.get("scope", "")
        scope = asked if re.fullmatch(r"repository:[^\s:]+:pull", asked) else f"repository:{repository}:pull"
        query = {"service": challenge.get("service", ""), "scope": scope}
        query = {key: value for key, value in query.items() if value}
        if login and login.identity:
            form = {"grant_type": "refresh_token", "refresh_token": login.identity, "client_id": CLIENT, **query}
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            reply = self._transport.once("POST", realm, kind, budget, TOKEN_LIMIT, urlencode(form).encode())
        else:
            url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}"
            headers = {"Authorization": _basic(login)} if login else {}
            reply = self._transport.once("GET", url, headers, budget, TOKEN_LIMIT)
        if reply.status in (400, 401, 403):
            reply.close()
            raise LockProblem("CC1251.refused" if login else "CC1251.no-login", registry=registry)
        if reply.status != 200:
            reply.close()
            raise trouble("CC1250.token-status", registry, status=reply.status)
        return _read_token(reply, registry, budget)


def _read_token(reply: Reply, registry: str, budget: Budget) -> str:
    data = whole_body(reply, budget, TOKEN_LIMIT)
    if data is None:
        raise trouble("CC1250.token-endless", registry)
    try:
        answer = load_object(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise trouble("CC1250.token-json", registry) from None
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str):
        raise trouble("CC1250.token-none", registry)
    return token


def _fit(token: str, registry: str) -> str:
    """Return the token. Raises LockProblem if it has characters that no header may have."""
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise LockProblem("CC1251.token", registry=registry)
    return token


def _basic(login: Login) -> str:
    return "Basic " + b2a_base64(f"{login.user}:{login.password}".encode(), newline=False).decode("ascii")


def _challenges(reply: Reply) -> dict[str, dict[str, str]]:
    """Return the parameters of every challenge by its scheme, lower case. A registry sends one to a header line."""
    challenges: dict[str, dict[str, str]] = {}
    for line in reply.challenges():
        scheme, _, rest = line.strip().partition(" ")
        items = [item for item in parse_http_list(rest) if re.fullmatch(r"[\w-]+=.+", item)]
        challenges[scheme.lower()] = {key.lower(): value for key, value in parse_keqv_list(items).items()}
    return challenges
