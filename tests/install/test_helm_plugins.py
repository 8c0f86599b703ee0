"""The archives of both Helm plugins in the real Helms: Helm 4 verifies its own, Helm 3 takes folders and URLs.

A throwaway OpenPGP key signs; what is rendered is compared with the examples, byte for byte.
"""

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.hosts.running import EXAMPLES, ROOT, Machine, Ran, copied, without_plugins
from tests.hosts.test_examples import HELM3, HELM4
from tests.install.helm_archives import ARCHIVE_3, ARCHIVE_4, build, build_signed, make_key

PLUGINS = ".local/share/helm/plugins"  # below the home, for both Helms
UNREADABLE = 'json: unknown field "apiVersion"'  # what Helm 3 says of Helm 4's manifest


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory, openpgp_tool: None) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "release", "Throwaway")


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Path:
    """Both archives, each with its `.prov`."""
    return build_signed(tmp_path_factory.mktemp("dist"), keys)


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    """A machine without plugins, for one test."""
    return without_plugins(tmp_path)


@contextmanager
def served(directory: Path, content_type: str) -> Iterator[str]:
    """The address of a web server with the files of a directory, which calls all of them the same."""

    class Handler(SimpleHTTPRequestHandler):
        def guess_type(self, path: object) -> str:
            return content_type

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(directory)))
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def install_4(machine: Machine, source: object, keyring: Path, **env: str) -> Ran:
    command = ["helm", "plugin", "install", str(source), "--keyring", str(keyring)]
    return machine.run(command, helm="helm4", env=env)


def unpacked(archive: Path, directory: Path) -> Path:
    """What `mkdir DIRECTORY && tar -xzf ARCHIVE -C DIRECTORY` makes."""
    directory.mkdir()
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(directory)], check=True, timeout=60)
    return directory


def names_of(machine: Machine, helm: str, **env: str) -> list[list[str]]:
    """Name and version of each plugin that a Helm lists; of Helm 4 the provenance as well."""
    lines = machine.run(["helm", "plugin", "list"], helm=helm, env=env).ok().decode().splitlines()[1:]
    return [[*line.split()[:2], *(line.split("\t")[4].split() if helm == "helm4" else [])] for line in lines]


def rendered(machine: Machine, helm: str, **env: str) -> bytes:
    """What the example's chart becomes, by the command of its README."""
    work = copied("helm", machine.directory / "work")
    command = HELM4 if helm == "helm4" else HELM3
    return machine.run(["bash", "-euc", command], work, helm=helm, env=env).ok()


def expected(helm: str) -> bytes:
    return (EXAMPLES / "helm" / "expected" / f"{helm}.yaml").read_bytes()


def test_two_builds_are_byte_equal(tmp_path: Path) -> None:
    one, two = build(tmp_path / "one"), build(tmp_path / "two", umask=0o077)
    assert sorted(path.name for path in one.iterdir()) == sorted([ARCHIVE_4, ARCHIVE_3])
    for name in (ARCHIVE_4, ARCHIVE_3):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_an_archive_holds_a_manifest_and_the_licence(signed: Path) -> None:
    for name, prefix, manifest in (
        (ARCHIVE_4, "contrast-krm/", "helm_plugin/plugin.yaml"),
        (ARCHIVE_3, "", "plugin.yaml"),
    ):
        with tarfile.open(signed / name) as archive:
            held = {member.name: archive.extractfile(member) for member in archive}
            contents = {member: file.read() for member, file in held.items() if file}
        files = {"plugin.yaml": manifest, "LICENSE": "LICENSE"}
        assert contents == {prefix + member: (ROOT / path).read_bytes() for member, path in files.items()}


def test_helm4_verifies_the_archive_and_renders(here: Machine, signed: Path, keys: Path) -> None:
    said = install_4(here, signed / ARCHIVE_4, keys / "public.gpg").ok().decode()
    assert "Signed by: Throwaway" in said
    assert "Plugin Hash Verified: sha256:" in said
    version = ARCHIVE_4.removeprefix("contrast-krm-").removesuffix(".tgz")
    assert names_of(here, "helm4") == [["contrast-krm", version, "signed"]]
    assert rendered(here, "helm4") == expected("helm4")


def test_helm4_verifies_and_renders_from_a_url(here: Machine, signed: Path, keys: Path) -> None:
    with served(signed, "application/octet-stream") as address:  # what a forge calls the files of a release
        said = install_4(here, f"{address}/{ARCHIVE_4}", keys / "public.gpg").ok().decode()
    assert "Signed by: Throwaway" in said
    assert rendered(here, "helm4") == expected("helm4")


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_both_helms_install_the_commands_from_the_url_of_the_repository(
    helm: str, here: Machine, tmp_path: Path
) -> None:
    """As docs/how-to/helm.md has it, from a clone that a web server has. Helm 4 refuses without --verify=false."""
    bare = tmp_path / "served" / "contrast-krm.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(ROOT), str(bare)], check=True, timeout=120)
    for command in (["tag", "v9.9.9"], ["update-server-info"]):
        subprocess.run(["git", "-C", str(bare), *command], check=True)
    with served(bare.parent, "application/octet-stream") as address:
        install = ["helm", "plugin", "install", f"{address}/contrast-krm.git", "--version", "v9.9.9"]
        if helm == "helm4":
            assert "--verify=false" in here.run(install, helm=helm).err
            install.append("--verify=false")
        here.run(install, helm=helm).ok()
    ((name, *_),) = names_of(here, helm)
    assert name == "contrast"


def test_helm4_can_verify_what_it_has_kept_of_an_installation(here: Machine, signed: Path, keys: Path) -> None:
    install_4(here, signed / ARCHIVE_4, keys / "public.gpg").ok()
    command = ["helm", "plugin", "verify", str(here.home / PLUGINS / ARCHIVE_4), "--keyring", str(keys / "public.gpg")]
    assert b"Signed by: Throwaway" in here.run(command, helm="helm4").ok()


def test_helm4_uninstalls_all_of_it(here: Machine, signed: Path, keys: Path) -> None:
    install_4(here, signed / ARCHIVE_4, keys / "public.gpg").ok()
    here.run(["helm", "plugin", "uninstall", "contrast-krm"], helm="helm4").ok()
    assert list((here.home / PLUGINS).iterdir()) == []


def unsigned(directory: Path) -> None:
    (directory / f"{ARCHIVE_4}.prov").unlink()


def changed(directory: Path) -> None:
    with (directory / ARCHIVE_4).open("ab") as file:
        file.write(b"\0")


def changed_text(directory: Path) -> None:
    prov = directory / f"{ARCHIVE_4}.prov"
    prov.write_text(prov.read_text().replace("sha256:", "sha256:0", 1))


def other_archive(directory: Path) -> None:
    """The `.prov` of Helm 3's archive, which the same key has signed."""
    shutil.copy(directory / f"{ARCHIVE_3}.prov", directory / f"{ARCHIVE_4}.prov")


def no_signature(directory: Path) -> None:
    (directory / f"{ARCHIVE_4}.prov").write_text("files:\n")


def other_key(directory: Path) -> None:
    shutil.copy(make_key(directory / "other", "Other") / "public.gpg", directory / "public.gpg")


def no_keyring(directory: Path) -> None:
    (directory / "public.gpg").unlink()


REFUSALS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no prov": (unsigned, "no provenance file (.prov) found"),
    "a prov without a signature": (no_signature, "signature block not found"),
    "a prov with another text": (changed_text, "openpgp: invalid signature"),
    "the prov of another archive": (other_archive, "provenance does not contain a SHA for a file named"),
    "a changed archive": (changed, "sha256 sum does not match"),
    "another key": (other_key, "openpgp: signature made by unknown entity"),
    "no keyring": (no_keyring, "no such file or directory"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_helm4_installs_nothing_that_it_cannot_verify(name: str, here: Machine, signed: Path, keys: Path) -> None:
    spoil, message = REFUSALS[name]
    dist = here.directory / "dist"
    shutil.copytree(signed, dist)
    shutil.copy(keys / "public.gpg", dist)
    spoil(dist)
    ran = install_4(here, dist / ARCHIVE_4, dist / "public.gpg")
    assert ran.code == 1
    assert "plugin verification failed: " in ran.err
    assert message in ran.err
    assert list((here.home / PLUGINS).iterdir()) == []


def test_helm4_takes_the_archive_under_its_own_name_only(here: Machine, signed: Path, keys: Path) -> None:
    shutil.copy(signed / ARCHIVE_4, here.home / "other.tgz")
    shutil.copy(signed / f"{ARCHIVE_4}.prov", here.home / "other.tgz.prov")
    ran = install_4(here, "other.tgz", keys / "public.gpg")
    assert (ran.code, 'provenance does not contain a SHA for a file named "other.tgz"' in ran.err) == (1, True)


def quickstart(machine: Machine) -> Ran:
    """The quickstart through the plugin of Helm 3."""
    command = ["helm", "contrast", "generate", "resources", "--config", "config"]
    return machine.run(command, copied("quickstart", machine.directory / "work"))


def test_helm3_installs_the_unpacked_folder_and_renders(here: Machine, signed: Path) -> None:
    folder = unpacked(signed / ARCHIVE_3, here.home / "contrast")
    here.run(["helm", "plugin", "install", str(folder)]).ok()
    assert quickstart(here).ok() == (EXAMPLES / "quickstart" / "expected" / "rendered.yaml").read_bytes()
    assert rendered(here, "helm3") == expected("helm3")


def test_helm3_installs_from_a_url_that_says_gzip(here: Machine, signed: Path) -> None:
    with served(signed, "application/gzip") as address:
        here.run(["helm", "plugin", "install", f"{address}/{ARCHIVE_3}"]).ok()
    version = ARCHIVE_3.removeprefix("helm3-contrast-").removesuffix(".tar.gz")
    assert names_of(here, "helm3") == [["contrast", version]]
    assert quickstart(here).ok() == (EXAMPLES / "quickstart" / "expected" / "rendered.yaml").read_bytes()
    here.run(["helm", "plugin", "uninstall", "contrast"]).ok()
    assert list((here.home / PLUGINS).iterdir()) == []


def test_helm3_takes_no_url_of_a_forge_and_no_archive(here: Machine, signed: Path) -> None:
    """Why the page unpacks it: forges call the files of a release `application/octet-stream`."""
    with served(signed, "application/octet-stream") as address:
        ran = here.run(["helm", "plugin", "install", f"{address}/{ARCHIVE_3}"])
    assert (ran.code, "Cannot detect VCS" in ran.err) == (1, True)
    ran = here.run(["helm", "plugin", "install", str(signed / ARCHIVE_3)])
    assert (ran.code, "expected plugin to be a folder" in ran.err) == (1, True)


def test_the_archive_for_helm3_is_verified_by_helm4_or_by_its_digest(here: Machine, signed: Path, keys: Path) -> None:
    dist = here.directory / "dist"
    shutil.copytree(signed, dist)
    command = ["helm", "plugin", "verify", str(dist / ARCHIVE_3), "--keyring", str(keys / "public.gpg")]
    assert b"Signed by: Throwaway" in here.run(command, helm="helm4").ok()
    script = f'grep -F "{ARCHIVE_3}: sha256:$(sha256sum < {ARCHIVE_3} | cut -c-64)" {ARCHIVE_3}.prov'
    assert here.run(["bash", "-euc", script], dist).code == 0
    with (dist / ARCHIVE_3).open("ab") as file:
        file.write(b"\0")
    assert "sha256 sum does not match" in here.run(command, helm="helm4").err
    assert here.run(["bash", "-euc", script], dist).code == 1


def test_both_live_side_by_side_with_a_data_home_for_helm4(here: Machine, signed: Path, keys: Path) -> None:
    own = {"HELM_DATA_HOME": str(here.home / ".local/share/helm4")}
    here.run(["helm", "plugin", "install", str(unpacked(signed / ARCHIVE_3, here.home / "contrast"))]).ok()
    install_4(here, signed / ARCHIVE_4, keys / "public.gpg", **own).ok()
    assert [name for name, *_ in names_of(here, "helm3")] == ["contrast"]
    assert [name for name, *_ in names_of(here, "helm4", **own)] == ["contrast-krm"]
    assert quickstart(here).ok() == (EXAMPLES / "quickstart" / "expected" / "rendered.yaml").read_bytes()
    assert rendered(here, "helm3") == expected("helm3")
    shutil.rmtree(here.directory / "work")
    assert rendered(here, "helm4", **own) == expected("helm4")


@pytest.mark.parametrize("first", ["helm3", "helm4"])
def test_in_one_data_home_helm3_loses_its_plugins_and_helm4_has_both(
    first: str, here: Machine, signed: Path, keys: Path
) -> None:
    folder = unpacked(signed / ARCHIVE_3, here.home / "contrast")
    for helm in (first, "helm4" if first == "helm3" else "helm3"):
        if helm == "helm4":
            install_4(here, signed / ARCHIVE_4, keys / "public.gpg").ok()
        else:
            here.run(["helm", "plugin", "install", str(folder)]).ok()
    ran = here.run(["helm", "plugin", "list"])
    assert (ran.code, UNREADABLE in ran.err) == (1, True)
    ran = here.run(["helm", "contrast", "version"])
    assert (ran.code, 'unknown command "contrast"' in ran.err) == (1, True)
    assert rendered(here, "helm3") == expected("helm3"), "a post-renderer of Helm 3 is no plugin"
    assert [name for name, *_ in names_of(here, "helm4")] == ["contrast", "contrast-krm"]
    assert here.run(["helm", "contrast", "version"], helm="helm4").code == 0
    shutil.rmtree(here.directory / "work")
    assert rendered(here, "helm4") == expected("helm4")


def test_helm_plugins_is_where_helm_looks_but_not_where_it_installs(here: Machine, signed: Path, keys: Path) -> None:
    """Why the page names HELM_DATA_HOME and not HELM_PLUGINS."""
    elsewhere = {"HELM_PLUGINS": str(here.home / "elsewhere")}
    install_4(here, signed / ARCHIVE_4, keys / "public.gpg", **elsewhere).ok()
    assert (here.home / PLUGINS / "contrast-krm" / "plugin.yaml").exists()
    assert names_of(here, "helm4", **elsewhere) == []


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_both_name_the_program_that_is_missing(helm: str, here: Machine, signed: Path, keys: Path) -> None:
    install_4(here, signed / ARCHIVE_4, keys / "public.gpg", HELM_DATA_HOME=str(here.home / "4")).ok()
    here.run(["helm", "plugin", "install", str(unpacked(signed / ARCHIVE_3, here.home / "contrast"))]).ok()
    (here.directory / "bin" / "contrast-krm").unlink()
    work = copied("helm", here.directory / "work")
    command = ["bash", "-euc", HELM4 if helm == "helm4" else HELM3]
    ran = here.run(command, work, helm=helm, env={"HELM_DATA_HOME": str(here.home / "4")} if helm == "helm4" else {})
    assert ran.code != 0
    assert '"contrast-krm": executable file not found' in ran.err
    if helm == "helm3":
        ran = here.run(["helm", "contrast", "plan"])
        assert (ran.code, '"contrast-krm": executable file not found' in ran.err) == (1, True)


def test_a_signer_that_fails_leaves_no_prov(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.helm_plugins", "--sign", "false", str(tmp_path / "dist")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (1, "helm_plugins: error: exit code 1 of false\n")
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [ARCHIVE_4]
