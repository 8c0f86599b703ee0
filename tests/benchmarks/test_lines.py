"""Which original lines a render changed or lost: the comparison itself."""

import random

import pytest

from benchmarks import inputs
from benchmarks.lines import Values, lost, values, within

VALUES = Values({"snp": "contrast-cc-snp-1", "": "contrast-cc-tdx-2"}, {"app:latest": "app:v1@sha256:00"})
TEXT = [f"name: {name}\n" if at == 0 else f"{at}\n" for name in "abcdefgh" for at in range(5)]


@pytest.mark.parametrize(
    "line,then",
    [
        ("      runtimeClassName: contrast-cc-snp\n", "      runtimeClassName: contrast-cc-snp-1\n"),
        ("      runtimeClassName: contrast-cc # any\n", "      runtimeClassName: contrast-cc-tdx-2 # any\n"),
        ("  - runtimeClassName: contrast-cc\n", "  - runtimeClassName: contrast-cc-tdx-2\n"),
        ("  - image: app:latest\n", '  - image: "app:v1@sha256:00"\n'),
        ("    image: app:latest", '    image: "app:v1@sha256:00"'),
    ],
)
def test_a_placeholder_must_come_back_with_the_value_of_the_release(line: str, then: str) -> None:
    assert VALUES.resolved(line) == then


@pytest.mark.parametrize(
    "line",
    [
        "      runtimeClassName: contrast-cc-other\n",
        "      runtimeClassName: kata\n",
        "# runtimeClassName: contrast-cc\n",
        "    image: other:latest\n",
        "    app:latest: app:v1\n",
        "\n",
    ],
)
def test_every_other_line_must_come_back_as_it_is(line: str) -> None:
    assert VALUES.resolved(line) == line


def test_the_values_are_those_of_the_release_of_the_benchmarks() -> None:
    release = values(inputs.CONFIG[0], inputs.PLATFORM)
    assert release.handlers[""] == release.handlers[inputs.PLATFORM]
    assert release.handlers[inputs.PLATFORM].startswith(f"contrast-cc-{inputs.PLATFORM}-")
    assert any("/coordinator:" in image for image in release.images)


def test_lines_between_are_no_loss() -> None:
    grown = [each for line in TEXT for each in (line, "added\n", "1\n")]
    assert within(TEXT, grown)
    assert not lost(TEXT, grown)


def test_the_same_lines_in_another_order_are_a_loss() -> None:
    assert not within(["a", "b"], ["b", "a"])
    assert len(lost(["a", "b"], ["b", "a"])) == 1


@pytest.mark.parametrize("place", [0, 1, 17, len(TEXT) - 1])
def test_one_changed_line_is_one_loss_wherever_it_stands(place: int) -> None:
    changed = [*TEXT[:place], TEXT[place].rstrip() + " \n", *TEXT[place + 1 :]]
    assert lost(TEXT, changed) == [place]


@pytest.mark.parametrize("place", [0, 5, len(TEXT) - 5])
def test_one_deleted_block_is_its_lines(place: int) -> None:
    assert lost(TEXT, [*TEXT[:place], *TEXT[place + 5 :]]) == list(range(place, place + 5))


def test_everything_is_lost_in_an_empty_output() -> None:
    assert lost(TEXT, []) == list(range(len(TEXT)))
    assert not lost([], TEXT)


def test_what_a_diff_leaves_is_within_and_the_last_line_without_its_end_is_changed() -> None:
    chance = random.Random(1)  # noqa: S311  not a secret
    for _ in range(50):
        kept = [line for line in TEXT if chance.random() < 0.8]
        found = [each for line in kept for each in ([line] if chance.random() < 0.7 else [line, "added\n"])]
        gone = set(lost(TEXT, found))
        assert within([line for place, line in enumerate(TEXT) if place not in gone], found)
        assert len(gone) >= len(TEXT) - len(kept)
    assert lost(["a\n", "b\n"], ["a\n", "b"]) == [1]
