"""One deployment, built as each host wants it and rendered by that host's real tool."""

import functools
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.hosts.running import EXAMPLES, Machine, Ran

FUNCTION = "config.kubernetes.io/function"
LOCAL = '    config.kubernetes.io/local-config: "true"\n'
WEB = "registry.example.com/shop/web:2.3.1@sha256:eb7ff6ccb640709248254b1c2e6bfd9c0cb6e7bc19800e8c9d5fcb8adde2dba9"
CHART = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"
KPTFILE = f"""apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
  annotations:
{LOCAL}pipeline:
  mutators:
    - exec: contrast-krm
      configPath: contrast.yaml
"""
READABLE = "  acknowledged:\n    - {code: CC0675, reason: the tokens of examples are made up}\n"
POST_RENDER = ("--post-renderer", "contrast-krm")
COMMAND = ("--post-renderer-args", "post-render")
CONFIG = ("--post-renderer-args", "--config", "--post-renderer-args", "config")


class Deployment(NamedTuple):
    """Files with resources, and the three files of the configuration."""

    resources: Mapping[str, str]
    config: Mapping[str, str]

    def changed(self, file: str, old: str, new: str) -> "Deployment":
        """The deployment with one text replaced everywhere in one file."""
        assert old in self.resources[file]
        return self._replace(resources={**self.resources, file: self.resources[file].replace(old, new)})

    def configured(self, old: str, new: str) -> "Deployment":
        """The deployment with one text replaced in its ContrastGenerate."""
        assert old in self.config["contrast.yaml"]
        text = self.config["contrast.yaml"].replace(old, new)
        return self._replace(config={**self.config, "contrast.yaml": text})


def _texts(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(directory.iterdir())}


def quickstart(*files: str) -> Deployment:
    """The shop of examples/quickstart, or only some files of it, without the warning about its Secret."""
    resources = _texts(EXAMPLES / "quickstart" / "resources")
    chosen = {name: resources[name] for name in files} if files else resources
    config = _texts(EXAMPLES / "quickstart" / "config")
    return Deployment(chosen, config).configured("\nspec:\n", f"\nspec:\n{READABLE}")


def emitting() -> Deployment:
    """The shop of examples/quickstart, with its RuntimeClasses in the output."""
    return quickstart().configured("runtimeClasses: check", "runtimeClasses: emit")


def shared() -> Deployment:
    """The shop of examples/quickstart, whose configuration allows charts without confidential pods."""
    return quickstart().configured("\nspec:\n", "\nspec:\n  workloads: optional\n")


@functools.cache
def shared_config() -> Path:
    """The directory of that configuration, one for each process of the tests."""
    return put(Path(tempfile.mkdtemp()), shared().config)


def put(directory: Path, files: Mapping[str, str]) -> Path:
    """Write files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


def named(text: str) -> str:
    """A functionConfig that tells kustomize which program to run."""
    return text.replace(LOCAL, f"{LOCAL}    {FUNCTION}: |\n      exec:\n        path: contrast-krm\n", 1)


def kustomization(deployment: Deployment, extra: str = "") -> str:
    """A kustomization of everything there is."""
    names = [*deployment.resources, *(name for name in deployment.config if name != "contrast.yaml")]
    listed = "".join(f"  - {name}\n" for name in names)
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    return f"{head}{extra}resources:\n{listed}transformers:\n  - contrast.yaml\n"


def make_files(machine: Machine, directory: Path, deployment: Deployment) -> Path:
    """`resources` and `config` below a directory."""
    put(directory / "resources", deployment.resources)
    put(directory / "config", deployment.config)
    return directory


def make_kustomize(machine: Machine, directory: Path, deployment: Deployment, extra: str = "") -> Path:
    """A kustomization with an exec KRM function."""
    config = {**deployment.config, "contrast.yaml": named(deployment.config["contrast.yaml"])}
    files = {**deployment.resources, **config, "kustomization.yaml": kustomization(deployment, extra)}
    return put(directory, files)


def make_legacy(machine: Machine, directory: Path, deployment: Deployment, extra: str = "") -> Path:
    """A kustomization with a legacy exec plugin; the plugin is the one of the example."""
    files = {**deployment.resources, **deployment.config, "kustomization.yaml": kustomization(deployment, extra)}
    if not (machine.home / "plugin").exists():
        shutil.copytree(EXAMPLES / "kustomize-legacy" / "plugin", machine.home / "plugin")
    return put(directory, files)


def make_kpt(machine: Machine, directory: Path, deployment: Deployment) -> Path:
    """A kpt package."""
    return put(directory, {**deployment.resources, **deployment.config, "Kptfile": KPTFILE})


def make_chart(machine: Machine, directory: Path, deployment: Deployment) -> Path:
    """A chart whose templates are the resources, and the configuration beside it."""
    put(directory / "chart", {"Chart.yaml": CHART})
    put(directory / "chart" / "templates", deployment.resources)
    put(directory / "config", deployment.config)
    return directory


def run_files(machine: Machine, directory: Path) -> Ran:
    """`contrast-krm generate`."""
    return machine.krm("generate", "resources", "--config", "config", cwd=directory)


def run_kustomize(machine: Machine, directory: Path, *flags: str) -> Ran:
    """`kustomize build` with the flags an exec function needs."""
    return machine.run(["kustomize", "build", *(flags or ("--enable-alpha-plugins", "--enable-exec")), "."], directory)


def run_legacy(machine: Machine, directory: Path) -> Ran:
    """`kustomize build` as kubectl could."""
    plugins = {"KUSTOMIZE_PLUGIN_HOME": str(machine.home / "plugin")}
    return machine.run(["kustomize", "build", "--enable-alpha-plugins", "."], directory, env=plugins)


def run_kpt(machine: Machine, directory: Path) -> Ran:
    """`kpt fn render`, without writing."""
    return machine.run(["kpt", "fn", "render", "--allow-exec", "-o", "unwrap"], directory)


def run_helm3(machine: Machine, directory: Path, *more: str) -> Ran:
    """`helm template` of Helm 3."""
    return machine.run(["helm", "template", "shop", "chart", *POST_RENDER, *COMMAND, *CONFIG, *more], directory)


def run_helm4(machine: Machine, directory: Path, *more: str) -> Ran:
    """`helm template` of Helm 4, with the plugin."""
    return machine.run(["helm", "template", "shop", "chart", *POST_RENDER, *CONFIG, *more], directory, helm="helm4")


class Host(NamedTuple):
    """How a host is prepared and called."""

    make: Callable[[Machine, Path, Deployment], Path]
    run: Callable[[Machine, Path], Ran]

    def render(self, machine: Machine, directory: Path, deployment: Deployment) -> Ran:
        """Build and run."""
        return self.run(machine, self.make(machine, directory, deployment))


HOSTS = {
    "files": Host(make_files, run_files),
    "kustomize": Host(make_kustomize, run_kustomize),
    "legacy": Host(make_legacy, run_legacy),
    "kpt": Host(make_kpt, run_kpt),
    "helm3": Host(make_chart, run_helm3),
    "helm4": Host(make_chart, run_helm4),
}
