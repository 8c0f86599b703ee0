"""Changed pods through a real genpolicy, which GENPOLICY names, and through our generator, field by field.

    outcome         both make a policy, and
    equal           no field differs, but for the profile's name, which only ours has
    known           each line that differs has a row in genpolicy_differences.py
    new             some line has none
    refused by ...  or one of them makes none, or neither does

Which of the two programs it is, Kata's or Contrast's, is seen by what it makes of the simplest pod, and our generator
has the profile that fits.

Rule of this file: a program that does not run, or that makes nothing of the simplest pod, has compared nothing, which
is an error and no refusal.
"""

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.policy.genpolicy_differences import ROWS, row_of
from benchmarks.policy.genpolicy_place import places
from benchmarks.policy.genpolicy_pods import CLASS, Mutant, mutants
from benchmarks.policy.genpolicy_program import Broken, Genpolicy, Refused
from benchmarks.policy.image_facts import Facts, read_lock
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import KATA, Profile
from krm_function.findings import Finding, dotted
from krm_function.policy.compare import compare_initdata
from krm_function.policy.image_storage import is_pinned
from krm_function.policy.initdata import POLICY, Initdata, decode_toml, read_policy_data
from krm_function.policy.rules import load_rules, profile_of_data
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.policy import pods

PODS = 300
OURS_ALONE = ("profile", "text")  # the name of our profile; the order and spacing of the document
# an image of no registry: a program that pulls images cannot be asked about it
MADE_UP = {
    f"registry.example.com/shop/web:1.2@sha256:{'3' * 64}": ImageFacts(
        f"sha256:{'3' * 64}", {"Env": ["PATH=/bin"], "Entrypoint": ["/entry"], "WorkingDir": "/"}, passwd="", group=""
    )
}
Kind = Literal["equal", "known", "new", "refused by genpolicy", "refused by ours", "refused by both"]
# whether theirs and ours make none -> the outcome
REFUSED: dict[tuple[bool, bool], Kind] = {
    (True, False): "refused by genpolicy",
    (False, True): "refused by ours",
    (True, True): "refused by both",
}


class Outcome(NamedTuple):
    """What came of one pod. rows: of its known differences; lines: the new ones; refusals: by whom, and why."""

    name: str
    kind: Kind
    rows: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    refusals: tuple[tuple[str, str], ...] = ()


def run_genpolicy(program: str, *, seed: int, count: int, lock: str = "") -> bool:
    """Print what the two make of so many pods; whether no difference is new and at least one pair was compared.

    lock: path of an ImageLock whose images the pods have; "" for made-up ones, which no registry has.
    """
    print(f"genpolicy               {count} pods, seed {seed}", flush=True)
    try:
        found = _outcomes(program, seed, count, read_lock(lock) if lock else MADE_UP)
    except (Broken, OSError, ValueError) as problem:
        print(f"  nothing is compared:  {problem}")
        if not lock:
            print("  without GENPOLICY_IMAGES the pods have images of no registry: benchmarks/policy/README.md")
        return False
    _print(found)
    compared = [one for one in found if one.kind in {"equal", "known", "new"}]
    if not compared:
        print("  nothing is compared:  one of the two refuses each pod")
    new = [one for one in found if one.kind == "new"]
    if new:
        print(f"  again:  GENPOLICY={program} GENPOLICY_SEED={seed} GENPOLICY_PODS={count} python -m benchmarks.policy")
    return bool(compared) and not new


def _outcomes(program: str, seed: int, count: int, facts: Facts) -> list[Outcome]:
    """Return what came of each pod. Raises Broken."""
    images = sorted(name for name in facts if is_pinned(name))
    if not images:
        raise Broken("the ImageLock has no image with a digest")
    with tempfile.TemporaryDirectory() as directory:
        genpolicy = Genpolicy(program, Path(directory))
        profile = profile_of_program(genpolicy, images)
        print(f"  makes what fits       {profile.name}", flush=True)
        return [outcome(genpolicy, profile, facts, mutant) for mutant in mutants(seed, count, images)]


def outcome(genpolicy: Genpolicy, profile: Profile, facts: Facts, mutant: Mutant) -> Outcome:
    """Return what the two make of one pod. Raises Broken."""
    references = References(mutant.objects)
    theirs: Initdata | None = None
    refusals: list[tuple[str, str]] = []
    try:
        theirs = genpolicy.initdata(mutant.workload, references, profile)
    except Refused as reason:
        refusals.append(("genpolicy", _without_numbers(str(reason))))
    policy, findings = seal(mutant.workload, facts, references, default_settings(profile), load_rules(profile))
    refusals += [("ours", _short(one)) for one in findings if one.severity == "error"] if policy is None else []
    if theirs is None or policy is None:
        kind = REFUSED[theirs is None, policy is None]
        return Outcome(mutant.name, kind, refusals=tuple(refusals))
    return compared(mutant, profile, theirs, decode_toml(policy.toml), references)


def compared(mutant: Mutant, profile: Profile, theirs: Initdata, ours: Initdata, references: References) -> Outcome:
    """Return what came of a pod of which both make a policy."""
    data = (read_policy_data(theirs.data[POLICY]), read_policy_data(ours.data[POLICY]))
    lines = compare_initdata(theirs._replace(data={**ours.data, POLICY: theirs.data[POLICY]}), ours)
    counted = tuple(line for line in lines if line.field not in OURS_ALONE)
    known: set[str] = set()
    new: list[str] = []
    for place in places(counted, data, mutant.workload, references, profile):
        row, line = row_of(place), place.line
        if row is None:
            what = line.what if line.field != "env" else line.what.partition("=")[0]
            new.append(f"{line.container or 'all'}: {line.field} {line.op} {what} ({line.verdict}: {line.why})")
        else:
            known.add(row.name)
    kind: Kind = "new" if new else "known" if known else "equal"
    return Outcome(mutant.name, kind, frozenset(known), tuple(new))


def profile_of_program(genpolicy: Genpolicy, images: Sequence[str]) -> Profile:
    """Return the profile that fits what a program makes of the simplest pod of each image. Raises Broken."""
    found: list[Profile] = []
    for image in images:
        context = {"runAsUser": 65534, "runAsGroup": 65534}
        container = {"name": "app", "image": image, "command": ["/app"]}
        spec = {"runtimeClassName": CLASS, "securityContext": context, "containers": [container]}
        try:
            initdata = genpolicy.initdata(pods.workload(spec, "Pod"), References(), KATA)
            found.append(profile_of_data(read_policy_data(initdata.data[POLICY])))
        except Refused as reason:
            print(f"  no simple pod of {image}: {reason}")
    if len(found) != len(images):
        raise Broken(
            "a simple pod is refused: can the images be pulled, and is the user 65534 in none of their groups?"
        )
    if len(set(found)) > 1:
        raise Broken("it binds the images of some pods only")
    return found[0]


def _short(found: Finding) -> str:
    """Return a refusal without the numbers that tell one pod from another."""
    return _without_numbers(f"{found.code} at {dotted(found.path)}: {found.message}")


def _without_numbers(refusal: str) -> str:
    return re.sub(r"@sha256:[0-9a-f]+", "", re.sub(r"\[\d+\]|(?<=\.)\d+(?=\.)", "[]", refusal))


def _print(found: list[Outcome]) -> None:
    kinds = Counter(one.kind for one in found)
    said = (f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda each: -each[1]))
    print(f"  of {len(found):<21}{', '.join(said)}")
    rows = Counter(name for one in found for name in one.rows)
    for row in ROWS:
        if rows[row.name]:
            print(f"  known: {rows[row.name]:4} {row.name}: {row.facts}")
    reasons = Counter(reason for one in found for reason in set(one.refusals))
    for (who, why), count in sorted(reasons.items(), key=lambda each: (each[0][0], -each[1], each[0][1])):
        print(f"  refused by {who}: {count:4} {why}")
    for one in found:
        for line in one.lines:
            print(f"  new: {one.name}: {line}")


def from_environment(environment: Any = os.environ) -> bool:
    """Run it if the environment names a program; whether all is well, which it is without one."""
    program = environment.get("GENPOLICY", "")
    if not program:
        return True
    try:
        seed = int(environment.get("GENPOLICY_SEED") or time.time_ns() % 1_000_000)
        count = int(environment.get("GENPOLICY_PODS") or PODS)
    except ValueError:
        print("genpolicy               GENPOLICY_SEED and GENPOLICY_PODS are numbers")
        return False
    return run_genpolicy(program, seed=seed, count=count, lock=environment.get("GENPOLICY_IMAGES", ""))
