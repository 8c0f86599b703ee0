"""examples/argo-cd in Argo CD's own cmp-server, which gets the repository as the repo-server sends it.

Both sides are Argo CD's code (tools/argocd, docs/facts/delivery.md#argo-cd). Where the machine allows it, the server
has no network, and no place to write but its own directory.
"""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.hosts.running import EXAMPLES, Machine, machine
from tests.real_tools import needing
from tools.real import tool

pytestmark = needing("argocd")

EXAMPLE = EXAMPLES / "argo-cd"
APPLICATION = yaml.safe_load((EXAMPLE / "application.yaml").read_text())
TRACKING = "argocd.argoproj.io/tracking-id"
CONFINED = 'mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"'
STARTED = 20  # seconds


class Made(NamedTuple):
    """What the repo-server gets: the objects, or the error that it shows on the Application."""

    objects: list[dict[str, Any]]
    error: str


class Sidecar(NamedTuple):
    """A cmp-server that runs; directory: short, because a socket's path may have 108 bytes."""

    machine: Machine
    directory: Path

    def generate(self, repository: Path, application: dict[str, Any] = APPLICATION, name: str = "app") -> Made:
        file = self.directory / f"{name}.yaml"
        file.write_text(yaml.safe_dump(application))
        env = {"ARGOCD_PLUGINSOCKFILEPATH": str(self.directory / "plugins"), "TMPDIR": str(self.directory)}
        ran = self.machine.run([tool("argocd"), "generate", str(file), str(repository)], env=env)
        return Made(json.loads(ran.out) if ran.code == 0 else [], ran.err if ran.code else "")


def confinement(directory: Path) -> list[str]:
    """The command before one that gets no network and a read-only root, [] where the machine has no such thing."""
    command = ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c", CONFINED, str(directory)]
    try:
        done = subprocess.run([*command, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return []
    return command if done.returncode == 0 else []


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    made = machine(tmp_path_factory.mktemp("sidecar"))
    directory = Path(tempfile.mkdtemp(prefix="cmp-"))
    for name in ("plugins", "config", "tmp"):
        (directory / name).mkdir()
    shutil.copy(EXAMPLE / "plugin.yaml", directory / "config")
    env = {
        "PATH": f"{made.directory / 'bin'}:/usr/bin:/bin",
        "HOME": str(directory / "tmp"),
        "TMPDIR": str(directory / "tmp"),
        "ARGOCD_PLUGINSOCKFILEPATH": str(directory / "plugins"),
        "ARGOCD_CMP_WORKDIR": str(directory / "tmp"),
    }
    command = [tool("argocd"), "argocd-cmp-server", "--config-dir-path", str(directory / "config")]
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen([*confinement(directory), *command], env=env, stdout=log, stderr=log)
    try:
        end = time.monotonic() + STARTED
        while not (directory / "plugins/contrast.sock").exists():
            assert server.poll() is None, (directory / "log").read_text()
            assert time.monotonic() < end, "no socket"
            time.sleep(0.02)
        yield Sidecar(made, directory)
    finally:
        server.kill()  # at SIGTERM it removes its socket and goes on
        server.wait()
        shutil.rmtree(directory)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """examples/kustomize, which application.yaml names as its repository."""
    shutil.copytree(EXAMPLES / "kustomize", tmp_path / "shop", ignore=shutil.ignore_patterns("expected"))
    return tmp_path / "shop"


def untracked(made: Made) -> list[dict[str, Any]]:
    """The objects without what Argo CD itself writes into each."""
    assert made.error == ""
    for each in made.objects:
        assert each["metadata"]["annotations"].pop(TRACKING).startswith("shop:")
        if not each["metadata"]["annotations"]:
            del each["metadata"]["annotations"]
    return made.objects


def expected() -> list[dict[str, Any]]:
    text = (EXAMPLES / "kustomize/expected/rendered.yaml").read_text()
    return [each for each in yaml.safe_load_all(text) if each]


def test_argo_cd_gets_the_objects_that_kustomize_renders(sidecar: Sidecar, repository: Path) -> None:
    assert untracked(sidecar.generate(repository)) == expected()


def test_what_argo_cd_applies_passes_check(sidecar: Sidecar, repository: Path) -> None:
    objects = sidecar.generate(repository).objects
    assert all(TRACKING in each["metadata"]["annotations"] for each in objects)
    stream = yaml.safe_dump_all(objects).encode()
    ran = sidecar.machine.krm("check", "--config", "confidential", stdin=stream, cwd=repository)
    assert ran.ok() == b""
    assert ran.err.startswith("checked 2 Contrast workloads")


def test_applications_at_once_get_their_own_objects(sidecar: Sidecar, repository: Path) -> None:
    other = repository.with_name("other")
    shutil.copytree(repository, other)
    with (other / "confidential/kustomization.yaml").open("a") as file:
        file.write("commonAnnotations: {app: other}\n")
    with ThreadPoolExecutor(4) as pool:
        asked = [repository, other] * 3
        made = list(pool.map(lambda each: sidecar.generate(each[1], name=f"app{each[0]}"), enumerate(asked)))
    for directory, one in zip(asked, made, strict=True):
        marked = {each["metadata"]["annotations"].get("app") for each in one.objects}
        assert ("other" in marked) == (directory == other)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("base/web.yaml", "runtimeClassName: contrast-cc-", "runtimeClassName: contrast-cc-nowhere-", "CC04"),
        ("confidential/images.yaml", "images:", "images: {}\n  other:", "CC09"),
        ("confidential/kustomization.yaml", "transformers:", "others:", "others"),
        ("confidential/kustomization.yaml", "transformers:\n  - contrast.yaml\n", "", "CC11"),
    ],
    ids=["placeholder", "lock", "kustomization", "without-function"],
)
def test_a_build_or_a_check_that_fails_gives_no_object_and_its_words(
    file: str, old: str, new: str, said: str, sidecar: Sidecar, repository: Path
) -> None:
    path = repository / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    made = sidecar.generate(repository)
    assert made.objects == []
    assert said in made.error


HOSTILE = ("$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a\nb\n--- \nkind: Pod", "%s%n")


@pytest.mark.slow
@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_variables_and_parameters_change_nothing(value: str, sidecar: Sidecar, repository: Path) -> None:
    application = json.loads(json.dumps(APPLICATION))
    names = ("PATH", "BASH_ENV", "CONTRAST_KRM_CONFIG", "X")
    application["spec"]["source"]["plugin"] = {
        "env": [{"name": name, "value": value} for name in names],
        "parameters": [
            {"name": "contrast-krm-config", "string": value},
            {"name": "list", "array": [value]},
            {"name": "map", "map": {"key": value}},
        ],
    }
    assert untracked(sidecar.generate(repository, application)) == expected()
    assert not list(sidecar.directory.rglob("pwned"))


def test_a_repository_that_is_not_the_plugins_business_is_left_to_others(sidecar: Sidecar, repository: Path) -> None:
    (repository / "plain").mkdir()
    (repository / "plain/map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")
    application = json.loads(json.dumps(APPLICATION))
    application["spec"]["source"]["path"] = "plain"
    (made,) = sidecar.generate(repository, application).objects
    assert made["metadata"]["name"] == "plain"


INSTALL = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: argocd-repo-server}
spec:
  template:
    spec:
      containers: [{name: argocd-repo-server, image: argocd, env: [{name: A, value: b}]}]
      volumes: [{name: var-files, emptyDir: {}}, {name: plugins, emptyDir: {}}]
"""


@pytest.mark.parametrize("namespace", ["", "argocd"])
def test_the_component_adds_the_sidecar_to_argo_cds_own_manifests(
    namespace: str, sidecar: Sidecar, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "argo-cd")
    (tmp_path / "argocd").mkdir()
    (tmp_path / "argocd/install.yaml").write_text(INSTALL)
    listed = "resources: [install.yaml]\ncomponents: [../argo-cd]\n"
    own = f"namespace: {namespace}\n" if namespace else ""
    (tmp_path / "argocd/kustomization.yaml").write_text(listed + own)
    objects = list(yaml.safe_load_all(sidecar.machine.run(["kustomize", "build", "argocd"], tmp_path).ok()))
    config, server = sorted(objects, key=lambda each: str(each["kind"]))
    assert {each["metadata"].get("namespace", "") for each in objects} == {namespace}
    assert config["data"] == {"plugin.yaml": (EXAMPLE / "plugin.yaml").read_text()}
    spec = server["spec"]["template"]["spec"]
    assert {each["name"] for each in spec["containers"]} == {"argocd-repo-server", "contrast"}
    (plugin,) = (each for each in spec["containers"] if each["name"] == "contrast")
    mounted = {each["name"] for each in plugin["volumeMounts"]}
    assert mounted == {each["name"] for each in spec["volumes"]}
    named = [each["configMap"]["name"] for each in spec["volumes"] if "configMap" in each]
    assert named == [config["metadata"]["name"]]
