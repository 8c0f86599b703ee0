"""`--genpolicy PATH`: Kata's or Contrast's own policy generator as the engine of a render.

Rule of this file: a render starts a program here and nowhere else (rego_engine.py starts that of `policy replay`), and
only one whose path the operator gave on the command line. No shell, no search in PATH, a reduced environment, a
directory of its own, an end after so many seconds and so many bytes. Everything it is given is in that directory,
readable by the owner alone and removed at the end; genpolicy itself pulls images from their registries.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from krm_function.findings import Finding, finding

if TYPE_CHECKING:
    from subprocess import Popen

    from krm_function.policy.genpolicy import Engine, GenpolicyInput, GenpolicyResult

SECONDS = 300  # for one workload: a large layer takes minutes (docs/facts/contrast-manifest.md#policy-generator-call)
LOG_LIMIT = 64 * 1024  # bytes of standard error that are kept: its end, where a panic is
CHUNK = 64 * 1024

# what finding images and logging in to a registry needs (docs/facts/kata.md#image-data); nothing else is handed on
PASSED_ON = frozenset(
    (
        *("PATH", "HOME", "USER", "TMPDIR", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    )
)


@contextmanager
def engine(path: str, seconds: int = SECONDS) -> Iterator[tuple["Engine | None", tuple[Finding, ...]]]:
    """Yield the engine for a program, or what is wrong with its path; neither for "". It works inside the block."""
    code = _wrong(path) if path else ""
    if code:
        yield None, (finding(code, option="--genpolicy", program=path),)
    elif path:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="contrast-krm-") as directory:
            yield (lambda task: _run(os.path.abspath(path), directory, task, seconds)), ()
    else:
        yield None, ()


def _wrong(path: str) -> str:
    """Return why a path is not that of a program: CC0909 with a variant, "" if it is."""
    if os.sep not in path:
        return "CC0909.genpolicy-name"
    if not os.path.isfile(path):
        return "CC0909.genpolicy-file"
    return "" if os.access(path, os.X_OK) else "CC0909.genpolicy-mode"


def arguments(directory: str, *, config: bool) -> list[str]:
    """Make the arguments that Contrast gives; the layer cache serves all calls of one render.

    Source: docs/facts/contrast-manifest.md#policy-generator-call.

    config: whether there are ConfigMaps or Secrets; it is not documented that an empty file means none.
    """
    return [
        "--runtime-class-names=contrast-cc",
        f"--rego-rules-path={directory}/rules.rego",
        f"--json-settings-path={directory}/settings.json",
        f"--layers-cache-file-path={directory}/layers-cache.json",
        *([f"--config-file={directory}/config.yaml"] if config else []),
        "--base64-out",
    ]


def _run(program: str, directory: str, task: "GenpolicyInput", seconds: int) -> "GenpolicyResult":
    import subprocess

    from krm_function.policy.genpolicy import GenpolicyResult

    files = {"workload.yaml": task.workload, "config.yaml": task.config_maps}
    files |= {"rules.rego": task.rules, "settings.json": task.settings}
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    environment = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    with open(os.path.join(directory, "workload.yaml"), "rb") as workload:
        try:
            process = subprocess.Popen(
                [program, *arguments(directory, config=bool(task.config_maps))],
                stdin=workload,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env=environment,
                start_new_session=True,  # so that it ends with all that it has started itself
            )
        except OSError as problem:
            return GenpolicyResult("start", log=(problem.strerror or "unknown error").lower())
    try:
        return _listen(process, seconds)
    finally:
        if process.returncode is None:  # it was not waited for, so the group still is its own
            with suppress(OSError):
                os.killpg(process.pid, 9)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def _listen(process: "Popen[bytes]", seconds: int) -> "GenpolicyResult":
    """Read the output of the process, and return it with the exit code; too much time or output ends it."""
    import selectors
    import time

    from krm_function.policy.genpolicy import OUTPUT_LIMIT, GenpolicyResult

    deadline = time.monotonic() + seconds
    read = {1: b"", 2: b""}
    with selectors.DefaultSelector() as waiting:
        for number, stream in ((1, process.stdout), (2, process.stderr)):
            waiting.register(_open(stream), selectors.EVENT_READ, number)
        while waiting.get_map():
            if time.monotonic() >= deadline:
                return GenpolicyResult("timeout", seconds=seconds)
            for key, _ in waiting.select(deadline - time.monotonic()):
                data = os.read(key.fd, CHUNK)
                if not data:
                    waiting.unregister(key.fileobj)
                read[key.data] += data
            read[2] = read[2][-LOG_LIMIT:]
            if len(read[1]) > OUTPUT_LIMIT:
                return GenpolicyResult("output")
    import subprocess

    try:
        code = process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return GenpolicyResult("timeout", seconds=seconds)
    return GenpolicyResult("exit", code, read[1], read[2].decode("utf-8", "replace"))


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("the streams are pipes")
    return stream
