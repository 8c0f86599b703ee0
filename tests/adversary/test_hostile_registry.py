"""`lock` against registries that are hostile, broken or not there: a finding of the right code, soon, and no secret."""

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from krm_function.findings import Finding
from krm_function.kubernetes.image import Image, parse_image
from krm_function.lock.connections import Pace, Transport
from krm_function.lock.registry import Credentials, Registry
from krm_function.lock.resolve import LockLimits, Run, resolve_all
from tests.adversary.hostile_registry import Server, Talk
from tests.adversary.registry_modes import NEVER, ROWS, SLOW, Row
from tests.lock.content import PASSWD, image
from tests.wording import wording

PACE = Pace(connect=0.6, quiet=0.4, wait=0.01)
PATIENT = Pace(connect=10, quiet=10, wait=0.01)  # where nothing is slow, so that a busy machine is not what is tested
SECONDS = 30  # of the clock: what a busy machine may need; the modes themselves would take minutes, or for ever
LIMITS = LockLimits(layer=1 << 20, seconds=20)


def locked(transport: Transport, directory: Path, *names: str, limits: LockLimits = LIMITS) -> Run:
    """Lock some images with a login for everybody, which nobody may see."""
    config = directory / "config.json"
    config.write_text('{"auths": {"127.0.0.1": {"username": "CANARY-user", "password": "CANARY-password"}}}')
    images: list[Image] = []
    for name in names:
        made = parse_image(name)
        assert isinstance(made, Image)
        images.append(made)
    return resolve_all(images, [Registry(transport, Credentials(str(config)))], {}, limits, 8, lambda _: None)


def said(run: Run) -> list[Finding]:
    return [finding for found in run.findings for finding in found]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("no_proxy", "*")
    yield
    gc.collect()  # a connection that nobody closed is told of here, and not in another test


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_registry_that(row: Row, tmp_path: Path) -> None:
    server = Server(row.image or image(), row.mode, row.greet)
    pace = PACE if row.says in (SLOW, NEVER) or row.name.startswith("drips") else PATIENT
    start = time.monotonic()
    try:
        run = locked(Transport(() if row.https else (server.address,), 8, pace), tmp_path, server.name)
    finally:
        server.close()
    assert time.monotonic() - start < SECONDS
    found = said(run)
    assert [one.code for one in found] == ([row.code] if row.code else []), found
    if row.code:
        assert row.says in found[0].message
        assert "CANARY" not in found[0].message + found[0].hint
        assert len(found[0].message) < 1000
    else:
        assert run.entries[server.name]["passwd"] == PASSWD
    assert not [head for head in server.heads if b"Cookie:" in head or b"CANARY" in head]


def test_the_table_has_what_was_asked_for() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 35
    assert all(row.why for row in ROWS)


def test_a_name_that_leads_nowhere(tmp_path: Path) -> None:
    run = locked(Transport((), 8, PACE), tmp_path, f"registry.invalid/shop/web@sha256:{'0' * 64}")
    assert [(one.code, "its name cannot be resolved" in one.message) for one in said(run)] == [("CC1250", True)]


# --- many images


def names(server: Server, count: int) -> list[str]:
    return [f"{server.address}/shop/web{number}:1@{server.image.digest}" for number in range(count)]


@pytest.fixture
def silent() -> Iterator[Server]:
    made = Server(image(), Talk.hang)
    yield made
    made.close()


def test_48_images_on_a_silent_registry_are_one_finding_and_not_48_time_outs(silent: Server, tmp_path: Path) -> None:
    images = names(silent, 48)
    run = locked(Transport((silent.address,), 8, PACE), tmp_path, *images)
    (found,) = said(run)
    assert found.code == "CC1250"
    assert all(name in found.message for name in images[:4])
    assert "and 44 more" in found.message
    assert "does not answer in time" in found.message
    assert run.findings[0] == (found,), "it stands with the first"
    assert len(silent.heads) <= 16, "two tries of each worker that had begun"


def test_48_images_on_a_registry_that_is_not_there(tmp_path: Path) -> None:
    gone = Server(image(), Talk.good)
    gone.close()
    run = locked(Transport((gone.address,), 8, PACE), tmp_path, *names(gone, 48))
    assert [wording("CC1250.connection") in one.message for one in said(run)] == [True]


def test_two_registries_that_are_not_there_are_two_findings(silent: Server, tmp_path: Path) -> None:
    gone = Server(image(), Talk.good)
    gone.close()
    run = locked(Transport((gone.address, silent.address), 8, PACE), tmp_path, *names(gone, 3), *names(silent, 3))
    assert len(said(run)) == 2


def test_images_that_are_wrong_each_in_its_own_way_keep_their_own_findings(tmp_path: Path) -> None:
    server = Server(image(), lambda talk: talk.answer(404))
    try:
        run = locked(Transport((server.address,), 8, PATIENT), tmp_path, *names(server, 5))
    finally:
        server.close()
    assert [one.code for one in said(run)] == ["CC1202"] * 5


def test_a_registry_that_answers_after_one_bad_moment_is_not_given_up(tmp_path: Path) -> None:
    seen: set[str] = set()
    lock = threading.Lock()

    def moody(talk: Talk) -> None:
        with lock:
            first = talk.path not in seen
            seen.add(talk.path)
        talk.hang() if first and "/manifests/" in talk.path else talk.good()

    server = Server(image(), moody)
    try:
        run = locked(Transport((server.address,), 8, PACE._replace(quiet=2.0)), tmp_path, *names(server, 8))
    finally:
        server.close()
    assert not said(run)
    assert len(run.entries) == 8


def test_the_time_of_an_image_ends_what_keeps_to_the_pace(tmp_path: Path) -> None:
    """A body that is never too slow and never too long, but does not end."""

    def steady(talk: Talk) -> None:
        talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n")
        talk.drip(times=10_000)

    server = Server(image(), steady)
    transport = Transport((server.address,), 8, Pace(connect=0.6, quiet=0.5, least=4, wait=0.01))
    try:
        (found,) = said(locked(transport, tmp_path, server.name, limits=LockLimits(1 << 20, 2)))
    finally:
        server.close()
    assert "took more than 2 s" in found.message


def test_a_run_that_is_ended_does_not_wait_for_a_silent_registry(silent: Server, tmp_path: Path) -> None:
    """As with Ctrl-C: the caller's loop raises, and the workers end with it."""
    start = time.monotonic()

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    made = parse_image(silent.name)
    assert isinstance(made, Image)
    source = Registry(Transport((silent.address,), 8), Credentials(str(tmp_path / "none")))
    with pytest.raises(KeyboardInterrupt):
        resolve_all([made], [source], {}, LIMITS._replace(seconds=600), 8, interrupt)
    assert time.monotonic() - start < SECONDS, "and not the minute that the registry may be silent for"


def test_a_million_entries_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.lock.content import layer, tar

    monkeypatch.setattr("krm_function.lock.media.MOST_ENTRIES", 500)
    server = Server(image(layer(tar({f"a{number}": "" for number in range(600)}))), Talk.good)
    try:
        (found,) = said(locked(Transport((server.address,), 8, PATIENT), tmp_path, server.name))
    finally:
        server.close()
    assert found.code == "CC1206"
    assert "500 files and header records" in found.message
