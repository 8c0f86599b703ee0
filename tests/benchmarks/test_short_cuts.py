"""Every patch of the benchmark of short cuts still replaces something, and nothing else comes out without it."""

import importlib
import re

import pytest

from benchmarks import inputs
from benchmarks.left_out import SHORT_CUTS, ShortCut
from benchmarks.measure import Program
from benchmarks.ours import bare_post_render, function, post_render
from benchmarks.short_cuts import answer, without


@pytest.mark.parametrize("short_cut", SHORT_CUTS, ids=lambda each: each.name)
def test_a_patch_replaces_names_that_exist(short_cut: ShortCut) -> None:
    for module, code in {**short_cut.patches, **short_cut.instead}.items():
        found = importlib.import_module(module)
        names = re.findall(r"(?m)^(?:def )?([a-z_]+)(?:\(| =)", code) if module in short_cut.patches else []
        assert [name for name in names if not hasattr(found, name)] == []


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Program]:
    directory, options = str(tmp_path_factory.mktemp("programs")), inputs.options(policies=True)
    documents = inputs.mixed(120_000, 0.1)  # large enough for the cutters without events
    return [
        post_render(directory, inputs.stream(documents), options),
        function(directory, inputs.resource_list(documents, options)),
        bare_post_render(directory, inputs.stream(inputs.ordinary(10_000))),
    ]


@pytest.mark.parametrize("short_cut", SHORT_CUTS, ids=lambda each: each.name)
def test_the_same_comes_out_without_a_short_cut(short_cut: ShortCut, programs: list[Program]) -> None:
    for program in programs:
        assert answer(without(program, short_cut)) == answer(program), program.command


def test_another_output_would_be_noticed(programs: list[Program]) -> None:
    wrong = ShortCut("wrong", "", {"krm_function.text.errors": "def encode(text, bom=False): return b'other'\n"})
    assert answer(without(programs[0], wrong)) != answer(programs[0])
