"""PyYAML read late is PyYAML: the same classes, the same events, the same errors."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from krm_function.text.libyaml import WANTED

ROOT = Path(__file__).parents[1]
REMEDY = f"install it as a wheel, or build it with libyaml's headers present: pip install '{WANTED}'"

EARLY = (
    "import sys\nfrom krm_function.text.libyaml import CParser, MarkedYAMLError, ReaderError, ScalarEvent, YAMLError\n"
)
WRONG = ["a: [", "a: 'b", "a: b: c", "\tb: 1", "a: \x01", "%YAML 3.0\n---\n", "a: *b c", "- a\nb", "? [", "{a: b}}"]


def run(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", EARLY + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_half_that_nobody_calls_is_not_loaded() -> None:
    names = run("print(*sys.modules)").split()
    assert {name for name in names if name.startswith("yaml")} == {
        *("yaml", "yaml._yaml", "yaml.error", "yaml.events", "yaml.nodes", "yaml.tokens")
    }
    assert {"re", "typing", "datetime", "base64"}.isdisjoint(names)


@pytest.mark.parametrize(
    "code",
    [
        "import yaml\nprint(yaml.safe_load('a: [1]'))",
        "from yaml import safe_load\nprint(safe_load('a: [1]'))",
        "import yaml\nfrom yaml import CSafeLoader\nprint(yaml.load('a: [1]', CSafeLoader))",
        "import yaml.constructor, yaml\nprint(yaml.load('a: [1]', yaml.SafeLoader))",
        "import yaml\nprint(dict(a=[1]) if yaml.__with_libyaml__ and yaml.dump({}) else '')",
        "import yaml\nyaml.SafeLoader\nprint({'a': [1]} if yaml.events.ScalarEvent is ScalarEvent else '')",
    ],
)
def test_the_package_reads_itself_for_whoever_wants_more(code: str) -> None:
    assert run(code) == "{'a': [1]}\n"


def test_its_errors_are_caught_as_those_of_the_whole_package() -> None:
    code = (
        "import yaml\n"
        "for text in ('a: [', 'a: \\x01'):\n"
        "    for reader in (lambda: CParser(text).raw_parse(), lambda: yaml.load(text, yaml.CSafeLoader)):\n"
        "        try:\n"
        "            reader()\n"
        "        except yaml.YAMLError as error:\n"
        "            print(isinstance(error, YAMLError))\n"
    )
    assert run(code) == "True\n" * 4


def test_a_name_that_is_nowhere_is_refused_as_ever() -> None:
    code = "import yaml\ntry:\n    yaml.nowhere\nexcept AttributeError:\n    print(hasattr(yaml, 'safe_load'))"
    assert run(code) == "True\n"


@pytest.mark.parametrize("text", WRONG)
def test_errors_say_the_same_as_those_of_the_package(text: str) -> None:
    code = (
        f"text = {text!r}\n"
        "if whole:\n    import yaml\n    yaml.SafeLoader\n    from yaml._yaml import CParser\n"
        "try:\n    CParser(text).raw_parse()\n"
        "except YAMLError as error:\n"
        "    told = {name: str(value) for name, value in vars(error).items()}\n"
        "    print(type(error).__name__, sorted(told.items()))\n"
    )
    late = run("whole = False\n" + code)
    whole = subprocess.run(
        [sys.executable, "-c", "import sys, yaml\nfrom yaml import YAMLError\nwhole = True\n" + code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert late
    assert late == whole.stdout


LAYOUTS = {
    "built without libyaml": {"__init__": "", "error": "", "events": "", "nodes": "", "tokens": ""},
    "another module of events": {"__init__": "", "error": "class YAMLError(Exception): pass"},
    "another base of errors": {"__init__": "", "error": "class YAMLError(Exception): pass"}
    | dict.fromkeys(("events", "nodes", "tokens"), ""),
    "broken": {"__init__": "raise ImportError('half installed')"},
}


def call(*arguments: str, path: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line with a directory before all others that Python looks into."""
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", "import sys\nfrom krm_function.cli import main\nsys.exit(main())", *arguments]
    return subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, check=False
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("arguments", [[], ["post-render"], ["generate", "."]])
def test_another_layout_of_pyyaml_is_one_line_and_what_to_do(layout: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "yaml").mkdir()
    for module, text in LAYOUTS[layout].items():
        (tmp_path / "yaml" / f"{module}.py").write_text(text)
    done = call(*arguments, path=str(tmp_path))
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("contrast-krm: PyYAML 6.0."), done.stderr
    assert " cannot be used: " in done.stderr
    assert done.stderr.endswith(f"; nothing was written\n  hint: {REMEDY}\n")
    assert len(done.stderr.splitlines()) == 2


def test_without_pyyaml_the_hint_is_the_same() -> None:
    code = (
        "import sys\n"
        "class Hiding:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'yaml': raise ModuleNotFoundError(\"No module named 'yaml'\", name='yaml')\n"
        "        return None\n"
        "sys.meta_path.insert(0, Hiding())\n"
        "from krm_function.cli import main\n"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "No module named 'yaml'" in done.stderr
    assert REMEDY in done.stderr


def test_the_bound_of_the_project_is_the_one_that_is_said() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert WANTED in project["dependencies"]
