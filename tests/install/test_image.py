"""The image runs as the hosts run it and stricter: any user, nothing writable, no network, no shell.

`make image` builds it and runs these tests; a plain `pytest` leaves them out.
"""

import json
import platform
import shutil
from pathlib import Path

import pytest

from krm_function import __version__
from krm_function.cli.commands import SUMMARIES
from tests import quick_yaml as yaml
from tests.hosts.documents import digests
from tests.hosts.running import EXAMPLES, called
from tests.install.archive import base, identity
from tests.install.archive import python as python_path
from tests.install.containers import STRICT, contain, python
from tools import image_index
from tools.engine import HERE, engine
from tools.image import ARCHIVE
from tools.machines import MACHINES

QUICK = EXAMPLES / "quickstart"
MOUNT = (f"--volume={QUICK}:/quickstart:ro",)
GENERATE = ("generate", "/quickstart/resources", "--config", "/quickstart/config")
EXPECTED = (QUICK / "expected" / "rendered.yaml").read_bytes()


def resource_list() -> bytes:
    """The quickstart as a host sends it."""
    files = [*sorted((QUICK / "resources").iterdir()), *sorted((QUICK / "config").iterdir())]
    documents = [one for file in files for one in file.read_text().split("\n---\n")]
    items = "".join("- " + "\n  ".join(one.strip("\n").splitlines()) + "\n" for one in documents)
    return f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}".encode()


@pytest.mark.parametrize("user", ["the image's", "nobody", "65534:65534", "12345:23456", "0:0"])
@pytest.mark.parametrize("flags", [STRICT, ("--network=none",)], ids=["strict", "as-hosts"])
def test_a_resource_list_is_rendered_for_any_user(user: str, flags: tuple[str, ...]) -> None:
    ran = contain(stdin=resource_list(), flags=(*flags, *([] if user == "the image's" else [f"--user={user}"])))
    assert ran.ok() == called(stdin=resource_list()).ok()
    items = yaml.safe_load(ran.out)["items"]
    assert digests(b"---\n".join(f"{json.dumps(item)}\n".encode() for item in items)) == digests(EXPECTED)


@pytest.mark.parametrize("user", ["65534:65534", "12345:23456"])
def test_the_quickstart_has_the_committed_bytes(user: str) -> None:
    assert contain(*GENERATE, flags=(*STRICT, *MOUNT, f"--user={user}")).ok() == EXPECTED


def test_a_refused_deployment_is_an_error_with_the_same_words_as_outside() -> None:
    broken = resource_list().replace(b"runtimeClassName: contrast-cc", b"runtimeClassName: contrast-cc-none")
    assert broken != resource_list()
    inside, outside = contain(stdin=broken), called(stdin=broken)
    assert inside.code == outside.code == 1
    assert inside.out == outside.out
    assert inside.err == outside.err


def test_the_process_has_no_rights_and_no_network() -> None:
    status = python("print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["Uid"].split() == ["65534"] * 4
    assert fields["Gid"].split() == ["65534"] * 4
    assert {fields[name] for name in fields if name.startswith("Cap")} == {"0" * 16}
    assert fields["NoNewPrivs"] == "1"
    assert python("import os; print(os.listdir('/sys/class/net'))").strip() == "['lo']"


def test_the_strict_run_can_write_nowhere() -> None:
    """Or the test of a render there would prove little."""
    code = """
import os
for folder, folders, _ in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev/mqueue")]
    if os.access(folder, os.W_OK):
        try:
            open(os.path.join(folder, "x"), "w")
        except OSError:
            continue
        print(folder)
"""
    assert python(code) == ""


def test_every_command_starts_in_the_image() -> None:
    calls = [[*name.split(), "--help"] for name in SUMMARIES]
    assert python(f"import subprocess\nfor call in {calls}: subprocess.run(['contrast-krm', *call], check=True)")


def test_every_module_of_the_program_loads_with_what_the_image_has() -> None:
    code = """
import importlib, pkgutil, krm_function, helm_plugin
for package in (krm_function, helm_plugin):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
import urllib3, backports.zstd, tqdm, jinja2, jsonpatch, shtab, cryptography.x509, ssl
assert ssl.create_default_context().get_ca_certs()
"""
    assert python(code) == ""


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "/quickstart/resources", "--config", "/quickstart/config", "--nodes", "/quickstart/nodes.yaml"),
        ("plan", "/quickstart/resources", "--config", "/quickstart/config", "-o", "/out/plan.html"),
        ("lock", "/quickstart/resources", "--config", "/quickstart/config", "-o", "/out/images.yaml"),
        ("completion", "bash"),
        ("schema", "ContrastGenerate"),
        ("explain", "CC0304"),
    ],
    ids=lambda command: "-".join(word.rpartition("/")[2].removeprefix("-") for word in command),
)
def test_commands_that_need_extras_find_them(command: tuple[str, ...], tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    ran = contain(*command, flags=(*STRICT, *MOUNT, f"--volume={tmp_path}:/out"))
    assert ran.ok() or any(tmp_path.iterdir())


def test_it_says_which_version_it_is() -> None:
    said = json.loads(contain("version", "--json").ok())
    assert said["version"] == __version__
    assert said["build"] == "image"
    assert said["python"]["implementation"] == "CPython"


def test_an_init_container_copies_the_program_for_a_pod_with_the_same_python(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    tools.chmod(0o777)
    install = ("install", "--python", python_path(), "/custom-tools")
    contain(*install, flags=(*STRICT, f"--volume={tools}:/custom-tools")).ok()
    flags = (*STRICT, *MOUNT, f"--volume={tools}:/custom-tools:ro")
    copy = "/custom-tools/contrast-krm"
    assert contain(*GENERATE, flags=flags, image=base(), entry=copy).ok() == EXPECTED
    assert json.loads(contain("version", "--json", flags=flags, image=base(), entry=copy).ok())["build"] == "copy"


def test_the_engine_leaves_no_mount_behind() -> None:
    """Or out/ could not be removed."""
    contain("version").ok()
    assert HERE not in Path("/proc/mounts").read_text()


def test_nothing_in_the_image_is_chosen_by_the_working_directory(tmp_path: Path) -> None:
    """A module of the repository that is rendered is no module of the program."""
    for name in ("yaml", "json", "krm_function"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the working directory')\n")
    tmp_path.chmod(0o755)
    flags = (*STRICT, f"--volume={tmp_path}:/work:ro", "--workdir=/work")
    contain(stdin=resource_list(), flags=flags).ok()


def test_an_engine_takes_the_image_of_its_machine_out_of_the_archive_of_a_release(tmp_path: Path) -> None:
    shutil.copy(ARCHIVE, tmp_path)
    image_index.combine(str(tmp_path), [MACHINES[platform.machine()]])
    pulled = engine("podman", "pull", "--quiet", f"oci-archive:{tmp_path / image_index.NAME}").split()
    assert pulled == [identity()]
