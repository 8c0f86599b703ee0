"""The page on writing functions: what it shows is run by the real kpt and kustomize, from the built wheel alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import krm_function
from tests.krm import page
from tests.krm.third_party import Environment
from tools.real import tool

NEW = '"nginx:1.27" # keep in step with the base'


class Shop:
    """A directory with the files of the page."""

    def __init__(self, directory: Path, environment: Environment) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir()
        self.path = directory / "bin"
        self.path.mkdir()
        for name in ("kpt", "kustomize"):
            (self.path / name).symlink_to(tool(name))
        self.work = directory / "work"
        page.write(self.work, str(environment.python))

    def run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        """Run one command as the page shows it."""
        variables = {"PATH": f"{self.path}:/usr/bin:/bin", "HOME": str(self.home)}
        return subprocess.run(
            command, cwd=self.work, env=variables, capture_output=True, text=True, timeout=60, check=False
        )


@pytest.fixture
def shop(tmp_path: Path, environment: Environment) -> Shop:
    return Shop(tmp_path, environment)


def command(program: str) -> list[str]:
    (found,) = (words for words in page.commands() if words[0] == program)
    return found


def test_the_page_shows_every_file_that_its_commands_need() -> None:
    assert set(page.files()) == {
        *("set_image.py", "resources/deployment.yaml", "set-image.yaml", "kustomization.yaml"),
        *("Dockerfile", "test_set_image.py"),
    }
    body = page.files()["set_image.py"].partition("def set_image")[2].splitlines()
    assert len(body) < 20


@pytest.mark.slow
def test_kpt_runs_it_and_changes_nothing_else(shop: Shop) -> None:
    file = shop.work / "resources" / "deployment.yaml"
    before = file.read_text()
    done = shop.run(command("kpt"))
    assert done.returncode == 0, done.stderr
    assert "[info] apps/v1/Deployment/shop spec.template.spec.containers[0].image: image of web is set" in done.stderr
    assert file.read_text() == before.replace('"nginx:1.25"', '"nginx:1.27"')


def test_kpt_names_object_and_field_of_what_is_wrong(shop: Shop) -> None:
    file = shop.work / "resources" / "deployment.yaml"
    broken = file.read_text().replace("- name: web", "- name: 5")
    file.write_text(broken)
    done = shop.run(command("kpt"))
    assert done.returncode == 1
    problem = "spec.template.spec.containers[0].name: is an integer, a string is expected"
    assert f"[error] apps/v1/Deployment/shop {problem}" in done.stderr
    assert file.read_text() == broken


def test_kpt_is_told_of_an_argument_that_is_unknown(shop: Shop) -> None:
    done = shop.run([*command("kpt"), "imge=nginx"])
    assert done.returncode == 1
    assert "functionConfig: data.imge is unknown; known are container, image, replicas" in done.stderr


def test_a_one_letter_argument_of_kpt_keeps_its_name(shop: Shop) -> None:
    done = shop.run([*command("kpt"), "n=3"])
    assert done.returncode == 1
    assert "functionConfig: data.n is unknown; known are container, image, replicas" in done.stderr


def test_kpt_itself_writes_every_file_anew(shop: Shop) -> None:
    file = shop.work / "resources" / "deployment.yaml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    done = shop.run(["kpt", "fn", "eval", "resources", "--exec", "/bin/cat"])
    assert done.returncode == 0, done.stderr
    assert b"\r" not in file.read_bytes()


def test_kustomize_runs_it(shop: Shop) -> None:
    done = shop.run(command("kustomize"))
    assert (done.returncode, done.stderr) == (0, "")
    expected = yaml.safe_load((shop.work / "resources" / "deployment.yaml").read_text())
    expected["spec"]["replicas"] = 3
    expected["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:1.27"
    assert yaml.safe_load(done.stdout) == expected
    config = shop.work / "set-image.yaml"
    config.write_text(config.read_text().replace("replicas: 3", "replicas: three"))
    done = shop.run(command("kustomize"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "functionConfig: spec.replicas is a string, an integer is expected" in done.stderr


def test_a_validator_of_kustomize_that_changes_something_fails(shop: Shop) -> None:
    file = shop.work / "kustomization.yaml"
    file.write_text(file.read_text().replace("transformers:", "validators:"))
    done = shop.run(command("kustomize"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "validator shouldn't modify the resource map" in done.stderr


def test_its_tests_pass(shop: Shop) -> None:
    root = str(Path(krm_function.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_set_image.py"],
        cwd=shop.work,
        env={"PATH": os.defpath, "HOME": str(shop.home), "PYTHONPATH": f"{root}:{shop.work}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_help_is_the_docstring(shop: Shop) -> None:
    done = shop.run(["./set_image.py", "--help"])
    assert done.stdout.startswith("Set the image of containers by name: kpt fn eval")


def test_it_has_types_that_mypy_knows(shop: Shop, environment: Environment) -> None:
    assert environment.mypy(shop.work, "set_image.py") == "Success: no issues found in 1 source file\n"


def test_the_program_of_the_image_is_the_file_of_the_page() -> None:
    dockerfile = page.files()["Dockerfile"]
    assert "COPY set_image.py /set_image.py\n" in dockerfile
    assert dockerfile.endswith('ENTRYPOINT ["python", "/set_image.py"]\n')
