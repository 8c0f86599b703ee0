"""Each command that `upgrade` prints runs in a repository of a real application, and changes only what it names.

The application is committed, so that `git status` shows each change. kubectl, contrast and what else talks to a
cluster are stand-ins that keep their arguments; sh, cp, git, kustomize, kpt, Helm and contrast-krm are the real ones.
"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.hosts.running import ROOT, Machine, machine
from tests.real_manifests.packages import COORDINATOR, PACKAGES, RELEASES, Copy, copy, unsealed

HOSTS = {"storefront": "helm3", "bookshop": "kustomize", "telemetry": "kpt"}
OF_THE_CLUSTER = ("helm upgrade ", "kpt live ", "kubectl ", "contrast set ")
STAND_IN = '#!/bin/sh\necho "$(basename "$0") $*" >> "$HOME/asked"\n'
HASHES = ("18a1a065", "28a1a065")  # in the handlers of the two releases
PLATFORMS = ("snp", "snp-gpu", "tdx", "tdx-gpu")
RUNTIME = ROOT / "examples/from-scratch/assets/runtime-metal-qemu-snp.yml"


@pytest.fixture(name="user")
def the_user(tmp_path: Path) -> Machine:
    user = machine(tmp_path)
    for name in ("kubectl", "contrast"):
        user.with_program(name, STAND_IN)
    return user


def committed(user: Machine, name: str, directory: Path) -> Copy:
    """An application that is rendered without errors, in git, with the files of the next release beside it."""
    directory.mkdir()
    package = copy(name, "advised", directory)
    config = _config(package)
    following = (config / "release.yaml").read_text().replace("v1.25.0", "v1.26.0")
    (directory / "next.yaml").write_text(following.replace(*HASHES))
    shutil.copy(COORDINATOR, directory / "coordinator.yml")
    (directory / ".gitignore").write_text("report.json\n")  # where the package's own pipeline leaves its findings
    for platform in PLATFORMS:
        runtime = RUNTIME.read_text().replace(*HASHES).replace("metal-qemu-snp", f"metal-qemu-{platform}")
        (directory / f"runtime-metal-qemu-{platform}.yml").write_text(runtime)
    for command in ("git init -q", "git add -A", "git -c user.name=u -c user.email=u@example.com commit -qm start"):
        user.run(shlex.split(command), directory).ok()
    return package


def _config(package: Copy) -> Path:
    """The directory with the configuration that the host reads."""
    match PACKAGES[package.name]:
        case "helm":
            return package.config
        case "kustomize":
            return package.directory / package.name / "advised"
        case "kpt":
            return package.directory / package.name / "package"


def printed(user: Machine, package: Copy) -> list[str]:
    """The commands of all waves, with the words in capitals replaced as a reader would."""
    config = _config(package).relative_to(package.directory)
    files = [argument for file in _files(config) for argument in ("--config", file)]
    stream = unsealed(user, package)
    shutil.rmtree(package.directory / package.name / "plain", ignore_errors=True)
    call = ("upgrade", "-", *files, "--to", "next.yaml", "--host", HOSTS[package.name], "-o", "json")
    told = json.loads(user.krm(*call, stdin=stream, cwd=package.directory).ok())
    words = {
        "NAME": RELEASES.get(package.name, "x"),
        "CHART": f"{package.name} -f {package.name}/advised.yaml",
        "OVERLAY": str(config),
    }
    commands = [text for wave in told["waves"] for text in wave["commands"][HOSTS[package.name]]]
    return [
        re.sub(r"\b[A-Z]{4,}\b", lambda word: words.get(word[0], word[0]), text)
        for text in commands
        if not text.startswith("#")
    ]


def _files(config: Path) -> list[str]:
    return [f"{config}/{name}.yaml" for name in ("contrast", "release", "images")]


def outputs(command: str) -> set[str]:
    """The files that a command names as its output; of `kpt fn render`, which works in place, the package."""
    if command.startswith("kpt fn render "):
        return {f"{shlex.split(command)[-1]}/"}
    redirected = re.findall(r"> (\S+)", command)
    by_option = re.findall(r" (?:-o|--in) (\S+)", command)
    copies = [shlex.split(command)[-1]] if command.startswith("cp ") else []
    return {*redirected, *by_option, *copies}


@pytest.mark.parametrize("name", HOSTS)
def test_no_printed_command_changes_what_it_does_not_name(name: str, user: Machine, tmp_path: Path) -> None:
    package = committed(user, name, tmp_path / "repository")
    commands = printed(user, package)
    assert len(commands) > 10
    named: set[str] = set()
    changed: set[str] = set()
    for command in commands:
        ran = user.run(["sh", "-c", command], package.directory)
        asks_cluster = command.startswith(OF_THE_CLUSTER) or "--cluster" in command
        assert ran.code == 0 or asks_cluster, f"{command}\n{ran.err}"
        named |= outputs(command)
        status = user.run(["git", "status", "--porcelain", "-uall"], package.directory).ok().decode()
        changed = {line[3:] for line in status.splitlines()}
        assert not [line for line in status.splitlines() if "D" in line[:2]], command
        packages = tuple(place for place in named if place.endswith("/"))
        assert [place for place in changed - named if not place.startswith(packages)] == [], command
    assert f"{_config(package).relative_to(package.directory)}/release.yaml" in changed
