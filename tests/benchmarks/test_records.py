"""`make bench` measures and shows what the code still has."""

import importlib
import json
import re
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.left_out import SHORT_CUTS, ShortCut
from benchmarks.promises import promises
from benchmarks.short_cuts import NAMES


def test_the_committed_record_names_rows_that_the_code_still_has() -> None:
    """A promise or short cut that was renamed would lose its figure without a word."""
    data = json.loads(Path(figures.FILE).read_text(encoding="utf-8"))
    assert data["promises"]["figures"].keys() <= {promise.name for promise in promises("", quick=False)}
    shown = {name for column in data["short cuts"]["figures"].values() for name in column}
    assert shown <= {short_cut.name for short_cut in SHORT_CUTS}
    assert data["short cuts"]["figures"].keys() <= set(NAMES)


@pytest.mark.parametrize("short_cut", SHORT_CUTS, ids=lambda short_cut: short_cut.name)
def test_a_patch_replaces_names_that_exist(short_cut: ShortCut) -> None:
    for name, code in {**short_cut.patches, **short_cut.instead}.items():
        module = importlib.import_module(name)
        names = re.findall(r"(?m)^(?:def )?([a-z_]+)(?:\(| =)", code) if name in short_cut.patches else []
        assert [name for name in names if not hasattr(module, name)] == []
