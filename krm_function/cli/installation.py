"""Copy this program and its dependencies into a directory that can be mounted anywhere."""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from krm_function import __version__
from krm_function.cli.build import LAUNCHER, PYTHON, Member, bundle_files, installed_files
from krm_function.config.document import API_VERSION
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.write_files import create_file, sweep, sweep_directory, temporary_directory

# --- The executable of an installed copy: a script for one Python, with the copy's libraries before everything else
#
# Rule: it does not trust its environment. `-I` and `-S` exclude PYTHON* variables, the user's packages and the packages
# of the Python itself.


LONGEST = 120  # characters of an interpreter line that every kernel takes
HEADER = "# Written by `contrast-krm install`; run that again to update it."
SCRIPT = """{shebang}
{header}
import os
import sys

if sys.version_info[:2] != {wanted} or sys.implementation.name != "{implementation}":
    sys.stderr.write(
        "contrast-krm: this copy is for {implementation} {version}, and {{}} is another\\n"
        "  hint: run `contrast-krm install` with the Python that is here\\n".format(sys.executable or "this Python")
    )
    sys.exit(3)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib", "{library}"))
from krm_function.cli import main

sys.exit(main())
"""


def launcher(python: str, library: str) -> str:
    """Write the script. python: an absolute path, or a name to look up on PATH. library: the directory below `lib`."""
    version = sys.version_info[:2]
    return SCRIPT.format(
        shebang=_shebang(python),
        header=HEADER,
        wanted=version,
        version=".".join(map(str, version)),
        implementation=sys.implementation.name,
        library=library,
    )


def _shebang(python: str) -> str:
    if "/" not in python:
        return f"#!/usr/bin/env -S {python} -IS"
    if len(python) <= LONGEST and not any(character.isspace() for character in python):
        return f"#!{python} -IS"
    quoted = "'" + python.replace("'", "'\"'\"'") + "'"  # the shell runs the next line, Python reads it as a string
    return f"#!/bin/sh\n'''exec' {quoted} -IS \"$0\" \"$@\"\n' '''"


# --- Copy this program and its dependencies into a directory that can be mounted anywhere
#
#     DIR/contrast-krm                                           the executable
#     DIR/lib/contrast-krm-<version>-<hash>/                     the code; its name is a digest of its content
#     DIR/plugin/contrast-krm.dev/v1alpha1/.../ContrastGenerate  a link to it, where kustomize looks for legacy plugins
#
# A bundle is copied unchanged: then the executable is a link to the copy's launcher (cli/build.py).
#
# Rule: the executable is replaced last and in one step, after the new copy has run; a call at the same time gets the
# old one or the new one.


PROGRAM = "contrast-krm"
PLUGIN = f"plugin/{API_VERSION}/contrastgenerate/ContrastGenerate"
EXECUTABLE = 0o755
READABLE = 0o644
SECONDS = 60


def install(directory: str, python: str, bundle: str = "") -> tuple[bool, list[Finding]]:
    """Copy, try, replace, clean up. Return whether anything changed, and findings.

    python: the interpreter of the copy, an absolute path or a name on PATH. bundle: the folder of the running bundle,
    which has its own and is copied byte for byte; "" if there is none. Raises NotCopied, FileProblem and OSError.
    """
    if not bundle and "/" in python and not os.path.isabs(python):
        return False, [finding("CC0909.python", option="--python")]
    target = _prepare(directory)
    create: Callable[[str], None]
    if bundle:
        python = os.path.join(bundle, PYTHON)
        library = _copy(directory, bundle_files(bundle), _fill_with_bundle)
        link = os.path.join("lib", library, LAUNCHER)
        changed = not os.path.islink(target) or os.readlink(target) != link
        create = partial(os.symlink, link)
    else:
        library = _copy(directory, installed_files(), _fill_with_code)
        text = launcher(python, library).encode()
        installed = os.path.exists(target) and not os.path.islink(target)
        changed = not installed or read_file(target, os.path.dirname(target) or ".") != text
        create = partial(create_file, data=text, mode=EXECUTABLE)
    findings = _replace_executable(target, create, python) if changed else []
    if not has_errors(findings):
        changed |= _link(os.path.join(directory, PLUGIN), target)
        _remove_others(os.path.join(directory, "lib"), library)
    return changed, findings


def _prepare(directory: str) -> str:
    """Remove what a killed run left, and return the path of the executable. Raises FileProblem for a foreign one."""
    target = os.path.join(directory, PROGRAM)
    if os.path.islink(target):
        ours = os.readlink(target).startswith(os.path.join("lib", f"{PROGRAM}-"))
    else:
        ours = not os.path.exists(target) or (os.path.isfile(target) and HEADER.encode() in read_file(target))
    if not ours:
        raise FileProblem(target, "exists, but not from an earlier install", writing=True)
    sweep([target])
    sweep_directory(os.path.join(directory, "lib"))
    return target


def _copy(directory: str, files: Sequence[Member], fill: Callable[[str, Sequence[Member]], None]) -> str:
    name = f"{PROGRAM}-{__version__}-{_digest(files)}"
    place = os.path.join(directory, "lib", name)
    if os.path.isdir(place):
        return name
    _make_directory(os.path.dirname(place))
    with temporary_directory(place) as temporary:
        fill(temporary, files)
        os.rename(temporary, place)
    return name


def _fill_with_code(place: str, files: Sequence[Member]) -> None:
    import py_compile
    import shutil

    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH  # the code is never edited, and copying may lose times
    for file in files:
        path = os.path.join(place, file.name)
        _make_directory(os.path.dirname(path))
        shutil.copyfile(file.source, path)
        if path.endswith(".py"):
            with suppress(py_compile.PyCompileError):  # the file is for another Python
                py_compile.compile(path, dfile=file.name, doraise=True, invalidation_mode=mode)
    for path, _, names in os.walk(place):
        os.chmod(path, EXECUTABLE)
        for name in names:
            os.chmod(os.path.join(path, name), READABLE)


def _fill_with_bundle(place: str, files: Sequence[Member]) -> None:
    """Copy files; files that their owner may execute, all users may execute."""
    import shutil

    for file in files:
        path = os.path.join(place, file.name)
        _make_directory(os.path.dirname(path))
        shutil.copyfile(file.source, path)
        os.chmod(path, EXECUTABLE if os.stat(file.source).st_mode & stat.S_IXUSR else READABLE)
    os.chmod(place, EXECUTABLE)


def _digest(files: Sequence[Member]) -> str:
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


def _replace_executable(target: str, create: Callable[[str], None], python: str) -> list[Finding]:
    """Run the new executable once, then rename it into place."""
    with temporary_directory(target) as place:
        trial = os.path.join(place, PROGRAM)
        os.symlink(os.path.join(os.pardir, "lib"), os.path.join(place, "lib"))
        create(trial)
        findings = _try(trial, python)
        if not has_errors(findings):
            os.rename(trial, target)
    return findings


def _try(trial: str, python: str) -> list[Finding]:
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
    """Link the plugin to the executable by a relative path, and return whether the link is new.

    A relative link lets users move the directory.
    """
    relative = os.path.relpath(target, os.path.dirname(path))
    if os.path.islink(path) and os.readlink(path) == relative:
        return False
    _make_directory(os.path.dirname(path))
    if os.path.lexists(path):
        raise FileProblem(path, "exists, but not from an earlier install", writing=True)
    os.symlink(relative, path)
    return True


def _remove_others(directory: str, current: str) -> None:
    import shutil

    for name in os.listdir(directory):
        if name != current and name.startswith(f"{PROGRAM}-"):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)
