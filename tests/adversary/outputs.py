"""Rendered output to tamper with: deployments in every form in which a manifest travels, as plain data.

Whoever tampers is assumed to have write access to everything but the configuration: also to the manifest, so that
digests can be put right again.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import INITDATA, ORIGINAL
from krm_function.policy.initdata import Initdata, annotation, decode_toml, from_annotation
from tests import quick_yaml as yaml
from tests.hosts.running import EXAMPLES, called

HANDLER = "contrast-cc-metal-qemu-snp-18a1a065"
GPU = "contrast-cc-metal-qemu-snp-gpu-18a1a065"
TDX = "contrast-cc-metal-qemu-tdx-18a1a065"
TCB = {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 24, "MicrocodeVersion": 219}
FILES = {"notes.toml": "allowed = false\n"}


class Output:
    """Rendered objects, the manifest's file if it has one, and further documents as text."""

    def __init__(self, text: bytes, manifest: bytes = b"") -> None:
        """Read a stream."""
        self.values: list[Any] = [value for value in yaml.safe_load_all(text) if value]
        self.file = manifest
        self.more = ""

    def __getitem__(self, name: str) -> Any:
        """The first object of this name, or of this `Kind/name`."""
        return next(value for value in self.values if name in _names(value))

    def template(self, name: str) -> Any:
        """A workload's pod template."""
        value = self[name]
        return dig(value, KINDS[value["kind"]][1])

    def pod(self, name: str = "Deployment/web") -> Any:
        """A workload's pod spec."""
        return self.template(name)["spec"]

    def container(self, name: str = "Deployment/web") -> Any:
        """A workload's first container."""
        return self.pod(name)["containers"][0]

    def init(self, container: str, name: str = "Deployment/web") -> Any:
        """An init container by its name."""
        return next(one for one in self.pod(name)["initContainers"] if one["name"] == container)

    def drop(self, *names: str) -> None:
        """Take objects away."""
        for name in names:
            self.values.remove(self[name])

    def keep(self, wanted: Callable[[Any], bool]) -> None:
        """Take all others away."""
        self.values[:] = [value for value in self.values if wanted(value)]

    def records(self, change: Callable[[list[Any]], Any], name: str = "Deployment/web") -> None:
        """Change the undo records of a workload."""
        notes = self[name]["metadata"]["annotations"]
        notes[ORIGINAL] = json.dumps(change(json.loads(notes[ORIGINAL])))

    # --- the manifest

    @property
    def manifest(self) -> Any:
        """The manifest as data."""
        return json.loads(self.file or self["contrast-manifest"]["data"]["manifest.json"])

    def write_manifest(self, value: Any) -> None:
        """Put another one in its place, in the form that a render gives it."""
        text = json.dumps(value, indent=2) + "\n"
        if self.file:
            self.file = text.encode()
        else:
            self["contrast-manifest"]["data"]["manifest.json"] = text

    def change_manifest(self, change: Callable[[Any], object]) -> None:
        """Change the manifest, and its text only where the value changes."""
        value = self.manifest
        change(value)
        self.write_manifest(value)

    def policy(self, name: str, manifest: Any) -> Any:
        """The entry of a workload in the manifest."""
        return next(one for one in manifest["Policies"].values() if one["SANs"][0] == name)

    def reseal(self, name: str, change: Callable[[Initdata], bytes]) -> None:
        """Seal a pod anew with other initdata, and put the new digest into the manifest."""
        notes = self.template(name)["metadata"]["annotations"]
        before = from_annotation(notes[INITDATA])
        after = change(decode_toml(before))
        notes[INITDATA] = annotation(after)
        old, new = sha256(before).hexdigest(), sha256(after).hexdigest()
        value = self.manifest
        policies = {new if key == old else key: one for key, one in value["Policies"].items()}
        value["Policies"] = dict(sorted(policies.items()))
        self.write_manifest(value)

    def stream(self) -> bytes:
        """Everything as text."""
        return (yaml.plain(*self.values, sort_keys=False, width=4096) + self.more).encode()


def _names(value: Any) -> tuple[str, str]:
    name = value["metadata"]["name"]
    return name, f"{value['kind']}/{name}"


class Deployment(NamedTuple):
    """A configuration as files, what it renders to, and its manifest if that is a file."""

    config: Path
    rendered: bytes
    manifest: bytes = b""

    def output(self) -> Output:
        """A copy to tamper with."""
        return Output(self.rendered, self.manifest)

    def check(self, output: Output, directory: Path, *, configured: bool) -> tuple[list[str], str]:
        """The codes of the errors that `check` finds, and all that it says."""
        options = ["--config", str(self.config)] if configured else []
        if output.file:
            (directory / "manifest.json").write_bytes(output.file)
            options += ["--manifest", str(directory / "manifest.json")]
        (directory / "rendered.yaml").write_bytes(output.stream())
        ran = called("check", str(directory / "rendered.yaml"), *options, "--format", "json")
        errors = [one for one in json.loads(ran.err)["findings"] if one["severity"] == "error"]
        assert ran.code == (1 if errors else 0), ran.err
        return [one["code"] for one in errors], ran.err


EMITTING = {"runtimeClasses": "emit"}


def _configured(example: str, directory: Path, change: Callable[[Any], object]) -> Path:
    """The configuration of an example, changed."""
    directory.mkdir(parents=True)
    for path in (EXAMPLES / example / "config").iterdir():
        text = path.read_text()
        if path.name == "contrast.yaml":
            value = yaml.safe_load(text)
            change(value["spec"])
            text = yaml.plain(value)
        (directory / path.name).write_text(text)
    return directory


def _rendered(example: str, config: Path) -> bytes:
    return called("generate", str(EXAMPLES / example / "resources"), "--config", str(config)).ok()


def _manifest(spec: Any, **options: Any) -> None:
    spec["manifest"].update(options)


def _filled_in(spec: Any) -> None:
    _manifest(spec, referenceValues={"snp": {"MinimumTCB": TCB}})


def _local(spec: Any) -> None:
    spec.update(EMITTING)
    _manifest(spec, emit="LocalConfig")


def deployments(directory: Path) -> dict[str, Deployment]:
    """What the table tampers with.

    shop: SNP, GPU and TDX, RuntimeClass objects emitted, manifest in a ConfigMap, a file more in the initdata.
    file: the manifest is a file. local: it is local to the package, and hosts drop it. gpu: the RuntimeClass objects
    are resources of the user's.
    """
    made = {}
    config = _configured(
        "quickstart", directory / "shop", lambda spec: spec.update(EMITTING, policy={"initdata": FILES})
    )
    made["shop"] = Deployment(config, _rendered("quickstart", config))
    manifest = Output(made["shop"].rendered)["contrast-manifest"]["data"]["manifest.json"].encode()

    def outside(spec: Any) -> None:
        spec.update(EMITTING, policy={"initdata": FILES})
        _manifest(spec, emit="none")

    config = _configured("quickstart", directory / "file", outside)
    made["file"] = Deployment(config, _rendered("quickstart", config), manifest)
    config = _configured("quickstart", directory / "local", _local)
    made["local"] = Deployment(config, _rendered("quickstart", config))
    config = _configured("gpu", directory / "gpu", _filled_in)
    made["gpu"] = Deployment(config, _rendered("gpu", config))
    return made
