"""Our reading against Go's, on the corpus and some mutants of it; `make fuzz` tries millions."""

import base64
import json
import subprocess
from typing import Any

import pytest

from tests.adversary.hiding_places import PLACES, Place
from tests.real_tools import needing
from tools.fuzz import CORPUS, go_reads, judge, run
from tools.real import tool

pytestmark = needing("goreaders")

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {runtimeClassName: contrast-cc}\n"


@pytest.mark.parametrize("place", PLACES, ids=[place.name for place in PLACES])
def test_no_file_of_the_corpus_hides_a_pod(place: Place) -> None:
    assert judge(place.data, go_reads(place.data)) in {"refused", "seen", "none"}


@pytest.mark.slow
@pytest.mark.parametrize("runs", [20_000, pytest.param(40_000, marks=pytest.mark.nightly)])
def test_no_mutant_hides_a_pod(runs: int) -> None:
    """A fuzzer that never makes a pod, or whose pods are all refused, would prove nothing."""
    tally = run(seed=1, runs=runs, seconds=20)
    assert tally.finds == ()
    assert tally.pods > tally.executions / 10 > 100
    assert tally.refused > tally.pods / 10
    assert tally.seen > tally.pods / 10


def test_the_same_seed_makes_the_same_mutants() -> None:
    told = [
        subprocess.run(
            [tool("goreaders"), "fuzz", CORPUS, str(seed), "500", "60"], capture_output=True, check=True
        ).stdout
        for seed in (3, 3, 4)
    ]
    assert told[0] == told[1] != told[2]
    assert json.loads(told[0].splitlines()[-1]) == {"executions": 500}
    assert all(base64.b64decode(json.loads(line)["input"]) for line in told[0].splitlines()[:-1])


def test_three_readers_read_a_pod() -> None:
    assert {pod["reader"] for pod in go_reads(POD)} == {"kubectl", "helm", "kustomize"}
    assert judge(POD, go_reads(POD)) == "seen"


def others() -> list[tuple[bytes, dict[str, Any], str]]:
    """Inputs, what a reader might say of them that we do not, and what that is called."""
    (told,) = (pod for pod in go_reads(POD) if pod["reader"] == "kubectl")
    return [
        (POD, told | {"kind": "ReplicationController"}, "hidden from us, kubectl sees ReplicationController"),
        (POD, told | {"kind": "Thing"}, "asks for a class and is not refused, kubectl sees it"),
        (POD, told | {"version": "v2"}, "asks for a class and is not refused, kubectl sees it"),
        (POD, told | {"name": "other"}, "hidden from us, kubectl sees Pod"),
        (POD, told | {"runtimeClassName": "contrast-cc-metal-qemu-snp"}, "hidden from us, kubectl sees Pod"),
        (POD, told | {"reader": "helm", "kind": "Job", "group": "batch"}, "hidden from us, helm sees Job"),
        (
            POD,
            told | {"spec": {"runtimeClassName": "contrast-cc", "hostNetwork": True}},
            "another pod spec than kubectl's",
        ),
        (b"kind: Service\n", told, "hidden from the early answer"),
        (POD, told | {"runtimeClassName": "kata"}, "none"),
    ]


def test_a_difference_would_be_found() -> None:
    assert [judge(data, [told]) for data, told, _ in others()] == [wanted for _, _, wanted in others()]


def test_a_pod_that_is_there_twice_must_be_seen_twice() -> None:
    (told,) = (pod for pod in go_reads(POD) if pod["reader"] == "kubectl")
    assert judge(POD, [told, told]) == "hidden from us, kubectl sees Pod"
