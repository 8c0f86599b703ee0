"""A correct host is obeyed, and every single-field change of its requests that means something is denied.

One example of every shape of change, on regorus and OPA, and some of them on rego-cpp, which is slow. `make
bench-policy` tries every leaf of more pods, on all of them.
"""

import copy
import functools
import re

import pytest

from tests.policy.engines import agreed
from tests.policy.engines.corpus import allows
from tests.policy.oracle import workloads
from tests.policy.oracle.meaningless import FIRST, LINK, NO_LINK, TABLE
from tests.policy.oracle.mutations import mutations
from tests.policy.oracle.requests import Asked, life
from tests.policy.oracle.trial import Trial, sample, trials

GROUPS = 12
SLOW = 16  # of the trials of a group, one of so many is tried on rego-cpp too
RUN = ("quickstart StatefulSet/db", "multi-runtime CronJob/report", "kpt Deployment/web")
POLICIES = {"everything": workloads.everything, "gpus": workloads.gpus}


@functools.cache
def lived(name: str) -> tuple[str, tuple[Asked, ...]]:
    rego = POLICIES[name]()
    return rego, tuple(life(rego, quick=True))


@functools.cache
def sampled() -> list[Trial]:
    return sample(lived("everything")[1])


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_change_that_means_something_is_denied_and_no_other(group: int) -> None:
    rego, _ = lived("everything")
    wrong = []
    for number, trial in enumerate(sampled()[group::GROUPS]):
        quick = number % SLOW != group % SLOW
        answer = agreed.ask(rego, trial.entry_point, trial.state, trial.request, trial.what, quick=quick)
        if allows(answer) != bool(trial.reason):
            wrong.append(f"{'allowed' if allows(answer) else 'denied'}: {trial.what} {trial.reason}")
    assert not wrong, "\n".join(wrong)


def test_a_change_of_a_gpu_is_denied() -> None:
    rego, requests = lived("gpus")
    (create,) = (asked for asked in requests if asked.name == "create app")
    for trial in trials(create):
        if "vfio" in trial.what:
            answer = agreed.ask(rego, trial.entry_point, trial.state, trial.request, trial.what, quick=True)
            assert allows(answer) == bool(trial.reason), trial.what


def test_every_row_of_the_table_is_used() -> None:
    shapes = {
        (asked.entry_point, mutation.place, mutation.way)
        for name in POLICIES
        for asked in lived(name)[1]
        for mutation in mutations(asked.request)
    }
    for row in (*TABLE, *FIRST, *LINK, *NO_LINK):
        assert any(
            re.fullmatch(row.entry_point, entry) and re.fullmatch(row.place, place) and re.fullmatch(row.ways, way)
            for entry, place, way in shapes
        ), row


def test_a_mutation_changes_the_request_and_leaves_the_original() -> None:
    request = {
        "a": [{"driver": "blk", "n": 1}, {"driver": "scsi", "n": 2}],
        "Sysctl": {"k.x": "v"},
        "s": "T",
        "z": None,
    }
    before = copy.deepcopy(request)
    made = list(mutations(request))

    assert request == before
    assert all(mutation.request != before for mutation in made)
    assert {f"{m.place} {m.way}" for m in made} >= {
        "a drop blk",
        "a repeat scsi",
        "a swap scsi",
        "a none",
        "a[blk].n more",
        "Sysctl add",
        "Sysctl['k.x'] drop",
        "Sysctl['k.x'] empty",
        "s case",
        "s newline",
        "z object",
    }


@pytest.mark.parametrize("name", RUN)
def test_the_examples_run_under_their_own_policies(name: str) -> None:
    assert len(list(life(workloads.examples()[name]))) > 10
