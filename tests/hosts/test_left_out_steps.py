"""The first deployment of docs/how-to/first-deployment.md with one step left out, in each host.

Each host makes the whole deployment once, by the commands that `init` prints. A variant takes one step back in a copy,
then renders with the real tool and runs `check --config`. Rule: it ends green only if every pod that was meant to be
confidential is sealed. Two steps leave no trace in files: RuntimeClasses that nobody applied are a matter of the
cluster, which refuses pods of an unknown class; and for a check that nobody ran, a render keeps the rule by itself.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from krm_function.findings import row
from tests import quick_yaml as yaml
from tests.hosts.documents import initdata
from tests.hosts.hosts import CHART, CONFIG, KPTFILE, POST_RENDER, put
from tests.hosts.running import Machine
from tests.hosts.test_first_deployment import Session, Site, commands, follow, release_files, web
from tests.hosts.test_first_deployment import site as site  # noqa: PLC0414  (a fixture)

MEANT = {"Deployment/shop/web", "Deployment/shop/api", "StatefulSet/shop/coordinator"}
CLASS = "runtimeClassName: contrast-cc-metal-qemu-snp"
CONFIGURATION = ("contrast.yaml", "release.yaml", "images.yaml")
HELM = f"helm template shop shop {' '.join(POST_RENDER)}"
CONFIGURED = f" {' '.join(CONFIG)}"
BESIDE = "".join(f" --config shop/{name}" for name in CONFIGURATION)
BUILD = "kustomize build --enable-alpha-plugins --enable-exec shop > rendered.yaml"
IN_PLACE = "kpt fn render --allow-exec shop"


class Layout(NamedTuple):
    """A host. resources: their directory; render: with our tool; without: the same host without it."""

    init: str
    resources: str
    render: str
    without: str
    check: str = "contrast-krm check rendered.yaml --config config"


IN_HELM, PLAIN_HELM = ("config --helm shop", "shop/templates"), "helm template shop shop > rendered.yaml"
REPORT = " --post-renderer-args --report --post-renderer-args findings.txt"
LAYOUTS = {
    "kustomize": Layout("shop", "shop", BUILD, BUILD, f"contrast-krm check rendered.yaml{BESIDE}"),
    "kpt": Layout("shop", "shop", IN_PLACE, IN_PLACE, f"contrast-krm check shop{BESIDE}"),
    "files": Layout(
        "config --files shop",
        "shop",
        "contrast-krm generate shop --config config -o rendered.yaml",
        "for file in shop/*; do echo ---; cat $file; done > rendered.yaml",
    ),
    "helm3": Layout(*IN_HELM, f"{HELM} --post-renderer-args post-render{CONFIGURED} > rendered.yaml", PLAIN_HELM),
    "helm4": Layout(*IN_HELM, f"{HELM}{CONFIGURED}{REPORT} > rendered.yaml", PLAIN_HELM),
}


class Deployment(NamedTuple):
    """A deployment of which all steps but the render are done. first: its files before any step."""

    session: Session
    layout: Layout
    first: dict[str, str]

    @property
    def directory(self) -> Path:
        return self.session.directory

    def path(self, name: str) -> Path:
        is_config = name in CONFIGURATION
        return self.directory / (self.layout.init.split()[0] if is_config else self.layout.resources) / name

    def restore(self, *names: str) -> None:
        for name, text in self.first.items():
            if Path(name).name in names:
                (self.directory / name).write_text(text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new))

    def edit(self, path: Path, change: Callable[[Any], object]) -> bool:
        if path.exists():
            value = yaml.safe_load(path.read_text())
            change(value)
            path.write_text(yaml.safe_dump(value))
        return path.exists()

    def configure(self, change: Callable[[Any], object]) -> None:
        self.edit(self.path("contrast.yaml"), lambda value: change(value["spec"]))

    def wire(self, kustomize: Callable[[Any], object], kpt: Callable[[Any], object] = lambda _: None) -> bool:
        """Change the kustomization or the Kptfile; whether there is a kustomization."""
        self.edit(self.directory / "shop/Kptfile", kpt)
        return self.edit(self.directory / "shop/kustomization.yaml", kustomize)

    def remove(self, name: str) -> None:
        if not self.wire(lambda value: value["resources"].remove(name)):
            self.path(name).unlink()

    def output(self) -> bytes:
        rendered = self.directory / "rendered.yaml"
        files = [rendered] if rendered.exists() else sorted((self.directory / "shop").glob("*.y*ml"))
        return b"\n---\n".join(path.read_bytes() for path in files)


@pytest.fixture(scope="module")
def deployments(site: Site, krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployment]:
    made = {}
    name, _, tag = site.images["web"].rpartition(":")
    of_host = {
        "kustomize": {"kustomization.yaml": "namespace: shop\nresources:\n  - web.yaml\n  - api.yaml\n"},
        "kpt": {"Kptfile": KPTFILE.partition("  annotations")[0]},
        "files": {},
    }
    chart = {"Chart.yaml": CHART, "values.yaml": f"repository: {name}\ntag: {tag}\n"}
    for host, layout in LAYOUTS.items():
        directory = tmp_path_factory.mktemp(host)
        put(directory, release_files(site))
        put(directory / "shop", of_host.get(host, chart))
        image = f"{name}:{tag}" if host in of_host else "{{ .Values.repository }}:{{ .Values.tag }}"
        text = web("IMAGE")
        api = re.sub(r"      annotations:\n.*\n", "", re.sub(r"\bweb\b", "api", text.partition("---\n")[0]))
        files = {"web.yaml": text, "api.yaml": api}
        put(directory / layout.resources, {file: text.replace("IMAGE", image) for file, text in files.items()})
        session = Session(krm_machine, directory, site, "helm3" if host == "helm3" else "helm4", [])
        said = session.type(f"contrast-krm init {layout.init} --platform metal-qemu-snp")
        first = {str(path.relative_to(directory)): path.read_text() for path in directory.rglob("*.yaml")}
        steps = [step for step in commands(said) if "contrast-krm check" not in step and "--post-renderer" not in step]
        follow(session, "".join(f"     {step}\n" for step in steps))
        made[host] = Deployment(session, layout, first)
    return made


def lock(it: Deployment) -> None:
    it.restore("images.yaml", "web.yaml", "api.yaml", "values.yaml")
    it.wire(lambda value: value.pop("images"))


def stale(it: Deployment) -> None:
    for path in (it.directory / "shop").rglob("*.yaml"):
        if path.name != "images.yaml":
            path.write_text(path.read_text().replace(it.session.site.digest, f"sha256:{'a' * 64}"))


def without_class(*names: str) -> Callable[[Deployment], None]:
    def change(it: Deployment) -> None:
        for name in names:
            it.replace(name, f"      {CLASS}\n", "")

    return change


def selected(*names: str, then: Callable[[Deployment], None] = lambda _: None) -> Callable[[Deployment], None]:
    """Select the workloads in the configuration, as for a chart that has no value for the class."""

    def change(it: Deployment) -> None:
        without_class("api.yaml", "web.yaml")(it)
        entries = [{"kind": "Deployment", "name": name} for name in names]
        it.configure(lambda spec: spec["workloads"].extend(entries))
        then(it)

    return change


def misspelt(old: str, new: str, file: str = "api.yaml") -> Callable[[Deployment], None]:
    return lambda it: it.replace(file, old, new)


def unwired(it: Deployment) -> None:
    it.wire(lambda value: value.pop("transformers"), lambda value: value.pop("pipeline"))


def unconfigured(it: Deployment) -> None:
    def move(value: Any) -> None:
        value["resources"] += value.pop("transformers")

    it.wire(move, lambda value: value["pipeline"]["mutators"][0].pop("configPath"))


# Step left out, or mistake in it -> the end: green, or the exit code and the errors of the first command that fails.
# `ENDS_IN` has the ends that differ in one host.
GREEN, UNRENDERED = "green", "check 1: CC1101"
VARIANTS: dict[str, tuple[Callable[[Deployment], object], str]] = {
    "nothing": (lambda _: None, GREEN),
    "coordinator": (lambda it: it.remove("coordinator.yml"), "render 1: CC0701"),
    "role of the coordinator": (misspelt("pod-role: c", "pod-rule: c", "coordinator.yml"), "render 1: CC0203 CC0701"),
    "release import": (lambda it: it.restore("release.yaml"), "render 1: CC0511"),
    "workload owner key": (lambda it: it.configure(lambda spec: spec["manifest"].pop("workloadOwnerKeys")), GREEN),
    "seedshare owner key": (lambda it: it.configure(lambda spec: spec["manifest"].pop("seedshareOwnerKeys")), GREEN),
    "firmware": (lambda it: it.configure(lambda spec: spec["manifest"].pop("referenceValues")), "check 1: CC0702"),
    "lock": (lock, "render 1: CC0502 CC0504"),
    "lock, though images are pinned": (lambda it: it.restore("images.yaml"), "render 1: CC0504"),
    "lock after another image": (stale, "render 1: CC0504"),
    "class in one pod": (without_class("api.yaml"), "render 1: CC0255"),
    "class in each pod": (without_class("api.yaml", "web.yaml"), "render 1: CC0241 CC0255"),
    "class misspelt": (misspelt(CLASS, "runtimeClassName: contrst-cc"), "render 1: CC0255"),
    "platform misspelt": (misspelt(CLASS, f"{CLASS}p"), "render 1: CC0401"),
    "field misspelt": (misspelt(CLASS, CLASS.replace("Name:", ":")), "render 1: CC0240 CC0255"),
    "label of the pod misspelt": (misspelt("app: api\n    spec", "app: apy\n    spec"), GREEN),
    "class, but both selected": (selected("web", "api"), GREEN),
    "class, but one selected": (selected("web"), "render 1: CC0255"),
    "class, one selected by a wrong name": (selected("web", "apy"), "render 1: CC0251 CC0255"),
    "release.yaml": (lambda it: it.remove("release.yaml"), "render 1: CC0257 CC0903"),
    "images.yaml": (lambda it: it.remove("images.yaml"), "render 1: CC0906"),
    "tool": (unwired, UNRENDERED),
    "tool, with both selected": (selected("web", "api", then=unwired), "check 1: CC0241 CC1101"),
    "configuration": (unconfigured, "render 1: CC0903"),
}
ENDS_IN = {
    ("files", "release.yaml"): "render 2: CC0257 CC0903",
    ("files", "images.yaml"): "render 2: CC0906",
    ("files", "configuration"): "render 2: CC0903",
    ("kustomize", "configuration"): UNRENDERED,  # it is under resources: kustomize starts no function
    ("kpt", "configuration"): GREEN,  # the function finds it in the package
}


@pytest.mark.slow
@pytest.mark.parametrize("host", LAYOUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_deployment_without_a_step_ends_green_only_if_every_pod_is_sealed(
    variant: str, host: str, deployments: dict[str, Deployment], tmp_path: Path
) -> None:
    change, expected = VARIANTS[variant]
    whole = deployments[host]
    it = whole._replace(session=whole.session._replace(directory=tmp_path / "copy"))
    shutil.copytree(whole.directory, it.directory)
    change(it)
    unseen = variant.startswith("tool") or ENDS_IN.get((host, variant)) == UNRENDERED
    render = whole.layout.without if variant.startswith("tool") else whole.layout.render
    if variant == "configuration":
        render = render.replace(CONFIGURED, "").replace(" --config config", "")
    end = GREEN
    for name, command in (("render", render), ("check", whole.layout.check)):
        ran = it.session.attempt(command)
        if ran.code:
            report = it.directory / "findings.txt"  # Helm 4 shows none
            text = f"{ran.out.decode()}{ran.err}{report.read_text() if report.exists() else ''}"
            errors = {code for code in re.findall(r"CC\d{4}", text) if row(code).severity == "error"}
            end = f"{name} {ran.code}: {' '.join(sorted(errors))}"
            break
    assert end == ENDS_IN.get((host, variant), expected)
    if not end.startswith("render"):
        assert MEANT & set(initdata(it.output())) == (set() if unseen else MEANT)
