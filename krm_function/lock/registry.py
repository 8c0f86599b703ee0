"""A container registry as a source of images: logins, tokens, and the requests of the distribution API."""

import os
import re
import shutil
import subprocess
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Generator, Mapping
from contextlib import closing
from threading import Lock
from typing import Any
from urllib.parse import urlencode
from urllib.request import parse_http_list, parse_keqv_list

from krm_function.config.document import load_object
from krm_function.kubernetes.image import Image
from krm_function.kubernetes.objects import mapping
from krm_function.lock.connections import Reply, Transport, body_of, is_url, origin, whole_body
from krm_function.lock.media import INDEXES, MANIFESTS, MISSING, Budget, Descriptor, LockProblem, malformed, too_large
from krm_function.lock.resolve import MANIFEST_LIMIT, Consume, Found, T
from krm_function.record import NamedTuple

# --- Logins for registries, from docker's config.json and its credential helpers
#
# Rule: a secret is read when its registry requires it, goes nowhere else, and has no printable form.
# Source: docs/facts/oci-registries.md#logins.


HUB = "docker.io"
HUB_KEY = "https://index.docker.io/v1/"  # Docker Hub's name in config.json, for historical reasons
TOKEN_USER = "<token>"  # noqa: S105  a helper's way to say that the secret is an identity token
HELPER_SECONDS = 60
LONGEST_ANSWER = 1 << 16


class Login(NamedTuple):
    """A user name and password, or an identity token (then user is ""), or a registry token, sent unchanged."""

    user: str = ""
    password: str = ""
    identity: str = ""
    bearer: str = ""

    def __repr__(self) -> str:
        """Return the name of the class alone, so that no secret is printed by accident."""
        return "Login(…)"


class Credentials:
    """The logins of one config.json."""

    def __init__(self, path: str = "") -> None:
        """Read the file when a registry asks for a login. Default: `$DOCKER_CONFIG`, else `~/.docker`."""
        directory = os.environ.get("DOCKER_CONFIG") or os.path.join(os.path.expanduser("~"), ".docker")
        self._path = path or os.path.join(directory, "config.json")
        self._lock = Lock()
        self._config: Mapping[str, Any] | None = None
        self._logins: dict[str, Login | None] = {}

    def of(self, registry: str) -> Login | None:
        """Return the login for a registry (`host` or `host:port`), or None. Raises LockProblem."""
        with self._lock:
            if registry not in self._logins:
                self._logins[registry] = self._look_up(registry)
            return self._logins[registry]

    def _look_up(self, registry: str) -> Login | None:
        if self._config is None:
            self._config = self._load()
        key = HUB_KEY if registry == HUB else registry
        helpers = mapping(self._config.get("credHelpers"))
        helper = helpers.get(key) or helpers.get(registry) or self._config.get("credsStore")
        if helper and (login := _ask_helper(str(helper), key)):
            return login
        auths = mapping(self._config.get("auths"))
        entries = [entry for name, entry in auths.items() if _host_of_key(str(name)) == _host_of_key(key)]
        return next(filter(None, (self._from_entry(mapping(entry)) for entry in entries)), None)

    def _load(self) -> Mapping[str, Any]:
        try:
            with open(self._path, "rb") as file:
                return load_object(file.read().decode("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise self._unusable("CC1252.system", error=problem.strerror or "cannot be read") from None
        except (ValueError, RecursionError):
            raise self._unusable("CC1252.json") from None

    def _from_entry(self, entry: Mapping[str, Any]) -> Login | None:
        if entry.get("registrytoken"):
            return Login(bearer=str(entry["registrytoken"]))
        if entry.get("identitytoken"):
            return Login(identity=str(entry["identitytoken"]))
        user, password = entry.get("username"), entry.get("password")
        if entry.get("auth"):
            try:
                both = a2b_base64(str(entry["auth"]).encode(), strict_mode=True).decode("utf-8")
            except (Base64Error, UnicodeError):
                raise self._unusable("CC1252.base64") from None
            user, _, password = both.partition(":")
        if not user or not isinstance(user, str) or not isinstance(password, str):
            return None
        return Login(user, password.rstrip("\0"))

    def _unusable(self, code: str, **values: str) -> LockProblem:
        return LockProblem(code, what=f"the login file {self._path}", **values)


def _host_of_key(name: str) -> str:
    """Return a key of `auths` without scheme and path."""
    return re.sub(r"\A[a-z]+://", "", name).partition("/")[0]


def _ask_helper(helper: str, key: str) -> Login | None:
    """Call `docker-credential-<helper> get`; return None for a registry unknown to it."""
    label = f"the credential helper docker-credential-{helper}"
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", helper):
        raise LockProblem("CC1252.helper-name", what="a credential helper")
    program = shutil.which(f"docker-credential-{helper}")
    if program is None:
        raise LockProblem("CC1252.helper-path", what=label)
    try:
        done = subprocess.run(
            [program, "get"], input=key.encode(), capture_output=True, check=False, timeout=HELPER_SECONDS
        )
        answer = done.stdout[:LONGEST_ANSWER].decode("utf-8")
        if done.returncode != 0:
            if "credentials not found" in answer:  # the protocol's own words, on standard output
                return None
            raise LockProblem("CC1252.helper-exit", what=label, status=done.returncode)
        login = load_object(answer)
    except subprocess.TimeoutExpired:
        raise LockProblem("CC1252.helper-time", what=label, seconds=HELPER_SECONDS) from None
    except OSError as problem:
        raise LockProblem("CC1252.system", what=label, error=problem.strerror or "cannot be run") from None
    except (ValueError, RecursionError):
        raise LockProblem("CC1252.helper-json", what=label) from None
    user, secret = login.get("Username"), login.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str):
        raise LockProblem("CC1252.helper-login", what=label)
    return Login(identity=secret) if user == TOKEN_USER else Login(user, secret)


# --- Answer a registry's challenge with an Authorization header: Basic, or a bearer token
#
# Rule: a login goes to the registry that it is for, or to the realm that the registry names, no further:
# a token server may not redirect. Protocol: https://distribution.github.io/distribution/spec/auth/token/


TOKEN_LIMIT = 1 << 20
CLIENT = "contrast-krm"


class Authenticator:
    """Authorization headers by registry and repository; one is kept while it works."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
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
        """Make the headers for a second try after a 401. Raises LockProblem and AgainError."""
        challenges = _parse_challenges(reply)
        login = self._credentials.of(registry)
        if login and login.bearer:
            header = f"Bearer {_check_token(login.bearer, registry)}"
        elif "bearer" in challenges:
            token = self._token(registry, repository, challenges["bearer"], login, budget)
            header = f"Bearer {_check_token(token, registry)}"
        elif "basic" in challenges and login and login.user:
            header = _basic_header(login)
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
            raise LockProblem("CC1250.no-token-server", registry=registry)
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
            headers = {"Authorization": _basic_header(login)} if login else {}
            reply = self._transport.once("GET", url, headers, budget, TOKEN_LIMIT)
        if reply.status in (400, 401, 403):
            reply.close()
            raise LockProblem("CC1251.refused" if login else "CC1251.no-login", registry=registry)
        if reply.status != 200:
            reply.close()
            raise LockProblem("CC1250.token-status", registry=registry, status=reply.status)
        return _read_token(reply, registry, budget)


def _read_token(reply: Reply, registry: str, budget: Budget) -> str:
    data = whole_body(reply, budget, TOKEN_LIMIT)
    if data is None:
        raise LockProblem("CC1250.token-endless", registry=registry)
    try:
        answer = load_object(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise LockProblem("CC1250.token-json", registry=registry) from None
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str):
        raise LockProblem("CC1250.token-none", registry=registry)
    return token


def _check_token(token: str, registry: str) -> str:
    """Return the token. Raises LockProblem for characters that are not allowed in a header."""
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise LockProblem("CC1251.token", registry=registry)
    return token


def _basic_header(login: Login) -> str:
    return "Basic " + b2a_base64(f"{login.user}:{login.password}".encode(), newline=False).decode("ascii")


def _parse_challenges(reply: Reply) -> dict[str, dict[str, str]]:
    """Return the parameters by scheme in lower case. Registries send one challenge per header line."""
    challenges: dict[str, dict[str, str]] = {}
    for line in reply.raw.headers.getlist("WWW-Authenticate"):
        scheme, _, rest = line.strip().partition(" ")
        items = [item for item in parse_http_list(rest) if re.fullmatch(r"[\w-]+=.+", item)]
        challenges[scheme.lower()] = {key.lower(): value for key, value in parse_keqv_list(items).items()}
    return challenges


# --- A Source that reads from registries: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md
#
# Other behaviour of registries: docs/facts/oci-registries.md#registries.
#
# Rule: only GET, and only what the spec calls pull. Statuses are handled here; the caller verifies the
# bytes.


HUB_HOST = "registry-1.docker.io"  # where Docker Hub's images are
ACCEPT = ", ".join((*MANIFESTS, *INDEXES))


class Registry:
    """A source that reads from the registry in the image's name."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        self._transport = transport
        self._auth = Authenticator(transport, credentials)

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Find the manifest or index."""
        return self._transport.retried(lambda: self._find(image, digest, budget), budget)

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Pass a blob to `consume`, again from its first byte after a broken connection, and return its result."""

        def once() -> T:
            with closing(self._blob(image, part, budget)) as data:
                return consume(data)

        return self._transport.retried(once, budget)

    def _find(self, image: Image, digest: str, budget: Budget) -> Found:
        path = f"manifests/{digest or image.tag or 'latest'}"
        reply = self._get(image, path, {"Accept": ACCEPT}, budget, MANIFEST_LIMIT)
        if reply.status == 404:
            reply.close()
            raise LockProblem(MISSING, place=_registry_host(image))
        data = whole_body(self._ok(image, reply), budget, MANIFEST_LIMIT)
        if data is None:
            raise too_large("the manifest", MANIFEST_LIMIT)
        return Found(data, reply.header("Content-Type"))

    def _blob(self, image: Image, part: Descriptor, budget: Budget) -> Generator[bytes, None, None]:
        reply = self._get(image, f"blobs/{part.digest}", {}, budget, part.size)
        if reply.status == 404:
            reply.close()
            raise malformed("CC1204.not-in-registry", f"{part.digest[:19]}…")
        yield from body_of(self._ok(image, reply), budget)

    def _get(self, image: Image, path: str, headers: dict[str, str], budget: Budget, body: int) -> Reply:
        """Fetch, with one login if needed. A redirect to another host never takes credentials along."""
        registry, _, repository = image.name.partition("/")
        host = HUB_HOST if registry == HUB else registry
        url = f"{self._transport.scheme(host)}://{host}/v2/{repository}/{path}"
        reply = self._transport.get(url, headers | self._auth.headers(registry, repository), budget, body)
        if reply.status == 401 and origin(reply.url) == origin(url):
            reply.close()
            login = self._auth.answer(registry, repository, reply, budget)
            reply = self._transport.get(url, headers | login, budget, body)
        return reply

    def _ok(self, image: Image, reply: Reply) -> Reply:
        if reply.status == 200:
            return reply
        reply.close()
        if reply.status in (401, 403):
            raise LockProblem("CC1251.image", registry=_registry_host(image))
        raise LockProblem("CC1250.status", registry=_registry_host(image), status=reply.status)


def _registry_host(image: Image) -> str:
    return image.name.partition("/")[0]
