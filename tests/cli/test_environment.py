"""Options from the environment: after the option, before the default, never unseen, and never for a host."""

import json
import os
from pathlib import Path

import pytest

from krm_function.cli.parser import CONFIG_VARIABLE, FORMAT_VARIABLE
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG, written
from tests.failures.running import Run, Zygote
from tests.failures.world import World

SEEN = f"info CC0911: the environment sets --config: {CONFIG_VARIABLE}="
READ = ("generate", "plan", "explain", "diff", "check")


class Calls:
    """The deployment of tests/failures, and calls with some variables."""

    def __init__(self, directory: Path, call: Zygote) -> None:
        self.directory = directory
        self._call = call
        written(World(), directory)

    def __call__(self, *arguments: str, data: bytes = b"", **variables: str) -> Run:
        named = {"CONFIG": CONFIG_VARIABLE, "FORMAT": FORMAT_VARIABLE}
        environment = {named[name]: value for name, value in variables.items()}
        return self._call(*arguments, data=data, directory=self.directory, variables=environment)


@pytest.fixture
def calls(tmp_path: Path, call: Zygote) -> Calls:
    return Calls(tmp_path, call)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory, call: Zygote) -> bytes:
    """The deployment, rendered."""
    made = Calls(tmp_path_factory.mktemp("rendered"), call)
    run = made("generate", "deployment", "--config", CONFIG)
    assert run.code == 0
    return run.stdout


def input_of(command: str, calls: Calls, rendered: bytes) -> list[str]:
    (calls.directory / "rendered.yaml").write_bytes(rendered)
    files = {"check": ["rendered.yaml"], "explain": ["Deployment/web", "deployment"]}
    return [command, *files.get(command, ["deployment"])]


@pytest.mark.parametrize("command", READ)
def test_a_command_does_with_the_variable_what_it_does_with_the_option(
    command: str, calls: Calls, rendered: bytes
) -> None:
    words = input_of(command, calls, rendered)
    by_option, by_variable = calls(*words, "--config", CONFIG), calls(*words, CONFIG=CONFIG)
    assert (by_variable.code, by_variable.stdout) == (by_option.code, by_option.stdout)
    assert by_option.code == 0
    assert by_variable.stderr.replace(f"{SEEN}{CONFIG}\n", "") == by_option.stderr


@pytest.mark.parametrize("command", READ)
def test_a_render_says_that_its_configuration_is_from_the_environment(
    command: str, calls: Calls, rendered: bytes
) -> None:
    assert f"{SEEN}{CONFIG}\n" in calls(*input_of(command, calls, rendered), CONFIG=CONFIG).stderr


@pytest.mark.parametrize("command", ["generate", "plan", "check"])
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_every_format_says_so(form: str, command: str, calls: Calls, rendered: bytes) -> None:
    run = calls(*input_of(command, calls, rendered), "--format", form, CONFIG=CONFIG)
    assert "CC0911" in run.stderr
    assert CONFIG_VARIABLE in run.stderr


@pytest.mark.parametrize("command", READ)
def test_the_option_wins_and_the_variable_is_not_even_opened(command: str, calls: Calls, rendered: bytes) -> None:
    words = input_of(command, calls, rendered)
    run = calls(*words, "--config", CONFIG, CONFIG="/nonexistent")
    assert run == calls(*words, "--config", CONFIG)
    assert run.code == 0


def test_several_paths_have_colons_between_them(calls: Calls) -> None:
    documents = (calls.directory / CONFIG).read_text().split("\n---\n")
    assert len(documents) > 1
    for number, document in enumerate(documents):
        (calls.directory / f"part{number}.yaml").write_text(f"{document}\n")
    value = os.pathsep.join(f"part{number}.yaml" for number in range(len(documents)))
    assert calls("generate", "deployment", CONFIG=value).stdout == calls("generate", "deployment", CONFIG=CONFIG).stdout


@pytest.mark.parametrize("value", [f"{CONFIG}:", f":{CONFIG}", ":", f"{CONFIG}::{CONFIG}"])
def test_an_empty_path_is_a_mistake_and_not_this_directory(value: str, calls: Calls) -> None:
    run = calls("generate", "deployment", CONFIG=value)
    assert (run.code, run.stdout) == (2, b"")
    assert f"{CONFIG_VARIABLE}: one of its paths is empty" in run.stderr


def test_a_path_that_is_not_there_is_an_error_that_names_the_variable(calls: Calls) -> None:
    run = calls("generate", "deployment", CONFIG="nope.yaml")
    assert (run.code, run.stdout) == (3, b"")
    assert "CC1001 nope.yaml: cannot be read" in run.stderr
    assert f"{SEEN}nope.yaml" in run.stderr


def test_an_empty_variable_is_none(calls: Calls) -> None:
    assert calls("generate", "deployment", CONFIG="", FORMAT="") == calls("generate", "deployment")


HOSTS = (("fn",), (), ("post-render",), ("post-render", "--report", "report.txt"))


@pytest.mark.parametrize("arguments", HOSTS, ids=lambda words: " ".join(words) or "no argument")
def test_a_host_reads_no_variable(arguments: tuple[str, ...], calls: Calls) -> None:
    world = World()
    helm = "post-render" in arguments
    data = world.stream() if helm else world.resource_list()
    poisoned = {"CONFIG": "/nonexistent", "FORMAT": "json"}
    assert calls(*arguments, data=data, **poisoned) == calls(*arguments, data=data)
    other = calls.directory / "other.yaml"  # one that would be used
    other.write_bytes(world.config())
    without = calls(*arguments, data=world.stream(), CONFIG="other.yaml")
    assert "CC0911" not in without.stderr
    assert without == calls(*arguments, data=world.stream())


@pytest.mark.parametrize("arguments", [("policy", "show", "Deployment/web", "rendered.yaml"), ("uninject",)])
def test_what_reads_sealed_output_is_not_changed_by_a_configuration(
    arguments: tuple[str, ...], calls: Calls, rendered: bytes
) -> None:
    (calls.directory / "rendered.yaml").write_bytes(rendered)
    run = calls(*arguments, data=rendered, CONFIG="/nonexistent")
    assert run.code == 0
    assert run == calls(*arguments, data=rendered)


def test_a_comparison_of_two_outputs_takes_no_configuration_and_none_from_the_environment(
    calls: Calls, rendered: bytes
) -> None:
    (calls.directory / "rendered.yaml").write_bytes(rendered)
    words = ("diff", "--policy", "rendered.yaml", "rendered.yaml")
    assert calls(*words, CONFIG="/nonexistent").code == 0
    assert calls(*words, "--config", CONFIG).code == 2


def test_the_format_of_the_findings(calls: Calls) -> None:
    assert json.loads(calls("generate", "deployment", FORMAT="json").stderr)["version"] == 1
    assert calls("generate", "deployment", "--format", "text", FORMAT="json") == calls("generate", "deployment")


def test_a_format_that_is_none_is_a_mistake(calls: Calls) -> None:
    run = calls("generate", "deployment", FORMAT="jsn")
    assert (run.code, run.stdout) == (2, b"")
    assert run.stderr == f"contrast-krm: {FORMAT_VARIABLE} jsn is not known\n  hint: did you mean json?\n"


def test_help_names_the_variable_exactly_where_it_is_read(shop: Shop) -> None:
    for command in (*READ, "lock"):
        assert f"${CONFIG_VARIABLE}" in shop(command, "--help").stdout.decode()
    for words in (("fn",), ("post-render",), ("policy", "show"), ("policy", "replay")):
        assert CONFIG_VARIABLE not in shop(*words, "--help").stdout.decode()
    assert FORMAT_VARIABLE not in shop("fn", "--help").stdout.decode()
