"""docs/how-to/external-sources.md: its example opens what it says, and its table is the one of the code."""

import re
from pathlib import Path

import pytest

from krm_function.policy.chosen_programs import STEERING
from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.running import Zygote
from tests.failures.world import World
from tests.hosts.running import ROOT

TEXT = (ROOT / "docs/how-to/external-sources.md").read_text()
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
OPEN = ["DB_PASSWORD", "LEVEL", "SMTP_user", "SMTP_password"]


def test_the_table_is_the_one_of_the_code() -> None:
    table = TEXT.partition("| steers | variables |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    rows = [row.strip("| ").split(" | ") for row in table]
    assert {what: tuple(re.findall("`([^`]+)`", names)) for what, names in rows} == STEERING


@pytest.fixture
def example(tmp_path: Path, call: Zygote) -> Shop:
    shop, world = Shop(tmp_path, call), World()
    options, container = BLOCKS
    world.spec.update(options["spec"])
    world.container["env"] += container["env"]
    world.container["envFrom"] += container["envFrom"]
    shop.change(world)
    return shop


def test_the_example_opens_the_variables_that_the_page_names(example: Shop) -> None:
    rendered = example.generate("-o", "rendered.yaml", "--format", "json")
    assert rendered.code == 0
    (found,) = [one["message"] for one in rendered.findings if one["severity"] == "warning"]
    assert sorted(re.findall(r"(\w+) \(", found)) == sorted(OPEN)
    assert ", ".join(f"`{name}`" for name in OPEN[:-1]) + f" and `{OPEN[-1]}`" in TEXT


def test_the_commands_of_the_page_show_them(example: Shop) -> None:
    assert example.generate("-o", "rendered.yaml").code == 0
    example.write("deployed.yaml", (example.directory / "rendered.yaml").read_bytes())
    commands = re.findall(r"^    contrast-krm (.*)$", TEXT, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        words = command.replace("--config config", "--config config.yaml").replace("resources", "deployment").split()
        run = example(*words)
        assert run.code == 0, command
        assert "DB_PASSWORD (Secret db, key password)" in run.stdout.decode() + run.stderr
