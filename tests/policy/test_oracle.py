"""A correct host is obeyed, and every single-field change of its requests that means something is denied.

One example of every shape of change, on regorus and OPA, and some of them on rego-cpp, which is slow. `python -m
benchmarks.policy` tries every leaf of more pods, on all of them.
"""

import copy
import functools

import pytest

from krm_function.contrast.profiles import CONTRAST, KATA, Profile
from tests.policy.engines import agreed
from tests.policy.engines.corpus import allows
from tests.policy.oracle import workloads
from tests.policy.oracle.meaningless import FIRST, LINK, NO_LINK, TABLE, fits
from tests.policy.oracle.mutations import mutations
from tests.policy.oracle.requests import Asked, life
from tests.policy.oracle.trial import Trial, sample, trials

GROUPS = 12
SLOW = 16  # of the trials of a group, one of so many is tried on rego-cpp too
RUN = ("quickstart StatefulSet/db", "multi-runtime CronJob/report", "kpt Deployment/web")
POLICIES = {"everything": workloads.everything, "gpus": workloads.gpus}
NODES = (CONTRAST, KATA)  # the profiles for the two kinds of nodes; how strict differs is in test_rules_profiles.py


@functools.cache
def lived(name: str, profile: Profile) -> tuple[str, tuple[Asked, ...]]:
    rego = POLICIES[name](profile)
    return rego, tuple(life(rego, quick=True))


@functools.cache
def sampled(profile: Profile) -> list[Trial]:
    return sample(lived("everything", profile)[1], profile.name)


@functools.cache
def shapes(profile: Profile) -> dict[tuple[object, ...], int]:
    """The number of each shape and verdict of the sample."""
    return {(*trial.shape, not trial.reason): number for number, trial in enumerate(sampled(profile))}


def in_turn(profile: Profile, trial: Trial) -> bool:
    """Whether a trial is one of the default run: of each shape and verdict, the one of one of the two profiles."""
    key = (*trial.shape, not trial.reason)
    return any(key not in shapes(each) for each in NODES) or NODES[shapes(NODES[0])[key] % 2] is profile


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("profile", NODES, ids=lambda profile: profile.name)
def test_a_change_that_means_something_is_denied_and_no_other(profile: Profile, group: int, *, whole: bool) -> None:
    rego, _ = lived("everything", profile)
    wrong = []
    for number, trial in enumerate(sampled(profile)[group::GROUPS]):
        if not whole and not in_turn(profile, trial):
            continue
        quick = number % SLOW != group % SLOW
        engines = {"quick": quick}
        answer = agreed.ask(rego, trial.entry_point, trial.state, trial.request, trial.what, **engines)
        if allows(answer) != bool(trial.reason):
            wrong.append(f"{'allowed' if allows(answer) else 'denied'}: {trial.what} {trial.reason}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("profile", "container"), [(CONTRAST, "pause"), (CONTRAST, "app"), (KATA, "app")], ids=["sandbox", "app", "kata"]
)
def test_a_change_of_a_gpu_is_denied(profile: Profile, container: str) -> None:
    rego, requests = lived("gpus", profile)
    (create,) = (asked for asked in requests if asked.name == f"create {container}")
    tried = [trial for trial in trials(create, profile.name) if "vfio" in trial.what]
    assert tried
    for trial in tried:
        answer = agreed.ask(rego, trial.entry_point, trial.state, trial.request, trial.what, quick=True)
        assert allows(answer) == bool(trial.reason), trial.what


def test_every_row_of_the_table_is_used() -> None:
    shapes = {
        (profile.name, asked.entry_point, mutation.place, mutation.way)
        for profile in NODES
        for name in POLICIES
        for asked in lived(name, profile)[1]
        for mutation in mutations(asked.request)
    }
    for row in (*TABLE, *FIRST, *LINK, *NO_LINK):
        assert any(fits(row, *shape) for shape in shapes), row


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


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_the_examples_run_under_their_own_policies(name: str) -> None:
    assert len(list(life(workloads.examples()[name]))) > 10
