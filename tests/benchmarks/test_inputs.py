"""Inputs are the same every time, and nothing is measured twice."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import inputs
from benchmarks.measure import Program, compare, in_turn, least, median
from benchmarks.ours import function, older
from benchmarks.untimed import seen

BARE = inputs.options(policies=True)


@pytest.mark.parametrize("share", [0, 0.02, 0.2, 1.0])
def test_inputs_are_deterministic_and_of_their_size(share: float) -> None:
    documents = inputs.mixed(50_000, share)
    assert documents == inputs.mixed(50_000, share)
    assert 50_000 <= sum(map(len, documents)) < 60_000


def test_counts_include_the_coordinator_and_none_is_none() -> None:
    assert not inputs.plain(0)
    for count in (1, 10):
        assert sum("runtimeClassName: contrast-cc" in document for document in inputs.plain(count)) == count


@pytest.mark.parametrize("kind", inputs.CUSTOM)
def test_a_custom_resource_has_the_pods_of_deployments(kind: str) -> None:
    def pods(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield from [value] if "containers" in value else [pod for part in value.values() for pod in pods(part)]
        elif isinstance(value, list):
            yield from [pod for part in value for pod in pods(part)]

    def found(documents: list[str]) -> list[Any]:
        return [pod for text in documents for value in yaml.safe_load_all(text) for pod in pods(value)]

    assert found(inputs.custom(kind, 6)) == found(inputs.plain(7))
    kinds = {yaml.safe_load(one)["kind"] for one in inputs.custom(kind, 6)}
    assert kinds == {kind, *(yaml.safe_load(one)["kind"] for one in inputs.coordinator())}


def test_odd_forms_are_read_as_the_ordinary_ones() -> None:
    usual, alias = (list(yaml.safe_load_all(inputs.config_maps(3, kind))) for kind in ("ConfigMap", "*kind"))
    assert usual == alias
    (workload,) = yaml.safe_load_all(inputs.variables(3))
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    assert [each["name"] for each in container["env"]] == ["VARIABLE_1", "VARIABLE_2", "NUMBER"]
    assert container["image"]


def test_the_same_text_is_the_same_program(tmp_path: Path) -> None:
    first, again = (function(str(tmp_path), inputs.resource_list(inputs.plain(1), BARE)) for _ in range(2))
    assert first == again
    assert first != function(str(tmp_path), inputs.resource_list(inputs.plain(2), BARE))


def test_no_original_line_of_a_render_is_lost(tmp_path: Path) -> None:
    ours = function(str(tmp_path), inputs.resource_list([*inputs.plain(2), *inputs.ordinary(5_000)], BARE))
    found = seen(ours)
    assert (found.lost, found.first) == (0, "")
    assert found.resolved == 3  # two runtime classes and the coordinator's image
    assert found.peak > 5_000_000


def test_an_older_tree_gets_the_same_bytes(tmp_path: Path) -> None:
    ours = function(str(tmp_path), "")
    peer = older("/before", ours)
    assert (peer.command, peer.stdin) == (("/before/.venv/bin/contrast-krm",), ours.stdin)


def test_what_does_lose_lines_is_told(tmp_path: Path) -> None:
    source = inputs.written(str(tmp_path), "a: 1\nb: 2\nc: 3\n")
    dropping = "import sys; sys.stdout.write(sys.stdin.read().replace('b: 2', 'b: two'))"
    found = seen(Program("dropping", (sys.executable, "-c", dropping), source))
    assert (found.lost, found.first) == (1, "line 2: b: 2")


def test_a_program_that_fails_is_no_figure(tmp_path: Path) -> None:
    failing = Program("failing", (sys.executable, "-c", "raise SystemExit(1)"), inputs.written(str(tmp_path), ""))
    with pytest.raises(subprocess.CalledProcessError):
        in_turn((failing,), 1)
    with pytest.raises(subprocess.CalledProcessError):
        seen(failing)


def test_programs_take_turns_and_a_pair_is_measured_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one, two = (
        Program(
            name, (sys.executable, "-Sc", f"open({str(log)!r}, 'a').write({name!r})"), inputs.written(str(tmp_path), "")
        )
        for name in "ab"
    )
    compared = compare(one, two, 2)
    assert log.read_text() == "abab"
    assert compare(one, two, 2) is compared
    assert log.read_text() == "abab"
    (samples,) = zip(*in_turn((one,), 2), strict=True)
    assert median(samples) > 0
    assert least(samples) > 0
