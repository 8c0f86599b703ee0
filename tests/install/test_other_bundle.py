"""The bundle for the other kind of machine, run by an emulator: aarch64 on x86_64, and the reverse."""

import json
import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from krm_function import __version__
from krm_function.cli.build import SUMS
from tests.install.quickstart import assert_renders
from tools import bundle, other_bundle
from tools.cache import ToolError
from tools.machines import OTHERS

OWN = Path(os.environ["CONTRAST_KRM_BUNDLE"])
ARCHIVE = OWN.with_name(f"{other_bundle.NAME}.tar.gz")
MACHINE = OTHERS[platform.machine()]
EMULATOR = (f"qemu-{MACHINE.name}-static", "-L", f"/usr/{MACHINE.name}-linux-gnu")  # .ci/engine installs both


@pytest.fixture(scope="module", name="root")
def the_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The unpacked bundle."""
    place = tmp_path_factory.mktemp("other")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(place, filter="data")
    yield place / other_bundle.NAME
    shutil.rmtree(place)


def emulated(root: Path) -> list[str]:
    """What the launcher starts; an emulated one could not start another emulator."""
    assert shutil.which(EMULATOR[0]), f"{EMULATOR[0]} is missing: run .ci/engine"
    return [*EMULATOR, str(root / "python/bin/python3"), "-I", "-S", str(root / "start.py")]


def lines(root: Path) -> dict[str, str]:
    """File -> digest, of a bundle."""
    rows = (root / SUMS).read_text().splitlines()
    return {name: digest for digest, _, name in (row.partition("  ") for row in rows)}


def test_it_says_what_it_is(root: Path) -> None:
    done = subprocess.run([*emulated(root), "version", "--json"], env={}, capture_output=True, text=True, check=False)
    data = json.loads(done.stdout)
    assert (data["version"], data["build"]) == (__version__, "bundle")
    assert data["python"]["version"].startswith(f"{bundle.VERSION}.")


def test_it_renders_the_quickstart(root: Path) -> None:
    assert_renders(emulated(root))


def test_its_cryptography_makes_keys(root: Path, tmp_path: Path) -> None:
    command = [*emulated(root), "keys", "new", "--workload-owner", "-o", str(tmp_path / "owner.pem")]
    done = subprocess.run(command, env={}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "owner.pem").read_text().startswith("-----BEGIN ")


def test_only_what_is_compiled_differs_from_the_bundle_of_this_machine(root: Path, tmp_path: Path) -> None:
    with tarfile.open(OWN) as archive:
        archive.extractall(tmp_path, filter="data")
    own = lines(tmp_path / bundle.NAME)
    own = {name.replace(platform.machine(), MACHINE.name): digest for name, digest in own.items()}
    other = lines(root)
    assert own.keys() == other.keys()
    differing = {name for name in own if own[name] != other[name]}
    compiled = {name for name in own if (root / name).read_bytes()[:4] == b"\x7fELF"}
    assert compiled <= differing
    assert {name for name in differing - compiled if ".dist-info/" not in name} <= {"NOTICE"}
    assert {"contrast-krm", "python/bin/python3"} < compiled


def test_its_launcher_finds_the_python_beside_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root / "contrast-krm")
    command = [*EMULATOR, str(tmp_path / "link"), "--version"]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    refused = f"contrast-krm: {root}/python/bin/python3: exec format error"  # where the kernel starts no emulator
    assert done.stdout.startswith("contrast-krm ") if done.returncode == 0 else done.stderr.startswith(refused)


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    for path in (OWN, *OWN.parent.glob("*.whl")):
        (tmp_path / path.name).symlink_to(path)
    assert Path(other_bundle.build(str(tmp_path))).read_bytes() == ARCHIVE.read_bytes()


def test_a_file_of_this_machine_is_an_error(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "python/bin", tmp_path / "bin")
    other_bundle.check(str(tmp_path), MACHINE)
    shutil.copyfile("/proc/self/exe", tmp_path / "bin/left.so")
    with pytest.raises(ToolError, match=f"left.so is not for {MACHINE.name}"):
        other_bundle.check(str(tmp_path), MACHINE)
