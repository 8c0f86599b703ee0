"""The program under CPython 3.15, as Pyodide carries it for WebAssembly, under Node.

Nothing is compiled for it here, so some cannot be tried: libyaml (PyYAML's parser in Python takes its place, with the
same events, and far slower), and OpenSSL, hence the ID blocks of SEV-SNP, owner keys, and a second render by `check
--config`. What is left is rendered to the same bytes: a ResourceList for TDX, with policies and a manifest.
"""

import json
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from benchmarks.inputs import options, plain, resource_list
from krm_function import __version__
from tests.failures.running import spawned
from tests.real_tools import needing
from tools.interpreters import WASM, pyodide

pytestmark = needing("pyodide")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RENDERED = "examples/quickstart/expected/rendered.yaml"
TDX = re.sub(
    r"(platform: |runtimeClassName: contrast-cc-)metal-qemu-snp",
    r"\1metal-qemu-tdx",
    resource_list(plain(2), options(policies=True)),
)
CALLS = {
    "version": (("--version",), ""),
    "help": (("--help",), ""),
    "help of a command": (("generate", "--help"), ""),
    "schema": (("schema", "ContrastGenerate"), ""),
    "manifest": (("manifest", f"/project/{RENDERED}"), ""),
    "uninject": (("uninject", f"/project/{RENDERED}"), ""),
    "render": ((), TDX),
    "no ResourceList": (("fn",), "a: [\n"),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All answers of one process."""
    calls = tmp_path_factory.mktemp("calls")
    asked = {name: {"arguments": arguments, "source": source} for name, (arguments, source) in CALLS.items()}
    (calls / "calls.json").write_text(json.dumps(asked))
    node, place = pyodide()
    mounts = (f"/project={ROOT}", f"/libraries={sysconfig.get_path('purelib')}", f"/calls={calls}")
    command = [node, str(HERE / "wasm.mjs"), place, str(HERE / "in_wasm.py"), *mounts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_the_interpreter_is_the_one_that_was_asked_for(told: Any) -> None:
    assert told["version"] == [int(part) for part in WASM.split(".")]


def test_records_answer_as_the_standard_ones_of_that_version(told: Any) -> None:
    assert told["records"] == []


def test_every_module_can_be_imported(told: Any) -> None:
    assert told["failing"] == {}


def test_version_and_help_are_printed(told: Any) -> None:
    answers = told["answers"]
    assert answers["version"] == {"code": 0, "out": f"contrast-krm {__version__}\n", "err": ""}
    assert answers["help"]["out"].startswith("usage: contrast-krm ")
    assert answers["help of a command"]["out"].startswith("usage: contrast-krm generate ")


@pytest.mark.parametrize("name", ["schema", "manifest", "uninject", "render"])
def test_the_output_is_that_of_the_interpreter_of_the_tests(name: str, told: Any) -> None:
    arguments, source = CALLS[name]
    here = spawned(*(word.replace("/project", str(ROOT)) for word in arguments), data=source.encode())
    assert here.code == 0
    assert len(here.stdout) > 1000
    assert told["answers"][name]["out"].encode() == here.stdout


def test_a_syntax_error_is_a_finding_there_too(told: Any) -> None:
    answer = told["answers"]["no ResourceList"]
    assert answer["code"] == 1
    assert "CC01" in answer["err"] + answer["out"]
