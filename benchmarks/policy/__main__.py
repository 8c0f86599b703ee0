"""Run the policy tests, change every leaf of requests, try sequences of them, score the rules.

Exit 1 if engines differ, if a change gets the wrong verdict, if a sequence breaks an invariant, if the score is below
the target, if the table of survivors is wrong, or if what the environment names does not agree. `--quick` leaves out
the leaves: the tests' own requests only. `--thorough` asks rego-cpp, which is slow, about every leaf and not about one
in ten. `--sequences N` sends so many requests in sequences; SEQUENCES_SEED repeats a run of them. KATA=DIR also runs
Kata's own cases out of a checkout, GENPOLICY=PATH compares our generator with a genpolicy; `--oracles` runs these two
alone.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from benchmarks.policy import genpolicy_run, kata_run
from benchmarks.policy.conditions import Condition
from benchmarks.policy.leaves import Leaves, try_leaves
from benchmarks.policy.lifetimes import try_lifetimes
from benchmarks.policy.score import Fate, fates, mutants, rules_of_profiles
from benchmarks.policy.survivors import EQUIVALENT
from krm_function.contrast.profiles import PROFILES
from krm_function.policy.rules import load_rules
from tests.policy.engines.corpus import Corpus, read

TARGET = 95
NIGHTLY = ("-m", "", "--hypothesis-profile=nightly")


def main() -> int:
    """Print the figures; 0 if all of them are as they must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the tests' own requests only")
    parser.add_argument("--thorough", action="store_true", help="every leaf on rego-cpp too")
    parser.add_argument(
        "--sequences", type=int, default=20_000, metavar="N", help="requests in sequences (default: 20000)"
    )
    parser.add_argument("--oracles", action="store_true", help="only what KATA and GENPOLICY name")
    chosen = parser.parse_args()
    if chosen.oracles and not (os.environ.get("KATA") or os.environ.get("GENPOLICY")):
        parser.error("--oracles wants KATA=DIR or GENPOLICY=PATH in the environment")
    agrees = [kata_run.from_environment(), genpolicy_run.from_environment()]
    if chosen.oracles:
        return 0 if all(agrees) else 1
    with tempfile.TemporaryDirectory() as place:
        corpus = _recorded(place)
    allowed = sum(each.allowed for each in corpus.questions)
    print(
        f"requests of the tests   {len(corpus.questions)}: {allowed} allowed, {len(corpus.questions) - allowed} denied"
    )
    leaves = Leaves() if chosen.quick else try_leaves(thorough=chosen.thorough)
    if not chosen.quick:
        _told("changes of every leaf", leaves.allowed, leaves.denied)
    for line in leaves.wrong:
        print(f"  wrong: {line}")
    print(f"engines that differ     {leaves.differ} (regorus, OPA, rego-cpp)")
    holds = _sequences(chosen.sequences)
    scored = _score(corpus)
    return 0 if scored and holds and not leaves.wrong and not leaves.differ and all(agrees) else 1


def _sequences(requests: int) -> bool:
    """Print how many requests were sent in sequences; whether every invariant held."""
    start, seed = time.monotonic(), int(os.environ.get("SEQUENCES_SEED") or time.time())
    lived = try_lifetimes(requests, seed)
    print(
        f"requests in sequences   {lived.requests} on {lived.policies} policies: {len(lived.broken)} broken, "
        f"SEQUENCES_SEED={seed}, in {time.monotonic() - start:.0f} s"
    )
    for line in lived.broken:
        print(f"  broken: {line}")
    return not lived.broken


def _told(what: str, allowed: int, denied: int) -> None:
    print(f"{what:24}{allowed + denied}: {allowed} allowed, {denied} denied", flush=True)


def _recorded(place: str) -> Corpus:
    """Return the questions that the policy tests ask; they must pass, and with them the engines agree."""
    environment = {**os.environ, "CONTRAST_KRM_CORPUS": place}
    workers = str(os.cpu_count())
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", *NIGHTLY]
    done = subprocess.run([*command, "tests/policy"], env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-4000:]}\nthe policy tests do not pass")
    return read(place)


def _score(corpus: Corpus) -> bool:
    """Print the score; whether it is high enough and the table of survivors is right."""
    start = time.monotonic()
    rules = rules_of_profiles()
    starts = tuple(load_rules(profile) for profile in PROFILES.values())
    ours = {key: text for key, text in corpus.policies.items() if text.startswith(starts)}
    questions = [question for question in corpus.questions if question.policy in ours]
    found = fates(rules, mutants(rules), Corpus(ours, questions))
    reasons = _reasons(found)
    counted = [fate for fate in found if fate.fate != "invalid" and fate.condition not in reasons]
    caught = sum(fate.fate == "caught" for fate in counted)
    invalid = sum(fate.fate == "invalid" for fate in found)
    score = 100 * caught / len(counted)
    print(
        f"mutation score          {score:.1f} %: {caught} of {len(counted)} lost conditions noticed (target {TARGET} %)"
    )
    print(f"                        {len(reasons)} more change nothing; without one of {invalid} it does not compile")
    for fate in counted:
        if fate.fate == "survived":
            print(f"  survived: {_where(fate)}")
    for fate in found:
        if fate.condition in reasons:
            print(f"  changes nothing: {_where(fate)}: {reasons[fate.condition]}")
    wrong = [fate for fate in found if fate.condition in reasons and fate.fate != "survived"]
    for fate in wrong:
        print(f"  wrong: {_where(fate)} is in the table of survivors, and {fate.fate} {fate.by}")
    if len(reasons) != len(EQUIVALENT):
        print("  wrong: the table of survivors names a condition that the rules do not have")
    print(f"                        in {time.monotonic() - start:.0f} s")
    return score >= TARGET and not wrong and len(reasons) == len(EQUIVALENT)


def _where(fate: Fate) -> str:
    return f"{fate.condition.file}.rego:{fate.condition.row}, {fate.condition.rule}: {fate.condition.line}"


def _reasons(found: list[Fate]) -> dict[Condition, str]:
    """Why nobody can notice that a condition is gone, by condition."""
    reasons = {}
    for row in EQUIVALENT:
        same = [fate.condition for fate in found if (fate.condition.rule, fate.condition.line) == (row.rule, row.text)]
        if len(same) >= row.nth:
            reasons[same[row.nth - 1]] = row.reason
    return reasons


if __name__ == "__main__":
    sys.exit(main())
