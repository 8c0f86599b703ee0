"""Archives of tools/archive.py: the same files give the same bytes, and tar reads them back."""

import gzip
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tools.archive import files_below, tar, tar_gz


def _folder(where: Path, umask: int) -> Path:
    before = os.umask(umask)
    try:
        (where / "bin").mkdir(parents=True)
        (where / "bin" / "run").write_text("#!/bin/sh\n")
        (where / "bin" / "run").chmod(0o700)
        (where / "text").write_text("text")
        (where / "link").symlink_to("bin/run")
    finally:
        os.umask(before)
    return where


def test_times_owners_and_umask_do_not_reach_the_bytes(tmp_path: Path) -> None:
    first, second = _folder(tmp_path / "a", 0o022), _folder(tmp_path / "b", 0o077)
    os.utime(second / "text", (1, 1))
    assert tar_gz(files_below(str(first), "x-1")) == tar_gz(files_below(str(second), "x-1"))


def test_tar_unpacks_programs_links_and_folders(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(tar_gz(files_below(str(_folder(tmp_path / "a", 0o077)), "x-1")))
    subprocess.run(["tar", "xzf", archive], cwd=tmp_path, check=True)
    assert os.access(tmp_path / "x-1/bin/run", os.X_OK)
    assert os.stat(tmp_path / "x-1/text").st_mode & 0o111 == 0
    assert os.readlink(tmp_path / "x-1/link") == "bin/run"
    with tarfile.open(archive) as members:
        assert members.getnames() == ["x-1", "x-1/bin", "x-1/bin/run", "x-1/link", "x-1/text"]


def test_the_time_of_the_members_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(tar_gz({"text": str(_folder(tmp_path / "a", 0o022) / "text")}))
    with tarfile.open(archive) as members:
        assert [one.mtime for one in members] == [1700000000]


def test_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="neither a file"):
        tar_gz({"pipe": str(tmp_path / "pipe")})


def test_a_plain_archive_is_what_a_compressed_one_holds(tmp_path: Path) -> None:
    members = files_below(str(_folder(tmp_path / "a", 0o022)), "x-1")
    assert gzip.decompress(tar_gz(members)) == tar(members)
