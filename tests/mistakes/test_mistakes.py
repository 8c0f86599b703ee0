"""Each of the 20 commonest mistakes gives one finding whose hint, followed to the letter, makes the render succeed."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.cli.test_check import container, objects
from tests.failures.world import World, canaries
from tests.hosts.hosts import make_kustomize, quickstart, run_kustomize
from tests.hosts.running import Machine
from tests.mistakes.cases import EDITED, MISTAKES, NOT_RUN, Mistake
from tools.mistakes_page import mistakes_page

PAGE = Path(__file__).parents[2] / "docs/how-to/common-mistakes.md"


def said(shop: Shop, world: World) -> tuple[int, list[dict[str, Any]]]:
    run = shop("fn", "--format", "json", data=world.resource_list())
    assert not list(canaries(run.stderr))
    return run.code, [found for found in run.findings if found["severity"] != "info"]


def lines(world: World) -> set[str]:
    text = (world.stream() + world.config()).decode()
    return {line.strip(" -") for line in text.splitlines()}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_the_hint_followed_to_the_letter_makes_the_render_succeed(mistake: Mistake, shop: Shop) -> None:
    world = World()
    mistake.change(world)
    assert mistake.wrote in lines(world)
    right_elsewhere = mistake.code in {"CC0402", "CC0602"}
    assert not mistake.wrote or right_elsewhere or mistake.wrote not in lines(World())
    code, findings = said(shop, world)
    assert code in {1, 2}
    (found,) = findings
    assert found["code"] == mistake.code
    mistake.follow(world, found["hint"])
    assert said(shop, world) == (0, [])


def test_flags_that_the_hint_names_make_kustomize_run_the_function(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_kustomize(krm_machine, tmp_path / "shop", quickstart())
    command = NOT_RUN.wrote.split()
    assert "--enable-exec" not in command
    built = krm_machine.run(command, directory).ok()
    ran = krm_machine.krm("check", stdin=built)
    assert ran.code == 1
    assert f"error {NOT_RUN.code} " in ran.err
    hint = next(line for line in ran.err.splitlines() if line.startswith("  hint: run the function on it"))
    flags = re.findall(r"--enable-[a-z-]+", hint)
    rendered = run_kustomize(krm_machine, directory, *flags).ok()
    krm_machine.krm("check", stdin=rendered).ok()


def test_rendering_again_seals_what_was_edited(shop: Shop, rendered: bytes) -> None:
    made = objects(rendered)
    container(made)["env"][0]["value"] = EDITED.wrote.removeprefix("value: ")
    edited = yaml.safe_dump_all(made.values(), sort_keys=False).encode()
    run = shop("check", "--format", "json", data=edited)
    (found,) = run.errors
    assert (run.code, found["code"]) == (1, EDITED.code)
    assert "render again" in found["hint"]
    again = shop("generate", "-", "--config", "config.yaml", data=edited)
    assert again.code == 0, again.stderr
    assert shop("check", data=again.stdout).code == 0


def test_the_page_has_a_row_for_each_of_twenty() -> None:
    assert len(MISTAKES) + len([NOT_RUN, EDITED]) == 20
    assert len({mistake.code for mistake in (*MISTAKES, NOT_RUN, EDITED)}) == 20
    rows = [line for line in mistakes_page().splitlines() if re.match(r"\| \d+ ", line)]
    assert len(rows) == 20
    assert all(row in PAGE.read_text() for row in rows)
