"""A run that is killed, ended, interrupted or refused at any step leaves old files or new ones, and says so."""

import atexit
import errno
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from krm_function.cli.installation import HEADER
from krm_function.cli.render_inputs import public_key
from krm_function.contrast.owner_keys import workload_owner
from tests.adversary.faults import SIGNALS, Faulty, temporaries
from tests.failures.running import listing, spawned
from tests.failures.world import World

MANIFEST = Path(__file__).parents[2] / "examples/quickstart/expected/manifest.json"
VERSION = Path(__file__).parents[2] / "examples/from-scratch/assets/version.txt"
IMPORT = ("release", "import", "facts.json", "version.txt", "--release", "v1.25.0", "-o", "new.yaml")
GENERATE = ("generate", "deployment", "--config", "config.yaml")
KEYS = ("keys", "new", "--workload-owner")


class Command(NamedTuple):
    """A command that writes. vouching: files that stand for the others, so they are put into their places last."""

    arguments: tuple[str, ...]
    there: tuple[str, ...] = ()
    vouching: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    each: int = 1  # hit each so-many-th step; every night
    sample: int = 1  # by default, each so-many-th of these


COMMANDS = {
    "a new output": Command((*GENERATE, "-o", "out.yaml")),
    "an old output": Command((*GENERATE, "-o", "out.yaml"), ("out.yaml",), secret=("out.yaml",)),
    "output and manifest": Command((*GENERATE, "-o", "out.yaml", "-m", "manifest.json"), (), ("manifest.json",)),
    "output and statement": Command(
        (*GENERATE, "-o", "out.yaml", "--attest", "statement.json"), ("statement.json",), ("statement.json",)
    ),
    "standard output and manifest": Command((*GENERATE, "-m", "manifest.json")),
    "in place": Command((*GENERATE, "--in-place", "-m", "manifest.json"), ("deployment/b.yaml",), ("manifest.json",)),
    "a report": Command((*GENERATE, "-o", "out.yaml", "--report", "report.txt"), ("report.txt",)),
    "a plan": Command(("plan", "deployment", "--config", "config.yaml", "-o", "plan.json"), ("plan.json",)),
    "a report alone": Command(("diff", "deployment", "--config", "config.yaml", "--report", "report.txt")),
    "keys": Command(KEYS, secret=("workload-owner.pem",)),
    "keys, both in files": Command((*KEYS, "--public", "public.pem"), (), ("public.pem",), ("workload-owner.pem",)),
    "keys, one printed": Command((*KEYS, "-o", "-", "--public", "public.pem")),
    "keys in a configuration": Command(
        (*KEYS, "--add-to", "config.yaml"), ("config.yaml",), ("config.yaml",), ("workload-owner.pem",)
    ),
    "init": Command(("init", "deployment", "--kustomize"), (), ("deployment/kustomization.yaml",)),
    "release import": Command(IMPORT, (), ("new.yaml",)),
    "install": Command(("install", "copy"), each=797, sample=4),
    "install over an old one": Command(("install", "copy"), ("copy/contrast-krm",)),
}
TAKING_TURNS = {"TERM": 0, "INT": 1}
RANDOM = {name for name in COMMANDS if name.startswith("keys")}


def made(directory: Path, command: Command) -> Path:
    """A directory with everything that the commands read, and with old files where a command replaces them."""
    world = World()
    deployment = directory / "deployment"
    deployment.mkdir(parents=True)
    (deployment / "a.yaml").write_bytes(world.stream("web", "settings", "secret"))
    (deployment / "b.yaml").write_bytes(world.stream("coordinator", "service"))
    (directory / "config.yaml").write_bytes(world.config())
    shutil.copy(MANIFEST, directory / "facts.json")
    shutil.copy(VERSION, directory / "version.txt")
    if "copy/contrast-krm" in command.there:  # the library is there already, which is the longest part of it
        (directory / "copy").mkdir()
        (directory / "copy/lib").symlink_to(_library())
        (directory / "copy/contrast-krm").write_text(HEADER)
    for name in command.there:
        if not (directory / name).exists():
            (directory / name).write_bytes(b"old\n")
        (directory / name).chmod(0o640 if name not in command.secret else 0o600)
    return directory


@cache
def _library() -> Path:
    """The library of one finished installation."""
    here = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, here)
    assert spawned("install", str(here)).code == 0
    return here / "lib"


def pair_is_whole(after: dict[str, bytes]) -> bool:
    """Whether a private key is there, and, if its public half is too, they belong together."""
    private = after.get("workload-owner.pem", b"").decode()
    public = after.get("public.pem", b"").decode()
    return bool(private) and (not public or workload_owner(public_key(private)) == workload_owner(public))


def whole(name: str, before: dict[str, bytes], expected: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Whether every file is the old one or the new one."""
    if name == "install":
        return "copy/contrast-krm" not in after or complete(name, expected, after)
    if name in RANDOM:
        return set(after) <= set(before) | set(expected) and ("workload-owner.pem" not in after or pair_is_whole(after))
    return all(data in {before.get(file), expected.get(file)} for file, data in after.items()) and set(before) <= set(
        after
    )


def complete(name: str, expected: dict[str, bytes], after: dict[str, bytes]) -> bool:
    return after.keys() == expected.keys() if name in {*RANDOM, "install"} else after == expected


def without_temporaries(directory: Path) -> dict[str, bytes]:
    """The files but those below a temporary name."""
    return {name: data for name, data in listing(directory).items() if ".contrast-krm-" not in name}


def nobody_else_reads(directory: Path, command: Command, before: dict[str, int]) -> None:
    """No temporary file is open to more people than the file that it is to be."""
    for path in temporaries(directory):
        mode = stat.S_IMODE(path.lstat().st_mode)
        name = path.relative_to(directory).with_name(path.name[1:].rpartition(".contrast-krm-")[0])
        finished = 0o600 if str(name) in command.secret else before.get(str(name), 0o755)
        assert mode & ~finished & 0o077 == 0, (path, oct(mode))
    for secret in command.secret:
        assert not (directory / secret).exists() or stat.S_IMODE((directory / secret).stat().st_mode) == 0o600


def modes(directory: Path) -> dict[str, int]:
    return {
        str(path.relative_to(directory)): stat.S_IMODE(path.lstat().st_mode)
        for path in directory.rglob("*")
        if path.is_file()
    }


def each_step(
    faulty: Faulty,
    directory: Path,
    name: str,
    fault: str,
    look: Callable[[Path, int, str, str], None],
    *,
    full: bool,
) -> None:
    """Hit a command at each of its steps, in a directory of its own, until it has no more.

    By default every third step is hit; the two signals that end a run in the same way hit different ones.
    """
    command = COMMANDS[name]
    first, every = (0, 1) if full else (TAKING_TURNS.get(fault, 0), 3 * command.sample)
    for hit, at in enumerate(range(1 + first * command.each, 9000 * every, command.each * every)):
        here = made(directory / f"{at}", command)
        ended = faulty(*command.arguments, directory=here, fault=fault, at=at)
        if not ended.step:
            assert ended.code == 0, ended.stderr
            assert hit >= 1, "the command has more steps than that"
            return
        assert "Traceback" not in ended.stderr, (at, ended.step)
        assert "internal error" not in ended.stderr, (at, ended.step, ended.stderr)
        look(here, ended.code, ended.stderr, f"{at} {ended.step}")
        shutil.rmtree(here)
    pytest.fail("a command without end")


@pytest.fixture(scope="module")
def finished(faulty: Faulty, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bytes]]:
    """The files after a run that nothing disturbs, by command."""
    known: dict[str, dict[str, bytes]] = {}

    def after(name: str) -> dict[str, bytes]:
        if name not in known:
            here = made(tmp_path_factory.mktemp("finished") / "here", COMMANDS[name])
            ended = faulty(*COMMANDS[name].arguments, directory=here)
            assert ended.code == 0, ended.stderr
            known[name] = listing(here)
            assert not temporaries(here)
        return known[name]

    return after


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_run_leaves_whole_files_and_the_next_one_clears_up(
    name: str, faulty: Faulty, tmp_path: Path, finished: Callable[[str], dict[str, bytes]], *, full: bool
) -> None:
    command, expected = COMMANDS[name], finished(name)
    template = made(tmp_path / "template", command)
    before, bits = listing(template), modes(template)

    def look(here: Path, code: int, _: str, step: str) -> None:
        assert code == -signal.SIGKILL
        after = without_temporaries(here)
        assert whole(name, before, expected, after), step
        if any(after.get(file) != before.get(file) for file in command.vouching) and name not in RANDOM:
            assert {**after, "": b""}.keys() >= expected.keys(), step
            assert all(after[file] == expected[file] for file in expected), step
        nobody_else_reads(here, command, bits)
        again = faulty(*command.arguments, directory=here)
        assert not temporaries(here), (step, again.stderr)
        if name in RANDOM and "CC1002" in again.stderr:
            assert "exists; a key is never overwritten" in again.stderr
            return
        assert again.code == 0, (step, again.stderr)
        assert complete(name, expected, listing(here)), step

    each_step(faulty, tmp_path, name, "KILL", look, full=full)


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("name", "sent"), [*((name, sent) for name in COMMANDS for sent in ("TERM", "INT")), ("in place", "HUP")]
)
def test_a_signal_changes_all_or_nothing_and_leaves_nothing_behind(
    name: str,
    sent: str,
    faulty: Faulty,
    tmp_path: Path,
    finished: Callable[[str], dict[str, bytes]],
    *,
    full: bool,
) -> None:
    command, expected = COMMANDS[name], finished(name)
    before = listing(made(tmp_path / "template", command))

    def look(here: Path, code: int, said: str, step: str) -> None:
        assert code == (130 if sent == "INT" else -SIGNALS[sent]), step
        assert not temporaries(here), step
        after = listing(here)
        if name.startswith("install") or name == "a report":  # the output is written before; each of both is whole
            assert whole(name, before, expected, after), step
        else:
            assert after == before or complete(name, expected, after), (step, said)

    each_step(faulty, tmp_path, name, sent, look, full=full)


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("name", "fault"),
    [*((name, "ENOSPC") for name in COMMANDS), *(("in place", fault) for fault in ("EIO", "EROFS"))],
)
def test_a_call_that_fails_changes_nothing_and_is_told(
    name: str,
    fault: str,
    faulty: Faulty,
    tmp_path: Path,
    finished: Callable[[str], dict[str, bytes]],
    *,
    full: bool,
) -> None:
    command, expected = COMMANDS[name], finished(name)
    before = listing(made(tmp_path / "template", command))

    def look(here: Path, code: int, said: str, step: str) -> None:
        assert not temporaries(here), step
        after = listing(here)
        if code == 3:
            assert said.startswith("error CC1002 ") or "\nerror CC1002 " in said, (step, said)
            assert os.strerror(getattr(errno, fault))[1:] in said, (step, said)
            if name.startswith("install"):
                assert whole(name, before, expected, after), step
            elif name == "a report":  # which tells it, where it can be written itself
                assert after.pop("report.txt") in {before["report.txt"], said.encode()}
                assert after.pop("out.yaml", expected["out.yaml"]) == expected["out.yaml"]
                assert after == {file: data for file, data in before.items() if file != "report.txt"}
            else:
                assert after == before, (step, said)
        else:
            assert code == 0, (step, said)
            assert complete(name, expected, after), step

    each_step(faulty, tmp_path, name, fault, look, full=full)
