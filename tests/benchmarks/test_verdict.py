"""The arithmetic of what is promised, and its lines. No time is measured here."""

import pytest

from benchmarks.promises import promises
from benchmarks.verdict import Figure, Promise, each, growth, shown, verdict


def promise(limit: float | None, *, below: bool = False) -> Promise:
    return Promise("speed", limit, "peer", lambda: Figure(0), below=below)


@pytest.mark.parametrize(
    "limit,below,value,word",
    [
        (5, False, 4.99, "held"),
        (5, False, 5, "held"),
        (5, False, 5.01, "missed"),
        (1, True, 0.99, "held"),
        (1, True, 1, "missed"),
        (0, False, 0, "held"),
        (0, False, 1, "missed"),
        (None, False, 9, ""),
    ],
)
def test_a_limit_is_held_or_missed(limit: float | None, below: bool, value: float, word: str) -> None:
    assert verdict(promise(limit, below=below), Figure(value)) == word


def test_the_cost_of_one_workload_is_without_the_start() -> None:
    assert each(2.1, 0.1, 1000) == pytest.approx(0.002)


def test_growth_is_one_where_the_cost_is_the_same() -> None:
    assert growth(0.1, (0.3, 100), (20.1, 10_000)) == pytest.approx(1)
    assert growth(0.1, (0.3, 100), (40.1, 10_000)) == pytest.approx(2)


def test_a_line_names_limit_figure_processor_time_and_verdict() -> None:
    line = shown(promise(5), Figure(10.84, 11.26))
    assert line.split() == ["speed", "<=", "5", "10.8", "11.3", "missed", "peer"]
    assert shown(promise(1, below=True), Figure(0.98765)).split() == ["speed", "<", "1", "0.988", "held", "peer"]
    assert shown(promise(0), Figure(123456, None, ("web: line 3",))).split("\n")[1] == "    web: line 3"
    assert "123456" in shown(promise(0), Figure(123456))
    assert shown(promise(None), Figure(0.1234)).split() == ["speed", "0.123", "peer"]


def test_what_was_not_measured_is_neither_held_nor_missed() -> None:
    assert shown(promise(5), None).split() == ["speed", "<=", "5", "left", "out", "peer"]


def test_the_list_is_made_without_measuring_and_says_what_is_large() -> None:
    made = promises("no such directory", quick=True)
    assert {each.name for each in made if each.large} == {
        "a workload among 10 000",
        "peak memory, stream 20 MB, 2% Contrast",
        "peak memory, ResourceList 20 MB, 2% Contrast",
    }
    assert len({(each.name, each.of) for each in made}) == len(made)
