"""The first deployment of a user: every command that `init` prints, as it stands, from nothing to a check that passes.

A person in front of this session types `init`, copies what it prints, line by line, and puts numbers in the place of
the letters B, T, S and M; no step may fail. The registry is a real one with TLS, and images have tags alone.
"""

import os
import re
import shlex
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import quick_yaml as yaml
from tests.hosts.documents import by_name, pod_templates
from tests.hosts.hosts import put
from tests.hosts.running import EXAMPLES, Machine, Ran
from tests.lock.content import ACCOUNTS, Image, image, layer, tar
from tests.lock.registries import Front, Registry, registry
from tests.lock.test_lock_command import certificate
from tools import release_assets as assets
from tools.example_release import RELEASED, VERSION

PAGE = EXAMPLES.parent / "docs/how-to/first-deployment.md"
NUMBERS = {"B": "9", "T": "0", "S": "21", "M": "72"}


class Site(NamedTuple):
    """A registry behind TLS. variables: of a machine that trusts it; host: its address; digest: of web.

    hub: the registry itself.
    """

    host: str
    variables: dict[str, str]
    images: dict[str, str]
    digest: str
    hub: Registry


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, registry_tool: None) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    certificate(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")
    with registry(directory / "registry") as hub:
        front = Front(hub)
        front.server.socket = context.wrap_socket(front.server.socket, server_side=True)
        images = {name: front.named(pushed(hub, name, VERSION)) for name in RELEASED}
        images["web"], _, digest = front.named(pushed(hub, "web", "2.3.1")).partition("@")
        yield Site(front.address, {"SSL_CERT_FILE": str(directory / "cert.pem"), "no_proxy": "*"}, images, digest, hub)
        front.close()


def pushed(hub: Registry, name: str, tag: str) -> str:
    program = {"Entrypoint": [f"/bin/{name}"], "Env": ["PATH=/bin"], "WorkingDir": "/", "User": "web"}
    settings = program if name == "web" else program | {"User": ""}
    made: Image = image(layer(tar(ACCOUNTS)), settings=settings)
    return hub.push(made, f"shop/{name}", tag)


def release_files(site: Site) -> dict[str, str]:
    """The files of a release whose images have been mirrored."""
    files = assets.files(assets.SNP)
    pins = {assets.pinned(name): site.images[name] for name in RELEASED}
    files[".version.txt"] = files.pop("version.txt")  # not a file that a user has
    return {name: replaced(text, pins) for name, text in files.items()}


def replaced(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def web(reference: str) -> str:
    text = (EXAMPLES / "from-scratch/shop/web.yaml").read_text()
    return re.sub(r"image: \S+", f"image: {reference}", text)


class Session(NamedTuple):
    """A shell in a directory, and what was typed and printed so far."""

    machine: Machine
    directory: Path
    site: Site
    helm: str
    lines: list[str]

    def type(self, command: str) -> str:
        """Run a command that has to succeed; what it printed."""
        ran = self.attempt(command)
        said = ran.out.decode() + ran.err
        self.lines.extend([f"$ {command}", *said.splitlines(), ""])
        assert ran.code == 0, "\n".join(self.lines)
        assert "error" not in said
        assert "warning" not in said, said
        return said

    def attempt(self, command: str) -> Ran:
        """Run a command, which may fail or warn."""
        plugins = {"HELM_PLUGINS": str(self.directory / "no-plugins")} if self.helm == "helm3" else {}
        version = shlex.quote(str(self.directory / ".version.txt"))
        command = f"contrast() {{ cat {version}; }}\n{command}"  # Contrast's program
        return self.machine.run(
            ["bash", "-c", command], self.directory, helm=self.helm, env={**self.site.variables, **plugins}
        )

    def record(self) -> str:
        """The session with the registry's address, and digests in short."""
        text = "\n".join(self.lines).replace(self.site.host, "registry.example.com")
        return re.sub(r"sha256:([0-9a-f]{64})", "sha256:…", text)


def commands(said: str) -> list[str]:
    return [line[5:] for line in said.splitlines() if line.startswith("     ")]


def follow(session: Session, said: str) -> list[str]:
    """Do what `init` says, step by step; letters become numbers."""
    done = commands(said)
    for command in done:
        session.type(re.sub(r"=([BTSM])\b", lambda found: "=" + NUMBERS[found[1]], command))
    return done


@pytest.mark.parametrize("pinning", ["web.yaml", "kustomization.yaml"])
def test_with_kustomize_no_step_fails(pinning: str, site: Site, krm_machine: Machine, tmp_path: Path) -> None:
    name, _, tag = site.images["web"].rpartition(":")
    kustomization = (EXAMPLES / "from-scratch/shop/kustomization.yaml").read_text()
    if pinning == "kustomization.yaml":
        kustomization += (
            f'images:\n  - name: web # as the base says\n    newName: {name}\n    newTag: "{tag}" # bump me\n'
        )
    put(tmp_path / "shop", {"web.yaml": web("web" if "images:" in kustomization else f"{name}:{tag}")})
    put(tmp_path / "shop", {"kustomization.yaml": kustomization})
    put(tmp_path, release_files(site))
    put(tmp_path, {".git/HEAD": "ref: refs/heads/main\n"})
    session = Session(krm_machine, tmp_path, site, "helm4", [])
    done = follow(session, session.type("contrast-krm init shop --platform metal-qemu-snp"))
    assert "checked 2 Contrast workloads" in session.lines
    assert (tmp_path / ".gitignore").read_text() == "*-owner.pem\n"
    after = (tmp_path / "shop/kustomization.yaml").read_text()
    assert [line for line in kustomization.splitlines() if line not in after.splitlines()] == []
    (entry,) = yaml.safe_load(after)["images"]
    assert entry["newTag"] == tag
    assert entry["digest"].startswith("sha256:")
    rendered = (tmp_path / "rendered.yaml").read_bytes()
    image_of_web = pod_templates(rendered)["Deployment/shop/web"]["spec"]["containers"][0]["image"]
    assert image_of_web == f"{name}:{tag}@{entry['digest']}"
    if pinning == "web.yaml":
        recorded("kustomize", session)
    again = session.type("contrast-krm init shop")
    assert commands(again) == done[-2:], "only the last steps are left"
    again_locked = session.type(next(one for one in done if " lock " in one))
    assert ": 0 fetched" in again_locked


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_with_helm_no_step_fails(helm: str, site: Site, krm_machine: Machine, tmp_path: Path) -> None:
    name, _, tag = site.images["web"].rpartition(":")
    values = f'# The shop.\nimage:\n  repository: {name}\n  tag: "{tag}" # bump me\nreplicas: 1\n'
    template = web("{{ .Values.image.repository }}:{{ .Values.image.tag }}")
    put(tmp_path / "chart", {"Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "values.yaml": values})
    put(tmp_path / "chart/templates", {"web.yaml": template})
    put(tmp_path, release_files(site))
    session = Session(krm_machine, tmp_path, site, helm, [])
    said = session.type("contrast-krm init config --helm chart --platform metal-qemu-snp")
    for command in commands(said):
        if "helm upgrade --install" in command:  # there is no cluster
            is_for = "helm3" if "--post-renderer-args post-render" in command else "helm4"
            if is_for == helm:
                session.type(command.replace("upgrade --install", "template") + " | contrast-krm check")
        else:
            session.type(re.sub(r"=([BTSM])\b", lambda found: "=" + NUMBERS[found[1]], command))
    after = (tmp_path / "chart/values.yaml").read_text()
    assert after.startswith(f'# The shop.\nimage:\n  repository: {name}\n  tag: "{tag}@sha256:')
    assert after.endswith(" # bump me\nreplicas: 1\n")
    found = by_name((tmp_path / "rendered.yaml").read_bytes())
    assert {one.split("/")[0] for one in found} >= {"ConfigMap", "StatefulSet", "Deployment"}
    if helm == "helm4":
        recorded("helm", session)


@pytest.mark.parametrize("pinning", ["tag", "digest"])
def test_with_kpt_no_step_fails(pinning: str, site: Site, krm_machine: Machine, tmp_path: Path) -> None:
    name, _, tag = site.images["web"].rpartition(":")
    pinned = f"{name}:{tag}@{site.digest}"
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n"
    text = web(pinned if pinning == "digest" else f"{name}:{tag}")
    put(tmp_path / "shop", {"Kptfile": kptfile, "web.yaml": text})
    put(tmp_path, release_files(site))
    session = Session(krm_machine, tmp_path, site, "helm4", [])
    done = follow(session, session.type("contrast-krm init shop --platform metal-qemu-snp"))
    assert "checked 2 Contrast workloads" in session.lines
    assert not (tmp_path / ".gitignore").exists(), "there is no work tree of Git"
    rendered = (tmp_path / "shop/web.yaml").read_bytes()
    assert pod_templates(rendered)["Deployment/shop/web"]["spec"]["containers"][0]["image"] == pinned
    step = next(one for one in done if " lock " in one)
    assert (
        f"shop/web.yaml: {name}:{tag} is pinned to {site.digest}; from now on, change its tag in this file"
        in session.lines
    ) is (pinning == "tag"), step


@pytest.mark.parametrize("where", ["apart", "together"])
def test_with_files_no_step_fails(where: str, site: Site, krm_machine: Machine, tmp_path: Path) -> None:
    name, _, tag = site.images["web"].rpartition(":")
    put(tmp_path / "shop", {"web.yaml": web(f"{name}:{tag}")})
    put(tmp_path, release_files(site))
    session = Session(krm_machine, tmp_path, site, "helm4", [])
    host = "config --files shop" if where == "apart" else "shop --files"
    follow(session, session.type(f"contrast-krm init {host} --platform metal-qemu-snp"))
    assert "checked 2 Contrast workloads" in session.lines
    assert (tmp_path / "shop/web.yaml").read_text() == web(f"{name}:{tag}@{site.digest}")
    rendered = (tmp_path / "rendered.yaml").read_bytes()
    assert pod_templates(rendered)["Deployment/shop/web"]["spec"]["containers"][0]["image"].endswith(site.digest)
    again = session.type(f"contrast-krm init {host}")
    assert len(commands(again)) == 2, "only the last steps are left"


def recorded(name: str, session: Session) -> None:
    """The page shows this session; WRITE_GOLDEN=1 writes it there."""
    start, end = f"<!-- session: {name} -->\n", f"<!-- end of session: {name} -->\n"
    shown = "\n```console\n" + session.record().strip() + "\n```\n\n"
    text = PAGE.read_text()
    head, _, rest = text.partition(start)
    there, _, tail = rest.partition(end)
    if os.environ.get("WRITE_GOLDEN"):
        PAGE.write_text(head + start + shown + end + tail)
        return
    assert there == shown
