"""Every command of the pages runs as it stands, or is listed here with the reason why not.

A row names a page and the beginning of a block; the scene is where the block runs. Blocks of one page and scene run one
after the other, in one shell that stops at the first failure. `helm upgrade --install` runs as `helm template`, because
it needs a cluster, and `kubectl` is a program that answers with what is committed or reads what it is given.
"""

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.commands import Block, command_blocks
from tests.docs.scenes import INSIDE, SCENES, VARIABLES
from tests.hosts.running import EXAMPLES, Machine, machine
from tests.real_tools import needing

README, TASK = "README.md", "docs/how-to/"
IMAGE_PAGE = "tests/install/test_image_page.py"


class Row(NamedTuple):
    """Where the blocks of a page run that begin with these words; `why`: not at all, for this reason."""

    page: str
    words: str
    scene: str = ""
    helm: str = "helm3"
    why: str = ""


ROWS = (
    Row(README, "make demo", why="what CI calls; tests/hosts/test_examples.py runs the same commands"),
    Row(README, "pipx install", why="installs from an index; tests/install/test_wheel.py"),
    Row(README, "contrast-krm init", "plain_overlays"),
    Row(README, "set -o pipefail\nkustomize", "overlays"),
    Row(README, "helm upgrade", "chart"),
    Row(README, "export HELM_DATA_HOME", "chart", "helm4"),
    Row(README, "contrast-krm generate", "files"),
    Row(README, "contrast-krm manifest", "files"),
    Row(README, "contrast set", why="needs a coordinator"),
    Row(TASK + "argo-cd.md", "contrast-krm install", why="writes to /; tests/cli/test_install.py"),
    Row(TASK + "assess.md", "contrast-krm", "files"),
    Row(TASK + "blocked-by-policy.md", "contrast-krm", "files_and_log"),
    Row(TASK + "charts-of-others.md", "set -o pipefail", "chart"),
    Row(TASK + "container-image.md", "make image", why="needs a registry; what `make image` is without BASE"),
    Row(TASK + "container-image.md", "skopeo", why="needs skopeo and a registry"),
    Row(TASK + "container-image.md", "", why=f"needs a container engine; {IMAGE_PAGE}, in `make image`"),
    Row(TASK + "external-sources.md", "contrast-krm", "files"),
    Row(TASK + "files.md", "contrast-krm init", "plain_files"),
    Row(TASK + "files.md", "contrast-krm generate", "files"),
    Row(TASK + "files.md", "set -o pipefail", "chart_and_overlays"),
    Row(TASK + "flux.md", "kustomize build", "production"),
    Row(TASK + "flux.md", "git add", "production"),
    Row(TASK + "flux.md", "flux push", why="needs Flux and a registry"),
    Row(TASK + "guard.md", "contrast-krm", "files"),
    Row(TASK + "guard.md", "kubectl", why="needs a cluster; tests/cluster/test_guard.py"),
    Row(TASK + "helm.md", "helm upgrade", "chart"),
    Row(TASK + "helm.md", "export HELM_DATA_HOME", "chart_and_plugins", "helm4"),
    Row(TASK + "helm.md", "helm plugin verify", "chart_and_plugins", "helm4"),
    Row(TASK + "helm.md", "helm plugin install http", why="needs the repository; tests/install/test_helm_plugins.py"),
    Row(TASK + "helm.md", "gpg", why="needs gpg and its keys; tests/install/test_helm_plugins.py compares the digest"),
    Row(TASK + "helm.md", "mkdir contrast", "chart_and_plugins"),
    Row(TASK + "helm.md", "contrast-krm init", "plain_chart"),
    Row(TASK + "helm.md", "set -o pipefail", "chart"),
    Row(TASK + "install.md", "pipx install", why="tests/install/test_wheel.py runs it, out of a directory of wheels"),
    Row(TASK + "install.md", "uv tool install", why="tests/install/test_wheel.py runs it, too"),
    Row(TASK + "install.md", "uvx", why="tests/install/test_wheel.py runs it, too"),
    Row(TASK + "install.md", "sha256sum", why="needs the bundle; tests/install/test_bundle.py runs it"),
    Row(TASK + "install.md", "contrast-krm install", why="writes to /; tests/install/test_bundle.py"),
    Row(TASK + "install.md", "contrast-krm version", "files"),
    Row(TASK + "kpt.md", "contrast-krm init", "plain_package"),
    Row(TASK + "kpt.md", "kpt fn render", "package"),
    Row(TASK + "kustomize.md", "contrast-krm init .", "outermost"),
    Row(TASK + "kustomize.md", "contrast-krm init", "plain_overlays"),
    Row(TASK + "kustomize.md", "contrast-krm install", "outermost"),
    Row(TASK + "kustomize.md", "set -o pipefail", "overlays"),
    Row(TASK + "kustomize.md", "kustomize build", "outermost"),
    Row(TASK + "namespaces.md", "contrast-krm generate", "files"),
    Row(TASK + "namespaces.md", "kubectl get namespace", "without_namespace"),
    Row(TASK + "policies.md", "contrast-krm policy", "files"),
    Row(TASK + "policies.md", "contrast-krm diff", "files"),
    Row(TASK + "policy-profile.md", "contrast-krm generate", why="needs Kata's files; tests/policy/test_settings.py"),
    Row(TASK + "private-registry.md", "docker login", why="needs docker; tests/lock/test_lock_login.py"),
    Row(TASK + "private-registry.md", "export DOCKER_CONFIG", "files"),
    Row(TASK + "private-registry.md", "kubectl get daemonsets", why="needs a cluster with Contrast's node installer"),
    Row(TASK + "release-and-lock.md", "contrast-krm release", "release"),
    Row(TASK + "release-and-lock.md", "contrast --version", "release"),
    Row(TASK + "release-and-lock.md", "pip install", why="installs from an index, then looks images up: tests/lock"),
    Row(TASK + "release-and-lock.md", "set -o pipefail", "overlays"),
    Row(TASK + "release-and-lock.md", "helm template", "chart"),
    Row(TASK + "release-and-lock.md", "skopeo", why="needs skopeo and a registry"),
    Row(TASK + "release-and-lock.md", "docker", why="needs docker and a registry"),
    Row(TASK + "helm.md", "kubectl get all", why="tests/cli/test_live_objects.py"),
    Row(TASK + "helm.md", "helm get manifest", why="needs a cluster; tests/cluster/test_helm_releases.py"),
    Row(TASK + "review-a-pull-request.md", "contrast verify", why="needs a coordinator"),
    Row(TASK + "review-a-pull-request.md", "contrast-krm check rendered.yaml --verified", "files_and_verified"),
    Row(TASK + "review-a-pull-request.md", "contrast-krm", "files"),
    Row(TASK + "rotate-owner-keys.md", "contrast-krm", "files"),
    Row(TASK + "rotate-owner-keys.md", "contrast set", why="needs a coordinator"),
    Row(TASK + "runtime-classes.md", "contrast-krm", "files"),
    Row(TASK + "check-the-cluster.md", "contrast-krm", why="needs a cluster; tests/cluster/quickstart"),
    Row(TASK + "check-the-cluster.md", "pip install", why="needs a cluster; tests/cluster/quickstart"),
    Row(TASK + "see-before-you-apply.md", "contrast-krm", "files"),
    Row(TASK + "see-before-you-apply.md", "kubectl get nodes", "files"),
    Row(TASK + "see-before-you-apply.md", "pip install 'contrast-krm[cluster]'", why="needs a cluster"),
    Row(TASK + "see-before-you-apply.md", "pip install 'contrast-krm[html]'", why="tests/hosts/test_examples.py"),
    Row(TASK + "uninstall.md", "contrast-krm uninject", "files"),
    Row(TASK + "uninstall.md", "kustomize edit", "outermost"),
    Row(TASK + "uninstall.md", "set -o pipefail", "rendered_package"),
    Row(TASK + "uninstall.md", "export HELM_DATA_HOME", "plugin", "helm4"),
    Row(TASK + "uninstall.md", "kubectl", why="needs a cluster"),
    Row(TASK + "custom-resources.md", "contrast-krm explain", "custom_resources"),
    Row(TASK + "custom-resources.md", "kubectl get jobset", why="needs Kubeflow's trainer; cluster/test_train_job.py"),
    Row(TASK + "why-a-pod-does-not-start.md", "contrast-krm", why="needs a cluster; tests/diagnosis"),
    Row(TASK + "why-a-pod-does-not-start.md", "set -o pipefail", why="needs a cluster; tests/diagnosis"),
    Row(TASK + "upgrade-contrast.md", "contrast set", why="needs a coordinator"),
    Row(
        TASK + "upgrade-contrast.md",
        "contrast-krm manifest prune rendered.yaml --config config --cluster",
        why="needs a cluster",
    ),
    Row(TASK + "upgrade-contrast.md", "helm get", why="needs a release in a cluster"),
    Row(TASK + "upgrade-contrast.md", "git show", "next_release"),
    Row(TASK + "upgrade-contrast.md", "kubectl", why="needs a cluster; tests/cluster/test_upgrade.py"),
    Row(TASK + "upgrade-contrast.md", "c", "next_release"),
    Row(TASK + "verify-a-release.md", "gh", why="asks GitHub for a release"),
    Row(TASK + "verify-a-release.md", "pip", why="asks an index for a release"),
    Row(TASK + "verify-a-release.md", "cosign", why="asks a registry for a release"),
    Row(TASK + "verify-a-release.md", "helm", why="needs a release; tests/install/test_helm_plugins.py"),
    Row(TASK + "verify-a-release.md", "contrast-krm", "files"),
    Row("docs/tutorial/quickstart.md", "make demo", why="what CI calls"),
    Row("docs/tutorial/quickstart.md", ". .venv", why="enters the environment; tests/hosts/test_examples.py"),
    Row("docs/tutorial/quickstart.md", "contrast-krm", "files"),
)
REPLACED = {"helm upgrade --install": "helm template"}
KUBECTL = f"""#!/bin/sh -e
case "$*" in
*"get nodes"*) exec cat {EXAMPLES}/quickstart/nodes.yaml ;;
*"get namespace shop"*) echo '{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "shop"}}}}' ;;
*"get resourcequota,limitrange"*) echo '{{"apiVersion": "v1", "kind": "List", "items": []}}' ;;
apply*) cat "$3" | grep -c '^kind: ' ;;
*) exit 9 ;;
esac
"""


CONTRAST = "#!/bin/sh\ncat version.txt\n"  # what it prints is beside the files of the release


def row_of(block: Block) -> Row | None:
    """The row of a block: the first one of its page whose words it begins with."""
    return next((row for row in ROWS if row.page == block.page and block.text.startswith(row.words)), None)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return (
        machine(tmp_path_factory.mktemp("reader")).with_program("kubectl", KUBECTL).with_program("contrast", CONTRAST)
    )


@pytest.fixture(scope="module")
def scenes(reader: Machine, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory around each scene, made once; tests work in copies."""

    @functools.cache
    def made(name: str) -> Path:
        around = tmp_path_factory.mktemp(name)
        (around / "here").mkdir()
        SCENES[name](reader, around / "here")
        return around

    return made


RUN = {(row.page, row.scene, row.helm): row for row in map(row_of, command_blocks()) if row and row.scene}


def _case(at: tuple[str, str, str]) -> object:
    """A page's commands in a scene; one of signed plugins starts the tool that signs."""
    name = "-".join((Path(at[0]).stem, *at[1:]))
    return pytest.param(at, id=name, marks=[needing("openpgp")] if at[1] == "chart_and_plugins" else [])


@pytest.mark.slow
@pytest.mark.parametrize("at", [_case(at) for at in RUN])
def test_the_commands_of_a_page_do_what_they_say(
    at: tuple[str, str, str], reader: Machine, scenes: Callable[[str], Path], tmp_path: Path
) -> None:
    page, scene, helm = at
    shutil.copytree(scenes(scene), tmp_path, symlinks=True, dirs_exist_ok=True)
    here = tmp_path / "here"
    texts = [
        block.text
        for block in command_blocks()
        if (row := row_of(block)) and (row.page, row.scene, row.helm) == (page, scene, helm)
    ]
    script = "\n".join(texts)
    for word, replacement in REPLACED.items():
        script = script.replace(word, replacement)
    ran = reader.run(
        ["bash", "-exc", script], here / INSIDE.get(scene, ""), helm=helm, env={**VARIABLES, "HOME": str(tmp_path)}
    )
    assert ran.code == 0, f"{script}\n\n{ran.err}"


def test_every_command_has_a_row_and_every_row_a_command() -> None:
    blocks = command_blocks()
    assert [block for block in blocks if row_of(block) is None] == []
    assert set(ROWS) == {row_of(block) for block in blocks}
    assert all(bool(row.scene) != bool(row.why) for row in ROWS)


def test_every_scene_is_used() -> None:
    assert set(SCENES) == {row.scene for row in ROWS if row.scene}


def test_a_pipe_that_checks_fails_with_its_first_command() -> None:
    """Without pipefail a build that fails is followed by a check of nothing."""
    for block in command_blocks():
        lines = block.text.replace("|\n", "| ").splitlines()
        if any(" | " in line and "contrast-krm" in line for line in lines):
            assert "set -o pipefail" in "\n".join(one.text for one in command_blocks() if one.page == block.page), block


def test_helm_3_on_the_same_machine_still_loads_its_plugins(reader: Machine, tmp_path: Path) -> None:
    SCENES["chart"](reader, tmp_path / "here")
    (install,) = (one.text for one in command_blocks() if one.page == README and "plugin install" in one.text)
    home = {"HOME": str(tmp_path)}
    script = install.replace("helm upgrade --install", "helm template")
    reader.run(["bash", "-ec", script], tmp_path / "here", helm="helm4", env=home).ok()
    assert reader.run(["helm", "plugin", "list"], tmp_path, helm="helm3", env=home).err == ""
    apart = "\n".join(line for line in script.splitlines() if not line.startswith("export"))
    reader.run(["bash", "-ec", apart], tmp_path / "here", helm="helm4", env=home).ok()
    assert "failed to load plugins" in reader.run(["helm", "plugin", "list"], tmp_path, helm="helm3", env=home).err
