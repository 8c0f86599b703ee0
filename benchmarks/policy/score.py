"""Rule of this file: a mutant is caught if one recorded question gets another verdict than the real rules gave.

A verdict is whether the request is allowed, and which operations on the state come with it. Only questions in whose
evaluation the lost condition once failed can show its loss; OPA's trace says which those are. What gives a variable its
value never fails: its loss is asked of all.
The ones whose label shares words with the condition come first. That the engines agree is counted elsewhere.

The rules of a profile are several files. A condition is lost in all profiles that have its file; one question of any of
them catches it.
"""

import os
import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmarks.policy.conditions import Condition, conditions, without
from krm_function.contrast.profiles import PROFILES
from krm_function.policy.rules import EXTERNAL, load_file
from tests.policy.engines.corpus import Corpus, Question, allows, operations
from tests.policy.engines.lines import Lines

FIRST = 40


class Part(NamedTuple):
    """One file of the rules of a profile."""

    file: str
    text: str


Rules = Mapping[str, tuple[Part, ...]]  # by profile


class Mutant(NamedTuple):
    """The loss of one condition. profiles: those whose rules have it."""

    condition: Condition
    profiles: tuple[str, ...]


class Fate(NamedTuple):
    """What became of a mutant. fate: caught | survived | invalid; by: the question that caught it."""

    condition: Condition
    fate: str
    by: str = ""


def rules_of_profiles() -> Rules:
    """Return the rules of each profile, with and without those for open variables; the longer ones first."""
    opened = {f"{one.name}, open": (*one.rules, EXTERNAL) for one in PROFILES.values() if not one.narrowed}
    files = opened | {one.name: one.rules for one in PROFILES.values()}
    return {name: tuple(Part(file, load_file(file)) for file in names) for name, names in files.items()}


def mutants(rules: Rules) -> list[Mutant]:
    """Every loss of one condition of the rules."""
    profiles: dict[Condition, list[str]] = {}
    for profile, parts in rules.items():
        for condition in conditions(_joined(parts)):
            offset, row = condition.offset, condition.row
            for part in parts:
                if offset < len(part.text.encode()):
                    here = condition._replace(offset=offset, row=row, file=part.file)
                    profiles.setdefault(here, []).append(profile)
                    break
                offset, row = offset - len(part.text.encode()), row - part.text.count("\n")
    return [Mutant(condition, tuple(names)) for condition, names in profiles.items()]


def fates(rules: Rules, wanted: list[Mutant], corpus: Corpus) -> list[Fate]:
    """Return the fate of every mutant, in order; as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin, initargs=(rules, corpus)) as pool:
        numbers = range(len(corpus.questions))
        failed = dict(zip(numbers, pool.map(_failed, numbers, chunksize=20), strict=True))
        profile_of = [_profile(rules, corpus.policies[question.policy]) for question in corpus.questions]
        work = []
        for mutant in wanted:
            rows = {profile: _rows(rules[profile], mutant.condition) for profile in mutant.profiles}
            known = [n for n in numbers if profile_of[n] in rows]
            gives_value = ":=" in mutant.condition.text
            asked = [n for n in known if gives_value or not failed[n].isdisjoint(rows[profile_of[n]])]
            work.append((mutant, asked))
        return list(pool.map(_fate, work))


def _joined(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


def _rows(parts: tuple[Part, ...], condition: Condition) -> range:
    """Return the lines of a condition in the rules of a profile."""
    before = parts[: [part.file for part in parts].index(condition.file)]
    first = condition.row + _joined(before).count("\n")
    return range(first, first + condition.text.count("\n") + 1)


def _without(parts: tuple[Part, ...], condition: Condition) -> str:
    """Return the rules of a profile in which a condition always holds."""
    return "".join(without(part.text, condition) if part.file == condition.file else part.text for part in parts)


def _profile(rules: Rules, policy: str) -> str:
    """Return the profile whose rules a policy begins with, or nothing."""
    return next((profile for profile, parts in rules.items() if policy.startswith(_joined(parts))), "")


def _begin(rules: Rules, corpus: Corpus) -> None:
    global _rules, _corpus, _opa
    _rules, _corpus, _opa = rules, corpus, Lines("opa")


_rules: Rules
_corpus: Corpus
_opa: Lines


def _failed(number: int) -> frozenset[int]:
    question = _corpus.questions[number]
    text = _corpus.policies[question.policy]
    return _opa.failed(text, question.entry_point, question.state, question.request)


def _fate(work: tuple[Mutant, list[int]]) -> Fate:
    (condition, profiles), numbers = work
    changed = {profile: _without(_rules[profile], condition) for profile in profiles}
    for policy in _one_of_each(profiles):
        profile = _profile(_rules, policy)
        mutant = changed[profile] + policy.removeprefix(_joined(_rules[profile]))
        if _opa.ask(mutant, "SetPolicyRequest", {}, {}).kind == "error":
            return Fate(condition, "invalid")
    for question in _ordered(condition, [_corpus.questions[number] for number in numbers]):
        policy = _corpus.policies[question.policy]
        profile = _profile(_rules, policy)
        mutant = changed[profile] + policy.removeprefix(_joined(_rules[profile]))
        answer = _opa.ask(mutant, question.entry_point, question.state, question.request)
        if (allows(answer), operations(answer)) != (question.allowed, question.operations):
            return Fate(condition, "caught", question.asked_by)
    return Fate(condition, "survived")


def _one_of_each(profiles: tuple[str, ...]) -> list[str]:
    """Return a policy of each profile, of those that were recorded."""
    found = {_profile(_rules, policy): policy for policy in _corpus.policies.values()}
    return [found[profile] for profile in profiles if profile in found]


def _ordered(condition: Condition, questions: list[Question]) -> list[Question]:
    """Return the most promising questions first, then the others, policy by policy."""
    wanted = _words(f"{condition.rule} {condition.text}")
    ranked = sorted(questions, key=lambda each: -len(wanted & _words(f"{each.entry_point} {each.asked_by}")))
    return ranked[:FIRST] + sorted(ranked[FIRST:], key=lambda each: each.policy)


def _words(text: str) -> set[str]:
    """`OCI.Linux.MaskedPaths` -> {oci, linux, masked, paths}."""
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}
