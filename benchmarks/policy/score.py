"""Rule of this file: a mutant is caught if one recorded question gets another verdict than the real rules gave.

Questions whose label or place shares words with the lost condition come first, so most mutants are caught early; a
survivor has seen every question. OPA alone is asked: that the engines agree is counted elsewhere.
"""

import os
import re
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmarks.policy.conditions import Condition, without
from tests.policy.engines.corpus import Corpus, Question, allows
from tests.policy.engines.lines import Lines

FIRST = 60


class Fate(NamedTuple):
    """What became of a mutant. fate: caught | survived | invalid; by: the question that caught it."""

    condition: Condition
    fate: str
    by: str = ""


def fates(rules: str, found: list[Condition], corpus: Corpus) -> list[Fate]:
    """The fate of every mutant, in order; as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count(), initializer=_begin, initargs=(rules, corpus)) as pool:
        return list(pool.map(_fate, found))


def _begin(rules: str, corpus: Corpus) -> None:
    global _rules, _corpus, _opa
    _rules, _corpus, _opa = rules, corpus, Lines("opa")


_rules: str
_corpus: Corpus
_opa: Lines


def _fate(condition: Condition) -> Fate:
    mutant = without(_rules, condition)
    key, text = next(iter(_corpus.policies.items()))
    probe = _opa.ask(mutant + text.removeprefix(_rules), "SetPolicyRequest", {}, {})
    if probe.kind == "error":
        return Fate(condition, "invalid")
    assert key
    for question in _ordered(condition):
        policy = _corpus.policies[question.policy]
        answer = _opa.ask(mutant + policy.removeprefix(_rules), question.entry_point, question.state, question.request)
        if allows(answer) != question.allowed:
            return Fate(condition, "caught", question.asked_by)
    return Fate(condition, "survived")


def _ordered(condition: Condition) -> list[Question]:
    """The most promising questions first, then the others, policy by policy."""
    wanted = _words(f"{condition.rule} {condition.text}")
    score = {id(each): len(wanted & _words(f"{each.entry_point} {each.asked_by}")) for each in _corpus.questions}
    ranked = sorted(_corpus.questions, key=lambda each: -score[id(each)])
    return ranked[:FIRST] + sorted(ranked[FIRST:], key=lambda each: each.policy)


def _words(text: str) -> set[str]:
    """`OCI.Linux.MaskedPaths` -> {oci, linux, masked, paths}."""
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}
