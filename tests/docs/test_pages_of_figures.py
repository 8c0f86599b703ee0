"""A page whose figures are measured has them in its generated parts, and none anywhere else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = re.compile(r"<!-- generated: (.+?) -->.*?<!-- end of generated: \1 -->", re.DOTALL)
VERSIONS = re.compile(r"(?:CPython|Debian|Contrast|podman|Kata)(?:'s)? [\d.]+")
TYPED = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


def typed(text: str) -> list[str]:
    """The lines with a decimal fraction, as ratios are, that no generator writes."""
    text = re.sub(r"`[^`\n]*`", "", VERSIONS.sub("", GENERATED.sub("", text)))
    return [line for line in text.splitlines() if TYPED.search(line)]


def test_the_page_of_speed_has_no_figure_that_was_typed() -> None:
    assert typed((ROOT / "docs" / "explanation" / "speed.md").read_text(encoding="utf-8")) == []


def test_the_promises_have_no_figure_that_was_typed() -> None:
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert typed(text.partition("## Limits of the figures")[2].partition("\n## ")[0]) == []


@pytest.mark.parametrize(
    "text,count",
    [
        ("ten workloads take 8.8 starts", 1),
        ("<!-- generated: parts -->\n| all | 8.8 |\n<!-- end of generated: parts -->", 0),
        ("CPython 3.11 and `--runs 0.5`", 0),
    ],
)
def test_a_typed_figure_is_found(text: str, count: int) -> None:
    assert len(typed(text)) == count
