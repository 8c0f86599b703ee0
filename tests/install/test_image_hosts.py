"""kpt and kustomize run the image by their own commands, through a real engine, to the committed bytes."""

from pathlib import Path

import pytest

from tests.hosts.running import PROGRAM, ROOT
from tests.install.container_hosts import CURRENT, Engine, engine_machine, expected, with_image
from tools.image import IMAGE

PODMAN = {"KRM_FN_RUNTIME": "podman"}  # KPT_FN_RUNTIME in kpt 1.0.0-beta.56


@pytest.fixture
def hosts(tmp_path: Path) -> Engine:
    return engine_machine(tmp_path)


def assert_confined(call: list[str], name: str, user: str) -> None:
    """The host gave it no network and no rights: the test would show nothing otherwise."""
    assert call[:2] == [name, "run"]
    line = " ".join(call)
    assert "--network none" in line
    assert f"--user {user}" in line
    assert "no-new-privileges" in line
    assert "--entrypoint" not in line
    assert "--mount" not in line


def test_kpt_fn_render(hosts: Engine, tmp_path: Path) -> None:
    package = with_image("kpt", tmp_path / "package")
    assert hosts.run("kpt", "fn", "render", "-o", "unwrap", cwd=package, **PODMAN).ok() == expected("kpt")
    (call,) = hosts.calls()
    assert_confined(call, "podman", "nobody")
    assert call[-1] == IMAGE


@pytest.mark.parametrize(
    ("flags", "user"), [((), "nobody"), (("--as-current-user",), CURRENT)], ids=["nobody", "current"]
)
def test_kpt_fn_eval(hosts: Engine, tmp_path: Path, flags: tuple[str, ...], user: str) -> None:
    """The bytes are those of the program on the same package; kpt leaves a Kptfile without pipeline alone."""
    package = with_image("kpt", tmp_path / "package")
    function = ["--fn-config", "contrast.yaml", "-o", "unwrap"]
    inside = hosts.run("kpt", "fn", "eval", "--image", IMAGE, *flags, *function, cwd=package, **PODMAN).ok()
    (call,) = hosts.calls()
    assert_confined(call, "podman", user)
    (hosts.machine.directory / "bin/contrast-krm").symlink_to(ROOT / ".venv/bin/contrast-krm")
    assert hosts.run("kpt", "fn", "eval", "--exec", "contrast-krm", *function, cwd=package).ok() == inside


def test_kpt_refuses_podman_under_the_name_of_docker(hosts: Engine, tmp_path: Path) -> None:
    """Hence the variable."""
    ran = hosts.run("kpt", "fn", "render", cwd=with_image("kpt", tmp_path / "package"))
    assert ran.code != 0
    assert "docker client version" in ran.err


@pytest.mark.parametrize(
    ("flags", "user"), [((), "nobody"), (("--as-current-user",), CURRENT)], ids=["nobody", "current"]
)
def test_kustomize_build(hosts: Engine, tmp_path: Path, flags: tuple[str, ...], user: str) -> None:
    overlays = with_image("kustomize", tmp_path / "overlays")
    build = ("kustomize", "build", "--enable-alpha-plugins", *flags, "confidential")
    assert hosts.run(*build, cwd=overlays).ok() == expected("kustomize")
    (call,) = hosts.calls()
    assert_confined(call, "docker", user)


def test_what_init_writes_for_a_container_runs_on_the_line_that_belongs_to_it(hosts: Engine, tmp_path: Path) -> None:
    overlays = with_image("kustomize", tmp_path / "overlays", "registry.example.com/other:1")
    form = ("--function", "container", "--image", IMAGE)
    said = hosts.run(str(PROGRAM), "init", "confidential", *form, cwd=overlays)
    assert said.code == 0, said.err
    assert "kustomize build --enable-alpha-plugins confidential > rendered.yaml" in said.err
    build = ("kustomize", "build", "--enable-alpha-plugins", "--as-current-user", "confidential")
    assert hosts.run(*build, cwd=overlays).ok() == expected("kustomize")


@pytest.mark.parametrize("example", ["kpt", "kustomize"])
def test_a_refusal_in_the_container_fails_the_host_and_says_why(hosts: Engine, tmp_path: Path, example: str) -> None:
    directory = with_image(example, tmp_path / "here")
    (web,) = [path for path in directory.rglob("web.yaml") if "runtimeClassName" in path.read_text()]
    web.write_text(web.read_text().replace("runtimeClassName: contrast-cc", "runtimeClassName: contrast-cc-none"))
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    command = {
        "kpt": ("kpt", "fn", "render"),
        "kustomize": ("kustomize", "build", "--enable-alpha-plugins", "confidential"),
    }[example]
    ran = hosts.run(*command, cwd=directory, **PODMAN)
    assert ran.code != 0
    assert ran.out == b""
    assert "contrast-cc-none" in ran.err
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
