"""docs/how-to/upgrade-images.md: what people and Renovate do to the files, then the page's commands, as they stand.

The edit is made here as Renovate's documentation says that it makes it; the registry, kustomize, Helm and kpt are real.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.documents import pod_templates
from tests.hosts.hosts import put
from tests.hosts.running import EXAMPLES, Machine
from tests.hosts.test_first_deployment import Session, Site, commands, follow, release_files, web
from tests.hosts.test_first_deployment import site as site  # noqa: PLC0414  (a fixture)
from tests.lock.content import ACCOUNTS, Image, image, layer, tar

PAGE = EXAMPLES.parent / "docs/how-to/upgrade-images.md"
TEXT = PAGE.read_text()
INIT = {
    "kustomize": "contrast-krm init shop",
    "kustomize, joined": "contrast-krm init shop",
    "helm": "contrast-krm init config --helm chart",
    "kpt": "contrast-krm init shop",
    "files": "contrast-krm init config --files shop",
}
PLACES = {
    "kustomize": "shop/kustomization.yaml",
    "kustomize, joined": "shop/kustomization.yaml",
    "helm": "chart/values.yaml",
    "kpt": "shop/web.yaml",
    "files": "shop/web.yaml",
}
WORDS = {
    "kustomize": "--write-kustomize",
    "helm": "--write-values",
    "kpt": "kpt fn render",
    "files": "lock shop --config",
}
BUMPS = ("tag", "digest", "tag and digest")
OLD, NEW = "2.3.1", "2.4.0"


def block(host: str) -> str:
    """The page's block for a host."""
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", TEXT)
    (one,) = [one for one in blocks if WORDS[host.partition(",")[0]] in one]
    return str(one)


def made(text: str) -> Image:
    program = {"Entrypoint": ["/bin/web"], "Env": ["PATH=/bin"], "WorkingDir": "/", "User": "web"}
    return image(layer(tar({**ACCOUNTS, "a": text})), settings=program)


class Deployed(NamedTuple):
    """A deployment that is sealed and checked. name: of the image, without a tag; old: its digest."""

    session: Session
    name: str
    old: str

    def path(self, host: str) -> Path:
        return self.session.directory / PLACES[host]


@pytest.fixture
def repository(request: pytest.FixtureRequest, site: Site) -> str:
    """A repository of one test alone, in which tags can move."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    site.hub.push(made("old"), f"upgraded/{name}", OLD)
    return f"{site.host}/upgraded/{name}"


def deployed(host: str, repository: str, site: Site, machine: Machine, directory: Path) -> Deployed:
    """Do what `init` says, with an image that has a tag alone."""
    name = repository
    put(directory, release_files(site))
    if host == "helm":
        chart = {"Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n"}
        chart["values.yaml"] = f'image:\n  repository: {name}\n  tag: "{OLD}" # bump me\n'
        put(directory / "chart", chart)
        put(directory / "chart/templates", {"web.yaml": web("{{ .Values.image.repository }}:{{ .Values.image.tag }}")})
    else:
        put(directory / "shop", {"web.yaml": web(f"{name}:{OLD}")})
    if host == "kpt":
        put(directory / "shop", {"Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n"})
    if host.startswith("kustomize"):
        text = (EXAMPLES / "from-scratch/shop/kustomization.yaml").read_text()
        put(directory / "shop", {"kustomization.yaml": text})
    session = Session(machine, directory, site, "helm4", [])
    said = session.type(f"{INIT[host]} --platform metal-qemu-snp")
    steps = [one for one in commands(said) if "--post-renderer" not in one]
    follow(session, "".join(f"     {one}\n" for one in steps))
    assert any(line.startswith("checked 2 ") for line in session.lines), session.lines
    return Deployed(session, name, made("old").digest)


def bump(path: Path, host: str, what: str, old: str, new: str) -> None:
    """Change tag, digest or both, and nothing else."""
    text = path.read_text()
    if host == "kustomize, joined":
        text = re.sub(rf'(\n +)newTag: "?{OLD}"?\n +digest: "?([^\s"]+)"?', rf"\1newTag: {OLD}@\2", text)
        assert f"newTag: {OLD}@{old}" in text
    tag = re.compile(rf"(?<=[:\" ]){re.escape(OLD)}(?=[\"@\s'])")
    assert tag.search(text), text
    text = tag.sub(NEW, text) if "tag" in what else text
    path.write_text(text.replace(old, new) if "digest" in what else text)


@pytest.mark.slow
@pytest.mark.parametrize("what", BUMPS)
@pytest.mark.parametrize("host", INIT)
def test_each_edit_ends_with_the_new_image_and_a_check_that_passes(
    host: str, what: str, repository: str, site: Site, krm_machine: Machine, tmp_path: Path
) -> None:
    there = deployed(host, repository, site, krm_machine, tmp_path)
    wanted = OLD if what == "digest" else NEW
    new = made("new").digest
    site.hub.push(made("new"), repository.partition("/")[2], wanted)
    path = there.path(host)
    bump(path, host, what, there.old, new)
    before = path.read_text()

    said = there.session.type(block(host))

    assert "checked 2 Contrast workloads" in said
    assert "1 fetched" in said
    rendered = tmp_path / ("shop/web.yaml" if host == "kpt" else "rendered.yaml")
    (container,) = pod_templates(rendered.read_bytes())["Deployment/shop/web"]["spec"]["containers"]
    assert container["image"] == f"{there.name}:{wanted}@{new}"
    after = path.read_text()
    if host != "kpt":
        assert after.replace('"', "") == before.replace(there.old, new).replace('"', ""), "and what was there stands"
    if host == "kustomize, joined":
        assert f"newTag: {wanted}@{new}" in after.replace('"', "")
    locks = list(tmp_path.rglob("images.yaml"))
    assert [there.old in lock.read_text() for lock in locks] == [False]
    if host.startswith("kustomize"):
        (check,) = [one for one in re.findall(r"(?ms)^   ```sh\n(.*?)^   ```", TEXT) if "--check" in one]
        there.session.type(check)


def test_a_tag_without_its_digest_is_warned_of_until_it_is_upgraded(
    repository: str, site: Site, krm_machine: Machine, tmp_path: Path
) -> None:
    """What was reported, to the letter: newTag changed after `lock --write-kustomize`, then lock, render and check."""
    there = deployed("kustomize", repository, site, krm_machine, tmp_path)
    site.hub.push(made("new"), repository.partition("/")[2], NEW)
    bump(there.path("kustomize"), "kustomize", "tag", there.old, "")
    lock = (
        "kustomize build --enable-alpha-plugins shop | contrast-krm lock --config shop -o shop/images.yaml"
        " --write-kustomize shop"
    )
    build = "kustomize build --enable-alpha-plugins --enable-exec shop > rendered.yaml"
    said = there.session.attempt(build)
    assert "CC0504" in said.err, "not in the lock yet"
    assert f"its digest is locked as tag {OLD}, and {NEW} has never been looked up" in said.err
    said = there.session.attempt(lock)
    assert (said.code, ": 0 fetched" in said.err) == (0, True)
    for command in (lock, build, "contrast-krm check rendered.yaml --config shop"):
        said = there.session.attempt(command)
        assert said.code == 0, said.err
        assert f"warning CC0510 shop/web spec.template.spec.containers[0].image: image {there.name}:{NEW}@" in said.err
    (container,) = pod_templates((tmp_path / "rendered.yaml").read_bytes())["Deployment/shop/web"]["spec"]["containers"]
    assert container["image"] == f"{there.name}:{NEW}@{there.old}", "the old image, under the new tag"
    there.session.type(block("kustomize"))
    (container,) = pod_templates((tmp_path / "rendered.yaml").read_bytes())["Deployment/shop/web"]["spec"]["containers"]
    assert container["image"] == f"{there.name}:{NEW}@{made('new').digest}"


def test_the_configuration_of_renovate_names_what_the_page_describes() -> None:
    """It is read as Renovate reads it as far as this goes without Renovate: JSON, a script, patterns."""
    (text,) = re.findall(r"(?ms)^   ```json\n(.*?)^   ```", TEXT)
    settings = json.loads(text)
    docker, contrast = settings["packageRules"]
    (command,) = docker["postUpgradeTasks"]["commands"]
    (allowed,) = re.findall(r"allowedCommands: \[\"(.*?)\"\]", TEXT)
    assert re.search(json.loads(f'"{allowed}"'), command)
    (pattern,) = settings["kubernetes"]["managerFilePatterns"]
    assert (pattern[0], pattern[-1]) == ("/", "/")
    assert re.search(pattern[1:-1], "shop/web.yaml")
    assert contrast == {"matchPackageNames": ["ghcr.io/edgelesssys/contrast/**"], "enabled": False}
