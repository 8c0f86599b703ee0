"""What a render needs is installed with the program; what single commands need comes with an extra, and says so."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.inputs import quickstart
from krm_function.cli.build import NEEDED_EXTRAS as EXTRAS
from krm_function.cli.build import missing_extra

ROOT = Path(__file__).parents[2]
QUICK = ROOT / "examples" / "quickstart"
CONFIG = ("--config", str(QUICK / "config"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EVERY = frozenset((*EXTRAS, "jsonpointer", "markupsafe", "kubernetes"))


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def without(packages: frozenset[str], arguments: list[str], cwd: Path, stdin: str = "") -> Ran:
    """Run the command line where some packages cannot be imported."""
    hidden = "".join(f"sys.modules[{name!r}] = None\n" for name in sorted(packages))
    code = f"import sys\n{hidden}from krm_function.cli import main\nsys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def settings(tmp_path: Path) -> str:
    """Settings with one drop-in."""
    directory = tmp_path / "settings"
    (directory / "genpolicy-settings.d").mkdir(parents=True)
    (directory / "genpolicy-settings.json").write_text("{}")
    (directory / "genpolicy-settings.d" / "10.json").write_text("[]")
    return str(directory)


NEEDING = {
    "lock": (["lock", str(QUICK / "resources"), *CONFIG, "-o", "made"], "urllib3", "lock", "lock"),
    "plan as a page": (["plan", str(QUICK / "resources"), *CONFIG, "-o", "made.html"], "jinja2", "html", "--output"),
    "a cluster": (["plan", str(QUICK / "resources"), *CONFIG, "--cluster"], "kubernetes", "cluster", "--cluster"),
    "completion": (["completion", "bash"], "shtab", "completion", "completion"),
    "settings": (
        ["generate", str(QUICK / "resources"), *CONFIG, "--settings", "SETTINGS", "-o", "made"],
        *("jsonpatch", "settings", "--settings"),
    ),
}


@pytest.mark.parametrize(("arguments", "package", "extra", "option"), NEEDING.values(), ids=NEEDING)
def test_a_command_whose_extra_is_missing_says_which_and_writes_nothing(
    arguments: list[str], package: str, extra: str, option: str, tmp_path: Path, settings: str
) -> None:
    words = [settings if word == "SETTINGS" else word for word in arguments]
    before = sorted(tmp_path.rglob("*"))
    ran = without(frozenset((package,)), words, tmp_path)
    assert ran == Ran(
        2,
        "",
        f"error CC0909: {option}: the Python package {package} is not installed\n"
        f"  hint: pip install 'contrast-krm[{extra}]'\n",
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_without_any_extra_a_cluster_needs_its_own(tmp_path: Path) -> None:
    rendered = str(QUICK / "expected" / "rendered.yaml")
    for command in (["check", rendered], ["why", "deploy/web"], ["plan", str(QUICK / "resources"), *CONFIG]):
        ran = without(EVERY, [*command, "--cluster"], tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "error CC0909: --cluster: the Python package kubernetes is not installed" in ran.err


def test_a_render_needs_no_extra(tmp_path: Path) -> None:
    ran = without(EVERY, [], tmp_path, quickstart(2))
    assert (ran.code, ran.err) == (0, "")
    ran = without(EVERY, ["generate", str(QUICK / "resources"), *CONFIG], tmp_path)
    assert ran.code == 0
    plain = without(EVERY, ["plan", str(QUICK / "resources"), *CONFIG], tmp_path)
    assert plain.code == 0


def test_another_missing_module_is_a_bug(tmp_path: Path) -> None:
    ran = without(frozenset(("krm_function.report.plan_text",)), ["plan", str(QUICK / "resources"), *CONFIG], tmp_path)
    assert ran.code == 70
    assert missing_extra(ModuleNotFoundError(name="krm_function.report")) is None
    assert missing_extra(ModuleNotFoundError()) is None


def test_the_table_agrees_with_what_is_installed_by_each_extra() -> None:
    declared = PROJECT["optional-dependencies"]
    of_package = packages_distributions()
    for package, (extra, _) in EXTRAS.items():
        distributions = {re.sub(r"[-_.]+", "-", name).lower() for name in of_package[package]}
        named = {re.split("[^a-z0-9.-]", line)[0].replace(".", "-") for line in declared[extra]}
        assert distributions & named, package
    everything = {extra for extra in declared if extra not in {"all", "dev"}}
    assert set(re.findall(r"[a-z]+", declared["all"][0].partition("[")[2])) == everything
    assert {re.split("[^a-z]", line)[0] for line in PROJECT["dependencies"]} == {"pyyaml", "cryptography"}


@pytest.mark.parametrize(
    ("file", "command"), [("pipx_metadata.json", "pipx install --force"), ("uv-receipt.toml", "uv tool install")]
)
def test_where_a_tool_manages_the_environment_it_installs_the_extras_that_are_there_as_well(
    file: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    missing = missing_extra(ModuleNotFoundError(name="jinja2"))
    assert missing is not None
    assert missing.hint == f"{command} 'contrast-krm[lock,settings,completion,html]'"
