"""`KATA=DIR python -m benchmarks.policy`: read Kata's own policy cases, judge them, and say what came of each.

Rule of this file: what was not run is printed by name, and nothing that was not run counts as equal.
"""

import os
from collections import Counter
from pathlib import Path

from benchmarks.policy.image_facts import facts_of, pods_of, read_lock
from benchmarks.policy.kata_suite import Directory, read_suite
from benchmarks.policy.kata_verdicts import Result, results_of
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT

OUT = Path("out/kata")


def run_kata_suite(checkout: str, lock: str = "") -> bool:
    """Print the verdicts; whether all of them are as they must be and everything was run.

    lock: path of an ImageLock, "" for none.
    """
    directories, problems = read_suite(Path(checkout))
    try:
        known = read_lock(lock) if lock else {}
    except (OSError, ValueError) as wrong:
        print(f"Kata's cases            no facts of images: {wrong}")
        return False
    total = sum(len(cases.cases) for each in directories for _, cases in each.cases)
    print(f"Kata's cases            {total} in {len(directories)} directories of {checkout}", flush=True)
    problems += [f"{each.name}: {problem}" for each in directories for problem in each.problems]
    if not total:
        problems.append(f"no directory testdata with cases below {checkout}")
    lacking = {each.name: [one for one in each.images if not facts_of(known, one)] for each in directories}
    results = [
        result
        for each in directories
        if each.workload is not None and not lacking[each.name]
        for result in results_of(each, known)
    ]
    _print(results, problems, directories)
    return _print_lacking(directories, lacking, checkout, lock) and not problems and not _failed(results)


def _failed(results: list[Result]) -> bool:
    return any(one.kind == "wrong" or (one.kind == "no policy" and one.profile == KATA.name) for one in results)


def _print(results: list[Result], problems: list[str], directories: list[Directory]) -> None:
    for profile in (KATA, CONTRAST, STRICT):
        count: Counter[str] = Counter()
        for one in results:
            if one.profile == profile.name:
                count[one.kind] += one.cases
        if count:
            said = [f"{count['equal']} equal", f"{count['wrong']} different"]
            said += [f"{count[kind]} {kind}" for kind in ("narrower", "wider", "no policy") if count[kind]]
            print(f"  {profile.name:22}{', '.join(said)}")
    for kind in ("wrong", "narrower", "wider", "no policy"):
        for one in results:
            if one.kind == kind:
                print(f"  {kind}: {one.profile}: {one.text}")
    for each in directories:
        for name, cases in each.cases:
            lost = Counter(one.partition(": ")[2] for one in cases.dropped)
            if lost:
                told = ", ".join(f"{member} ({number})" for member, number in sorted(lost.items()))
                print(f"  dropped: {each.name}/{name}: members that no request has: {told}")
    for problem in problems:
        print(f"  not understood: {problem}")


def _print_lacking(directories: list[Directory], lacking: dict[str, list[str]], checkout: str, lock: str) -> bool:
    """Say what was not run for want of facts, and how to make them; whether that was nothing."""
    images = sorted({image for found in lacking.values() for image in found})
    for image in images:
        there = [each for each in directories if image in lacking[each.name]]
        count = sum(len(cases.cases) for each in there for _, cases in each.cases)
        print(f"  not run: no facts of {image}: {count} cases of {', '.join(each.name for each in there)}")
    if images:
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "pods.yaml").write_text(pods_of(images), encoding="utf-8")
        made = lock or str(OUT / "images.yaml")
        print(f"  to run them:  contrast-krm lock {OUT / 'pods.yaml'} -o {made}")
        print(f"                KATA={checkout} KATA_IMAGES={made} python -m benchmarks.policy", flush=True)
    return not images


def from_environment() -> bool:
    """Run it if the environment names a checkout; whether all is well, which it is without one."""
    checkout = os.environ.get("KATA", "")
    return run_kata_suite(checkout, os.environ.get("KATA_IMAGES", "")) if checkout else True
