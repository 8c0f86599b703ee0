"""The names of pods and their patterns, each against the other, and both against the sources of Kubernetes."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.pod_names import (
    Letters,
    PodName,
    kata_pattern,
    make_name,
    name_pattern,
    pod_name,
    sample_names,
)
from tests.policy import given_names

Json = dict[str, Any]
KINDS = (
    *("Pod", "ReplicaSet", "ReplicationController", "DaemonSet", "Deployment", "StatefulSet"),
    *("Job", "Indexed Job", "CronJob", "Indexed CronJob"),
)
LENGTHS = (1, 40, 45, 46, 47, 48, 49, 52, 55, 56, 57, 58, 60, 63)
SERVER = f"[{given_names.SERVER}]{{5}}"

kinds, lengths = st.sampled_from(KINDS), st.integers(1, 63)
texts = st.from_regex(r"[a-z]([a-z0-9.-]{0,61}[a-z0-9])?", fullmatch=True)


def an_object(kind: str, name: str, *, is_generated: bool = False) -> Json:
    spec: Json = {"completionMode": "Indexed"} if "Indexed" in kind else {}
    kind = kind.removeprefix("Indexed ")
    spec = {"jobTemplate": {"spec": spec}} if kind == "CronJob" else spec
    return {"kind": kind, "metadata": {"generateName" if is_generated else "name": name}, "spec": spec}


def form_of(kind: str, name: str, *, is_generated: bool = False) -> PodName:
    is_indexed = "Indexed" in kind
    return pod_name(kind.removeprefix("Indexed "), name, is_generated=is_generated, is_indexed=is_indexed)


@given(kinds, texts, st.booleans(), st.integers(1, 10), st.integers(1, 10), st.integers())
def test_the_pattern_has_every_name_that_the_cluster_gives(
    kind: str, name: str, is_generated: bool, hashed: int, index: int, seed: int
) -> None:
    value, form = an_object(kind, name, is_generated=is_generated), form_of(kind, name, is_generated=is_generated)
    given_name = given_names.pod_name(value, seed, hash_length=hashed, index_length=index)
    assert re.fullmatch(name_pattern(form), given_name)


@given(kinds, texts, st.booleans(), st.data())
def test_the_pattern_has_no_other_name(kind: str, name: str, is_generated: bool, data: st.DataObject) -> None:
    """One character is another one, gone, or more; or the name is the uncut one."""
    value, form = an_object(kind, name, is_generated=is_generated), form_of(kind, name, is_generated=is_generated)
    seed, hashed, index = data.draw(st.tuples(st.integers(), st.integers(1, 10), st.integers(1, 10)))
    given_name = given_names.pod_name(value, seed, hash_length=hashed, index_length=index)
    place = data.draw(st.integers(0, len(given_name)))
    removed = data.draw(st.integers(0, 2))
    added = data.draw(st.text("abcz0459-.", max_size=2))
    other = given_name[:place] + added + given_name[place + removed :]
    assert bool(re.fullmatch(name_pattern(form), other)) is given_names.is_possible(value, other)


@given(kinds, texts, st.booleans(), st.data())
def test_names_are_made_as_the_pattern_says(kind: str, name: str, is_generated: bool, data: st.DataObject) -> None:
    form = form_of(kind, name, is_generated=is_generated)

    def choose(letters: Letters) -> str:
        return data.draw(st.from_regex(letters.pattern(), fullmatch=True))

    made = make_name(form, choose)
    assert re.fullmatch(name_pattern(form), made)
    assert given_names.is_possible(an_object(kind, name, is_generated=is_generated), made)
    assert all(re.fullmatch(name_pattern(form), one) for one in sample_names(form))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", LENGTHS)
def test_no_generated_name_is_longer_than_a_label(kind: str, length: int) -> None:
    form = form_of(kind, "n" * length)
    sizes = [len(one) for one in sample_names(form)]
    assert max(sizes) <= 63 or kind == "StatefulSet"
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("kind", "name", "pattern"),
    [
        ("Deployment", "web", f"web-[4-9bcdf]{{1,10}}-{SERVER}"),
        ("Deployment", "n" * 46, f"{'n' * 46}-[4-9bcdf]{{1,10}}-{SERVER}"),
        ("Deployment", "n" * 47, f"{'n' * 47}-(?:[4-9bcdf]{{1,9}}-|[4-9bcdf]{{10}}){SERVER}"),
        ("Deployment", "n" * 56, f"{'n' * 56}-[4-9bcdf]{SERVER}"),
        ("Deployment", "n" * 57, f"{'n' * 57}-{SERVER}"),
        ("Deployment", "n" * 63, f"{'n' * 58}{SERVER}"),
        ("CronJob", "n" * 48, f"{'n' * 48}-[0-9]{{8}}-{SERVER}"),
        ("CronJob", "n" * 52, f"{'n' * 52}-[0-9]{{5}}{SERVER}"),
        ("Job", "a.b", rf"a\.b-{SERVER}"),
        ("Indexed Job", "web", f"web-[0-9]{{1,10}}-{SERVER}"),
        ("StatefulSet", "web", "web-[0-9]{1,10}"),
    ],
)
def test_patterns(kind: str, name: str, pattern: str) -> None:
    assert name_pattern(form_of(kind, name)) == pattern


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", LENGTHS)
def test_genpolicy_has_the_names_that_nothing_cuts(kind: str, length: int) -> None:
    """`sample_names` are enough to see whether its pattern refuses one."""
    form = form_of(kind, "n" * length)
    wide = kata_pattern(kind.removeprefix("Indexed "), "n" * length)
    names = [
        given_names.pod_name(an_object(kind, "n" * length), hash_length=hashed, index_length=index)
        for hashed in range(1, 11)
        for index in range(1, 11)
    ]
    assert all(re.fullmatch(wide, one) for one in names) is all(re.fullmatch(wide, one) for one in sample_names(form))
