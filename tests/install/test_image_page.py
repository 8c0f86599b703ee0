"""The commands of docs/how-to/container-image.md run as they stand, with the image of `make image` under their name.

What builds has a base of Debian's packages in place of one from a registry, and pip finds the wheels that are here.
"""

import shutil
from pathlib import Path

import pytest

from tests.docs.commands import Block, blocks
from tests.docs.test_commands import ROWS, row_of
from tests.hosts.running import EXAMPLES, ROOT
from tests.install.archive import base
from tests.install.container_hosts import Engine, engine_machine, expected, with_image
from tools.engine import engine
from tools.image import IMAGE, WHEELS, python_version

PAGE = "docs/how-to/container-image.md"
TEXT = (ROOT / PAGE).read_text()
NAME = "registry.example.com/tools/contrast-krm:1.0"
COMMANDS = [
    text
    for text in blocks(TEXT)
    if text.split(maxsplit=1)[0] in {"docker", "podman", "pip", "kpt", "kustomize", "set", "export"}
]


@pytest.fixture
def hosts(tmp_path: Path) -> Engine:
    engine("podman", "tag", IMAGE, NAME)
    return engine_machine(tmp_path)


def run(hosts: Engine, words: str, where: Path, **more: str) -> bytes:
    """Run the one block that has these words, after the one that says which image it is."""
    (text,) = [text for text in COMMANDS if words in text]
    here = {
        "docker build --build-context": f"docker build --build-arg BASE={base()} --build-context",  # no registry here
        "--python-version 3.13": f"--python-version {python_version(base())}",
    }
    for word, replacement in here.items():
        text = text.replace(word, replacement)
    return hosts.run("bash", "-euc", f"{COMMANDS[0]}\n{text}", cwd=where, **more).ok()


def test_the_page_names_the_image_first() -> None:
    assert COMMANDS[0] == f"export IMAGE={NAME}"


def test_kpt_renders_and_evaluates(hosts: Engine, tmp_path: Path) -> None:
    package = with_image("kpt", tmp_path / "package", NAME)
    assert f"    - image: {NAME}\n      configPath: contrast.yaml\n" in (package / "Kptfile").read_text()
    assert f"        - image: {NAME}\n          configPath: contrast.yaml\n" in TEXT
    run(hosts, "kpt fn render", package)
    assert [call[0] for call in hosts.calls()] == ["podman"]
    rendered = (package / "web.yaml").read_bytes()
    assert b"io.katacontainers.config.hypervisor.cc_init_data" in rendered
    again = with_image("kpt", tmp_path / "again", NAME)
    run(hosts, "kpt fn eval", again, KRM_FN_RUNTIME="podman")
    assert (again / "web.yaml").read_bytes() == rendered


def test_a_pipe_of_kpt_has_the_image_in_the_middle(hosts: Engine, tmp_path: Path) -> None:
    run(hosts, "kpt fn source", with_image("kpt", tmp_path / "package", NAME))
    assert b"cc_init_data" in (tmp_path / "out/web.yaml").read_bytes()


def test_files_are_rendered_as_strictly_as_an_engine_can(hosts: Engine, tmp_path: Path) -> None:
    here = tmp_path / "here"
    shutil.copytree(EXAMPLES / "quickstart", here, ignore=shutil.ignore_patterns("expected"))
    for folder in (tmp_path, *tmp_path.parents[:1], here):
        folder.chmod(0o755)
    run(hosts, "--read-only", here)
    assert (here / "rendered.yaml").read_bytes() == (EXAMPLES / "quickstart/expected/rendered.yaml").read_bytes()


def test_kustomize_builds(hosts: Engine, tmp_path: Path) -> None:
    overlays = with_image("kustomize", tmp_path / "overlays", NAME)
    snippet = f"    config.kubernetes.io/function: |\n      container:\n        image: {NAME}\n"
    assert snippet in (overlays / "confidential/contrast.yaml").read_text()
    assert snippet in TEXT
    run(hosts, "kustomize build", overlays)
    assert (overlays / "rendered.yaml").read_bytes() == expected("kustomize")


def test_the_image_is_built_with_wheels_at_hand(hosts: Engine, tmp_path: Path) -> None:
    """By the command of the page: the layer is that of `make image`."""
    context = tmp_path / "clone"
    context.mkdir()
    for name in ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, context)
    for name in ("requirements", "krm_function", "helm_plugin"):
        shutil.copytree(ROOT / name, context / name)
    (context / "tools").mkdir()
    for name in ("build_hook.py", "image_root.py"):
        shutil.copy(ROOT / "tools" / name, context / "tools")
    run(hosts, "pip download", context, PIP_NO_INDEX="1", PIP_FIND_LINKS=WHEELS)
    assert {path.name for path in (context / "wheels").iterdir()} == {path.name for path in Path(WHEELS).iterdir()}
    says = engine("podman", "image", "inspect", "--format", '{{index .Labels "contrast-krm.dev/base"}}', NAME)
    assert says.strip() == base()


def test_only_what_needs_a_registry_is_left_out() -> None:
    words = {"docker build --build-arg REVISION"}
    ran = (
        "export IMAGE",
        "kpt fn render",
        "kpt fn eval",
        "kpt fn source",
        "--read-only",
        "kustomize build",
        "pip download",
    )
    assert [text for text in COMMANDS if not any(word in text for word in (*ran, *words))] == []
    assert all(row_of(Block(PAGE, text)) in ROWS for text in COMMANDS)
