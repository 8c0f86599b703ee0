"""What stands where a command writes, who else writes there, and where its output goes."""

import contextlib
import fcntl
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from krm_function.hosts import write_files as leftovers
from krm_function.hosts import write_files as staged_file
from krm_function.hosts.files import FileProblem
from krm_function.hosts.write_files import NewFile, staged, write_file, write_files
from tests.adversary.faults import temporaries
from tests.failures.running import EXECUTABLE, environment, listing
from tests.failures.world import World

GENERATE = ("generate", "deployment", "--config", "config.yaml")
FINISHED = "deployment/a.yaml"


class Done(NamedTuple):
    """What a call left."""

    code: int
    stdout: bytes
    stderr: str


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return _put(tmp_path)


def _put(directory: Path) -> Path:
    world = World()
    (directory / "deployment").mkdir()
    (directory / FINISHED).write_bytes(world.stream("web", "settings", "secret"))
    (directory / "deployment/b.yaml").write_bytes(world.stream("coordinator", "service"))
    (directory / "config.yaml").write_bytes(world.config())
    return directory


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the shop renders to."""
    done = shell(f"krm {' '.join(GENERATE)}", _put(tmp_path_factory.mktemp("rendered")))
    assert done.code == 0
    return done.stdout


def shell(command: str, directory: Path) -> Done:
    """Run a line of bash, in which `krm` is ours."""
    done = subprocess.run(
        ["bash", "-c", f'krm() {{ {EXECUTABLE} "$@"; }}\n{command}'],
        cwd=directory,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert "internal error" not in said
    assert "Exception ignored" not in said
    return Done(done.returncode, done.stdout, said)


# why somebody would do it -> what stands in the place, and what is said
TARGETS = {
    "a link to another file, planted by somebody who may not write that one": "link",
    "a link to nowhere, to have a file made there": "dangling",
    "a directory, by mistake": "directory",
    "a pipe, so that we would wait for a reader forever": "pipe",
}
CALLS = {
    "generate -o": (*GENERATE, "-o", "target"),
    "generate -m": (*GENERATE, "-o", "other.yaml", "-m", "target"),
    "generate --attest": (*GENERATE, "--attest", "target"),
    "in place with a manifest": (*GENERATE, "--in-place", "-m", "target"),
    "plan -o": ("plan", "deployment", "--config", "config.yaml", "-o", "target.txt"),
    "keys -o": ("keys", "new", "--workload-owner", "-o", "target"),
    "keys --public": ("keys", "new", "--workload-owner", "--public", "target"),
    "a report": ("diff", "deployment", "--config", "config.yaml", "--report", "target"),
}


@pytest.mark.slow
@pytest.mark.parametrize("why", TARGETS)
@pytest.mark.parametrize("call", CALLS)
def test_only_a_regular_file_is_replaced(call: str, why: str, shop: Path) -> None:
    target = shop / ("target.txt" if call == "plan -o" else "target")
    (shop / "victim").write_text("precious")
    match TARGETS[why]:
        case "link":
            target.symlink_to("victim")
        case "dangling":
            target.symlink_to("nowhere")
        case "directory":
            target.mkdir()
        case _:
            os.mkfifo(target)
    kind = stat.S_IFMT(target.lstat().st_mode)
    before = {name: data for name, data in listing(shop).items() if name not in {"target", "target.txt"}}
    done = shell(f"krm {' '.join(CALLS[call])}", shop)
    assert done.code == 3
    said = ("cannot be written: ", "exists; a key is never overwritten")
    assert any(f"error CC1002 {target.name}: {words}" in done.stderr for words in said)
    assert stat.S_IFMT(target.lstat().st_mode) == kind
    assert not (shop / "nowhere").exists()
    assert {name: data for name, data in listing(shop).items() if name not in {"target", "target.txt"}} == before


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_directory_that_takes_no_files_is_told(call: str, shop: Path) -> None:
    """Nobody may make files in /proc, not even root."""
    arguments = [word.replace("target", "/proc/target") for word in CALLS[call]]
    before = listing(shop)
    done = shell(f"krm {' '.join(arguments)}", shop)
    assert done.code == 3
    assert "error CC1002 /proc/target" in done.stderr
    assert listing(shop) == before


@pytest.mark.slow
@pytest.mark.parametrize("call", [name for name in CALLS if name != "a report"])
def test_a_file_that_may_not_grow_stays_as_it_was(call: str, shop: Path) -> None:
    """A limit of file sizes is a full disk that needs no root: 0 blocks, so not one byte."""
    (shop / "old").write_text("precious")
    before = listing(shop)
    done = shell(f"ulimit -f 0; krm {' '.join(CALLS[call])} | cat", shop)
    assert listing(shop) == before
    assert "error CC1002 " in done.stderr
    assert "file too large" in done.stderr.lower()


# --- standard output and standard error

PRINTING = {
    "generate": " ".join(GENERATE),
    "diff": "diff deployment --config config.yaml",
    "plan": "plan deployment --config config.yaml",
    "explain": "explain Deployment/web deployment --config config.yaml",
    "policy show": "policy show Deployment/web rendered.yaml",
    "uninject": "uninject rendered.yaml",
    "manifest": "manifest rendered.yaml",
    "schema": "schema ImageLock",
    "completion": "completion bash",
    "keys": "keys new --workload-owner",
    "generate -m": " ".join((*GENERATE, "-m", "manifest.json")),
    "keys --public": "keys new --workload-owner -o - --public public.pem",
    "version": "--version",
    "help": "generate --help",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", PRINTING)
def test_an_output_that_cannot_be_printed_is_told_and_nothing_else_is_written(
    command: str, shop: Path, rendered: bytes
) -> None:
    (shop / "rendered.yaml").write_bytes(rendered)
    before = listing(shop)
    for redirection, said in ((">/dev/full", "no space left on device"), (">&-", "it is closed")):
        done = shell(f"krm {PRINTING[command]} {redirection}", shop)
        assert done.code == 3, (redirection, done)
        assert done.stderr.count("error CC1002 standard output: cannot be written: ") == 1
        assert said in done.stderr
        assert listing(shop) == before


@pytest.mark.slow
@pytest.mark.parametrize("command", PRINTING)
def test_a_reader_that_has_gone_is_exit_code_3_and_nothing_else_is_written(
    command: str, shop: Path, rendered: bytes
) -> None:
    """Of what was only to be printed nobody wants to hear; of a file that is missing for it somebody does."""
    (shop / "rendered.yaml").write_bytes(rendered)
    before = listing(shop)
    done = shell(f"set -o pipefail; (sleep 0.2; krm {PRINTING[command]}) | true", shop)
    assert done.code == 3
    assert listing(shop) == before
    if command in {"keys", "generate -m", "keys --public"}:
        assert done.stderr.startswith("error CC1002 standard output: ")
        assert "was not written either" in done.stderr
    else:
        assert done.stderr == ""


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_findings_that_cannot_be_said_end_in_an_exit_code(redirection: str, shop: Path) -> None:
    (shop / "broken.yaml").write_text("a: [\n")
    assert shell(f"krm check broken.yaml {redirection}", shop) == Done(3 if "full" in redirection else 1, b"", "")
    done = shell(f"krm check broken.yaml --report report.txt {redirection}", shop)
    assert done.stdout == b""
    assert (shop / "report.txt").read_text().startswith("error CC01")


# --- bits, owner, group


@pytest.mark.parametrize("umask", ["000", "022", "027", "077", "777"])
def test_a_new_file_has_the_bits_that_the_umask_leaves(umask: str, shop: Path) -> None:
    done = shell(f"umask {umask}; krm {' '.join(GENERATE)} -o out.yaml -m manifest.json", shop)
    assert done.code == 0, done.stderr
    for name in ("out.yaml", "manifest.json"):
        assert stat.S_IMODE((shop / name).stat().st_mode) == 0o644 & ~int(umask, 8)


@pytest.mark.slow
@pytest.mark.parametrize("umask", ["000", "077"])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_an_old_file_keeps_its_bits_whatever_the_umask_is(mode: int, umask: str, shop: Path) -> None:
    (shop / FINISHED).chmod(mode)
    assert shell(f"umask {umask}; krm {' '.join(GENERATE)} --in-place", shop).code == 0
    assert "contrast-krm.dev/original" in (shop / FINISHED).read_text()
    assert stat.S_IMODE((shop / FINISHED).stat().st_mode) == mode


@pytest.mark.parametrize("old", [0o600, 0o640, 0o666, None])
def test_the_bits_hold_while_the_bytes_are_written(
    old: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    if old is not None:
        target.write_text("old")
        target.chmod(old)
    seen = []
    real = os.write

    def look(descriptor: int, data: bytes) -> int:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", look)
    write_file(str(target), b"new")
    assert seen == [0o600 if old is None else old]


def test_owner_and_group_of_an_old_file_are_kept_where_that_is_allowed(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root may give files away")
    target = tmp_path / "target"
    target.write_text("old")
    os.chown(target, 1234, 2345)
    target.chmod(0o660)
    write_file(str(target), b"new")
    status = target.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o660)


@pytest.mark.parametrize(("old", "new"), [(0o660, 0o600), (0o664, 0o644), (0o640, 0o600), (0o646, 0o666)])
def test_a_group_that_cannot_be_kept_gives_another_one_no_more_than_everybody_has(
    old: int, new: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    target.chmod(old)

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    before = target.stat()
    elsewhere = os.stat_result((*before[:5], before.st_gid + 1, *before[6:]))
    monkeypatch.setattr(staged_file, "_status_of_old", lambda *_: elsewhere)
    write_file(str(target), b"new")
    assert stat.S_IMODE(target.stat().st_mode) == new


# --- the directory of a target is exchanged

EXCHANGES: dict[str, Callable[[Path], object]] = {
    "for a link": lambda parent: parent.symlink_to("other"),
    "for another directory": Path.mkdir,
    "for a file": Path.touch,
    "for nothing": str,
}
STEPS = ("open", "write", "fchmod", "fsync", "rename", "unlink")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("how", EXCHANGES)
@pytest.mark.parametrize("old", [False, True])
def test_a_directory_that_is_exchanged_while_it_is_written_to_is_told(
    how: str, step: str, old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever may write beside it. Right after each step, or before the first rename."""
    parent, moved, other = tmp_path / "out", tmp_path / "moved", tmp_path / "other"
    for directory in (parent, other):
        directory.mkdir()
        (directory / "b").write_text("precious")
    if old:
        (parent / "a").write_text("old")
    before = listing(parent)
    real = getattr(os, step)
    rename, calls = os.rename, list[str]()

    def late(*values: object, **named: object) -> object:
        made = real(*values, **named)
        created = step != "open" or values[1] & os.O_CREAT  # type: ignore[operator]
        if created and not calls and (step != "unlink" or old):
            calls.append(step)
            rename(parent, moved)
            EXCHANGES[how](parent)
        return made

    monkeypatch.setattr(os, step, late)
    wanted = [NewFile(str(parent / name), b"new") for name in "ab"] if old else [NewFile(str(parent / "a"), b"new")]
    if step == "unlink":  # of what is not needed any more: all is written by then
        write_files(wanted)
    else:
        with pytest.raises(
            FileProblem,
            match=r"its directory was exchanged while it was written$|[Nn]o such file or dir|Not a directory",
        ):
            write_files(wanted)
    monkeypatch.undo()
    assert temporaries(tmp_path) == []
    assert listing(other) == {"b": b"precious"}
    if calls and step != "unlink":
        assert listing(moved) == before


# --- leftovers, and who else is at work


def left(directory: Path, name: str, digits: str = "0123456789ab") -> Path:
    return directory / f".{name}.contrast-krm-{digits}.tmp"


def test_what_a_killed_run_left_goes_with_the_next_one_and_nothing_else(tmp_path: Path) -> None:
    mine = left(tmp_path, "a.yaml")
    mine.write_text("half")
    others = [
        left(tmp_path, "b.yaml"),
        left(tmp_path, "a.yaml", "0123456789aX"),
        left(tmp_path, "a.yaml", "0123456789abc"),
        tmp_path / ".a.yaml.1234.tmp",
        tmp_path / ".a.yaml.swp",
        tmp_path / "a.yaml.contrast-krm-0123456789ab.tmp",
    ]
    for other in others:
        other.write_text("precious")
    link, pipe = left(tmp_path, "a.yaml", "a" * 12), left(tmp_path, "a.yaml", "b" * 12)
    link.symlink_to(others[0])
    os.mkfifo(pipe)
    write_file(str(tmp_path / "a.yaml"), b"new")
    assert set(tmp_path.iterdir()) == {tmp_path / "a.yaml", link, pipe, *others}
    assert {other.read_text() for other in others} == {"precious"}


def test_a_run_that_has_nothing_to_write_clears_up_all_the_same(shop: Path) -> None:
    line = f"krm {' '.join(GENERATE)} --in-place"
    assert shell(line, shop).code == 0
    rendered = listing(shop)
    left(shop / "deployment", "a.yaml").write_text("half")
    assert shell(line, shop).code == 0
    assert listing(shop) == rendered


def test_the_temporary_file_of_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    target = str(tmp_path / "a.yaml")
    with staged([NewFile(target, b"first")]) as put:
        (waiting,) = temporaries(tmp_path)
        write_file(target, b"second")
        assert waiting.exists()
        put()
    assert Path(target).read_bytes() == b"first"
    assert not temporaries(tmp_path)


def test_a_run_whose_temporary_file_was_cleared_away_before_its_lock_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter([left(tmp_path, "a.yaml", token * 12) for token in "abc"])
    monkeypatch.setattr(staged_file, "temporary_name", lambda _: str(next(names)))
    real = fcntl.flock
    calls: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not calls:
            temporaries(tmp_path)[0].unlink()
        calls.append(operation)
        real(descriptor, operation)

    monkeypatch.setattr(leftovers, "flock", late)
    write_file(str(tmp_path / "a.yaml"), b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_many_runs_over_one_target_leave_one_whole_file(shop: Path) -> None:
    line = " & ".join([f"krm {' '.join(GENERATE)} -o out.yaml -m manifest.json"] * 6)
    assert shell(f"{line} & wait", shop).stderr == ""
    assert not temporaries(shop)
    assert shell("krm check out.yaml --manifest manifest.json", shop).code == 0


def test_more_files_than_a_process_may_open_are_written(tmp_path: Path) -> None:
    code = "import sys; from krm_function.hosts.write_files import *; "
    code += "write_files(NewFile(f'{n}', b'new') for n in range(700))"
    line = f'ulimit -Sn 256; {Path(EXECUTABLE).parent / "python"} -c "{code}"'
    for number in range(700):
        (tmp_path / str(number)).write_text("old")
    assert shell(line, tmp_path) == Done(0, b"", "")
    assert set(listing(tmp_path).values()) == {b"new"}
    assert len(listing(tmp_path)) == 700
    line = line.replace("-Sn", "-n").replace("b'new'", "b'newer'")
    refused = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert b"FileProblem: " in refused.stderr
    assert b"Too many open files" in refused.stderr
    assert set(listing(tmp_path).values()) == {b"new"}


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_rename_that_fails_takes_back_those_before_it(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "c"):
        (tmp_path / name).write_text("old")
    before = listing(tmp_path)
    real = os.rename
    calls = []

    def rename(source: str, target: str, **places: int) -> None:
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        real(source, target, **places)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(FileProblem, match=r"No space left on device$"):
        write_files([NewFile(str(tmp_path / name), b"new") for name in "abc"])
    assert listing(tmp_path) == before


def test_what_cannot_be_taken_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    real = os.rename
    calls = []

    def rename(source: str, target: str, **places: int) -> None:
        calls.append(target)
        if len(calls) > 1:
            raise OSError(30, "Read-only file system")
        real(source, target, **places)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(FileProblem, match=r"b: Read-only file system; written already: .*/a$"):
        write_files([NewFile(str(tmp_path / name), b"new") for name in "ab"])
    assert listing(tmp_path) == {"a": b"new"}


def test_a_system_without_second_names_writes_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on vfat, and on some shared folders of virtual machines."""

    def link(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    (tmp_path / "a").write_text("old")
    write_files([NewFile(str(tmp_path / "a"), b"new"), NewFile(str(tmp_path / "b"), b"new", 0o600, new=True)])
    assert listing(tmp_path) == {"a": b"new", "b": b"new"}
    with pytest.raises(FileProblem, match="File exists"):
        write_files([NewFile(str(tmp_path / "b"), b"newer", 0o600, new=True)])
    assert listing(tmp_path) == {"a": b"new", "b": b"new"}


def test_a_long_name_has_a_temporary_one(tmp_path: Path) -> None:
    for name in ("x" * 255, "ü" * 127):
        write_file(str(tmp_path / name), b"new")
    assert len(listing(tmp_path)) == 2


# --- signals


def waits(pid: int) -> bool:
    """Whether a process has slept for a while, as one that writes to a full pipe does."""
    first = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    time.sleep(0.2)
    then = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return first[0] == then[0] == "S" and first[11:13] == then[11:13]  # state, ticks of the program and of the system


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("command", ["generate -m manifest.json", "keys new --workload-owner"])
def test_a_command_whose_reader_is_slow_ends_at_once(command: str, number: signal.Signals, shop: Path) -> None:
    """Standard output is a full pipe of which nobody reads; the file that belongs to it is not in its place then."""
    name, _, rest = command.partition(" ")
    arguments = (*GENERATE, *rest.split()) if name == "generate" else (name, *rest.split())
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    before = listing(shop)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [EXECUTABLE, *arguments], cwd=shop, env=buffered, stdout=writing, stderr=subprocess.DEVNULL
    )
    for _ in range(600):
        if (temporaries(shop) or listing(shop) != before) and waits(process.pid):
            break
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(20) == (130 if number == signal.SIGINT else -number)
    os.close(reading)
    os.close(writing)
    assert listing(shop) == before


def test_a_file_that_somebody_has_locked_is_not_waited_for(shop: Path) -> None:
    """It is read and replaced by name, so the lock of an editor or a backup is no reason to wait."""
    with (shop / FINISHED).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert shell(f"timeout 30 {EXECUTABLE} {' '.join(GENERATE)} --in-place", shop).code == 0
    assert "contrast-krm.dev/original" in (shop / FINISHED).read_text()
    assert not temporaries(shop)


def ends(process: int) -> bool:
    """Whether a process of somebody else is gone, or dead and left for init to collect, within ten seconds."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def test_an_ignored_hangup_stays_ignored(shop: Path) -> None:
    line = f"trap '' HUP; krm {' '.join(GENERATE)} -o out.yaml & sleep 0.05; kill -HUP $!; wait $!"
    assert shell(line, shop).code == 0
    assert (shop / "out.yaml").exists()
