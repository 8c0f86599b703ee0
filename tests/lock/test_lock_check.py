"""`lock --check`: is the lock current? Nothing is asked for, and nothing is written."""

import pytest

from tests.lock.conftest import Locking
from tests.lock.content import image, pods
from tests.lock.registries import Front, Registry

ONE = "registry.example.com/one:1@sha256:" + "1" * 64
TWO = "registry.example.com/two:2@sha256:" + "2" * 64
HEAD = "apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: images}\nspec:\n  images:"
FULL, SILENT = ", passwd: '', group: ''", ""


def write(lock: Locking, *entries: tuple[str, str]) -> bytes:
    lines = [f"    {name}: {{digest: 'sha256:{name[-64:]}', config: {{User: '7'}}{more}}}\n" for name, more in entries]
    lock.lock.write_text(f"{HEAD}\n{''.join(lines)}" if lines else f"{HEAD} {{}}\n")
    return lock.lock.read_bytes()


@pytest.mark.parametrize(
    ("entries", "flags", "codes"),
    [
        ([(ONE, FULL), (TWO, FULL)], [], []),
        ([(ONE, FULL), (TWO, FULL)], ["--prune"], []),
        ([(ONE, FULL)], [], ["CC1216"]),
        ([(ONE, FULL), (TWO, SILENT)], [], ["CC1216"]),
        ([(ONE, FULL), (TWO.replace(":2@", ":3@"), FULL)], [], ["CC1216"]),  # a render looks for the whole reference
        ([(ONE, FULL), (TWO, FULL), (TWO.replace("two", "old"), FULL)], [], []),
        ([(ONE, FULL), (TWO, FULL), (TWO.replace("two", "old"), FULL)], ["--prune"], ["CC1217"]),
        ([], [], ["CC1216", "CC1216"]),
    ],
    ids=["current", "pruned", "absent", "silent", "other-tag", "left-over", "left-over-pruned", "empty"],
)
def test_it_says_what_a_lock_lacks_and_changes_nothing(
    entries: list[tuple[str, str]], flags: list[str], codes: list[str], lock: Locking
) -> None:
    before = write(lock, *entries)
    run = lock("--check", "-o", "images.yaml", "--format", "json", *flags, data=pods(ONE, TWO))
    assert [found["code"] for found in run.errors] == codes
    assert run.code == bool(codes)
    assert run.stdout == b""
    assert lock.lock.read_bytes() == before


def test_a_lock_that_does_not_exist_yet_lacks_all_images_and_is_not_made(lock: Locking) -> None:
    run = lock("--check", "-o", "images.yaml", "--format", "json", data=pods(ONE))
    assert [found["code"] for found in run.errors] == ["CC1216"]
    assert not lock.lock.exists()


def test_no_registry_is_asked_and_the_hint_leads_to_a_current_lock(hub: Registry, front: Front, lock: Locking) -> None:
    name = front.named(hub.push(image(), "check/web"))
    command = ["-o", "images.yaml", "--insecure-registry", name.partition("/")[0]]
    assert lock("--check", *command, data=pods(name)).code == 1
    assert not front.asked
    assert lock(*command, data=pods(name)).code == 0
    asked = len(front.asked)
    assert lock("--check", "--prune", *command, data=pods(name)).code == 0
    assert len(front.asked) == asked


def test_a_tag_alone_is_in_no_lock(lock: Locking) -> None:
    tag = TWO.partition("@")[0]
    write(lock, (ONE, FULL), (TWO, FULL))
    run = lock("--check", "-o", "images.yaml", "--format", "json", data=pods(ONE, tag))
    (error,) = run.errors
    assert error["code"] == "CC1216"
    assert "--write-kustomize" in error["hint"]


@pytest.mark.parametrize(
    ("flags", "option"),
    [
        (["--check"], "--check"),
        (["--check", "-o", "images.yaml", "--from", "registry"], "--from"),
        (["--check", "-o", "images.yaml", "--write-kustomize", "."], "--write-kustomize"),
        (["--check", "-o", "images.yaml", "--write-values", "values.yaml"], "--write-values"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_options_of_a_run_that_writes_do_not_go_with_it(flags: list[str], option: str, lock: Locking) -> None:
    run = lock(*flags, "--format", "json", data=pods(ONE))
    assert run.code == 2
    (error,) = run.errors
    assert error["code"] == "CC0909"
    assert error["message"].startswith(f"{option}: ")


def test_without_an_output_it_checks_the_one_lock_of_the_configuration(lock: Locking) -> None:
    write(lock, (ONE, FULL))
    run = lock("--check", "--prune", "--config", "images.yaml", "--format", "json", data=pods(ONE, TWO))
    assert [problem["code"] for problem in run.errors] == ["CC1216"]
    assert lock("--check", "--config", "images.yaml", data=pods(ONE)).code == 0
    run = lock("--check", "--format", "json", data=pods(ONE))
    assert (run.code, [problem["code"] for problem in run.errors]) == (2, ["CC0909"])
