"""The bundle, on machines that have nothing: `make bundle` builds it and sets CONTRAST_KRM_BUNDLE to the archive."""

import ast
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from krm_function import __version__
from tests.docs.commands import blocks
from tests.install.quickstart import ARGUMENTS, EXAMPLE, EXPECTED, ROOT, assert_renders
from tools import bundle
from tools.cache import cache
from tools.real import tool

ARCHIVE = Path(os.environ["CONTRAST_KRM_BUNDLE"])
WHEEL = ARCHIVE.parent / f"contrast_krm-{__version__}-py3-none-any.whl"
SYSTEM_LIBRARIES = {  # what manylinux_2_28 takes for granted, and nothing else
    *("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"),
    *("librt.so.1", "libutil.so.1", "libgcc_s.so.1"),
}
NOBODY = 65534
PAGE = ROOT / "docs" / "how-to" / "install.md"
PROGRAM = Path(sys.executable).parent / "contrast-krm"


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory that every user may enter."""
    directory = Path(tempfile.mkdtemp(prefix="contrast-krm-bundle-"))
    directory.chmod(0o755)
    yield directory
    subprocess.run(["chmod", "-R", "u+w", directory], check=True)
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def root(place: Path) -> Path:
    """The unpacked bundle."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(place, filter="data")
    return place / bundle.NAME


def wait_for(condition: Callable[[], bool]) -> None:
    """Return as soon as it holds, or fail after half a minute."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def said(*command: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program with these variables alone."""
    words = [str(word) for word in command]
    return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_it_renders_the_quickstart_with_an_empty_environment(root: Path) -> None:
    assert_renders([str(root / "contrast-krm")])


def test_the_commands_of_the_page_install_it(tmp_path: Path) -> None:
    (command,) = (block for block in blocks(PAGE.read_text()) if block.startswith("sha256sum"))
    for name in (ARCHIVE.name, "SHA256SUMS"):
        (tmp_path / name).symlink_to(ARCHIVE.parent / name)
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    script = command.replace("VERSION", __version__).replace("x86_64", platform.machine())
    subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert_renders([str(tmp_path / ".local/bin/contrast-krm")])
    assert (tmp_path / ".local/lib" / bundle.NAME / "share/bash-completion/completions/contrast-krm").is_file()


def test_it_says_that_it_is_a_bundle(root: Path) -> None:
    data = json.loads(said(root / "contrast-krm", "version", "--json").stdout)
    assert (data["version"], data["build"]) == (__version__, "bundle")
    assert data["python"]["version"].startswith(f"{bundle.VERSION}.")


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        again = Path(bundle.build(str(tmp_path), str(WHEEL)))
    finally:
        os.umask(umask)
    assert again.name == ARCHIVE.name
    assert again.read_bytes() == ARCHIVE.read_bytes()


def test_links_from_elsewhere_and_from_path_lead_to_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(root / "contrast-krm")
    (tmp_path / "another name").symlink_to("first")
    assert_renders([str(tmp_path / "another name")])
    done = subprocess.run(
        ["sh", "-c", "first --version"],
        env={"PATH": str(tmp_path)},
        executable="/bin/sh",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"contrast-krm {__version__}\n"


def test_a_launcher_without_its_folder_says_so(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / "contrast-krm", tmp_path / "contrast-krm")
    done = said(tmp_path / "contrast-krm", "--version")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"contrast-krm: {tmp_path}/python/bin/python3: no such file or directory; nothing was written\n"
        "  hint: unpack the whole archive on a machine with glibc, and link to the program instead of copying it\n"
    )


def test_its_exit_codes_and_messages_are_those_of_the_program(root: Path) -> None:
    for arguments, code in (((), 1), (("fn",), 1), (("generat",), 2), (("check", "/nowhere"), 3)):
        one, two = (said(program, *arguments) for program in (root / "contrast-krm", PROGRAM))
        assert (one.returncode, one.stdout, one.stderr) == (code, two.stdout, two.stderr)


def test_a_signal_reaches_the_program(root: Path) -> None:
    """The launcher becomes the Python: there is no process between the caller and the program."""
    command = [str(root / "contrast-krm"), "generate"]
    with subprocess.Popen(command, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        wait_for(lambda: b"start.py" in Path(f"/proc/{process.pid}/cmdline").read_bytes())
        process.terminate()
        assert process.wait(30) == -signal.SIGTERM


def test_nothing_of_its_environment_changes_what_it_loads(root: Path, tmp_path: Path) -> None:
    for name in ("yaml", "sitecustomize", "usercustomize", "krm_function"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    hostile = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "yaml.py")}
    done = subprocess.run(
        [root / "contrast-krm", *ARGUMENTS], cwd=tmp_path, env=hostile, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, EXPECTED), done.stderr


def test_another_user_runs_it_from_a_folder_that_nobody_may_write(root: Path, place: Path) -> None:
    locked = place / "locked"
    shutil.copytree(root, locked / "bundle", symlinks=True)
    subprocess.run(["chmod", "-R", "a-w", locked], check=True)
    inputs = place / "inputs"
    shutil.copytree(EXAMPLE, inputs)
    subprocess.run(["chmod", "-R", "a+rX", inputs], check=True)
    command = [locked / "bundle" / "contrast-krm", "generate", inputs / "resources", "--config", inputs / "config"]
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.getuid() == 0 else {}
    done = subprocess.run(command, cwd="/", env={}, capture_output=True, check=False, **other)  # type: ignore[call-overload]
    assert (done.returncode, done.stdout) == (0, EXPECTED), done.stderr


def test_a_call_writes_nothing_into_it(root: Path, tmp_path: Path) -> None:
    for arguments in (["--help"], ["completion", "fish"], ["plan", *ARGUMENTS[1:], "-o", str(tmp_path / "plan.html")]):
        done = said(root / "contrast-krm", *arguments)
        assert done.returncode == 0, done.stderr
    found = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
    listed = {line.partition("  ")[2] for line in (root / "SHA256SUMS").read_text().splitlines()}
    assert found == listed | {"SHA256SUMS"}
    checked = subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=root, check=False)
    assert checked.returncode == 0


def linked(path: Path) -> dict[str, Path]:
    """The shared libraries of a program or an extension module, as the loader finds them on this machine."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        file = words[2] if "=>" in words and len(words) > 2 else words[0]
        if file.startswith("/"):
            found[Path(words[0]).name] = Path(file)
    return found


def binaries(root: Path) -> list[Path]:
    return [root / "python/bin/python3", *sorted(root.rglob("*.so"))]


def test_it_asks_a_machine_for_the_c_library_alone(root: Path) -> None:
    assert {name for path in binaries(root) for name in linked(path)} <= SYSTEM_LIBRARIES
    done = subprocess.run(["ldd", root / "contrast-krm"], capture_output=True, text=True, check=False)
    assert "not a dynamic executable" in done.stdout + done.stderr


def test_it_renders_where_there_is_nothing_but_the_c_library(root: Path, place: Path) -> None:
    """A root file system of the bundle, the C library and the input: no shell, no /proc, no /tmp."""
    machine = place / "machine"
    shutil.copytree(root, machine / "opt")
    shutil.copytree(EXAMPLE, machine / "in", ignore=shutil.ignore_patterns("expected"))
    for path in binaries(root):
        for library in linked(path).values():
            target = machine / str(library).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    (machine / "dev").mkdir()
    (machine / "dev/urandom").write_bytes(os.urandom(4096))  # CPython asks it for the seed of its hashes
    call = ["/opt/contrast-krm", "generate", "/in/resources", "--config", "/in/config"]
    enter = ["chroot"] if os.getuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    done = subprocess.run(
        [*enter, machine, *call], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, EXPECTED), done.stderr


def imports() -> set[str]:
    """Every module that the program imports anywhere, but for the cluster's client and what authors bring."""
    found = set()
    for package in ("krm_function", "helm_plugin"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module)
    typing_alone = {"_typeshed"}
    return {name for name in found if name.partition(".")[0] not in {"kubernetes", "ruamel"}} - typing_alone


def test_every_module_that_the_program_imports_is_in_it(root: Path) -> None:
    absent = {"backports.zstd"}  # the standard library's from 3.14 on
    code = f"import sys; sys.path.insert(0, {str(root / 'lib')!r})\n" + "".join(
        f"import {name}\n" for name in sorted(imports() - absent)
    )
    done = said(root / "python/bin/python3", "-I", "-S", "-B", "-W", "error", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_its_notice_names_every_part(root: Path) -> None:
    rows = [line.split("\t") for line in (root / "NOTICE").read_text().splitlines()]
    assert all(len(row) == 4 and all(row) for row in rows)
    versions = {row[0]: row[1] for row in rows}
    assert versions["CPython"].startswith(bundle.VERSION)
    assert versions["OpenSSL"].startswith("3.")
    libraries = {path.name.partition("-")[0] for path in (root / "lib").glob("*.dist-info")}
    assert libraries <= {name.replace("-", "_").lower() for name in versions}
    for _, _, _, files in rows:
        assert [name for name in files.split(", ") if name != "-" and not (root / name).is_file()] == []


def test_what_it_leaves_out_is_said_with_a_way_to_have_it(root: Path) -> None:
    done = said(root / "contrast-krm", "plan", *ARGUMENTS[1:], "--cluster")
    assert done.returncode == 2
    assert done.stderr == (
        "error CC0909: --cluster: the Python package kubernetes is not in this copy of contrast-krm\n"
        "  hint: pipx install 'contrast-krm[cluster]', and run that contrast-krm\n"
    )


def test_no_path_of_the_machine_that_built_it_is_in_it(root: Path) -> None:
    words = [str(ROOT).encode(), cache().encode(), sys.prefix.encode(), b"contrast-krm-bundle-", b"/stage/"]
    for path in root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert [word for word in words if word in data] == [], path


@pytest.fixture(scope="module")
def installed(root: Path, place: Path) -> Path:
    """A copy that a bundle has made of itself; the bundle is gone."""
    moved = place / "moved"
    shutil.copytree(root, moved)
    target = place / "tools"
    done = said(moved / "contrast-krm", "install", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"{target}/contrast-krm: contrast-krm {__version__} with a Python of its own\n")
    shutil.rmtree(moved)
    return target


def test_install_copies_the_bundle(installed: Path, root: Path) -> None:
    assert_renders([str(installed / "contrast-krm")])
    assert json.loads(said(installed / "contrast-krm", "version", "--json").stdout)["build"] == "bundle"
    (copy,) = (installed / "lib").iterdir()
    assert subprocess.run(["diff", "-r", root, copy], check=False).returncode == 0


def test_a_second_install_changes_nothing_and_a_copy_installs_itself(installed: Path, root: Path, place: Path) -> None:
    assert "as before" in said(root / "contrast-krm", "install", installed).stderr
    assert said(installed / "contrast-krm", "install", place / "again").returncode == 0
    assert os.listdir(place / "again" / "lib") == os.listdir(installed / "lib")


def test_kustomize_finds_the_copy_as_a_legacy_plugin(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/kustomize-legacy", tmp_path / "example")
    done = subprocess.run(
        [tool("kustomize"), "build", "--enable-alpha-plugins", "."],
        cwd=tmp_path / "example",
        env={"KUSTOMIZE_PLUGIN_HOME": str(installed / "plugin"), "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (ROOT / "examples/kustomize-legacy/expected/rendered.yaml").read_bytes()


def test_a_copy_for_another_python_and_a_bundle_take_each_others_place(root: Path, tmp_path: Path) -> None:
    for one, build in ((PROGRAM, "copy"), (root / "contrast-krm", "bundle"), (PROGRAM, "copy")):
        done = said(one, "install", tmp_path / "tools")
        assert done.returncode == 0, done.stderr
        assert json.loads(said(tmp_path / "tools/contrast-krm", "version", "--json").stdout)["build"] == build
        assert len(os.listdir(tmp_path / "tools" / "lib")) == 1


def test_a_program_of_somebody_else_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    (tmp_path / "contrast-krm").symlink_to("/bin/true")
    done = said(root / "contrast-krm", "install", tmp_path)
    assert done.returncode == 3
    assert "exists, but not from an earlier install" in done.stderr
    assert os.listdir(tmp_path) == ["contrast-krm"]


def test_the_checksum_file_is_right() -> None:
    check = ["sha256sum", "--check", "--strict", "--ignore-missing", "SHA256SUMS"]
    done = subprocess.run(check, cwd=ARCHIVE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{ARCHIVE.name}: OK" in done.stdout
