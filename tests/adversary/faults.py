"""A command that is hit at one of its steps: a signal, or a system call that fails.

A step is a call that changes files. One process has everything imported and forks a child for every run; in the child
the calls count, and the one with the number asked for is hit. Half of a write has happened when it is.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.failures.running import EVERYTHING, environment

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP}

SERVER = (
    EVERYTHING
    + """
import errno, json, os, signal, sys
from krm_function.cli import main
STEPS = ["open", "write", "fsync", "fchmod", "fchown", "chmod", "rename", "link", "symlink", "mkdir", "rmdir", "unlink"]
FAILING = {"open", "write", "fsync", "fchmod", "rename", "link", "symlink", "mkdir"}
real = {name: getattr(os, name) for name in STEPS}
real["fsync"] = lambda descriptor: None  # a step as any other, but nobody cuts the power here, and it is slow

def hit_at(fault, at, reached):
    seen = 0
    def wrapped(name):
        def step(*values, **named):
            nonlocal seen
            number = getattr(signal, "SIG" + fault, None)
            reads = name == "open" and not values[1] & os.O_CREAT
            seen += number is not None or (name in FAILING and not reads)
            if seen != at:
                return real[name](*values, **named)
            seen += 1
            real["write"](reached, name.encode())
            if name == "write":
                real["write"](values[0], bytes(values[1])[: len(values[1]) // 2])
            if number is None:
                raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))
            os.kill(os.getpid(), number)
            if name == "write":
                return len(values[1]) // 2
            return real[name](*values, **named)
        return step
    for name in STEPS:
        setattr(os, name, wrapped(name))

for line in sys.stdin:
    call = json.loads(line)
    reading, reached = os.pipe()
    pid = os.fork()
    if not pid:
        os.umask(0o022)
        os.chdir(call["directory"])
        for fd, name in enumerate(("stdin", "stdout", "stderr")):
            os.dup2(os.open(os.path.join(call["scratch"], name), (0, 0o1101, 0o1101)[fd], 0o600), fd)
        sys.argv = ["contrast-krm", *call["arguments"]]
        if call["fault"]:
            hit_at(call["fault"], call["at"], reached)
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.close(reached)
    _, status = os.waitpid(pid, 0)
    step = os.read(reading, 100).decode()
    os.close(reading)
    os.write(1, json.dumps([os.waitstatus_to_exitcode(status), step]).encode() + b"\\n")
"""
)


class Ended(NamedTuple):
    """What a run left. step: the call that was hit, "" if the run has fewer steps."""

    code: int
    stdout: bytes
    stderr: str
    step: str


class Faulty:
    """A process that forks a child for every call."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        (scratch / "stdin").write_bytes(b"")
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            cwd=scratch,
        )

    def __call__(self, *arguments: str, directory: Path, fault: str = "", at: int = 0) -> Ended:
        sender, answer = self._process.stdin, self._process.stdout
        assert sender is not None
        assert answer is not None
        call = {"arguments": arguments, "directory": str(directory), "scratch": str(self._scratch)}
        sender.write(json.dumps(call | {"fault": fault, "at": at}).encode() + b"\n")
        sender.flush()
        code, step = json.loads(answer.readline())
        stdout, stderr = (self._scratch / name for name in ("stdout", "stderr"))
        return Ended(code, stdout.read_bytes(), stderr.read_text(), step)

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(10)


def temporaries(directory: Path) -> list[Path]:
    """What a killed run has left under names of its own."""
    return [
        Path(where) / name
        for where, directories, names in os.walk(directory)
        for name in (*directories, *names)
        if ".contrast-krm-" in name and name.endswith(".tmp")
    ]
