"""Rule of this file: a mutant is caught if one recorded question gets another verdict than the real rules gave.

Only questions in whose evaluation the lost condition once failed can show its loss; OPA's trace says which those are.
The ones whose label shares words with the condition come first. That the engines agree is counted elsewhere.
"""

import os
import re
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmarks.policy.conditions import Condition, without
from tests.policy.engines.corpus import Corpus, Question, allows
from tests.policy.engines.lines import Lines

FIRST = 40


class Fate(NamedTuple):
    """What became of a mutant. fate: caught | survived | invalid; by: the question that caught it."""

    condition: Condition
    fate: str
    by: str = ""


def fates(rules: str, found: list[Condition], corpus: Corpus) -> list[Fate]:
    """The fate of every mutant, in order; as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin, initargs=(rules, corpus)) as pool:
        numbers = range(len(corpus.questions))
        failed = dict(zip(numbers, pool.map(_failed, numbers, chunksize=20), strict=True))
        work = []
        for condition in found:
            rows = range(condition.row, condition.row + condition.text.count("\n") + 1)
            work.append((condition, [number for number in numbers if not failed[number].isdisjoint(rows)]))
        return list(pool.map(_fate, work))


def _begin(rules: str, corpus: Corpus) -> None:
    global _rules, _corpus, _opa
    _rules, _corpus, _opa = rules, corpus, Lines("opa")


_rules: str
_corpus: Corpus
_opa: Lines


def _failed(number: int) -> frozenset[int]:
    question = _corpus.questions[number]
    text = _corpus.policies[question.policy]
    return _opa.failed(text, question.entry_point, question.state, question.request)


def _fate(work: tuple[Condition, list[int]]) -> Fate:
    condition, numbers = work
    mutant = without(_rules, condition)
    text = next(iter(_corpus.policies.values()))
    if _opa.ask(mutant + text.removeprefix(_rules), "SetPolicyRequest", {}, {}).kind == "error":
        return Fate(condition, "invalid")
    for question in _ordered(condition, [_corpus.questions[number] for number in numbers]):
        policy = _corpus.policies[question.policy]
        answer = _opa.ask(mutant + policy.removeprefix(_rules), question.entry_point, question.state, question.request)
        if allows(answer) != question.allowed:
            return Fate(condition, "caught", question.asked_by)
    return Fate(condition, "survived")


def _ordered(condition: Condition, questions: list[Question]) -> list[Question]:
    """The most promising questions first, then the others, policy by policy."""
    wanted = _words(f"{condition.rule} {condition.text}")
    ranked = sorted(questions, key=lambda each: -len(wanted & _words(f"{each.entry_point} {each.asked_by}")))
    return ranked[:FIRST] + sorted(ranked[FIRST:], key=lambda each: each.policy)


def _words(text: str) -> set[str]:
    """`OCI.Linux.MaskedPaths` -> {oci, linux, masked, paths}."""
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}
