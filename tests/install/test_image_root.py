"""What is in the image, and what is not: no shell, no secret, nothing of the machine that built it; the same twice."""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from krm_function import __version__
from tests.hosts.running import ROOT
from tests.install.archive import (
    base,
    configuration,
    content,
    files,
    identity,
    label,
    manifest_digest,
    members,
    names,
    python,
)
from tests.install.containers import contain
from tools.archive import source_date
from tools.image import ARCHIVE, IMAGE, build, save

PROGRAM = "/opt/contrast-krm/bin/contrast-krm"
SETTINGS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
PACKAGES = "/var/lib/dpkg/status.d/"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
FOR_ALL = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX | stat.S_IWGRP | stat.S_IWOTH


def test_python_is_the_only_program_beside_the_one_it_is_for() -> None:
    programs = {
        re.sub(r"python3\.\d+$", "python3", path)
        for path, data in files().items()
        if members()[path].mode & 0o111 and ".so" not in path
    }
    assert programs == {PROGRAM, python()}


def test_no_shell_can_be_started() -> None:
    assert not names() & {"sh", "bash", "dash", "ash", "busybox", "env"}
    ran = contain("-c", "true", entry="/bin/sh")
    assert ran.code == 127
    assert "no such file" in ran.err


def test_all_is_roots_and_nobody_else_can_change_it() -> None:
    assert len(members()) > 1000
    assert {(member.uid, member.gid) for member in members().values()} == {(0, 0)}
    assert {path for path, member in members().items() if not member.issym() and member.mode & FOR_ALL} == {"/tmp"}  # noqa: S108
    assert {member.type for member in members().values()} <= {b"0", b"2", b"5"}  # files, links, folders
    assert not [path for path, member in members().items() if any("capability" in key for key in member.pax_headers)]


def test_it_holds_no_package_manager_and_no_cache() -> None:
    assert not names() & {"pip", "ensurepip", "venv", "apt", "dpkg-query", "uv", "hatchling", ".cache", "pip.conf"}
    assert not [path for path in members() if path.startswith(("/tmp/", "/root", "/home", "/run", "/src"))]  # noqa: S108
    assert {path for path in files() if path.startswith("/var/")} == {path for path in files() if PACKAGES in path}


def test_it_holds_nothing_of_the_machine_that_built_it() -> None:
    words = {str(ROOT), socket.gethostname(), *(os.environ.get(name, "") for name in (*SETTINGS, *PROXIES))}
    resolver = Path("/etc/resolv.conf")
    if resolver.exists():
        words |= set(re.findall(r"^(?:nameserver|search)\s+(\S+)", resolver.read_text(), flags=re.MULTILINE))
    wanted = [word.encode() for word in sorted(words - {"localhost", "127.0.0.1"}) if len(word) > 4]
    assert wanted
    assert [(path, word) for path, data in files().items() for word in wanted if word in data] == []
    assert [word for word in wanted if word in json.dumps(configuration()).encode()] == []


def test_certificates_are_those_of_the_base() -> None:
    of_base = contain("-c", f"print(open({CERTIFICATES!r}).read())", image=base(), entry="python3").ok()
    assert content(CERTIFICATES).strip() == of_base.strip()


def test_the_history_says_nothing_about_the_build() -> None:
    """The arguments of the build, such as an index with a password, stay with the stage that is thrown away."""
    history = json.dumps(configuration()["history"])
    assert "COPY" in history
    assert not re.search(r"pip|index|wheels", history, flags=re.IGNORECASE)


def test_the_configuration_is_what_the_dockerfile_says() -> None:
    config = configuration()["config"]
    assert config["User"] == "65534:65534"
    assert config["Entrypoint"] == [PROGRAM]
    assert "Cmd" not in config
    assert "Volumes" not in config
    settings = {line.partition("=")[0] for line in config["Env"]}
    assert settings == {"PATH", "PYTHONDONTWRITEBYTECODE", "SSL_CERT_FILE", "HOME"}
    prefix = "org.opencontainers.image."
    assert label(f"{prefix}version") == __version__
    assert label(f"{prefix}revision").removesuffix("-dirty") == head()
    assert datetime.fromisoformat(label(f"{prefix}created")).timestamp() == source_date()
    assert head() in label("io.artifacthub.package.readme-url")


def head() -> str:
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_scanner_finds_the_package_of_every_library_and_its_licence() -> None:
    packages = {path.removeprefix(PACKAGES): data.decode() for path, data in files().items() if PACKAGES in path}
    assert {"libc6", "libgcc-s1", "zlib1g"} <= set(packages)
    for name, record in packages.items():
        fields = dict(line.split(": ", 1) for line in record.splitlines() if re.match(r"[\w-]+: ", line))
        assert fields["Package"] == name
        assert fields["Version"]
        assert content(f"/usr/share/doc/{name}/copyright")


def test_no_start_compiles_anything() -> None:
    """Byte-code is there for every module, of this Python, and asks for no time."""
    modules = [path for path in files() if path.endswith(".py")]
    assert len(modules) > 500
    for path in modules:
        folder, _, name = path.rpartition("/")
        cached = re.compile(re.escape(f"{folder}/__pycache__/{name.removesuffix('.py')}.cpython-") + r"\d+\.pyc")
        (found,) = [content(other) for other in _byte_code(f"{folder}/__pycache__/") if cached.fullmatch(other)]
        assert int.from_bytes(found[4:8], "little") == 0b01, path


def _byte_code(folder: str) -> list[str]:
    return [path for path in members() if path.startswith(folder)]


def test_a_second_build_from_another_folder_is_the_same_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with settings of pip that only the build may know: were they in the image, it would be another one."""
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nextra-index-url = https://user:secret@index.example.com/simple\n")
    context = tmp_path / "elsewhere"
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    revision = label("org.opencontainers.image.revision")
    before = os.umask(0o077)
    try:
        for name in os.fsdecode(tracked).split("\0"):
            if (ROOT / name).is_file():
                (context / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, context / name)
        again = build(base(), str(context), revision, f"{IMAGE}-again", f"--secret=id=pip.conf,src={settings}")
        digest = save(f"{IMAGE}-again", str(tmp_path / "again.tar"))
    finally:
        os.umask(before)
    assert again.identity == identity()
    assert digest == manifest_digest()


def test_the_archive_is_the_same_whenever_it_is_written(tmp_path: Path) -> None:
    save(IMAGE, str(tmp_path / "again.tar"))
    assert (tmp_path / "again.tar").read_bytes() == Path(ARCHIVE).read_bytes()
