"""A registry in this process: tokens, waits and what is missing, without the program that tests/lock otherwise asks."""

import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from krm_function.lock.connections import Transport
from krm_function.lock.resolve import Run
from tests.adversary.hostile_registry import Mode, Server, Talk
from tests.adversary.test_hostile_registry import PATIENT, locked, no_proxy, said  # noqa: F401 - a fixture for all
from tests.lock.content import PASSWD, image

TOKEN = "T0K3N"
GIVEN = f'{{"token": "{TOKEN}"}}'.encode()


def asked(mode: Mode, directory: Path) -> tuple[Server, Run]:
    """Look one image up at a registry."""
    server = Server(image(), mode)
    try:
        return server, locked(Transport((server.address,), 8, PATIENT), directory, server.name)
    finally:
        server.close()


def paths(server: Server) -> list[str]:
    return [head.split(b" ")[1].decode() for head in server.heads]


def wants_token(status: int, body: bytes) -> Mode:
    """Answer 401 without the token; the token server answers with a status and a body."""

    def mode(talk: Talk) -> None:
        if talk.path.startswith("/token"):
            talk.answer(status, body)
        elif f"Authorization: Bearer {TOKEN}".encode() in talk.head:
            talk.good()
        else:
            challenge = f'Bearer realm="http://{talk.server.address}/token",service="{talk.server.address}"'
            talk.answer(401, WWW_Authenticate=challenge)

    return mode


@pytest.mark.parametrize("body", [GIVEN, GIVEN.replace(b"token", b"access_token")], ids=["token", "access_token"])
def test_a_token_opens_the_repository_and_is_asked_for_once(body: bytes, tmp_path: Path) -> None:
    server, run = asked(wants_token(200, body), tmp_path)
    assert said(run) == []
    assert run.entries[server.name]["passwd"] == PASSWD
    (token,) = [urlsplit(path) for path in paths(server) if path.startswith("/token")]
    assert parse_qs(token.query) == {"service": [server.address], "scope": ["repository:shop/web:pull"]}
    assert sum(f"Bearer {TOKEN}".encode() in head for head in server.heads) >= 3, "manifest, configuration, layers"


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (401, b"", "CC1251", "login"),
        (403, b"", "CC1251", "login"),
        (404, GIVEN, "CC1250", "its token server answers 404"),
        (201, GIVEN, "CC1250", "its token server answers 201"),
        (200, b"", "CC1250", "JSON"),
        (200, b"[]", "CC1250", "JSON"),
        (200, b"{}", "CC1250", "no token"),
        (200, b'{"token": 1}', "CC1250", "no token"),
        (200, b'{"token": "a b"}', "CC1251", "token"),
    ],
)
def test_what_is_no_token_is_told(status: int, body: bytes, code: str, words: str, tmp_path: Path) -> None:
    _, run = asked(wants_token(status, body), tmp_path)
    (found,) = said(run)
    assert (found.code, words in found.message) == (code, True), found
    assert TOKEN not in found.message + found.hint


def first(status: int, **headers: str) -> Mode:
    """Answer a status to the first request, and then as a registry does."""
    return lambda talk: talk.answer(status, **headers) if len(talk.server.heads) == 1 else talk.good()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_registry_is_asked_again(status: int, tmp_path: Path) -> None:
    server, run = asked(first(status), tmp_path)
    assert said(run) == []
    assert paths(server)[0] == paths(server)[1]


@pytest.mark.parametrize(("after", "least"), [("1", 1.0), ("soon", 0.0), ("-1", 0.0)])
def test_a_wait_that_is_asked_for_is_kept_if_it_can_be_read(after: str, least: float, tmp_path: Path) -> None:
    start = time.monotonic()
    _, run = asked(first(429, Retry_After=after), tmp_path)
    assert said(run) == []
    assert time.monotonic() - start >= least


def missing(part: str) -> Mode:
    """Answer 404 to requests with this in their path."""
    return lambda talk: talk.answer(404) if part in talk.path else talk.good()


@pytest.mark.parametrize(
    ("part", "words"), [("/manifests/", "does not exist in"), ("/blobs/", "is not in the registry")]
)
def test_what_is_missing_is_told_and_not_asked_for_again(part: str, words: str, tmp_path: Path) -> None:
    server, run = asked(missing(part), tmp_path)
    (found,) = said(run)
    assert words in found.message, found.message
    assert sum(part in path for path in paths(server)) == 1
