"""What is in the image, and what is not: no shell, no secret, nothing of the machine that built it, the same twice."""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from krm_function import __version__
from tests.hosts.running import ROOT
from tests.install.containers import contain, root
from tools.engine import engine
from tools.image import ARCHIVE, BASE, IMAGE, build, revision, save

INDEX = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


LIBRARIES_SAY = {"/etc/ssl/certs/ca-certificates.crt"}  # where Debian has them, on any machine


def files() -> list[Path]:
    return [path for path in root().rglob("*") if path.is_file() and not path.is_symlink()]


def inside(path: Path) -> str:
    return "/" + str(path.relative_to(root()))


def configuration() -> dict[str, object]:
    (image,) = json.loads(engine("podman", "image", "inspect", IMAGE))
    return {name: value for name, value in image.items() if name != "GraphDriver"}  # where the engine keeps it


def test_there_is_one_program_that_runs_others_and_it_is_python() -> None:
    programs = [
        inside(path)
        for path in files()
        if os.access(path, os.X_OK)
        and path.stat().st_mode & stat.S_IXUSR
        and path.read_bytes()[:2] in {b"\x7fE", b"#!"}
    ]
    programs = [name for name in programs if ".so" not in name]
    started = {name for name in programs if not re.search(r"/lib/python3\.\d+/", name)}
    assert {re.sub(r"\d+\.\d+$", "3", name) for name in started} == {
        "/opt/contrast-krm/bin/contrast-krm",
        "/usr/bin/python3",
    }


def test_a_shell_cannot_be_started() -> None:
    for shell in ("/bin/sh", "/bin/bash", "/usr/bin/sh", "sh"):
        ran = contain("-c", "true", entry=shell)
        assert ran.code == 127, ran
        assert "no such file" in ran.err or "not found" in ran.err


def test_nothing_is_setuid_or_writable_for_all_and_all_is_roots() -> None:
    for path in [root(), *root().rglob("*")]:
        status = path.lstat()
        assert (status.st_uid, status.st_gid) == (0, 0), path
        if not path.is_symlink() and path != root() / "tmp":
            assert not status.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH | stat.S_IWGRP), path
    assert not [path for path in files() if "security.capability" in os.listxattr(path)]


def test_it_holds_no_package_manager_and_no_cache() -> None:
    names = {path.name for path in root().rglob("*")}
    assert not names & {
        "pip",
        "ensurepip",
        "venv",
        "apt",
        "dpkg-query",
        "uv",
        "hatchling",
        ".cache",
        "pip.conf",
        ".netrc",
    }
    assert not list((root() / "tmp").iterdir())
    assert not [path for path in (root() / "var").rglob("*") if path.is_file() and "status.d" not in path.parts]


def test_it_holds_nothing_of_the_machine_that_built_it() -> None:
    words = {str(ROOT), socket.gethostname()}
    words |= {os.environ[name] for name in (*INDEX, *PROXIES) if os.environ.get(name)}
    text = Path("/etc/resolv.conf").read_text() if Path("/etc/resolv.conf").exists() else ""
    words |= set(re.findall(r"^(?:nameserver|search)\s+(\S+)", text, flags=re.MULTILINE))
    usual = {"localhost", "127.0.0.1", *LIBRARIES_SAY}
    wanted = [word.encode() for word in sorted(words - usual) if len(word) > 4]
    assert wanted
    assert [(inside(path), word) for path in files() for word in wanted if word in path.read_bytes()] == []
    assert [word for word in wanted if word in json.dumps(configuration()).encode()] == []


def test_certificates_are_those_of_the_base() -> None:
    of_base = contain(
        "-c", "print(open('/etc/ssl/certs/ca-certificates.crt').read())", image=BASE, entry="python3"
    ).ok()
    assert (root() / "etc/ssl/certs/ca-certificates.crt").read_bytes().strip() == of_base.strip()


def test_the_history_says_nothing_about_the_build() -> None:
    """One layer; the build's arguments, such as an index with a password, stay with the stage that is thrown away."""
    image = configuration()
    history = json.dumps(image["History"])
    assert "PIP_" not in history
    assert "pip " not in history
    layers = image["RootFS"]
    assert isinstance(layers, dict)
    assert len(layers["Layers"]) == 1


def test_the_configuration_is_what_the_dockerfile_says() -> None:
    image = configuration()
    config = image["Config"]
    assert isinstance(config, dict)
    assert config["User"] == "65534:65534"
    assert config["Entrypoint"] == ["/opt/contrast-krm/bin/contrast-krm"]
    assert not config.get("Cmd")
    assert {line.partition("=")[0] for line in config["Env"]} == {
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "SSL_CERT_FILE",
        "HOME",
    }
    labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items()}
    assert labels["version"] == __version__
    assert labels["revision"] == revision()
    assert labels["dev/base"] == BASE


def test_a_scanner_finds_the_package_of_every_library() -> None:
    records = root() / "var/lib/dpkg/status.d"
    packages = {path.name for path in records.iterdir()}
    assert {"libc6", "libssl3", "zlib1g", "python3.11-minimal", "libpython3.11-stdlib"} <= packages
    for path in records.iterdir():
        fields = dict(line.split(": ", 1) for line in path.read_text().splitlines() if re.match(r"[\w-]+: ", line))
        assert fields["Package"] == path.name
        assert fields["Version"]
        assert (root() / "usr/share/doc" / path.name / "copyright").is_file()


def test_no_start_compiles_anything() -> None:
    """Byte-code is there for every module, of this Python, and trusts no time."""
    modules = [path for path in files() if path.suffix == ".py"]
    assert len(modules) > 500
    for path in modules:
        (cached,) = (path.parent / "__pycache__").glob(f"{path.stem}.cpython-*.pyc")
        assert int.from_bytes(cached.read_bytes()[4:8], "little") == 0b01, path


def test_the_archive_holds_the_same_image() -> None:
    with tarfile.open(ARCHIVE) as archive:

        def read(name: str) -> dict[str, object]:
            member = archive.extractfile(name)
            assert member is not None
            found: dict[str, object] = json.loads(member.read())
            return found

        manifests = read("index.json")["manifests"]
        assert isinstance(manifests, list)
        manifest = read("blobs/sha256/" + manifests[0]["digest"].removeprefix("sha256:"))
    config = manifest["config"]
    assert isinstance(config, dict)
    assert config["digest"] == f"sha256:{configuration()['Id']}"


def test_a_second_build_from_another_folder_is_the_same_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = tmp_path / "elsewhere"
    context.mkdir()
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    before = os.umask(0o077)
    try:
        for name in os.fsdecode(tracked).split("\0"):
            if name and (ROOT / name).is_file():
                (context / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, context / name)
        monkeypatch.setenv("PYTHONHASHSEED", "7")
        monkeypatch.setenv("TZ", "Asia/Kathmandu")
        again = build(BASE, str(context), f"{IMAGE}-again")
        digest = save(f"{IMAGE}-again", str(tmp_path / "again.tar"))
    finally:
        os.umask(before)
    assert again.identity == configuration()["Id"]
    with tarfile.open(ARCHIVE) as archive:
        index = archive.extractfile("index.json")
        assert index is not None
        assert json.loads(index.read())["manifests"][0]["digest"] == digest
