"""Bring a package of real_manifests through the tool that it is made for, as it is and as the findings advise.

| step | manifests | configuration |
|---|---|---|
| first | as users have them | of a new user, config/first.yaml |
| configured | the same | with what the package's configured.yaml adds: external sources, the namespace |
| adopted | as users have them | what `adopt` writes into that of a new user, with a yes to each choice |
| owned | as users have them | the same with `--volume-owner` |
| advised | changed as the findings advise, in `advised` of the package | as configured, and the package's rules.yaml |

A copy has the layout that the how-to of its tool shows: the coordinator is beside the manifests, release and ImageLock
are in the directory of the configuration.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.hosts.hosts import FUNCTION, POST_RENDER
from tests.hosts.running import EXAMPLES, Machine, Ran
from tests.quick_yaml import safe_dump, safe_load

HERE = Path(__file__).parent
CONFIG = HERE / "config"
COORDINATOR = EXAMPLES / "quickstart" / "resources" / "coordinator.yaml"
RELEASE = EXAMPLES / "quickstart" / "config" / "release.yaml"

Step = Literal["first", "configured", "adopted", "owned", "advised"]
PACKAGES: dict[str, Literal["helm", "kustomize", "kpt"]] = {
    "storefront": "helm",
    "issuer-operator": "helm",
    "database": "helm",
    "node-agent": "helm",
    "bookshop": "kustomize",
    "platform": "kustomize",
    "telemetry": "kpt",
    "models": "helm",
    "shared": "kustomize",
}
RELEASES = {
    "storefront": "shop",
    "issuer-operator": "issuer",
    "database": "db",
    "node-agent": "agent",
    "models": "ai",
}  # of Helm


class Copy(NamedTuple):
    """A package in a directory of its own. report: the file with the findings of a render, in JSON."""

    name: str
    step: Step
    directory: Path
    profile: str | None

    @property
    def config(self) -> Path:
        """The directory of the configuration."""
        return self.directory / "config"

    @property
    def report(self) -> Path:
        """Where a render leaves its findings."""
        return self.directory / "report.json"

    def findings(self) -> list[dict[str, Any]]:
        """What the last render found."""
        found: list[dict[str, Any]] = json.loads(self.report.read_text())["findings"]
        return found

    def errors(self) -> dict[str, dict[str, str]]:
        """The errors of the last render: object, by kind and name -> code -> its first message; "": of no object."""
        found: dict[str, dict[str, str]] = {}
        for one in self.findings():
            if one["severity"] == "error":
                of = one.get("resource") or {}
                codes = found.setdefault(f"{of['kind']}/{of['name']}" if of else "", {})
                codes[one["code"]] = min(codes.get(one["code"], one["message"]), one["message"])
        return found


def copy(name: str, step: Step, directory: Path, profile: str | None = None) -> Copy:
    """Put a package, its coordinator and its configuration into a directory."""
    made = Copy(name, step, directory, profile)
    shutil.copytree(HERE / name, directory / name)
    made.config.mkdir()
    shutil.copy(RELEASE, made.config)
    shutil.copy(CONFIG / "images.yaml", made.config)
    (made.config / "contrast.yaml").write_text(_configuration(made))
    match PACKAGES[name]:
        case "helm":
            shutil.copy(COORDINATOR, directory / name / "templates")
        case "kustomize":
            top = directory / name / _overlay(made)
            for file in (COORDINATOR, *made.config.iterdir()):
                shutil.copy(file, top)
        case "kpt":
            package = directory / name / "package"
            if step == "advised":
                shutil.copytree(directory / name / "advised", package, dirs_exist_ok=True)
            for file in (COORDINATOR, *made.config.iterdir()):
                shutil.copy(file, package)
            kptfile = package / "Kptfile"
            kptfile.write_text(kptfile.read_text().replace("exec: contrast-krm", f"exec: {' '.join(_function(made))}"))
    return made


def render(machine: Machine, package: Copy, helm: str = "helm3") -> Ran:
    """Render with the function."""
    match PACKAGES[package.name]:
        case "helm":
            own = ["post-render"] if helm == "helm3" else []
            arguments = [*own, "--config", str(package.config), *report_to(package)]
            flags = [*POST_RENDER, *(flag for one in arguments for flag in ("--post-renderer-args", one))]
            return machine.run([*_template(package, helm), *flags], package.directory, helm=helm)
        case "kustomize":
            flags = ["--enable-alpha-plugins", "--enable-exec"]
            return machine.run(["kustomize", "build", *flags, _overlay(package)], package.directory / package.name)
        case "kpt":
            command = ["kpt", "fn", "render", "--allow-exec", "-o", "unwrap"]
            return machine.run(command, package.directory / package.name / "package")


def unsealed(machine: Machine, package: Copy) -> bytes:
    """The stream that the tool gives without the function."""
    match PACKAGES[package.name]:
        case "helm":
            return machine.run(_template(package, "helm3"), package.directory).ok()
        case "kustomize":
            top = package.directory / package.name / _overlay(package)
            built = (top / "kustomization.yaml").read_text()
            left_out = built.replace("transformers: [contrast.yaml]\n", "").replace(", release.yaml, images.yaml", "")
            plain = top.with_name("plain")
            shutil.copytree(top, plain)
            (plain / "kustomization.yaml").write_text(left_out)
            return machine.run(["kustomize", "build", "plain"], plain.parent).ok()
        case "kpt":
            package_ = package.directory / package.name / "package"
            names = sorted(path for path in package_.glob("*.yaml") if path.name not in _names(package.config))
            return b"---\n".join(path.read_bytes() for path in names)


def report_to(package: Copy) -> list[str]:
    """The options of a render that leave its findings in a file."""
    return ["--report", str(package.report), "--format", "json"]


def _names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def _overlay(package: Copy) -> str:
    return "advised" if package.step == "advised" else "confidential"


def _template(package: Copy, helm: str) -> list[str]:
    """`helm template` of the package. Helm 4 alone shows hooks to a post-renderer."""
    values = ["-f", f"{package.name}/advised.yaml"] if package.step == "advised" else []
    hooks = ["--set", "migrate.runtimeClassName=contrast-cc"] if helm == "helm4" else []
    hooks += ["--no-hooks"] if package.name == "models" else []  # which Helm 3 shows to no post-renderer
    return ["helm", "template", RELEASES[package.name], package.name, "--namespace", "shop", *values, *hooks]


def _function(package: Copy) -> list[str]:
    return ["contrast-krm", "fn", *report_to(package)]


def _configuration(package: Copy) -> str:
    """The ContrastGenerate of a step, as text."""
    value: dict[str, Any] = safe_load((CONFIG / "first.yaml").read_text())
    more: Mapping[str, Any] = {}
    if package.step in {"configured", "advised"}:
        more = safe_load((HERE / package.name / "configured.yaml").read_text())
    rules = HERE / package.name / "rules.yaml"
    if package.step == "advised" and rules.exists():
        more = {**more, **safe_load(rules.read_text())}
    value["spec"] = {**value["spec"], **more}
    if package.profile:
        value["spec"]["policy"] = {**value["spec"].get("policy", {}), "profile": package.profile}
    if PACKAGES[package.name] == "kustomize":
        program, *arguments = _function(package)
        value["metadata"]["annotations"][FUNCTION] = safe_dump({"exec": {"path": program, "args": arguments}})
    return safe_dump(value, sort_keys=False)
