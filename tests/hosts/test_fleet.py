"""examples/fleet: the program that Porch's function-runner starts, and the measured fleet with a handful of packages.

Porch cannot be built here. What its function-runner does with a program is done by these tests: it looks the image up
in its configuration, starts the program below `--functions` with a ResourceList, and reads one back
(docs/facts/delivery.md#porch).
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import fleet
from krm_function import __version__
from tests.hosts.documents import digests
from tests.hosts.running import EXAMPLES, Machine, copied

EXAMPLE = EXAMPLES / "fleet"
README = (EXAMPLE / "README.md").read_text()
INSTALL = "contrast-krm install functions"


def image() -> str:
    """The image that the Kptfile of the README names."""
    (named,) = (line.partition("image: ")[2] for line in README.splitlines() if "- image: " in line)
    return named


def executor(file: str, kind: str) -> dict[str, Any]:
    """The executor of a FunctionConfig that takes the image."""
    spec = yaml.safe_load((EXAMPLE / file).read_text())["spec"]
    name, _, tag = image().rpartition(":")
    assert name in {f"{prefix}/{spec['image']}" for prefix in spec["prefixes"]}
    found: dict[str, Any] = spec[kind]
    (constraint,) = found["tags"]
    assert constraint.startswith("~")
    assert tag.startswith(f"v{constraint[1:]}.")
    assert __version__.startswith(f"{constraint[1:]}.")
    return found


@pytest.fixture(scope="module")
def functions(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of --functions, as the README makes it."""
    assert f"    {INSTALL}\n" in README
    here = tmp_path_factory.mktemp("function-runner")
    krm_machine.run(["bash", "-euc", INSTALL], here).ok()
    return here / "functions"


def resource_list(machine: Machine, package: Path) -> bytes:
    return machine.run(["kpt", "fn", "source", "."], package).ok()


def evaluated(functions: Path, name: str, source: bytes, cwd: Path) -> "subprocess.CompletedProcess[bytes]":
    """One call of the function-runner."""
    return subprocess.run([functions / name], cwd=cwd, env={}, input=source, capture_output=True, check=False)


def test_the_program_of_the_image_renders_what_kpt_renders(
    krm_machine: Machine, functions: Path, tmp_path: Path
) -> None:
    source = resource_list(krm_machine, copied("kpt", tmp_path))
    path = executor("function-config.yaml", "binaryExecutor")["path"]
    done = evaluated(functions, path, source, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == krm_machine.krm(stdin=source).ok()
    listed = yaml.safe_load(done.stdout)
    stream = yaml.safe_dump_all(listed["items"]).encode()
    assert digests(stream) == digests((EXAMPLES / "kpt/expected/rendered.yaml").read_bytes())


def test_a_package_that_is_refused_is_answered_by_its_items_and_results(
    krm_machine: Machine, functions: Path, tmp_path: Path
) -> None:
    package = copied("kpt", tmp_path)
    (package / "web.yaml").write_text((package / "web.yaml").read_text().replace("contrast-cc-", "contrast-cc-no-"))
    source = resource_list(krm_machine, package)
    done = evaluated(functions, "contrast-krm", source, tmp_path)
    assert done.returncode == 1
    listed = yaml.safe_load(done.stdout)
    assert listed["kind"] == "ResourceList"
    assert listed["items"] == yaml.safe_load(source)["items"]
    assert "error" in {result["severity"] for result in listed["results"]}


def test_all_three_configurations_name_the_same_image_and_program() -> None:
    (older,) = yaml.safe_load((EXAMPLE / "config.yaml").read_text())["functions"]
    assert older["images"] == [image()]
    assert older["function"] == executor("function-config.yaml", "binaryExecutor")["path"] == "contrast-krm"
    assert executor("function-config-pods.yaml", "podExecutor")


@pytest.mark.parametrize(("host", "count"), [("porch", 5), ("argo-cd", 2)])
def test_packages_at_once_keep_apart_and_give_the_same_bytes_again(host: str, count: int, tmp_path: Path) -> None:
    packages = fleet.HOSTS[host](str(tmp_path), count)
    found = fleet.measure(packages, 2)
    assert len(set(found.digests)) == count
    assert found.cpu > 0
    assert fleet.measure(packages[::-1], 1).digests == found.digests[::-1]


def test_a_package_that_fails_ends_the_measurement(tmp_path: Path) -> None:
    (one,) = fleet.porch(str(tmp_path), 1)
    Path(one.stdin).write_text(Path(one.stdin).read_text().replace("contrast-cc", "contrast-cc-nowhere"))
    with pytest.raises(subprocess.CalledProcessError):
        fleet.measure([one], 1)


@pytest.mark.parametrize(("count", "each", "cores"), [(600, 1.0, 1), (601, 1.0, 2), (10_000, 0.1, 2), (1, 0.1, 1)])
def test_the_arithmetic(count: int, each: float, cores: int) -> None:
    assert fleet.cores(count, each) == cores
