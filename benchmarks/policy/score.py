"""Rule of this file: a mutant is caught if one recorded question gets another verdict than the real rules gave.

Only questions in whose evaluation the lost condition once failed can show its loss; OPA's trace says which those are.
The ones whose label shares words with the condition come first. That the engines agree is counted elsewhere.

A condition of the text that all profiles share is lost in all of them; one question of any profile catches it.
"""

import os
import re
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmarks.policy.conditions import Condition, conditions, without
from tests.policy.engines.corpus import Corpus, Question, allows
from tests.policy.engines.lines import Lines

FIRST = 40


class Mutant(NamedTuple):
    """The loss of one condition. profiles: those whose rules have it, at the same place."""

    condition: Condition
    profiles: tuple[str, ...]


class Fate(NamedTuple):
    """What became of a mutant. fate: caught | survived | invalid; by: the question that caught it."""

    condition: Condition
    fate: str
    by: str = ""


def mutants(rules: dict[str, str]) -> list[Mutant]:
    """Every loss of one condition of the rules, by profile: what begins all texts alike is lost in all of them."""
    shared = len(os.path.commonprefix([text.encode() for text in rules.values()]))  # noqa: RUF071 - bytes
    profiles: dict[Condition, list[str]] = {}
    for profile, text in rules.items():
        for condition in conditions(text):
            common = condition.offset + len(condition.text.encode()) <= shared
            key = condition if common else condition._replace(profile=profile)
            profiles.setdefault(key, []).append(profile)
    return [Mutant(condition, tuple(names)) for condition, names in profiles.items()]


def fates(rules: dict[str, str], wanted: list[Mutant], corpus: Corpus) -> list[Fate]:
    """The fate of every mutant, in order; as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin, initargs=(rules, corpus)) as pool:
        numbers = range(len(corpus.questions))
        failed = dict(zip(numbers, pool.map(_failed, numbers, chunksize=20), strict=True))
        profile_of = [_profile(rules, corpus.policies[question.policy]) for question in corpus.questions]
        work = []
        for mutant in wanted:
            condition = mutant.condition
            rows = range(condition.row, condition.row + condition.text.count("\n") + 1)
            asked = [n for n in numbers if profile_of[n] in mutant.profiles and not failed[n].isdisjoint(rows)]
            work.append((mutant, asked))
        return list(pool.map(_fate, work))


def _profile(rules: dict[str, str], policy: str) -> str:
    """The profile whose rules a policy begins with, or nothing."""
    return next((profile for profile, text in rules.items() if policy.startswith(text)), "")


def _begin(rules: dict[str, str], corpus: Corpus) -> None:
    global _rules, _corpus, _opa
    _rules, _corpus, _opa = rules, corpus, Lines("opa")


_rules: dict[str, str]
_corpus: Corpus
_opa: Lines


def _failed(number: int) -> frozenset[int]:
    question = _corpus.questions[number]
    text = _corpus.policies[question.policy]
    return _opa.failed(text, question.entry_point, question.state, question.request)


def _fate(work: tuple[Mutant, list[int]]) -> Fate:
    (condition, profiles), numbers = work
    changed = {profile: without(_rules[profile], condition) for profile in profiles}
    for policy in _one_of_each(profiles):
        profile = _profile(_rules, policy)
        mutant = changed[profile] + policy.removeprefix(_rules[profile])
        if _opa.ask(mutant, "SetPolicyRequest", {}, {}).kind == "error":
            return Fate(condition, "invalid")
    for question in _ordered(condition, [_corpus.questions[number] for number in numbers]):
        policy = _corpus.policies[question.policy]
        profile = _profile(_rules, policy)
        mutant = changed[profile] + policy.removeprefix(_rules[profile])
        if allows(_opa.ask(mutant, question.entry_point, question.state, question.request)) != question.allowed:
            return Fate(condition, "caught", question.asked_by)
    return Fate(condition, "survived")


def _one_of_each(profiles: tuple[str, ...]) -> list[str]:
    """A policy of each profile, of those that were recorded."""
    found = {_profile(_rules, policy): policy for policy in _corpus.policies.values()}
    return [found[profile] for profile in profiles if profile in found]


def _ordered(condition: Condition, questions: list[Question]) -> list[Question]:
    """The most promising questions first, then the others, policy by policy."""
    wanted = _words(f"{condition.rule} {condition.text}")
    ranked = sorted(questions, key=lambda each: -len(wanted & _words(f"{each.entry_point} {each.asked_by}")))
    return ranked[:FIRST] + sorted(ranked[FIRST:], key=lambda each: each.policy)


def _words(text: str) -> set[str]:
    """`OCI.Linux.MaskedPaths` -> {oci, linux, masked, paths}."""
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}
