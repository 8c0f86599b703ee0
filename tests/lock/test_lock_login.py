"""Logins: docker's config.json, credential helpers, basic and bearer; and that no secret goes astray."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.failures.world import CANARY
from tests.lock.conftest import Locking
from tests.lock.content import PASSWD, image
from tests.lock.registries import HTPASSWD, PASSWORD, USER, Answer, Asked, Front, Registry, basic, registry
from tests.wording import wording

AUTH = basic(USER, PASSWORD).removeprefix("Basic ")
TOKEN = f"{CANARY}-token"


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory, registry_tool: None) -> Iterator[Registry]:
    """A registry with a login."""
    with registry(tmp_path_factory.mktemp("private"), htpasswd=HTPASSWD) as running:
        yield running


def docker(lock: Locking, config: object) -> None:
    """Write docker's config.json."""
    directory = lock.directory / "docker"
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))


def helper(lock: Locking, script: str, name: str = "test") -> None:
    """Put a credential helper on PATH."""
    path = lock.directory / "bin" / f"docker-credential-{name}"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    lock.variables["PATH"] = f"{path.parent}:/usr/bin:/bin"


def test_basic(private: Registry, lock: Locking) -> None:
    name = private.push(image())
    docker(lock, {"auths": {private.address: {"auth": AUTH}}})
    assert lock.entries(name)[name]["passwd"] == PASSWD


def test_a_key_of_auths_may_be_a_url(private: Registry, lock: Locking) -> None:
    name = private.push(image())
    docker(lock, {"auths": {f"https://{private.address}/v2/": {"username": USER, "password": PASSWORD}}})
    assert name in lock.entries(name)


def test_no_login_for_a_registry_that_wants_one(private: Registry, lock: Locking) -> None:
    error = lock.refused("CC1251", private.push(image()), exit=3)
    assert "there is none for it" in error["message"]
    assert f"docker login {private.address}" in error["hint"]


def test_a_login_that_is_wrong(private: Registry, lock: Locking) -> None:
    wrong = basic(USER, f"{CANARY}-wrong").removeprefix("Basic ")
    docker(lock, {"auths": {private.address: {"auth": wrong}}})
    error = lock.refused("CC1251", private.push(image()), exit=3)
    assert wording("CC1251.image") in error["message"]
    assert wrong not in json.dumps(error)


@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_a_credential_helper(key: str, private: Registry, lock: Locking) -> None:
    answer = json.dumps({"Username": USER, "Secret": PASSWORD})
    helper(lock, f'read host; [ "$1 $host" = "get {private.address}" ] && echo \'{answer}\'')
    docker(lock, {key: {private.address: "test"} if key == "credHelpers" else "test"})
    name = private.push(image())
    assert name in lock.entries(name)


def test_a_helper_that_knows_no_such_registry_means_no_login(hub: Registry, lock: Locking) -> None:
    helper(lock, "echo 'credentials not found in native keychain'; exit 1")
    docker(lock, {"credsStore": "test"})
    name = hub.push(image(), "shop/anonymous")
    assert name in lock.entries(name)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (f"echo {CANARY}-secret; echo {CANARY} >&2; exit 3", "exits with 3"),
        (f"echo {CANARY}", wording("CC1252.helper-json")),
        ("echo '{}'", wording("CC1252.helper-login")),
    ],
)
def test_a_helper_that_fails(script: str, says: str, private: Registry, lock: Locking) -> None:
    helper(lock, script)
    docker(lock, {"credHelpers": {private.address: "test"}})
    error = lock.refused("CC1252", private.push(image()), exit=3)
    assert f"docker-credential-test {says}" in error["message"]


@pytest.mark.parametrize("name", ["missing", "../bin/sh", "a b"])
def test_a_helper_that_cannot_be(name: str, private: Registry, lock: Locking) -> None:
    docker(lock, {"credHelpers": {private.address: name}})
    lock.refused("CC1252", private.push(image()), exit=3)


@pytest.mark.parametrize("text", ["{", "[]", '{"auths": {"HOST": {"auth": "?"}}}'])
def test_a_login_file_that_cannot_be_read(text: str, private: Registry, lock: Locking) -> None:
    docker(lock, text.replace("HOST", private.address))
    assert "config.json" in lock.refused("CC1252", private.push(image()), exit=3)["message"]


# --- bearer tokens


class Realm:
    """A token server, and a front that wants its tokens."""

    def __init__(self, front: Front, server: Front) -> None:
        self.front, self.server = front, server
        self.answer = Answer(200, json.dumps({"token": TOKEN}).encode())
        self.realm = f"http://{server.address}/token"
        self.blob_answer: Answer | None = None
        front.rule = self._registry
        server.rule = lambda asked, count: self.answer

    def _registry(self, asked: Asked, count: int) -> Answer | None:
        if asked.headers.get("Authorization") != f"Bearer {TOKEN}":
            scope = (
                f"repository:{asked.path.removeprefix('/v2/').partition('/manifests')[0].partition('/blobs')[0]}:pull"
            )
            challenge = f'Bearer realm="{self.realm}",service="here, and there",scope="{scope}"'
            return Answer(401, b"{}", {"WWW-Authenticate": challenge})
        return self.blob_answer if "/blobs/" in asked.path else None


@pytest.fixture
def realm(front: Front) -> Iterator[Realm]:
    server = Front()
    yield Realm(front, server)
    server.close()


@pytest.fixture
def guarded(hub: Registry, front: Front) -> str:
    return front.named(hub.push(image(), "shop/guarded"))


def flags(realm: Realm) -> tuple[str, ...]:
    return ("--insecure-registry", realm.server.address)


def test_a_token_for_anybody(guarded: str, realm: Realm, lock: Locking) -> None:
    assert guarded in lock.entries(guarded, flags=flags(realm))
    (asked,) = realm.server.asked
    assert parse_qs(urlsplit(asked.path).query) == {
        "service": ["here, and there"],
        "scope": ["repository:shop/guarded:pull"],
    }
    assert "Authorization" not in asked.headers
    assert [one.headers.get("Authorization") for one in realm.front.asked] == [None, *[f"Bearer {TOKEN}"] * 3]


def test_a_token_for_a_login(guarded: str, realm: Realm, lock: Locking) -> None:
    docker(lock, {"auths": {realm.front.address: {"auth": AUTH}}})
    lock.entries(guarded, flags=flags(realm))
    assert realm.server.asked[0].headers["Authorization"] == basic(USER, PASSWORD)
    assert basic(USER, PASSWORD) not in [one.headers.get("Authorization") for one in realm.front.asked]


def test_an_identity_token(guarded: str, realm: Realm, lock: Locking) -> None:
    docker(lock, {"auths": {realm.front.address: {"auth": AUTH, "identitytoken": f"{CANARY}-identity"}}})
    lock.entries(guarded, flags=flags(realm))
    (asked,) = realm.server.asked
    assert asked.method == "POST"
    form = parse_qs(asked.body.decode())
    assert form["grant_type"] == ["refresh_token"]
    assert form["refresh_token"] == [f"{CANARY}-identity"]
    assert form["scope"] == ["repository:shop/guarded:pull"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (Answer(401, f"{CANARY}".encode()), "CC1251", "requires a login"),
        (Answer(200, b"{}"), "CC1250", wording("CC1250.token-none")),
        (Answer(200, f'{CANARY} "token"'.encode()), "CC1250", wording("CC1250.token-json")),
        (Answer(200, b'{"token": "a\\r\\nX-Other: b"}'), "CC1251", "malformed"),
        (Answer(200, b" " * (2 << 20)), "CC1250", "does not end"),
        (Answer(302, headers={"Location": "http://elsewhere.example.com/"}), "CC1250", "answers 302"),
        (Answer(404), "CC1250", "answers 404"),
    ],
)
def test_a_token_server_that_fails(
    answer: Answer, code: str, says: str, guarded: str, realm: Realm, lock: Locking
) -> None:
    realm.answer = answer
    assert says in lock.refused(code, guarded, exit=3, flags=flags(realm))["message"]


def test_a_login_is_not_sent_to_a_realm_without_tls(guarded: str, realm: Realm, lock: Locking) -> None:
    docker(lock, {"auths": {realm.front.address: {"auth": AUTH}}})
    error = lock.refused("CC1253", guarded, exit=3)
    assert realm.server.address in error["message"]
    assert not realm.server.asked


@pytest.mark.parametrize("realm_url", ["", "file:///etc/passwd", "token"])
def test_a_challenge_without_a_server(realm_url: str, guarded: str, realm: Realm, lock: Locking) -> None:
    realm.realm = realm_url
    lock.refused("CC1250", guarded, exit=3, flags=flags(realm))


def test_a_redirect_to_another_host_takes_no_authorization_along(
    guarded: str, realm: Realm, hub: Registry, lock: Locking
) -> None:
    docker(lock, {"auths": {realm.front.address: {"auth": AUTH}}})
    storage = Front(hub)

    def rule(asked: Asked, count: int) -> Answer | None:
        if "/blobs/" in asked.path and "Authorization" in asked.headers:
            return Answer(307, headers={"Location": f"http://{storage.address}{asked.path}"})
        return realm._registry(asked, count)

    realm.front.rule = rule
    try:
        lock.entries(guarded, flags=(*flags(realm), "--insecure-registry", storage.address))
    finally:
        storage.close()
    assert len(storage.asked) == 2, "configuration and layer"
    assert all("Authorization" not in one.headers for one in storage.asked)


@pytest.mark.parametrize(
    "challenge", ['Basic realm="there"', 'Bearer realm="http://{}/token",service=,x', "Bearer realm="]
)
def test_who_was_redirected_to_learns_no_login(
    challenge: str, guarded: str, realm: Realm, hub: Registry, lock: Locking
) -> None:
    docker(lock, {"auths": {realm.front.address: {"auth": AUTH}}})
    storage = Front(hub)
    storage.rule = lambda asked, count: Answer(401, b"", {"WWW-Authenticate": challenge.format(storage.address)})

    def rule(asked: Asked, count: int) -> Answer | None:
        if "/blobs/" in asked.path and "Authorization" in asked.headers:
            return Answer(307, headers={"Location": f"http://{storage.address}{asked.path}"})
        return realm._registry(asked, count)

    realm.front.rule = rule
    try:
        lock.refused("CC1251", guarded, exit=3, flags=(*flags(realm), "--insecure-registry", storage.address))
    finally:
        storage.close()
    assert len(storage.asked) == 1
    assert "Authorization" not in storage.asked[0].headers


@pytest.mark.slow
@pytest.mark.parametrize(
    "challenge", ["", "Bearer", "Bearer realm=", 'Digest realm="x"', 'Bearer =,=,"', 'Bearer realm="x']
)
def test_a_challenge_that_makes_no_sense(challenge: str, guarded: str, front: Front, lock: Locking) -> None:
    front.rule = lambda asked, count: Answer(401, b"", {"WWW-Authenticate": challenge} if challenge else {})
    run = lock.images(guarded)
    assert run.code == 3
    assert not lock.lock.exists()


def test_a_redirect_on_the_same_host_keeps_it(guarded: str, realm: Realm, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        if "/blobs/" in asked.path and "?" not in asked.path:
            return Answer(307, headers={"Location": f"{asked.path}?again"})
        return realm._registry(asked, count)

    realm.front.rule = rule
    lock.entries(guarded, flags=flags(realm))
    again = [one for one in realm.front.asked if one.path.endswith("?again")]
    assert {one.headers.get("Authorization") for one in again} == {f"Bearer {TOKEN}"}


def test_the_lock_holds_no_secret(private: Registry, lock: Locking) -> None:
    name = private.push(image(settings={"User": "0"}))
    docker(lock, {"auths": {private.address: {"auth": AUTH}}})
    lock.entries(name)
    for secret in (PASSWORD, AUTH, TOKEN):
        assert secret not in Path(lock.lock).read_text()
