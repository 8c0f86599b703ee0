"""A file is replaced as a whole, by a rename in its own directory, or stays as it was."""

import errno
import os
from pathlib import Path

import pytest

from krm_function.hosts.files import FileProblem, find_files, read_file, same_file
from krm_function.hosts.write_files import write_file


def test_a_new_file_gets_the_bytes_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_file(str(tmp_path / "a.yaml"), b"new\r\n")
    assert (tmp_path / "a.yaml").read_bytes() == b"new\r\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "a.yaml"]


def test_a_new_file_gets_the_mode_that_is_asked_for(tmp_path: Path) -> None:
    write_file(str(tmp_path / "key"), b"", 0o600)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_file(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == mode


def test_a_relative_name_is_written_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("a.yaml", b"new")
    assert (tmp_path / "a.yaml").read_bytes() == b"new"


def test_another_name_of_the_old_file_keeps_the_old_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"old")
    os.link(tmp_path / "a.yaml", tmp_path / "b.yaml")
    write_file(str(tmp_path / "a.yaml"), b"new")
    assert (tmp_path / "b.yaml").read_bytes() == b"old"


@pytest.mark.parametrize("target", ["there.yaml", "missing.yaml", "directory"])
def test_nothing_is_written_through_a_symbolic_link(tmp_path: Path, target: str) -> None:
    (tmp_path / "there.yaml").write_bytes(b"old")
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(FileProblem, match="link: not a regular file") as raised:
        write_file(str(tmp_path / "link"), b"new")
    assert raised.value.writing
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there.yaml").read_bytes() == b"old"
    assert not (tmp_path / "missing.yaml").exists()
    assert list((tmp_path / "directory").iterdir()) == []


def test_a_directory_or_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("pipe", "directory"):
        with pytest.raises(FileProblem, match="not a regular file"):
            write_file(str(tmp_path / name), b"new")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("call", ["fsync", "fchmod", "rename"])
def test_a_failure_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(FileProblem, match=r"a\.yaml: No space left on device"):
        write_file(str(file), b"new")
    monkeypatch.undo()
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupt_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(str(tmp_path / "a.yaml"), b"new")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_link_planted_under_the_temporary_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "victim").write_bytes(b"old")
    monkeypatch.setattr(os, "urandom", bytes)
    planted = tmp_path / ".a.yaml.contrast-krm-000000000000.tmp"
    planted.symlink_to(tmp_path / "victim")
    with pytest.raises(FileProblem):
        write_file(str(tmp_path / "a.yaml"), b"new")
    assert (tmp_path / "victim").read_bytes() == b"old"
    assert planted.is_symlink()


def test_a_directory_that_cannot_be_synced_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    before = len(os.listdir("/proc/self/fd"))
    write_file(str(tmp_path / "a.yaml"), b"new")
    assert len(os.listdir("/proc/self/fd")) == before
    assert (tmp_path / "a.yaml").read_bytes() == b"new"


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"gone/a\.yaml: No such file or directory") as raised:
        write_file(str(tmp_path / "gone" / "a.yaml"), b"new")
    assert raised.value.writing


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(FileProblem, match=path.name) as raised:
            read_file(str(path))
        assert not raised.value.writing


def test_files_are_found_below_directories_in_order_and_once(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c/d.yaml", "c/.e/f.yaml", "notes.txt", "g.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = find_files([str(tmp_path / "notes.txt"), str(tmp_path), str(tmp_path / "b.yaml")])
    names = [os.path.relpath(one.path, tmp_path) for one in found]
    assert [one.root for one in found] == ["", str(tmp_path), "", str(tmp_path), str(tmp_path)]
    assert names == ["notes.txt", "a.yml", "b.yaml", "c/.e/f.yaml", "c/d.yaml"]


def test_a_directory_without_yaml_and_a_missing_path_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileProblem, match=r"empty: no \.yml or \.yaml files in it"):
        find_files([str(tmp_path / "empty")])
    with pytest.raises(FileProblem, match="gone: no such file"):
        find_files([str(tmp_path / "gone")])


def test_one_file_is_known_by_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("")
    (tmp_path / "b.yaml").write_text("")
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    os.link(tmp_path / "a.yaml", tmp_path / "hard.yaml")
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "./a.yaml", str(tmp_path / "a.yaml"), "link.yaml", "hard.yaml"):
        assert same_file(name, ["b.yaml", "", "a.yaml"])
    assert not same_file("a.yaml", ["b.yaml", "", "gone.yaml"])
    assert not same_file("gone.yaml", ["gone.yaml"])
    assert not same_file("a.yaml", [])
