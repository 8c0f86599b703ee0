"""The program under the CPythons that pyproject.toml promises, native ones, with the locked libraries.

What the tests themselves run under is tried by all other tests. CPython 3.15 is in test_wasm.py: nothing carries a
native one yet.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.real_tools import needing
from tools.interpreters import VERSIONS, interpreter

pytestmark = needing("python312", "python313", "python314")

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "examples" / "quickstart"
CALL = "import sys\nfrom krm_function.cli import main\nsys.exit(main())"


def run(version: str, *arguments: str, source: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run Python of a version with our sources and its libraries; a warning is an error."""
    found = interpreter(version)
    environment = {
        "HOME": "/nonexistent",
        "PATH": os.defpath,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join((str(ROOT), found.libraries)),
    }
    command = [found.program, "-W", "error", *arguments]
    return subprocess.run(command, env=environment, input=source, capture_output=True, timeout=120, check=False)


def called(version: str, *arguments: str, source: bytes = b"") -> bytes:
    """What the command line prints."""
    done = run(version, "-c", CALL, *arguments, source=source)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_interpreter_is_the_one_that_was_asked_for(version: str) -> None:
    done = run(version, "-c", "import sys, zlib\nprint(sys.implementation.name, '%d.%d' % sys.version_info[:2])")
    assert done.stdout.decode().split() == ["cpython", version]


def test_records_answer_as_the_standard_ones_of_that_version(version: str) -> None:
    done = run(version, "-m", "tests.interpreters.record_questions")
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (0, "\n", "")


def test_every_module_can_be_imported(version: str) -> None:
    done = run(version, "-m", "tests.interpreters.every_import")
    assert done.returncode == 0, done.stderr.decode()
    files = [path for package in ("krm_function", "helm_plugin") for path in (ROOT / package).rglob("*.py")]
    assert int(done.stdout) == len(files) - 2, "the packages themselves are not counted"


def test_every_command_has_its_help(version: str) -> None:
    listed = re.findall(r"^ {4}([a-z]\S*)", called_here("--help").decode(), re.MULTILINE)
    assert len(listed) > 15
    ways = [(), *((command,) for command in listed), ("release", "import"), ("policy", "show"), ("keys", "new")]
    code = (
        "import contextlib, io, sys\nfrom krm_function.cli import main\n"
        f"for words in {ways!r}:\n"
        "    sys.argv = ['contrast-krm', *words, '--help']\n    print(main(), *words)\n"
    )
    done = run(version, "-c", code)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0, done.stderr.decode()
    for words in ways:
        assert " ".join(("usage: contrast-krm", *words)) in "\n".join(lines)
        assert " ".join(("0", *words)) in lines


def test_the_version_is_printed(version: str) -> None:
    assert called(version, "--version") == called_here("--version")


def test_the_quickstart_is_rendered_to_the_same_bytes(version: str) -> None:
    made = called(version, "generate", str(QUICKSTART / "resources"), "--config", str(QUICKSTART / "config"))
    assert made == (QUICKSTART / "expected" / "rendered.yaml").read_bytes()


def test_rendered_output_passes_the_check_and_is_taken_back(version: str) -> None:
    rendered = str(QUICKSTART / "expected" / "rendered.yaml")
    checked = run(version, "-c", CALL, "check", rendered, "--config", str(QUICKSTART / "config"))
    assert checked.returncode == 0, checked.stderr.decode()
    assert called(version, "manifest", rendered) == (QUICKSTART / "expected" / "manifest.json").read_bytes()
    assert called(version, "uninject", rendered) == called_here("uninject", rendered)


def test_the_plan_is_a_page_too(version: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    arguments = ("plan", str(QUICKSTART / "resources"), "--config", str(QUICKSTART / "config"), "-o", str(page))
    called(version, *arguments)
    assert page.read_text().rstrip().endswith("</html>")


def called_here(*arguments: str) -> bytes:
    """What the command line prints under the interpreter of the tests."""
    return subprocess.run([sys.executable, "-c", CALL, *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def test_the_classifiers_name_the_interpreters_that_are_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line}
    assert named == {"3.11", *VERSIONS}
