"""The command line as its hosts see it: a process with arguments, standard input, a directory, and an end.

`spawned` starts the installed executable. `Zygote` does the same without the cost of starting Python: one process that
has everything imported forks a child per call; the child's streams are files, its exit code is the real one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

EXECUTABLE = str(Path(sys.executable).parent / "contrast-krm")
KUSTOMIZE = ("KUSTOMIZE_PLUGIN_CONFIG_STRING", "KUSTOMIZE_PLUGIN_CONFIG_ROOT")
TERMINAL = ("COLUMNS", "NO_COLOR")  # of the one that the tests run in

EVERYTHING = """
import importlib, pkgutil, krm_function
for found in pkgutil.walk_packages(krm_function.__path__, "krm_function."):
    importlib.import_module(found.name)
import cryptography.hazmat.primitives.serialization, cryptography.hazmat.primitives.asymmetric.ec
import argparse, difflib, helm_plugin.helm_stream, json.decoder, shutil
"""
LOOP = """
import json, os, sys
from krm_function.cli import main
for line in sys.stdin:
    call = json.loads(line)
    pid = os.fork()
    if not pid:
        os.chdir(call["directory"])
        os.environ.update(call["environment"])
        for fd, (name, flags) in enumerate(zip(call["streams"], (0, 0o1101, 0o1101))):
            os.dup2(os.open(name, flags, 0o600), fd)
        sys.stdin = open(0, encoding="utf-8", errors="strict", closefd=False)
        sys.argv = ["contrast-krm", *call["arguments"]]
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(status))
"""


class Run(NamedTuple):
    """What a call left: exit code and both streams."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of a call with --format json."""
        said = json.loads(self.stderr)
        assert said["version"] == 1
        found: list[dict[str, Any]] = said["findings"]
        return found

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [found for found in self.findings if found["severity"] == "error"]


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in KUSTOMIZE + TERMINAL} | more


def spawned(*arguments: str, data: bytes = b"", directory: Path | None = None, **variables: str) -> Run:
    """Run the executable itself."""
    done = subprocess.run(
        [EXECUTABLE, *arguments],
        input=data,
        capture_output=True,
        cwd=directory,
        env=environment(**variables),
        timeout=60,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr.decode())


class Zygote:
    """A process that forks a child for every call."""

    def __init__(self, scratch: Path, prepared: str = "") -> None:
        """prepared: what is run before the first call."""
        self._scratch = scratch
        self._process = subprocess.Popen(
            [sys.executable, "-c", EVERYTHING + prepared + LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            cwd=scratch,
        )

    def __call__(
        self,
        *arguments: str,
        data: bytes = b"",
        directory: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Run:
        streams = [self._scratch / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(data)
        call = {
            "arguments": arguments,
            "directory": str(directory or self._scratch),
            "environment": variables or {},
            "streams": [str(stream) for stream in streams],
        }
        sender, answer = self._process.stdin, self._process.stdout
        assert sender is not None
        assert answer is not None
        sender.write(json.dumps(call).encode() + b"\n")
        sender.flush()
        code = int(answer.readline())
        return Run(code, streams[1].read_bytes(), streams[2].read_bytes().decode())

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(10)


def listing(directory: Path) -> dict[str, bytes]:
    """Every file below a directory with its bytes: equal before and after means that nothing was written."""
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()
    }
