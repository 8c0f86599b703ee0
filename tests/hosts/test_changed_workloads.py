"""docs/how-to/change-workloads.md: a workload comes, its ConfigMap and Secret change, it goes; by the commands there.

What the manifest says after each step is what the page promises: one policy more, another one, one less, and of the
others always the same. The registry, kustomize, Helm and kpt are real.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.hosts import put
from tests.hosts.running import EXAMPLES, Machine
from tests.hosts.test_first_deployment import Session, Site
from tests.hosts.test_first_deployment import site as site  # noqa: PLC0414  (a fixture)
from tests.hosts.test_upgraded_images import OLD, deployed, made

TEXT = (EXAMPLES.parent / "docs/how-to/change-workloads.md").read_text()
WORDS = {"kustomize": "--write-kustomize", "helm": "helm template", "kpt": "kpt fn render", "files": "generate shop"}
# host -> where its sources are
SOURCES = {"kustomize": "shop", "helm": "chart/templates", "kpt": "shop", "files": "shop"}
API = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      runtimeClassName: contrast-cc-metal-qemu-snp
      containers:
        - name: api
          image: IMAGE
          env:
            - name: GREETING
              valueFrom: {configMapKeyRef: {name: api, key: greeting}}
            - name: TOKEN
              valueFrom: {secretKeyRef: {name: api, key: token}}
          volumeMounts: [{name: files, mountPath: /etc/api, readOnly: true}]
          resources: {limits: {memory: 64Mi}}
      volumes: [{name: files, configMap: {name: api-files}}]
"""
OBJECTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: api, namespace: shop}
data: {greeting: hello}
---
apiVersion: v1
kind: Secret
metadata: {name: api, namespace: shop}
stringData: {token: open}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: api-files, namespace: shop}
data: {colour: red}
"""


class Life(NamedTuple):
    """A deployment on one host."""

    session: Session
    host: str

    @property
    def sources(self) -> Path:
        """Where the files of the workloads are."""
        return self.session.directory / SOURCES[self.host]

    @property
    def config(self) -> str:
        """The directory of the configuration."""
        return "shop" if self.host in {"kustomize", "kpt"} else "config"

    def render(self, *warned: str) -> dict[str, str]:
        """Run the page's block; the policies of the manifest: digest -> workload. warned: its warnings."""
        (block,) = [one for one in re.findall(r"(?ms)^```sh\n(.*?)^```", TEXT) if WORDS[self.host] in one]
        if warned:
            ran = self.session.attempt(block)
            assert (ran.code, set(re.findall(r"warning\b.*? (CC\d+)", ran.err))) == (0, set(warned)), ran.err
        else:
            self.session.type(block)
        manifest = json.loads((self.session.directory / "manifest.json").read_text())
        return {digest: one["WorkloadSecretID"].rpartition("/")[2] for digest, one in manifest["Policies"].items()}

    def name(self, *files: str) -> None:
        """Have the kustomization name these files and web.yaml alone."""
        if self.host == "kustomize":
            path = self.sources / "kustomization.yaml"
            kept = [line for line in path.read_text().splitlines() if not re.match(r"\s*- api", line)]
            at = next(index for index, line in enumerate(kept) if "web.yaml" in line)
            indent = re.match(r"\s*- ", kept[at])
            kept[at + 1 : at + 1] = [f"{indent[0] if indent else '- '}{file}" for file in files]
            path.write_text("\n".join(kept) + "\n")

    def edit(self, old: str, new: str) -> None:
        """Change a value of the Secret or ConfigMaps."""
        path = self.sources / "api-objects.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.mark.slow
@pytest.mark.parametrize("host", SOURCES)
def test_a_workload_comes_changes_and_goes(
    host: str, request: pytest.FixtureRequest, site: Site, krm_machine: Machine, tmp_path: Path
) -> None:
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    for image in (name, f"{name}-api"):
        site.hub.push(made("old"), f"changed/{image}", OLD)
    there = deployed(host, f"{site.host}/changed/{name}", site, krm_machine, tmp_path)
    life = Life(there.session, host)
    first = life.render()
    assert sorted(first.values()) == ["coordinator", "web"]

    pinned = f"{site.host}/changed/{name}-api:{OLD}@{made('old').digest}"
    put(life.sources, {"api.yaml": API.replace("IMAGE", pinned), "api-objects.yaml": OBJECTS})
    life.name("api.yaml", "api-objects.yaml")
    added = life.render("CC0675")
    assert sorted(added.values()) == ["api", "coordinator", "web"]
    assert first.items() <= added.items(), "one policy more"

    life.edit("red", "blue")
    assert life.render("CC0675") == added, "the content of a mounted file is in no policy"

    (api,) = (digest for digest, workload in added.items() if workload == "api")
    deployment = "shop" if host == "kpt" else "rendered.yaml"
    there.session.type(f"contrast-krm manifest keep {deployment} --in {life.config}/contrast.yaml")
    life.edit("hello", "good morning")
    kept = life.render("CC0675", "CC0730", "CC0731")
    assert added.items() <= kept.items(), "pods of the earlier render may restart"
    assert sorted(kept.values()) == ["api", "api", "coordinator", "web"]
    there.session.type(f"contrast-krm manifest keep --end --in {life.config}/contrast.yaml")
    config = tmp_path / life.config / "contrast.yaml"
    config.write_text(_without_base(config.read_text()))

    changed = life.render("CC0675")
    life.edit("token: open", "token: sesame")
    again = life.render("CC0675")
    digests = [{digest for digest, workload in one.items() if workload == "api"} for one in (added, changed, again)]
    assert [len(one) for one in digests] == [1, 1, 1]
    assert len(set.union(*digests)) == 3, "a variable's value is in the policy"
    assert {api} == digests[0]

    for file in ("api.yaml", "api-objects.yaml"):
        (life.sources / file).unlink()
    life.name()
    assert life.render() == first, "one policy less, and what is left is as it was"
    assert f"{name}-api" not in "".join(path.read_text() for path in tmp_path.rglob("images.yaml"))


def _without_base(text: str) -> str:
    """Take spec.manifest.base out, as the one who ends the life of a base does."""
    lines = text.splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if re.match(r"\s*base:", line))
    depth = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
        end += 1
    return "".join(lines[:at] + lines[end:])
