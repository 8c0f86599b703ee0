"""From nothing to a render by the real tools, with `release import`, `init`, `keys new` and `install`."""

import json
import os
from pathlib import Path

import pytest

from tests import quick_yaml as yaml
from tests.hosts.documents import by_name, pod_templates
from tests.hosts.hosts import put
from tests.hosts.running import EXAMPLES, Machine, Ran
from tools import release_assets as assets

LOCK = yaml.safe_load((EXAMPLES / "kustomize/confidential/images.yaml").read_text())
BASE = """# The shop.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop # everything
resources:
  - web.yaml
  - coordinator.yml
"""
PACKAGE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n"
RENDER = {
    "kustomize": ["kustomize", "build", "--enable-alpha-plugins", "--enable-exec", "shop"],
    "kpt": ["kpt", "fn", "render", "--allow-exec", "shop", "-o", "unwrap"],
}


def deployment(directory: Path, host: str) -> Path:
    """A shop that knows nothing of contrast-krm, and the files of a release beside it."""
    web = (EXAMPLES / "kpt/web.yaml").read_text()
    shop = {"web.yaml": web, "coordinator.yml": assets.coordinator()}
    put(directory / "shop", {**shop, **({"kustomization.yaml": BASE} if host == "kustomize" else {"Kptfile": PACKAGE})})
    files = assets.files(assets.SNP)
    del files["coordinator.yml"]
    put(directory / "assets", files)
    return directory


def set_up(machine: Machine, work: Path) -> None:
    """Everything that init asks for, and the lock of the example."""
    files = [f"assets/{path.name}" for path in sorted((work / "assets").iterdir())]
    machine.krm("init", "shop", "--platform", "metal-qemu-snp", cwd=work).ok()
    machine.krm("release", "import", *files, "shop/coordinator.yml", "-o", "shop/release.yaml", cwd=work).ok()
    machine.krm("keys", "new", "--workload-owner", "--add-to", "shop/contrast.yaml", cwd=work).ok()
    lock = work / "shop/images.yaml"
    images = json.dumps(LOCK["spec"]["images"])
    lock.write_text(lock.read_text().replace("images: {}", f"images: {images}"))


@pytest.mark.parametrize("host", RENDER)
def test_after_init_the_real_tool_renders(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    work = deployment(tmp_path, host)
    set_up(krm_machine, work)
    rendered = krm_machine.run(RENDER[host], work).ok()
    found = by_name(rendered)
    assert {name.split("/")[0] for name in found} >= {"ConfigMap", "StatefulSet", "Deployment"}
    expected = by_name((EXAMPLES / "kpt/expected/rendered.yaml").read_bytes())
    assert (
        pod_templates(rendered)["Deployment/shop/web"]["spec"]
        == expected["Deployment/shop/web"]["spec"]["template"]["spec"]
    )
    checked = krm_machine.krm("check", stdin=rendered)
    left = {line.partition(":")[0] for line in checked.err.splitlines() if line.startswith("error")}
    assert left == {"error CC0702"}, "only the firmware versions, which an operator has to know"


def test_before_the_release_is_imported_the_render_says_so(krm_machine: Machine, tmp_path: Path) -> None:
    work = deployment(tmp_path, "kustomize")
    krm_machine.krm("init", "shop", "--platform", "metal-qemu-snp", cwd=work).ok()
    ran = krm_machine.run(RENDER["kustomize"], work)
    assert ran.code == 1
    assert "CC0511" in ran.err


def test_a_kustomization_that_init_makes_is_one_for_kustomize(krm_machine: Machine, tmp_path: Path) -> None:
    work = deployment(tmp_path, "kustomize")
    (work / "shop/kustomization.yaml").unlink()
    krm_machine.krm("init", "shop", "--kustomize", cwd=work).ok()
    built = krm_machine.run(["kustomize", "build", "--enable-alpha-plugins", "shop"], work).ok()
    assert {name.split("/")[0] for name in by_name(built)} >= {"Deployment", "StatefulSet"}
    assert b"contrast-krm.dev" not in built


def test_a_kptfile_that_init_makes_is_one_for_kpt(krm_machine: Machine, tmp_path: Path) -> None:
    work = deployment(tmp_path, "kpt")
    (work / "shop/Kptfile").unlink()
    krm_machine.krm("init", "shop", "--kpt", cwd=work).ok()
    set_up(krm_machine, work)
    krm_machine.run(["kpt", "fn", "render", "--allow-exec", "shop"], work).ok()
    assert (work / "shop/.contrast-krm/ContrastRelease.schema").exists()


@pytest.fixture(scope="module")
def installed(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy made by `install`."""
    target = tmp_path_factory.mktemp("tools") / "contrast"
    krm_machine.krm("install", str(target)).ok()
    return target


def test_an_installed_copy_needs_nothing_of_its_environment(
    installed: Path, krm_machine: Machine, tmp_path: Path
) -> None:
    work = deployment(tmp_path, "kustomize")
    quickstart = EXAMPLES / "quickstart"
    arguments = ["generate", str(quickstart / "resources"), "--config", str(quickstart / "config")]
    ran = krm_machine.run(["env", "-i", str(installed / "contrast-krm"), *arguments], work).ok()
    assert ran == (quickstart / "expected/rendered.yaml").read_bytes()


def test_an_installed_copy_is_found_as_a_legacy_plugin(installed: Path, krm_machine: Machine, tmp_path: Path) -> None:
    work = tmp_path / "example"
    put(work, {path.name: path.read_text() for path in (EXAMPLES / "kustomize-legacy").iterdir() if path.is_file()})
    kustomize = os.path.realpath(krm_machine.directory / "bin/kustomize")
    home = f"KUSTOMIZE_PLUGIN_HOME={installed / 'plugin'}"
    built = krm_machine.run(["env", "-i", home, kustomize, "build", "--enable-alpha-plugins", "."], work)
    assert built.ok() == (EXAMPLES / "kustomize-legacy/expected/rendered.yaml").read_bytes()


def test_an_installed_copy_on_path_is_what_kustomize_runs(
    installed: Path, krm_machine: Machine, tmp_path: Path
) -> None:
    work = tmp_path / "example"
    for name in ("base", "prod", "confidential"):
        put(work / name, {path.name: path.read_text() for path in (EXAMPLES / "kustomize" / name).iterdir()})
    kustomize = os.path.realpath(krm_machine.directory / "bin/kustomize")
    command = [kustomize, "build", "--enable-alpha-plugins", "--enable-exec", "confidential"]
    built = krm_machine.run(["env", "-i", f"PATH={installed}", *command], work)
    assert built.ok() == (EXAMPLES / "kustomize/expected/rendered.yaml").read_bytes()


def test_an_installed_copy_installs_itself(installed: Path, krm_machine: Machine, tmp_path: Path) -> None:
    krm_machine.run(["env", "-i", str(installed / "contrast-krm"), "install", str(tmp_path / "again")]).ok()
    one, two = (sorted(os.listdir(place / "lib")) for place in (installed, tmp_path / "again"))
    assert one == two
    assert version(krm_machine, tmp_path / "again").ok() == version(krm_machine, installed).ok()


def version(machine: Machine, place: Path) -> Ran:
    return machine.run(["env", "-i", str(place / "contrast-krm"), "--version"])
