"""Logins for registries, from docker's config.json and its credential helpers.

Rule of this file: a secret is read when its registry requires it, goes nowhere else, and has no printable form.
Source: docs/facts/oci-registries.md#logins.
"""

import os
import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Mapping
from threading import Lock
from typing import Any

from krm_function.api.strict_json import load_object
from krm_function.lock.lock_problem import LockProblem
from krm_function.model.lookup import mapping
from krm_function.record import NamedTuple

HUB = "docker.io"
HUB_KEY = "https://index.docker.io/v1/"  # what Docker Hub is called in config.json, for historical reasons
TOKEN_USER = "<token>"  # noqa: S105  a helper's way to say that the secret is an identity token
HELPER_SECONDS = 60
LONGEST_ANSWER = 1 << 16


class Login(NamedTuple):
    """A user name and password, or an identity token (then user is ""), or a registry token that is sent as it is."""

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
        """Name the file; it is read when a registry asks for a login. Default: `$DOCKER_CONFIG`, else `~/.docker`."""
        directory = os.environ.get("DOCKER_CONFIG") or os.path.join(os.path.expanduser("~"), ".docker")
        self._path = path or os.path.join(directory, "config.json")
        self._lock = Lock()
        self._config: Mapping[str, Any] | None = None
        self._logins: dict[str, Login | None] = {}

    def of(self, registry: str) -> Login | None:
        """Return the login for a registry (`host` or `host:port`), None when there is none. Raises LockProblem."""
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
        if helper:
            login = _from_helper(str(helper), key)
            if login is not None:
                return login
        for name, entry in mapping(self._config.get("auths")).items():
            if _host(str(name)) == _host(key):
                login = self._from_entry(mapping(entry))
                if login is not None:
                    return login
        return None

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


def _host(name: str) -> str:
    """Return the registry that a key of `auths` means: without a scheme and a path."""
    return re.sub(r"\A[a-z]+://", "", name).partition("/")[0]


def _from_helper(helper: str, key: str) -> Login | None:
    """Ask `docker-credential-<helper> get`; None when it knows no such registry."""
    import shutil
    import subprocess

    what = f"the credential helper docker-credential-{helper}"
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", helper):
        raise LockProblem("CC1252.helper-name", what="a credential helper")
    program = shutil.which(f"docker-credential-{helper}")
    if program is None:
        raise LockProblem("CC1252.helper-path", what=what)
    try:
        done = subprocess.run(
            [program, "get"], input=key.encode(), capture_output=True, check=False, timeout=HELPER_SECONDS
        )
        answer = done.stdout[:LONGEST_ANSWER].decode("utf-8")
        if done.returncode != 0:
            if "credentials not found" in answer:  # the protocol's own words, on standard output
                return None
            raise LockProblem("CC1252.helper-exit", what=what, status=done.returncode)
        login = load_object(answer)
    except subprocess.TimeoutExpired:
        raise LockProblem("CC1252.helper-time", what=what, seconds=HELPER_SECONDS) from None
    except OSError as problem:
        raise LockProblem("CC1252.system", what=what, error=problem.strerror or "cannot be run") from None
    except (ValueError, RecursionError):
        raise LockProblem("CC1252.helper-json", what=what) from None
    user, secret = login.get("Username"), login.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str):
        raise LockProblem("CC1252.helper-login", what=what)
    return Login(identity=secret) if user == TOKEN_USER else Login(user, secret)
