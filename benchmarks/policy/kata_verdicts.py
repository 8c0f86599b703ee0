"""Kata's own policy cases on our policies and rules, on every engine.

    profile          directories                                       its verdicts
    kata-4.1         all                                               are Kata's
    contrast-1.25,   where all images of the pod are pinned and some   allow nothing that Kata denies, but for what
    strict           request pulls one in the VM                       their nodes may vary; what they deny is listed

The requests of a file go to one agent, whose state an allowed request changes; with the profiles for Contrast, which
take an id once, a case that creates one again goes to an agent without a past. A node of Contrast pulls images without
the options that Kata's node gives (docs/facts/contrast-node.md#requests), so these are left out for its profiles.

Rule of this file: an answer that is no verdict is a denial, and engines that differ are a wrong one.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from benchmarks.policy.image_facts import Facts, facts_of
from benchmarks.policy.kata_cases import Case, Request
from benchmarks.policy.kata_suite import Directory
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.kubernetes.objects import dig
from krm_function.policy.image_storage import DRIVER, is_pinned
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import Settings, default_document, patched, settings
from tests.policy.engines.answer import Disagreement
from tests.policy.host import Agent

CREATE = "CreateContainerRequest"
WORDS = {True: "allows", False: "denies"}
# narrower: a profile for Contrast denies what Kata allows; wider: it allows what only Kata's nodes never ask for
Kind = Literal["equal", "wrong", "narrower", "wider", "no policy"]
# what nodes of Contrast may vary: docs/facts/contrast-node.md#settings, docs/facts/contrast-node.md#rules
LOGS = "ReadStreamRequest"
FREE_IN_OCI = (("Version",), ("Linux", "RootfsPropagation"))


class Result(NamedTuple):
    """What came of one case. cases: how many, for what is said of all cases of a directory."""

    profile: str
    kind: Kind
    text: str = ""
    cases: int = 1


def profiles_of(directory: Directory) -> tuple[Profile, ...]:
    """Return the profiles that the cases of a directory are for: decided by its images and its requests."""
    asked = [request.fields for _, cases in directory.cases for case in cases.cases for request in case.requests]
    pulls = any(storage["driver"] == DRIVER for one in asked for storage in one.get("storages") or ())
    pinned = bool(directory.images) and all(map(is_pinned, directory.images))
    return (KATA, CONTRAST, STRICT) if pulls and pinned else (KATA,)


def results_of(directory: Directory, known: Facts) -> Iterator[Result]:
    for profile in profiles_of(directory):
        policy = _policy(directory, profile, known)
        for name, cases in directory.cases:
            if policy.startswith("no policy"):
                yield Result(profile.name, "no policy", f"{directory.name}: {policy}", len(cases.cases))
                continue
            agent = Agent(policy)
            for case in cases.cases if profile is KATA else map(_on_contrast, cases.cases):
                asked = Agent(policy) if profile is not KATA and _is_again(case, agent) else agent
                yield _judged(f"{directory.name}/{name}: {case.name}", case, profile, policy, asked)


def _policy(directory: Directory, profile: Profile, known: Facts) -> str:
    """Return the policy of the pod, or `no policy: ` and why."""
    made = _settings(directory, profile)
    if isinstance(made, str):
        return f"no policy: {made}"
    if directory.workload is None:
        raise AssertionError("only a directory with a workload has a policy")
    images = {one: facts for one in directory.images if (facts := facts_of(known, one))}
    references = References(directory.documents)
    policy, findings = seal(directory.workload, images, references, made, load_rules(profile))
    if policy is None:
        return f"no policy: {'; '.join(f'{one.code} {one.message}' for one in findings)}"
    return policy.rego


def _settings(directory: Directory, profile: Profile) -> Settings | str:
    """Return the settings of a directory, or what is wrong with them."""
    document = directory.settings or default_document(profile)
    try:
        for one in directory.drop_ins:
            document = patched(document, one)
    except ValueError as wrong:
        return f"settings: {wrong}"
    made, findings = settings(document, profile)
    return f"settings: {findings[0].message}" if findings else made


def _judged(name: str, case: Case, profile: Profile, policy: str, agent: Agent) -> Result:
    """Return the verdict on one case. agent: it has seen the cases before."""
    *before, last = case.requests
    try:
        early = [_obeyed(agent, request.rule, request.fields) for request in before]
        allowed = all(early) and _obeyed(agent, last.rule, last.fields)
        if allowed == case.allowed:
            return Result(profile.name, "equal")
        alone = _obeyed(Agent(policy), last.rule, last.fields)
    except Disagreement as problem:
        return Result(profile.name, "wrong", f"{name}: engines differ: {' / '.join(str(problem).splitlines()[1:3])}")
    kind: Kind = "narrower"
    if profile is KATA or allowed:
        kind = "wider" if profile is not KATA and _is_free(last, policy) else "wrong"
    without = f"; to an empty state it {WORDS[alone]}" if alone != allowed else ""
    return Result(profile.name, kind, f"{name}: Kata {WORDS[case.allowed]}, {profile.name} {WORDS[allowed]}{without}")


def _is_again(case: Case, agent: Agent) -> bool:
    """Whether a case creates a container under an id that was used: the cases of one base do."""
    return any(one.rule == CREATE and one.fields.get("container_id") in agent.state for one in case.requests)


def _on_contrast(case: Case) -> Case:
    """Return a case as a node of Contrast would ask it."""
    return case._replace(requests=tuple(map(_without_options, case.requests)))


def _without_options(request: Request) -> Request:
    storages = request.fields.get("storages") or []
    plain = [one | {"driver_options": []} if _has_options(one) else one for one in storages]
    return request._replace(fields={**request.fields, "storages": plain}) if plain != storages else request


def _has_options(storage: dict[str, Any]) -> bool:
    """Whether a storage is an image's with the one option of Kata's shim."""
    options = storage["driver_options"]
    return storage["driver"] == DRIVER and len(options) == 1 and options[0].startswith(f"{DRIVER}=")


def _is_free(request: Request, policy: str) -> bool:
    """Whether a request has a value that the rules for Contrast's nodes leave to the node, and Kata's do not."""
    if request.rule == LOGS:
        return True
    oci = request.fields.get("OCI") or {}
    wanted = [one["OCI"] for one in read_policy_data(policy)["containers"]]
    return any(dig(oci, path) not in (None, "", *(dig(one, path) for one in wanted)) for path in FREE_IN_OCI)


def _obeyed(agent: Agent, rule: str, fields: object) -> bool:
    """Whether an agent obeys; an answer that is no verdict is a denial."""
    try:
        return agent.allows(rule, fields)
    except RuntimeError:
        return False
