"""A pin hides the tag below it: a later change there is a warning of `lock` (CC0517), and nothing else is.

The real kustomize and Helm build what `lock` reads, as their users pipe it.
"""

import subprocess
from collections.abc import Callable

import pytest
import yaml

from krm_function.kubernetes.objects import dig
from tests.failures.running import Run
from tests.hosts.hosts import put
from tests.lock.conftest import Locking
from tests.lock.content import image, layer, tar
from tests.lock.registries import Registry
from tests.lock.test_lock_pins import built, pod
from tests.wording import wording
from tools.real import tool

VERSIONS = ("1.4.0", "1.5.0", "1.6.0")
IMAGES = {version: image(layer(tar({"version": version}))) for version in VERSIONS}
KUSTOMIZATION = "overlay/kustomization.yaml"
CLASS = "runtimeClassName: contrast-cc-metal-qemu-snp"
PODS = (("spec",), ("spec", "template", "spec"))


@pytest.fixture(scope="module")
def name(hub: Registry) -> str:
    """A repository with an image for each version."""
    for version, made in IMAGES.items():
        hub.push(made, "hidden/web", version)
    return f"{hub.address}/hidden/web"


class Deployment:
    """Files in the directory of a lock, and how they are built and locked."""

    def __init__(self, lock: Locking, hub: Registry, option: tuple[str, str], build: Callable[[], bytes]) -> None:
        self.directory, self.build, self._lock = lock.directory, build, lock
        self._flags = ("-o", "images.yaml", "--insecure-registry", hub.address, *option, "--format", "json")

    def lock(self, *arguments: str) -> tuple[Run, list[str]]:
        """Run `lock` on what is built; the messages of CC0517."""
        run = self._lock(*self._flags, *arguments, data=self.build())
        assert run.code == 0, run.stderr
        return run, [one["message"] for one in run.findings if one["code"] == "CC0517"]

    def runs(self) -> str:
        """Return the tag and digest that run."""
        objects = yaml.safe_load_all(self.build())
        lists = [dig(one, (*path, "containers")) for one in objects for path in PODS]
        (containers,) = [one for one in lists if one]
        return str(containers[0]["image"]).rpartition("/")[2]

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.directory / path).read_text()
        assert old in text
        (self.directory / path).write_text(text.replace(old, new))

    def line(self, path: str, part: str) -> str:
        lines = (self.directory / path).read_text().splitlines()
        return f"{path}:{next(number for number, line in enumerate(lines, 1) if part in line)}"

    def entries(self) -> dict[str, str]:
        return {key: entry.get("pinnedOver", "") for key, entry in self._lock.written().items()}


def overlay(lock: Locking, hub: Registry, base: dict[str, str], kustomization: str) -> Deployment:
    put(lock.directory / "base", base)
    put(lock.directory / "overlay", {"kustomization.yaml": kustomization})
    option = ("--write-kustomize", "overlay")
    return Deployment(lock, hub, option, lambda: built(lock.directory / "overlay"))


def of_base(name: str, more: str = "") -> dict[str, str]:
    return {"web.yaml": pod("web", f"{name}:1.4.0"), "kustomization.yaml": f"resources: [web.yaml]\n{more}"}


OVERLAY = "resources: [../base]\n"


def test_a_tag_that_changes_in_the_base_is_named_until_the_pin_follows(hub: Registry, lock: Locking, name: str) -> None:
    """What was reported: web:1.4.0 becomes 1.5.0 in base/web.yaml; nothing was fetched, no word, 1.4.0 ran."""
    shop = overlay(lock, hub, of_base(name), OVERLAY)
    assert shop.lock()[1] == []
    old = f"{name}:1.4.0@{IMAGES['1.4.0'].digest}"
    assert shop.entries() == {old: "1.4.0"}
    assert shop.lock("--upgrade", "--prune")[1] == [], "nothing has changed"

    shop.replace("base/web.yaml", ":1.4.0", ":1.5.0")
    run, warnings = shop.lock("--upgrade", "--prune")
    place = shop.line("base/web.yaml", ":1.5.0")
    assert warnings == [wording("CC0517", image=old, over="1.4.0", tag="1.5.0", place=place)]
    (warning,) = [one for one in run.findings if one["code"] == "CC0517"]
    position = f"{warning['file'].removeprefix('./')}:{warning['line']}"
    assert position == shop.line(KUSTOMIZATION, "digest:")
    assert shop.runs() == f"web:1.4.0@{IMAGES['1.4.0'].digest}", "the old image runs"
    assert shop.lock()[1] == warnings, "every time"

    shop.replace(KUSTOMIZATION, 'newTag: "1.4.0"', 'newTag: "1.5.0"')  # the hint, to the letter
    assert shop.lock("--upgrade", "--prune")[1] == []
    assert shop.runs() == f"web:1.5.0@{IMAGES['1.5.0'].digest}"
    assert shop.entries() == {f"{name}:1.5.0@{IMAGES['1.5.0'].digest}": "1.5.0"}
    shop.replace("base/web.yaml", ":1.5.0", ":1.6.0")
    assert len(shop.lock()[1]) == 1, "it still follows the base"


def test_a_tag_that_changes_in_the_images_of_a_base_is_named(hub: Registry, lock: Locking, name: str) -> None:
    entry = f"images: [{{name: web, newName: {name}, newTag: 1.4.0}}]\n"
    base = of_base(name, entry) | {"web.yaml": pod("web", "web:1.0")}
    shop = overlay(lock, hub, base, OVERLAY)
    assert shop.lock()[1] == []
    shop.replace("base/kustomization.yaml", "newTag: 1.4.0", "newTag: 1.5.0")
    (message,) = shop.lock("--upgrade")[1]
    assert f"{shop.line('base/kustomization.yaml', '1.5.0')}," in message


def test_another_pod_of_the_base_with_another_tag_is_named(hub: Registry, lock: Locking, name: str) -> None:
    shop = overlay(lock, hub, of_base(name), OVERLAY)
    assert shop.lock()[1] == []
    (lock.directory / "base/job.yaml").write_text(pod("job", f"{name}:1.5.0"))
    shop.replace("base/kustomization.yaml", "[web.yaml]", "[web.yaml, ./job.yaml]")
    (message,) = shop.lock("--upgrade")[1]
    assert f"{shop.line('base/job.yaml', '1.5.0')}," in message


def test_a_moved_tag_takes_along_what_it_follows(hub: Registry, lock: Locking) -> None:
    """The tag is another image now, and the base changes in the same commit."""
    name = f"{hub.address}/hidden/moved"
    hub.push(IMAGES["1.4.0"], "hidden/moved", "1.4.0")
    shop = overlay(lock, hub, of_base(name), OVERLAY)
    shop.lock()
    hub.push(IMAGES["1.6.0"], "hidden/moved", "1.4.0")
    shop.replace("base/web.yaml", ":1.4.0", ":1.5.0")
    for _ in range(2):
        assert len(shop.lock("--upgrade", "--prune")[1]) == 1
        assert shop.entries() == {f"{name}:1.4.0@{IMAGES['1.6.0'].digest}": "1.4.0"}


OWN_TAG = "images: [{name: NAME, newTag: 1.5.0}]\n"
UNTAGGED = "images: [{name: NAME, newTag: 1.5.0, digest: DIGEST}]\n"


@pytest.mark.parametrize("images", [OWN_TAG, UNTAGGED, OWN_TAG.replace("1.5.0", "1.4.0")])
def test_where_the_overlay_had_the_tag_the_base_is_no_news(
    images: str, hub: Registry, lock: Locking, name: str
) -> None:
    """It is the overlay that decides here, as people and CI write it: `kustomize edit set image`."""
    text = images.replace("NAME", name).replace("DIGEST", IMAGES["1.5.0"].digest)
    shop = overlay(lock, hub, of_base(name), OVERLAY + text)
    assert shop.lock()[1] == []
    assert shop.lock("--upgrade", "--prune")[1] == []
    assert set(shop.entries().values()) == {""}
    shop.replace("base/web.yaml", ":1.4.0", ":1.6.0")
    assert shop.lock("--upgrade", "--prune")[1] == []


def test_a_tag_that_is_changed_where_lock_says_is_no_news(hub: Registry, lock: Locking, name: str) -> None:
    shop = overlay(lock, hub, of_base(name), OVERLAY)
    shop.lock()
    shop.replace(KUSTOMIZATION, 'newTag: "1.4.0"', 'newTag: "1.5.0"')
    for arguments in ((), ("--upgrade",), ("--upgrade", "--prune"), ()):
        assert shop.lock(*arguments)[1] == []
    assert shop.runs() == f"web:1.5.0@{IMAGES['1.5.0'].digest}"
    shop.replace("base/web.yaml", ":1.4.0", ":1.6.0")
    assert shop.lock("--upgrade")[1] == [], "from then on the overlay decides"


def test_a_lock_of_two_deployments_says_nothing_that_is_untrue_of_one(hub: Registry, lock: Locking, name: str) -> None:
    """The first copies the tag of its base; the second has the same image by a tag of its own."""
    first = overlay(lock, hub, of_base(name), OVERLAY)
    assert first.lock()[1] == []
    put(lock.directory / "other/base", {**of_base(name), "web.yaml": pod("web", f"{name}:1.6.0")})
    own = f"resources: [base]\nimages: [{{name: {name}, newTag: 1.4.0}}]\n"
    put(lock.directory / "other", {"kustomization.yaml": own})
    other = Deployment(lock, hub, ("--write-kustomize", "other"), lambda: built(lock.directory / "other"))
    assert [other.lock()[1], other.lock("--upgrade")[1]] == [[], []]
    assert first.lock("--upgrade")[1] == []


def test_a_base_that_cannot_be_read_compares_nothing(hub: Registry, lock: Locking, name: str) -> None:
    shop = overlay(lock, hub, of_base(name), OVERLAY)
    shop.lock()
    stream = shop.build()
    shop.build = lambda: stream
    for text in ("a: [\n", "kind: Pod\nspec: {containers: [{image: ' '}, {image: 1}]}\n"):
        (lock.directory / "base/web.yaml").write_text(text)
        assert shop.lock("--upgrade")[1] == []
    (lock.directory / "base/kustomization.yaml").write_text("resources: [../overlay, ../base, nowhere]\n")
    assert shop.lock("--upgrade")[1] == [], "a cycle ends"
    (lock.directory / "base/kustomization.yaml").unlink()
    assert shop.lock("--upgrade")[1] == []


# --- Helm


def of_helm(lock: Locking, hub: Registry, name: str, helm: str, tag: str = '""') -> Deployment:
    """The chart of `helm create`, with a class for its pod and our repository."""
    subprocess.run([tool(helm), "create", "shop"], cwd=lock.directory, check=True, capture_output=True)
    command = [tool(helm), "template", "shop", str(lock.directory / "shop"), "--skip-tests"]
    option = ("--write-values", "shop/values.yaml")
    chart = Deployment(lock, hub, option, lambda: subprocess.run(command, check=True, capture_output=True).stdout)
    chart.replace("shop/templates/deployment.yaml", "      containers:\n", f"      {CLASS}\n      containers:\n")
    chart.replace("shop/values.yaml", "repository: nginx", f"repository: {name}")
    chart.replace("shop/values.yaml", 'tag: ""', f"tag: {tag}")
    chart.replace("shop/Chart.yaml", 'appVersion: "1.16.0"', 'appVersion: "1.4.0"')
    return chart


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_an_app_version_that_changes_is_named_until_the_pin_follows(
    helm: str, hub: Registry, lock: Locking, name: str
) -> None:
    """What was reported: a new appVersion; labels told it, `lock --upgrade` no word, and the old image ran."""
    chart = of_helm(lock, hub, name, helm)
    assert chart.lock()[1] == []
    assert chart.lock("--upgrade", "--prune")[1] == []
    chart.replace("shop/Chart.yaml", '"1.4.0"', '"1.5.0"')
    run, warnings = chart.lock("--upgrade", "--prune")
    place = chart.line("shop/Chart.yaml", "appVersion:")
    old = f"{name}:1.4.0@{IMAGES['1.4.0'].digest}"
    assert warnings == [wording("CC0517", image=old, over="1.4.0", tag="1.5.0", place=place)]
    (warning,) = [one for one in run.findings if one["code"] == "CC0517"]
    assert f"{warning['file']}:{warning['line']}" == chart.line("shop/values.yaml", "sha256:")
    assert chart.runs() == f"web:1.4.0@{IMAGES['1.4.0'].digest}"

    chart.replace("shop/values.yaml", "1.4.0@", "1.5.0@")  # the hint, to the letter
    assert chart.lock("--upgrade", "--prune")[1] == []
    assert chart.runs() == f"web:1.5.0@{IMAGES['1.5.0'].digest}"
    chart.replace("shop/Chart.yaml", '"1.5.0"', '"1.6.0"')
    assert len(chart.lock()[1]) == 1


def test_a_tag_of_the_values_has_nothing_to_do_with_the_app_version(hub: Registry, lock: Locking, name: str) -> None:
    chart = of_helm(lock, hub, name, "helm4", "1.4.0")
    assert chart.lock()[1] == []
    chart.replace("shop/Chart.yaml", '"1.4.0"', '"1.5.0"')
    assert chart.lock("--upgrade")[1] == []


@pytest.mark.parametrize("text", [None, "", "a: [\n", "name: shop\n"])
def test_without_an_app_version_beside_the_values_nothing_is_compared(
    text: str | None, hub: Registry, lock: Locking, name: str
) -> None:
    chart = of_helm(lock, hub, name, "helm4")
    stream = chart.build()
    chart.build = lambda: stream
    path = lock.directory / "shop/Chart.yaml"
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    assert [chart.lock()[1], set(chart.entries().values())] == [[], {""}]
