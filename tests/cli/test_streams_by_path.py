"""Outputs such as /dev/stdout, /dev/null and >(command): written to, never replaced, whole or not at all."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import EXECUTABLE, environment
from tools import release_assets as assets

GENERATE = f"{EXECUTABLE} generate deployment --config {CONFIG}"


def shell(directory: Path, command: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        ["bash", "-c", command], cwd=directory, env=environment(), capture_output=True, check=False, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "{} -o /dev/stdout",
        "{} -o /dev/stdout | cat",
        "{} -o /dev/stdout > out.yaml; cat out.yaml",
        "{} -o /dev/fd/1",
        "{} -o /proc/self/fd/1",
        "{} -o /dev/stderr 2>&1",
        "{} -o >(cat) | cat",
        "{} -o /dev/fd/7 7> out.yaml; cat out.yaml",
    ],
)
def test_everything_arrives_there(command: str, shop: Shop) -> None:
    ran = shell(shop.directory, command.format(GENERATE))
    assert (ran.returncode, ran.stdout) == (0, shop.generate().stdout), ran.stderr


def test_nothing_is_left_of_what_goes_to_null(shop: Shop) -> None:
    ran = shell(shop.directory, f"{GENERATE} -o /dev/null -m manifest.json")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert (shop.directory / "manifest.json").exists()
    assert Path("/dev/null").is_char_device()


def test_after_an_error_nothing_is_written(shop: Shop) -> None:
    ran = shell(shop.directory, f"{EXECUTABLE} generate deployment -o /dev/stdout")
    assert (ran.returncode, ran.stdout) == (2, b"")


def test_a_report_goes_there_too(shop: Shop) -> None:
    ran = shell(shop.directory, f"{EXECUTABLE} generate deployment --report /dev/stdout 2> said")
    assert ran.stdout == (shop.directory / "said").read_bytes() != b""


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/dev/full", "no space left on device"),
        ("/dev/fd/99", "bad file descriptor"),
        ("pipe", "not a regular file"),
        ("link", "not a regular file"),
    ],
)
def test_what_cannot_be_written_is_a_finding_and_the_manifest_is_not_written(path: str, says: str, shop: Shop) -> None:
    os.mkfifo(shop.directory / "pipe")
    (shop.directory / "link").symlink_to("pipe")
    ran = shell(shop.directory, f"{GENERATE} -o {path} -m manifest.json")
    assert ran.returncode == 3
    assert f"error CC1002 {path}: cannot be written: {says}" in ran.stderr.decode()
    assert not (shop.directory / "manifest.json").exists()


def test_a_reader_that_has_gone_is_no_error_and_the_manifest_is_not_written(shop: Shop) -> None:
    ran = shell(shop.directory, f"set -o pipefail; {GENERATE} -o /dev/stdout -m manifest.json | true")
    assert b"Traceback" not in ran.stderr
    assert not ran.stderr or not (shop.directory / "manifest.json").exists()


def test_a_private_key_is_not_written_over_a_device(shop: Shop) -> None:
    run = shop("keys", "new", "--workload-owner", "-o", "/dev/null")
    assert run.code == 3
    assert "exists; a key is never overwritten" in run.stderr


def test_a_release_and_nothing_beside_it_goes_there(tmp_path: Path) -> None:
    for name, text in assets.files(assets.SNP).items():
        (tmp_path / name).write_text(text)
    command = f"{EXECUTABLE} release import *.yml *.txt manifest.json"
    ran = shell(tmp_path, f"{command} -o /dev/stdout | cat")
    assert ran.stdout == shell(tmp_path, command).stdout != b""
    assert not Path("/dev/.contrast-krm").exists()


def test_a_lock_goes_there_and_what_is_there_is_not_read(shop: Shop) -> None:
    resources = "deployment --config config.yaml"
    ran = shell(shop.directory, f"{EXECUTABLE} lock {resources} -o /dev/stdout < /dev/null | cat")
    assert ran.stdout == shell(shop.directory, f"{EXECUTABLE} lock {resources}").stdout != b""
