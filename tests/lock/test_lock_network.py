"""What registries and the network do wrong, and what `lock` makes of it. The front speaks for the registry."""

import time
from collections.abc import Callable

import pytest

from tests.lock.conftest import Locking
from tests.lock.content import ACCOUNTS, PASSWD, image, layer, tar
from tests.lock.registries import Answer, Asked, Front, Registry, Rule
from tests.wording import wording

BIG = "x" * 300_000


@pytest.fixture
def name(hub: Registry, front: Front) -> str:
    """An image behind the front, with a layer that no connection carries in one go."""
    return front.named(hub.push(image(layer(tar({**ACCOUNTS, "bin/web": BIG}), "plain")), "shop/front"))


def only(what: str, answer: Callable[[int], Answer | None]) -> Rule:
    """Answer requests with this in their path, by how often it came before; leave all others to the registry."""
    return lambda asked, count: answer(count) if what in asked.path else None


def registry_answer(front: Front, asked: Asked) -> Answer:
    return front._forwarded(asked)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_registry_is_asked_again(status: int, name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/manifests/", lambda count: Answer(status) if count < 2 else None)
    assert lock.entries(name)[name]["passwd"] == PASSWD
    assert len(front.paths("/manifests/")) == 3


def test_a_wait_that_is_asked_for_is_kept(name: str, front: Front, lock: Locking) -> None:
    times: list[float] = []

    def answer(count: int) -> Answer | None:
        times.append(time.monotonic())
        return Answer(429, headers={"Retry-After": "3"}) if count == 0 else None

    front.rule = only("/manifests/", answer)
    lock.entries(name)
    assert times[1] - times[0] >= 3, "the first wait of ours would be at most 1 s"


def test_a_wait_beyond_the_time_there_is_is_not_begun(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/manifests/", lambda count: Answer(429, headers={"Retry-After": "3600"}))
    start = time.monotonic()
    error = lock.refused("CC1250", name, exit=3, flags=("--timeout", "20"))
    assert time.monotonic() - start < 20
    assert "20 s" in error["message"]
    assert "--timeout" in error["hint"]


def test_a_registry_that_stays_busy_is_given_up(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/manifests/", lambda count: Answer(503, headers={"Retry-After": "1"}))
    error = lock.refused("CC1250", name, exit=3)
    assert wording("CC1250.status-again", status="503") in error["message"]
    assert len(front.paths("/manifests/")) == 5


def test_a_layer_that_breaks_off_is_fetched_again(name: str, front: Front, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        if "/blobs/" not in asked.path or count:
            return None
        whole = registry_answer(front, asked)
        return whole._replace(cut=len(whole.body) // 2)

    front.rule = rule
    assert lock.entries(name)[name]["passwd"] == PASSWD


@pytest.mark.slow
def test_a_layer_that_always_breaks_off(name: str, front: Front, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        whole = registry_answer(front, asked)
        return whole._replace(cut=len(whole.body) // 2) if len(whole.body) > len(BIG) else whole

    front.rule = rule
    assert f"{front.address}: {wording('CC1250.broken')}" in lock.refused("CC1250", name, exit=3)["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda body: body[:-1], "ends after"),
        (lambda body: body + b"\0", "is longer than its"),
        (lambda body: body[:600] + b"X" + body[601:], wording("CC1203.other")),
    ],
)
@pytest.mark.parametrize("what", ["layer", "configuration"])
def test_a_blob_that_is_not_its_digest_is_refused(
    what: str, change: Callable[[bytes], bytes], says: str, name: str, front: Front, lock: Locking
) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        whole = registry_answer(front, asked)
        meant = (len(whole.body) > len(BIG)) == (what == "layer") and "/blobs/" in asked.path
        if what == "configuration" and meant:  # shorter than 600 bytes
            return whole._replace(body=change(whole.body.rjust(600)[-len(whole.body) :]).replace(b"web", b"bad"))
        return whole._replace(body=change(whole.body)) if meant else whole

    front.rule = rule
    error = lock.refused("CC1203", name)
    if what == "layer":
        assert says in error["message"]
    assert what in error["message"]


def test_a_manifest_that_is_not_its_digest_is_refused(name: str, front: Front, lock: Locking) -> None:
    other = image(settings={"User": "root"})
    front.rule = only("/manifests/", lambda count: Answer(200, other.manifest, {"Content-Type": other.media_type}))
    assert f"the manifest {wording('CC1203.other')}" in lock.refused("CC1203", name)["message"]


def test_a_layer_above_the_limit_is_not_fetched(name: str, front: Front, lock: Locking) -> None:
    error = lock.refused("CC1206", name, flags=("--max-layer-size", "200Ki"))
    assert "200 KiB" in error["message"]
    assert not front.paths("/blobs/")


def test_a_layer_that_unpacks_beyond_the_limit(hub: Registry, lock: Locking) -> None:
    name = hub.push(image(layer(tar({"bomb": b"\0" * (8 << 20)}))), "shop/bomb")
    assert (
        "an uncompressed layer has more than 1 MiB"
        in (lock.refused("CC1206", name, flags=("--max-layer-size", "1Mi"))["message"])
    )


def test_a_manifest_without_end(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/manifests/", lambda count: Answer(200, b" " * (5 << 20)))
    assert "the manifest has more than 4 MiB" in lock.refused("CC1206", name)["message"]


def test_a_layer_that_drips_takes_no_longer_than_the_time_there_is(name: str, front: Front, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        whole = registry_answer(front, asked)
        return whole._replace(pause=0.5) if len(whole.body) > len(BIG) else whole

    front.rule = rule
    start = time.monotonic()
    assert "took more than 3 s" in lock.refused("CC1250", name, exit=3, flags=("--timeout", "3"))["message"]
    assert time.monotonic() - start < 15


def test_a_blob_that_the_manifest_names_and_nobody_has(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/blobs/", lambda count: Answer(404))
    assert wording("CC1204.not-in-registry") in lock.refused("CC1204", name)["message"]


def test_a_registry_that_is_not_there(front: Front, lock: Locking) -> None:
    front.close()
    error = lock.refused("CC1250", f"{front.address}/shop/web@sha256:{'0' * 64}", exit=3, flags=("--timeout", "4"))
    assert "4 s" in error["message"] or wording("CC1250.connection") in error["message"]


def test_a_status_that_nobody_expects(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/manifests/", lambda count: Answer(418))
    assert "answers 418" in lock.refused("CC1250", name, exit=3)["message"]


# --- redirects and plain HTTP


def test_a_redirect_is_followed(name: str, hub: Registry, front: Front, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        return (
            Answer(307, headers={"Location": f"http://{hub.address}{asked.path}"}) if "/blobs/" in asked.path else None
        )

    front.rule = rule
    assert lock.entries(name, flags=("--insecure-registry", hub.address))[name]["passwd"] == PASSWD


def test_a_redirect_to_plain_http_is_refused(name: str, front: Front, lock: Locking) -> None:
    front.rule = only(
        "/blobs/", lambda count: Answer(307, headers={"Location": "http://storage.example.com/x?sig=CANARY"})
    )
    error = lock.refused("CC1253", name, exit=3)
    assert "storage.example.com would be contacted over plain HTTP" in error["message"]


def test_redirects_without_end(name: str, front: Front, lock: Locking) -> None:
    def rule(asked: Asked, count: int) -> Answer | None:
        return Answer(302, headers={"Location": asked.path + "0"}) if "/blobs/" in asked.path else None

    front.rule = rule
    assert "redirects too often" in lock.refused("CC1250", name, exit=3)["message"]


def test_a_redirect_to_a_file_is_refused(name: str, front: Front, lock: Locking) -> None:
    front.rule = only("/blobs/", lambda count: Answer(302, headers={"Location": "file:///etc/passwd"}))
    lock.refused("CC1253", name, exit=3)


def test_plain_http_is_only_spoken_to_hosts_that_were_named(name: str, front: Front, lock: Locking) -> None:
    from tests.lock.content import pods

    run = lock("-o", "images.yaml", "--timeout", "8", data=pods(name))
    assert run.code == 3
    assert "CC1250" in run.stderr
    assert not front.asked, "what arrives is the first bytes of TLS"
    assert not lock.lock.exists()
