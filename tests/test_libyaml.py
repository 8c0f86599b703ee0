"""PyYAML read late is PyYAML: the same classes, the same events, the same errors."""

import subprocess
import sys

import pytest

EARLY = "import sys\nfrom krm_function.libyaml import CParser, MarkedYAMLError, ReaderError, ScalarEvent, YAMLError\n"
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
