"""What somebody puts into a directory that is read: links out of it, pipes, sockets, devices.

Nothing that such an entry leads to is read, by no command; what the command line itself names is the user's own choice.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from krm_function.hosts.files import PlaceProblem, read_file
from tests.adversary.test_places_to_write import Done, _put, shell
from tests.failures.running import listing
from tests.wording import wording

SECRET = "CANARY-login"


def link_out(place: Path) -> None:
    """A login of the user, as YAML that a render would pass on."""
    shop = next(one for one in place.parents if (one / "config.yaml").exists())
    login = shop / "outside" / "login.yaml"
    login.parent.mkdir(exist_ok=True)
    login.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata: {{login: {SECRET}}}\n")
    place.symlink_to(login)


def link_through_a_link(place: Path) -> None:
    """A link in the directory that is followed by a second one out of it."""
    link_out(place.with_name("second"))
    place.symlink_to("second")


def link_through_a_directory(place: Path) -> None:
    """No link itself leads out, but the directory that it goes through does."""
    link_out(place.with_name("second"))
    place.with_name("way").symlink_to(place.parent.parent / "outside")
    place.symlink_to("way/login.yaml")


def link_with_a_prefix(place: Path) -> None:
    """Beside the directory, with a name that begins as the directory's does."""
    other = place.parent.with_name(place.parent.name + "-other")
    other.mkdir()
    (other / "a.yaml").write_text(f"a: {SECRET}\n")
    place.symlink_to(other / "a.yaml")


def link_to_a_process(place: Path) -> None:
    place.symlink_to("/proc/self/environ")


def pipe(place: Path) -> None:
    os.mkfifo(place)


def link_to_a_pipe(place: Path) -> None:
    os.mkfifo(place.with_name("a-pipe"))
    place.symlink_to("a-pipe")


def a_socket(place: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(place.parent)  # a long path is none for a socket
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place.name)
    finally:
        os.chdir(here)
        os.close(here)


def zeros(place: Path) -> None:
    place.symlink_to("/dev/zero")


def terminal(place: Path) -> None:
    place.symlink_to("/dev/tty")


def loop(place: Path) -> None:
    place.symlink_to(place.name)


ENTRIES: list[Callable[[Path], None]] = [
    link_out,
    link_through_a_link,
    link_through_a_directory,
    link_with_a_prefix,
    link_to_a_process,
    pipe,
    link_to_a_pipe,
    a_socket,
    zeros,
    terminal,
    loop,
]
CALLS = {
    "generate": "generate deployment --config config.yaml",
    "generate in place": "generate deployment --config config.yaml --in-place",
    "plan": "plan deployment --config config.yaml",
    "diff": "diff deployment --config config.yaml",
    "explain": "explain Deployment/web deployment --config config.yaml",
    "check": "check deployment",
    "uninject": "uninject deployment",
    "manifest": "manifest deployment",
    "lock": "lock deployment -o images.yaml",
    "configuration": "generate resources --config deployment",
    "post-render": "post-render --config deployment < resources/a.yaml",
    "runtime classes": "release runtime-classes --config deployment",
    "nodes": "plan resources --config config.yaml --nodes deployment",
    "inputs of an attestation": "check resources --attestation config.yaml --input deployment",
    "init": "init deployment --kustomize",
    "init of a package": "init deployment --kpt",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    made = _put(tmp_path / "shop")
    (made / "resources").mkdir()
    (made / "resources/a.yaml").write_bytes((made / "deployment/a.yaml").read_bytes())
    return made


def limited(command: str, directory: Path) -> Done:
    """A line of bash in 2 GiB of memory, with 30 seconds of time."""
    done = shell(f"ulimit -v 2097152; {command}", directory)
    assert SECRET not in done.stdout.decode() + done.stderr
    assert "PATH=" not in done.stdout.decode()
    return done


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("call", CALLS)
def test_what_leads_out_of_a_directory_is_refused(call: str, entry: Callable[[Path], None], shop: Path) -> None:
    entry(shop / "deployment" / "zz.yaml")
    before = {name: data for name, data in listing(shop / "deployment").items() if name not in {"zz.yaml", "second"}}
    done = limited(f"krm {CALLS[call]}", shop)
    if call.startswith("init") and done.code == 0 and entry in (a_socket, terminal, loop):
        return  # nothing can be read of it, so it is passed over
    assert done.code in ({2, 3} if call in {"configuration", "post-render", "runtime classes"} else {3}), done
    assert "error CC1001 deployment/zz.yaml: cannot be read: " in done.stderr, done.stderr
    after = {name: data for name, data in listing(shop / "deployment").items() if name not in {"zz.yaml", "second"}}
    assert after == before, "and nothing is written"


PLACES = {
    "settings": (
        "generate resources --config config.yaml --settings settings",
        "settings/genpolicy-settings.json",
    ),
    "drop-ins": (
        "generate resources --config config.yaml --settings settings",
        "settings/genpolicy-settings.d/a.json",
    ),
    "a kustomization": ("init package", "package/kustomization.yaml"),
    "a Kptfile": ("init package --kpt", "package/Kptfile"),
    "a template": ("init fresh --helm chart", "chart/templates/zz.yaml"),
    "what a kustomization lists": ("init listing", "listing/zz.yaml"),
    "pins": ("lock resources -o images.yaml --write-kustomize package", "package/kustomization.yaml"),
    "new objects": ("generate resources --config config.yaml --in-place", "resources/contrast-manifest.yaml"),
}


@pytest.mark.slow
@pytest.mark.parametrize("entry", [link_out, pipe, zeros])
@pytest.mark.parametrize("place", PLACES)
def test_so_is_a_file_that_a_command_looks_for(place: str, entry: Callable[[Path], None], shop: Path) -> None:
    command, name = PLACES[place]
    for directory in ("settings/genpolicy-settings.d", "package", "fresh", "chart/templates", "listing"):
        (shop / directory).mkdir(parents=True)
    (shop / "settings/genpolicy-settings.json").write_text("{}")
    (shop / "chart/Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    (shop / "listing/kustomization.yaml").write_text("resources: [zz.yaml]\n")
    (shop / name).unlink(missing_ok=True)
    entry(shop / name)
    done = limited(f"krm {command}", shop)
    assert done.code in {2, 3}, done
    assert name in done.stderr or "has no kustomization" in done.stderr


@pytest.mark.parametrize("call", [name for name in CALLS if name.startswith(("generate", "plan", "diff"))])
def test_links_within_the_directory_are_read(call: str, shop: Path) -> None:
    """As bases of kustomize have them, and each ConfigMap that Kubernetes mounts."""
    (shop / "deployment/..data").mkdir()
    (shop / "deployment/a.yaml").rename(shop / "deployment/..data/a.txt")
    (shop / "deployment/a.yaml").symlink_to("..data/a.txt")
    done = limited(f"krm {CALLS[call]}", shop)
    refused = call == "generate in place"  # which replaces no link
    assert (done.code, "CC1001" in done.stderr) == (3 if refused else 0, False), done


NAMED = {
    "a link": "ln -s ../outside/a.yaml in.yaml; krm generate in.yaml deployment/b.yaml --config config.yaml",
    "a link to a directory": "ln -s deployment here; krm generate here --config config.yaml",
    "a pipe of the shell": "krm generate <(cat deployment/a.yaml) deployment/b.yaml --config config.yaml",
    "a configuration from a pipe": "krm generate deployment --config <(cat config.yaml)",
    "a named pipe": (
        "mkfifo pipe; cat deployment/a.yaml > pipe & krm generate pipe deployment/b.yaml --config config.yaml"
    ),
    "standard input by name": "cat deployment/*.yaml | krm generate /dev/stdin --config config.yaml",
    "standard input": "cat deployment/*.yaml | krm generate - --config config.yaml",
}


@pytest.mark.parametrize("how", NAMED)
def test_what_the_command_line_names_may_be_anything(how: str, shop: Path) -> None:
    (shop.parent / "outside").mkdir()
    (shop.parent / "outside/a.yaml").write_bytes((shop / "deployment/a.yaml").read_bytes())
    done = limited(NAMED[how], shop)
    assert done.code == 0, done.stderr
    assert b"io.katacontainers.config.hypervisor.cc_init_data" in done.stdout


@pytest.mark.parametrize(
    "command", ["check /dev/zero", "check - < /dev/zero", "generate deployment --config /dev/zero"]
)
def test_even_what_never_ends(command: str, shop: Path) -> None:
    done = limited(f"krm {command}", shop)
    assert done.code == 3
    assert "it has more than 256 MiB" in done.stderr


def test_a_link_that_is_exchanged_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leads out when it is opened, and to a file of the directory when it is looked at."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "fine.yaml").write_text("fine")
    (tmp_path / "secret").write_text(SECRET)
    (root / "a.yaml").symlink_to("../secret")
    real = os.path.realpath

    def late(path: str) -> str:
        (root / "a.yaml").unlink(missing_ok=True)
        (root / "a.yaml").symlink_to("fine.yaml")
        return real(path)

    monkeypatch.setattr(os.path, "realpath", late)
    with pytest.raises(PlaceProblem):
        read_file(str(root / "a.yaml"), str(root))


def test_a_layout_of_images_leads_nowhere_else(shop: Path) -> None:
    (shop / "layout").mkdir()
    (shop / "layout/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (shop.parent / "index.json").write_text(f'{{"manifests": [], "login": "{SECRET}"}}')
    (shop / "layout/index.json").symlink_to("../../index.json")
    done = limited("krm lock deployment -o images.yaml --from oci:layout", shop)
    assert done.code == 3
    assert f"layout/index.json: {wording('CC1254.link', root='layout')}" in done.stderr
