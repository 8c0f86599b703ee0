"""Several runs of `lock -o` at once: no entry is lost, whoever waits does not wait for ever, nothing is left behind."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_function.cli.lock_task import WrittenLock, open_lock, write_lock
from krm_function.hosts import write_files
from tests.failures.running import EXECUTABLE, environment
from tests.lock.content import Image, image, layer, layout_files, pods, tar, written

PROCESSES, EACH = 6, 8
ENTRY: dict[str, Any] = {"digest": f"sha256:{'1' * 64}", "config": {}, "passwd": "", "group": ""}


def name(digit: str) -> str:
    return f"registry.example.com/{digit}@sha256:{digit * 64}"


def entries(*digits: str) -> dict[str, dict[str, Any]]:
    return {name(digit): {**ENTRY, "digest": f"sha256:{digit * 64}"} for digit in digits}


def found(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(path.read_text())["spec"]["images"]
    return read


def started(directory: Path, source: str, images: list[Image]) -> "subprocess.Popen[bytes]":
    (directory / f"{images[0].digest[7:20]}.yaml").write_bytes(pods(*(f"shop/web@{one.digest}" for one in images)))
    return subprocess.Popen(
        [EXECUTABLE, "lock", f"{images[0].digest[7:20]}.yaml", "-o", "out/images.yaml", "--from", f"oci:{source}"],
        cwd=directory,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("there", [False, True])
def test_48_images_by_six_runs_at_once_are_48_entries(there: bool, tmp_path: Path) -> None:
    plain = layer(tar({"bin/a": "x"}))
    images = [image(plain, settings={"User": str(number)}) for number in range(PROCESSES * EACH)]
    source = str(tmp_path / "layout")
    for one in images:
        written(layout_files(one), tmp_path / "layout")
    (tmp_path / "out").mkdir()
    lock = tmp_path / "out" / "images.yaml"
    if there:
        write_lock(open_lock(str(lock))[0], entries("1"), prune=False)
    runs = [started(tmp_path, source, images[at : at + EACH]) for at in range(0, len(images), EACH)]
    for run in runs:
        assert run.wait(120) == 0, run.communicate()[1]
        run.communicate()
    wanted = {f"shop/web@{one.digest}" for one in images} | ({name("1")} if there else set())
    assert set(found(lock)) == wanted
    assert os.listdir(tmp_path / "out") == ["images.yaml"]


def test_an_entry_that_another_run_has_added_meanwhile_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "images.yaml")
    write_lock(open_lock(path)[0], entries("1"), prune=False)
    mine = open_lock(path)[0]
    write_lock(open_lock(path)[0], entries("2"), prune=False)
    assert write_lock(mine, entries("3"), prune=False).unused == 1
    assert set(found(tmp_path / "images.yaml")) == set(entries("1", "2", "3"))


def test_prune_drops_only_what_was_there_before_this_run(tmp_path: Path) -> None:
    path = str(tmp_path / "images.yaml")
    write_lock(open_lock(path)[0], entries("1"), prune=False)
    mine = open_lock(path)[0]
    write_lock(open_lock(path)[0], entries("2"), prune=False)
    write_lock(mine, entries("3"), prune=True)
    assert set(found(tmp_path / "images.yaml")) == set(entries("2", "3"))


def test_a_file_that_another_run_has_made_meanwhile_is_added_to(tmp_path: Path) -> None:
    path = str(tmp_path / "images.yaml")
    mine = open_lock(path)[0]
    write_lock(open_lock(path)[0], entries("1"), prune=False)
    write_lock(mine, entries("2"), prune=False)
    assert set(found(tmp_path / "images.yaml")) == set(entries("1", "2"))


def test_a_file_that_was_broken_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "images.yaml"
    mine = open_lock(str(path))[0]
    path.write_text("a: [")
    (error,) = write_lock(mine, entries("1"), prune=False).findings
    assert error.severity == "error"
    assert path.read_text() == "a: ["


def test_a_wait_without_end_ends_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_files, "LONGEST_WAIT", 0.2)
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    (error,) = write_lock(open_lock(str(tmp_path / "images.yaml"))[0], entries("1"), prune=False).findings
    os.close(other)
    assert (error.code, error.severity) == ("CC1212", "error")
    assert "was not written" in error.message
    assert not os.listdir(tmp_path)


def test_a_file_system_without_locks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        fcntl.flock(descriptor, operation)

    monkeypatch.setattr(write_files, "flock", refuse)
    (warning,) = write_lock(open_lock(str(tmp_path / "images.yaml"))[0], entries("1"), prune=False).findings
    assert (warning.code, warning.severity) == ("CC1213", "warning")
    assert set(found(tmp_path / "images.yaml")) == set(entries("1"))


HOLD = """
import sys, time
from krm_function.hosts.write_files import in_turn
with in_turn(sys.argv[1] + "/images.yaml"):
    print(1, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_killed_in_its_turn_blocks_nobody(how: signal.Signals, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"1\n"
    process.send_signal(how)
    process.wait(30)
    process.stdout.close()
    made = write_lock(open_lock(str(tmp_path / "images.yaml"))[0], entries("1"), prune=False)
    assert isinstance(made, WrittenLock)
    assert made.waited < 30
    assert os.listdir(tmp_path) == ["images.yaml"]
