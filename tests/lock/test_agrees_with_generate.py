"""`lock --check` and `generate` agree on an input: what one refuses before it makes policies, the other refuses too.

Rule of this file: the codes of errors are compared, for every mistake, every file of the adversarial corpus and every
package of the real manifests, as well as for what lock once let through.

- each error of `generate` is one of `lock --check`, unless it belongs to a stage behind the injection of containers;
- for an error that lock is there to settle, `lock --check` has one of its own;
- each other error of `lock --check` is one of `generate`, unless `generate` left out the rest of a pod whose image lock
  has to settle;
- where `generate` is content, so is `lock --check`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adversary.hiding_places import PLACES, Place
from tests.adversary.test_hiding_places import CONFIGURATION
from tests.failures.world import World
from tests.hosts.running import EXAMPLES, Machine, called, machine
from tests.mistakes import more_cases  # noqa: F401  its rows join those of `cases`
from tests.mistakes.cases import MISTAKES, Mistake
from tests.real_manifests.packages import PACKAGES, copy, unsealed

OWN = ("CC12",)  # of lock
NO_IMAGES = {"CC1210", "CC0108"}  # that there is nothing to lock, of which generate makes nothing either
SETTLED = {"CC0502", "CC0504", "CC0906"}  # by lock: an image without digest, one that is not in the lock, no lock
NO_RELEASE = "CC0903"  # lock takes the pods as they stand, and warns
# of stages behind the injection: initdata and policies, manifest and reference values, scheduling, what is written
LATER = ("CC03", "CC06", "CC07")
LOCKED = EXAMPLES / "quickstart/config/images.yaml"


def errors(arguments: list[str]) -> tuple[int, set[str]]:
    ran = called(*arguments, "--format", "json")
    assert ran.code in {0, 1, 2}, ran.err
    findings = json.loads(ran.err)["findings"] if ran.err else []
    return ran.code, {found["code"] for found in findings if found["severity"] == "error"}


def disagreement(paths: list[str], config: list[str], lock: Path) -> str:
    """Return what the two commands differ in, "" for nothing."""
    rendered, of_generate = errors(["generate", *paths, *config])
    checked, of_lock = errors(["lock", "--check", "-o", str(lock), *paths, *config])
    missing = {code for code in of_generate - SETTLED - {NO_RELEASE} if not code.startswith(LATER)} - of_lock
    more = set() if of_generate & SETTLED else {code for code in of_lock - of_generate if not code.startswith(OWN)}
    lacks = bool(of_generate & SETTLED) and checked == 0
    refuses = rendered == 0 and checked != 0
    if of_lock <= NO_IMAGES:
        more, refuses = set(), False
    return f"generate {sorted(of_generate)}, lock {sorted(of_lock)}" if missing or more or lacks or refuses else ""


def disagreement_on(world: World, directory: Path) -> tuple[str, set[str]]:
    """Return the same for the files of a world, and the errors of lock."""
    resources, config, lock = (directory / f"{name}.yaml" for name in ("resources", "config", "lock"))
    resources.write_bytes(world.stream())
    config.write_bytes(world.config())
    if "lock" in world.documents:
        lock.write_text(world.text("lock"))
    paths, options = [str(resources)], ["--config", str(config)]
    _, of_lock = errors(["lock", "--check", "-o", str(lock), *paths, *options])
    return disagreement(paths, options, lock), of_lock


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_on_the_commonest_mistakes(mistake: Mistake, tmp_path: Path) -> None:
    world = World()
    mistake.change(world)
    assert disagreement_on(world, tmp_path)[0] == ""


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_on_the_corpus(place: Place, tmp_path: Path) -> None:
    resources = tmp_path / f"{place.name}.yaml"
    resources.write_bytes(place.data)
    assert disagreement([str(resources)], CONFIGURATION, LOCKED) == ""


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("machine"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_on_the_real_manifests(name: str, on: Machine, tmp_path: Path) -> None:
    package = copy(name, "configured", tmp_path / "package")
    resources = tmp_path / "resources.yaml"
    resources.write_bytes(unsealed(on, package))
    assert disagreement([str(resources)], ["--config", str(package.config)], package.config / "images.yaml") == ""


CLASS = "contrast-cc-metal-qemu-spn"


def mistyped(world: World) -> None:
    world.pod["runtimeClassName"] = CLASS


def of_a_controller(world: World) -> None:
    web = world["web"]
    owner = {"apiVersion": "apps/v1", "kind": "Rollout", "name": "web", "uid": "1", "controller": True}
    web |= {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
    web["metadata"]["ownerReferences"] = [owner]
    world.container["image"] = world.container["image"].replace("a" * 64, "f" * 64)


@pytest.mark.parametrize(("change", "code"), [(mistyped, "CC0401"), (of_a_controller, "CC0220")])
def test_what_lock_let_through(change: Callable[[World], None], code: str, tmp_path: Path) -> None:
    world = World()
    change(world)
    differs, of_lock = disagreement_on(world, tmp_path)
    assert (differs, code in of_lock) == ("", True)
