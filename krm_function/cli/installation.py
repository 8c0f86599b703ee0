"""Copy this program and all it needs into a directory that can be mounted anywhere.

    DIR/contrast-krm                                           the executable
    DIR/lib/contrast-krm-<version>-<hash>/                     the code; its name is a digest of its content
    DIR/plugin/contrast-krm.dev/v1alpha1/.../ContrastGenerate  a link to it, where kustomize looks for legacy plugins

Rule of this file: the executable is exchanged last and in one step, after the new copy has run; a call at the same time
gets the old one or the new one.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from krm_function import __version__
from krm_function.api.records import API_VERSION
from krm_function.cli.distributions import Member, installed_files
from krm_function.cli.launcher import HEADER, launcher
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.leftovers import sweep, sweep_directory, temporary_directory
from krm_function.hosts.write_together import create_file

PROGRAM = "contrast-krm"
PLUGIN = f"plugin/{API_VERSION}/contrastgenerate/ContrastGenerate"
EXECUTABLE = 0o755
READABLE = 0o644
SECONDS = 60


def install(directory: str, python: str) -> tuple[bool, list[Finding]]:
    """Copy, try, exchange, clean up; whether anything changed, and what is wrong.

    python: the interpreter of the copy, an absolute path or a name on PATH. Raises NotCopied, FileProblem and OSError.
    """
    target = os.path.join(directory, PROGRAM)
    if os.path.lexists(target) and (os.path.isdir(target) or HEADER.encode() not in read_file(target)):
        raise FileProblem(target, "is there, and not from an earlier install", writing=True)
    if "/" in python and not os.path.isabs(python):
        return False, [finding("CC0909.python", option="--python")]
    sweep([target])
    sweep_directory(os.path.join(directory, "lib"))
    library = _copy(directory, installed_files())
    text = launcher(python, library).encode()
    changed = not os.path.exists(target) or read_file(target) != text
    findings = _exchange(target, text, python) if changed else []
    if not has_errors(findings):
        changed |= _link(os.path.join(directory, PLUGIN), target)
        _remove_others(os.path.join(directory, "lib"), library)
    return changed, findings


def _copy(directory: str, files: Sequence[Member]) -> str:
    """Copy the files into a directory below `lib`, unless it is there; its name."""
    import py_compile
    import shutil

    name = f"{PROGRAM}-{__version__}-{_digest(files)}"
    place = os.path.join(directory, "lib", name)
    if os.path.isdir(place):
        return name
    _make_directory(os.path.dirname(place))
    with temporary_directory(place) as temporary:
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH  # it is never edited, and times may get lost on the way
        for file in files:
            path = os.path.join(temporary, file.name)
            _make_directory(os.path.dirname(path))
            shutil.copyfile(file.source, path)
            if path.endswith(".py"):
                with suppress(py_compile.PyCompileError):  # it is for another Python
                    py_compile.compile(path, dfile=file.name, doraise=True, invalidation_mode=mode)
        for path, _, names in os.walk(temporary):
            os.chmod(path, EXECUTABLE)
            for one in names:
                os.chmod(os.path.join(path, one), READABLE)
        os.rename(temporary, place)
    return name


def _digest(files: Sequence[Member]) -> str:
    """A digest of the names and bytes of a copy, and of the Python that it is compiled for."""
    digest = hashlib.sha256(sys.implementation.cache_tag.encode())
    for file in files:
        with open(file.source, "rb") as source:
            content = hashlib.sha256(source.read()).digest()
        digest.update(file.name.encode() + b"\0" + content)
    return digest.hexdigest()[:12]


def _make_directory(path: str) -> None:
    """Create directories that every user may enter, whatever the umask is: another user may run the copy."""
    if os.path.isdir(path):
        return
    _make_directory(os.path.dirname(path) or ".")
    os.mkdir(path)
    os.chmod(path, EXECUTABLE)


def _exchange(target: str, text: bytes, python: str) -> list[Finding]:
    """Rename the executable into its place after it has run once."""
    with temporary_directory(target) as place:
        trial = os.path.join(place, PROGRAM)
        os.symlink(os.path.join(os.pardir, "lib"), os.path.join(place, "lib"))
        create_file(trial, text, EXECUTABLE)
        findings = _try(trial, python)
        if not has_errors(findings):
            os.rename(trial, target)
    return findings


def _try(trial: str, python: str) -> list[Finding]:
    """Run it, with nothing in its environment."""
    if os.path.isabs(python) and not os.path.exists(python):
        return [finding("CC1321", python=python)]
    try:
        command = [os.path.abspath(trial), "--version"]
        done = subprocess.run(command, env={}, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "no answer"
        return [finding("CC1320.run", error=reason)]
    if done.returncode or done.stdout.decode(errors="replace") != f"{PROGRAM} {__version__}\n":
        reason = (done.stderr.decode(errors="replace").splitlines() or ["no answer"])[-1 if done.returncode == 1 else 0]
        return [finding("CC1320.run", error=reason.removeprefix(f"{PROGRAM}: "))]
    return []


def _link(path: str, target: str) -> bool:
    """Link the plugin to the executable, relatively, so that the directory can be moved; whether the link is new."""
    relative = os.path.relpath(target, os.path.dirname(path))
    if os.path.islink(path) and os.readlink(path) == relative:
        return False
    _make_directory(os.path.dirname(path))
    if os.path.lexists(path):
        raise FileProblem(path, "is there, and not from an earlier install", writing=True)
    os.symlink(relative, path)
    return True


def _remove_others(directory: str, current: str) -> None:
    """Remove the copies of earlier installs."""
    import shutil

    for name in os.listdir(directory):
        if name != current and name.startswith(f"{PROGRAM}-"):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)
