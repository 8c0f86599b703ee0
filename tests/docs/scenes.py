"""The directories in which the commands of the pages run, as a reader has them.

Rule of this file: a scene is made of the committed examples and of what their own commands write; no file of a scene is
made for a page, except what only a cluster or a second release could give.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import digest, from_annotation
from tests.hosts.running import EXAMPLES, ROOT, Machine
from tests.install.helm_archives import build_signed, make_key
from tests.policy import node
from tests.policy.host import Host, Json
from tests.replay.logs import agent, created
from tools.real import tool

GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
GIT |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in GIT.items()}
TDX = EXAMPLES / "multi-runtime/expected/manifest.json"
VARIABLES = {**GIT, "REGISTRY_TOKEN": "token", "ARGOCD_APP_NAME": "shop"}


def _copy(name: str, here: Path) -> None:
    shutil.copytree(EXAMPLES / name, here, ignore=shutil.ignore_patterns("expected"), dirs_exist_ok=True)


def _committed(machine: Machine, here: Path) -> None:
    """Make a repository of a directory, with an origin."""
    script = "git init -q -b main . && git add -A && git commit -qm a && git init -q --bare ../origin.git"
    machine.run(["bash", "-ec", f"{script} && git remote add origin ../origin.git"], here, env=GIT).ok()


def files(machine: Machine, here: Path) -> None:
    """Resources and configuration in directories, the rendered output committed, and the same as deployed."""
    _copy("quickstart", here)
    shutil.copy(EXAMPLES / "from-scratch/assets/runtime-metal-qemu-snp.yml", here)
    machine.krm("generate", "resources", "--config", "config", "-o", "rendered.yaml", cwd=here).ok()
    (here / "manifest.json").write_bytes(machine.krm("manifest", "rendered.yaml", cwd=here).ok())
    shutil.copy(here / "rendered.yaml", here / "deployed.yaml")
    _committed(machine, here)


def custom_resources(_machine: Machine, here: Path) -> None:
    """Custom resources with pods, and the configuration."""
    _copy("custom-resources", here)


def plain_files(_machine: Machine, here: Path) -> None:
    """Resources in a directory, and no configuration yet."""
    _copy("quickstart", here)
    shutil.rmtree(here / "config")


def files_and_log(machine: Machine, here: Path) -> None:
    """The same, OPA on PATH, and the log of an agent in whose VM the pod `web` started."""
    files(machine, here)
    opa = machine.directory / "bin/opa"
    if not opa.exists():
        opa.symlink_to(tool("opa-cli"))
    (here / "agent.log").write_text(
        agent_log(machine.krm("policy", "show", "Deployment/web", "rendered.yaml", cwd=here).ok())
    )


def files_and_verified(machine: Machine, here: Path) -> None:
    """The same without OPA, and the files that a coordinator with this manifest gives `contrast verify`."""
    files(machine, here)
    write_verified(here / "verify", (here / "rendered.yaml").read_bytes(), (here / "manifest.json").read_bytes())


def write_verified(directory: Path, rendered: bytes, *manifests: bytes) -> None:
    """Write the directory of `contrast verify` for a history of manifests and the policies of an output."""
    directory.mkdir()
    for name in ("coordinator-root-ca.pem", "mesh-ca.pem"):
        (directory / name).write_text("certificate\n")
    for number, manifest in enumerate(manifests):
        (directory / f"manifest.{number}.json").write_bytes(manifest)
    for annotation in re.findall(f"{re.escape(INITDATA)}: (.+)", rendered.decode()):
        toml = from_annotation(annotation.strip("\"'"))
        (directory / f"initdata.{digest(toml)}.toml").write_bytes(toml)


def agent_log(policy: bytes, change: Callable[[Json], object] = lambda _: None) -> str:
    """What a node asks of the VM of the quickstart's pod. change: of the request for the container web."""
    on = Host(policy.decode(), "web-7c5ddbdf54-x2v9k", "shop", node.CONTRAST)
    names = ("pause", "contrast-service-mesh", "contrast-initializer", "web")
    asked = [("CreateContainerRequest", created(on, name)) for name in names]
    change(asked[-1][1])
    return agent([*asked, ("ReadStreamRequest", {"container_id": asked[-1][1]["container_id"]})])


def without_namespace(_machine: Machine, here: Path) -> None:
    """The same; the Namespace is made elsewhere."""
    _copy("quickstart", here)
    (here / "resources/namespace.yaml").unlink()


def overlays(machine: Machine, here: Path) -> None:
    """A kustomization with overlays, `confidential` the outermost one, in `overlays` as well."""
    _copy("kustomize", here)
    _copy("kustomize", here / "overlays")
    (here / "rendered/prod").mkdir(parents=True)
    _committed(machine, here)


def outermost(machine: Machine, here: Path) -> None:
    """The outermost overlay."""
    overlays(machine, here)


def production(machine: Machine, here: Path) -> None:
    """Overlays whose outermost one is called `prod`; the others are called otherwise."""
    _copy("kustomize", here / "overlays")
    (here / "overlays/prod").rename(here / "overlays/plain")
    (here / "overlays/confidential").rename(here / "overlays/prod")
    kustomization = here / "overlays/prod/kustomization.yaml"
    kustomization.write_text(kustomization.read_text().replace("../prod", "../plain"))
    (here / "rendered/prod").mkdir(parents=True)
    _committed(machine, here)


def chart(_machine: Machine, here: Path) -> None:
    """A chart, the configuration, and the directory of the Helm 4 plugin."""
    _copy("helm", here)
    (here / "helm_plugin").symlink_to(ROOT / "helm_plugin")


def chart_and_plugins(_machine: Machine, here: Path) -> None:
    """A chart, the configuration, and the plugins of a release with the key that signed them."""
    _copy("helm", here)
    keys = make_key(here.parent / "keys", "Release")
    build_signed(here, keys)
    shutil.copy(keys / "public.gpg", here / "release-key.gpg")


def plain_chart(_machine: Machine, here: Path) -> None:
    """A chart, and no configuration yet."""
    _copy("helm", here)
    shutil.rmtree(here / "config")


def plugin(machine: Machine, here: Path) -> None:
    """The Helm 4 plugin, installed in a directory of its own."""
    home = str(here.parent)
    env = {"HOME": home, "HELM_DATA_HOME": f"{home}/.local/share/helm4"}
    machine.run(["helm", "plugin", "install", str(ROOT / "helm_plugin")], here, helm="helm4", env=env).ok()


def chart_and_overlays(machine: Machine, here: Path) -> None:
    """A chart with its configuration, and an overlay `prod` with a coordinator and without the function."""
    chart(machine, here)
    _copy("kustomize", here)
    (here / "prod/kustomization.yaml").write_text("namespace: shop\nresources:\n  - ../base\n  - coordinator.yaml\n")
    shutil.move(here / "confidential/coordinator.yaml", here / "prod")


def package(_machine: Machine, here: Path) -> None:
    """A kpt package."""
    _copy("kpt", here)


def rendered_package(machine: Machine, here: Path) -> None:
    """A kpt package after `kpt fn render`."""
    package(machine, here)
    machine.run(["kpt", "fn", "render", "--allow-exec"], here).ok()


def plain_package(machine: Machine, here: Path) -> None:
    """A kpt package without the function and its configuration."""
    package(machine, here)
    for name in ("contrast.yaml", "images.yaml", "release.yaml"):
        (here / name).unlink()
    (here / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n")


def plain_overlays(_machine: Machine, here: Path) -> None:
    """Overlays without the function and its configuration, and the files of a release beside them."""
    _copy("kustomize", here / "overlays")
    _copy("from-scratch/assets", here)
    confidential = here / "overlays/confidential"
    for name in ("contrast.yaml", "images.yaml", "release.yaml"):
        (confidential / name).unlink()
    (confidential / "kustomization.yaml").write_text("namespace: shop\nresources:\n  - ../prod\n  - coordinator.yaml\n")


def release(_machine: Machine, here: Path) -> None:
    """The files of a release, as downloaded, and a manifest that `contrast generate` made for TDX pods of two vCPUs."""
    _copy("from-scratch/assets", here)
    runtime = (here / "runtime-metal-qemu-snp.yml").read_text()
    (here / "runtime-metal-qemu-tdx.yml").write_text(runtime.replace("metal-qemu-snp", "metal-qemu-tdx"))
    one, two = json.loads((here / "manifest.json").read_text()), json.loads(TDX.read_text())
    (measured,) = two["ReferenceValues"]["tdx"]
    (other,) = measured.pop("Rtmr0Alternatives")
    one["ReferenceValues"]["tdx"] = [measured]
    (here / "manifest.json").write_text(json.dumps(one))
    one["ReferenceValues"]["tdx"] = [measured | {"Rtmrs": [other, *measured["Rtmrs"][1:]]}]
    (here / "manifest-2.json").write_text(json.dumps(one))


def next_release(machine: Machine, here: Path) -> None:
    """A rendered deployment of one release, committed, the files of the next, and a lock with the images of both."""
    _copy("from-scratch", here)
    machine.run(["bash", "-ec", OLD_RELEASE], here).ok()
    lock = here / "config/images.yaml"
    entries = re.findall(r"(?m)^    \S.*\n(?:     .*\n)+", lock.read_text())
    lock.write_text(lock.read_text() + "".join(_newer(entry) for entry in entries if _newer(entry) != entry))
    machine.krm("generate", "resources", "--config", "config", "-o", "rendered.yaml", cwd=here).ok()
    (here / "v1.25.1").mkdir()
    for path in (here / "assets").iterdir():
        (here / "v1.25.1" / path.name).write_text(_newer(path.read_text()))
    _committed(machine, here)
    machine.run(["git", "commit", "-q", "--allow-empty", "-m", "b"], here, env=GIT).ok()


def _newer(text: str) -> str:
    """What a file of a release is in the next one: another tag, another handler, other measurements."""
    for old, new in (
        ("v1.25.0", "v1.25.1"),
        ("18a1a065", "28a1a065"),
        ("46fd2db8", "56fd2db8"),
        ("1821e35d", "2821e35d"),
    ):
        text = text.replace(old, new)
    return text


OLD_RELEASE = """
mkdir config resources
contrast-krm release import assets/* -o config/release.yaml
cp images.yaml config
cp assets/coordinator.yml resources/coordinator.yaml
cp shop/web.yaml resources
cat > config/contrast.yaml <<'END'
apiVersion: contrast-krm.dev/v1alpha1
kind: ContrastGenerate
metadata: {name: contrast}
spec:
  platform: metal-qemu-snp
  manifest:
    disableUpdates: true
    referenceValues:
      snp: {MinimumTCB: {BootloaderVersion: 9, TEEVersion: 0, SNPVersion: 21, MicrocodeVersion: 72}}
END
"""

SCENES: Mapping[str, Callable[[Machine, Path], None]] = {
    one.__name__: one
    for one in (
        *(
            files,
            custom_resources,
            plain_files,
            files_and_log,
            files_and_verified,
            overlays,
            outermost,
            production,
            chart,
            chart_and_plugins,
            chart_and_overlays,
            package,
            rendered_package,
        ),
        *(plain_chart, plain_package, plugin, without_namespace, plain_overlays, release, next_release),
    )
}
INSIDE = {"outermost": "overlays/confidential"}  # where in a scene its commands run
