"""Verdicts of a replay are those of the engine that is asked one request at a time, with the state between them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, STRICT, Profile
from krm_function.operations import replay as judging
from krm_function.operations.replay import replay
from krm_function.operations.replay_log import Ask, Judged, Question, Reason, Request, Unanswered, pods_of, read_log
from tests.policy.host import Agent
from tests.replay.conftest import ENGINES
from tests.replay.logs import DATA, created, host, life, refused, rego, rich_rego

Asking = Callable[[str, str], Ask]
PROFILES = pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)


def requests(asked: list[tuple[str, Any]]) -> tuple[Request, ...]:
    return tuple(Request(kind, request, number) for number, (kind, request) in enumerate(asked, 1))


def unexplained(request: Request, state: Any, problem: str) -> tuple[Reason, ...]:
    return (Reason("", problem or "denied"),)


def verdicts(asked: list[tuple[str, Any]], ask: Ask) -> list[bool]:
    return [one.allowed for one in replay(requests(asked), ask, unexplained)]


@pytest.mark.slow
@PROFILES
@pytest.mark.parametrize("engine", ENGINES)
def test_the_life_of_a_pod_is_allowed(asking: Asking, engine: str, profile: Profile) -> None:
    assert verdicts(life(), asking(engine, rego(profile))) == [True] * len(life())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_denied_request_leaves_no_state_behind(asking: Asking, engine: str) -> None:
    asked = [*refused(), *life()[5:7]]
    assert verdicts(asked, asking(engine, rego())) == [True, True, True, True, True, False, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_request_is_judged_by_the_state_of_those_before_it(asking: Asking, engine: str) -> None:
    ask = asking(engine, rego())
    moved = json.loads(json.dumps(life()[5]).replace('sandbox-name": "test"', 'sandbox-name": "test-2"'))
    assert verdicts([life()[3], moved], ask) == [True, False]
    removed = ("RemoveContainerRequest", {"container_id": "e" * 64, "timeout": 0})
    assert verdicts([*life()[:10], removed], ask)[-1] is False


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_asked_together_and_alone_every_request_has_the_same_verdict_as_in_the_engines_of_the_tests(
    asking: Asking, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = rich_rego()
    on = host(policy, "web-7c5ddbdf54-x2v9k")
    names = ["pause", "contrast-service-mesh", "app"]
    asked: list[tuple[str, Any]] = [("CreateContainerRequest", created(on, name)) for name in names]
    asked += [("ExecProcessRequest", on.execute("app", words)) for words in (["/web", "health"], ["sh"], [])]
    asked += [*life()[:3], ("NoSuchRequest", {}), ("SetPolicyRequest", {"policy": ""}), ("ReadStreamRequest", {})]
    asked += [
        ("WriteStreamRequest", {}),
        ("UpdateRoutesRequest", {"routes": None}),
        ("CopyFileRequest", {"path": "/x"}),
    ]
    agent = Agent(policy, quick=True)
    known = [kind == "NoSuchRequest" or agent.allows(kind, request) for kind, request in asked]
    known[[kind for kind, _ in asked].index("NoSuchRequest")] = False
    assert True in known
    assert False in known
    ask = asking(engine, policy)
    assert verdicts(asked, ask) == known
    monkeypatch.setattr(judging, "AT_ONCE", 1)
    assert verdicts(asked, ask) == known


def test_an_engine_that_does_not_take_several_requests_is_asked_for_each() -> None:
    """As OPA does with `with input as data.…` in a comprehension: it takes no input at all, and says nothing of it."""
    asked: list[Question] = []

    def ask(question: Question) -> list[list[Any]]:
        asked.append(question)
        if question.requests:
            return [[[False]]] * len(question.terms)
        return [[True]]

    assert verdicts(life(), ask) == [True] * len(life())
    assert [len(one.requests) for one in asked] == [len(life())] + [0] * len(life())


def test_an_error_of_one_request_is_a_denial_of_that_one() -> None:
    def ask(question: Question) -> list[list[Any]]:
        if question.requests or question.input == {"bad": 1}:
            raise Unanswered("complete rules must not produce multiple outputs")
        return [[True]]

    assert verdicts([("A", {}), ("A", {"bad": 1}), ("A", {})], ask) == [True, False, True]


@pytest.mark.slow
def test_a_log_of_many_requests_is_few_evaluations(asking: Asking) -> None:
    ask, count = asking("opa-cli", rego()), 0

    def counted(question: Question) -> list[list[Any]]:
        nonlocal count
        count += 1
        return ask(question)

    several = [*life()[:8], *([life()[7]] * 150), *life()[8:]]
    assert verdicts(several, counted) == [True] * len(several)
    assert count == 7, "one more for each that changes the state: the sandbox, two containers made and started, one end"


def test_the_first_denials_are_explained_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "EXPLAINED", 2)
    found: list[Judged] = list(replay(requests([("A", {})] * 4), lambda _: [[False]], unexplained))
    assert [one.reasons[0].problem[:7] for one in found] == ["denied", "denied", "not loo", "not loo"]


def test_requests_belong_to_the_pod_of_their_sandbox() -> None:
    found = pods_of(read_log((DATA / "node-journal.log").read_bytes()))
    assert [(pod.namespace, pod.name, len(pod.requests)) for pod in found.pods] == [
        ("default", "test", 6),
        ("default", "db-0", 6),
    ]
    assert found.unknown == ()


def test_without_the_mark_of_a_line_what_no_pod_says_of_itself_is_not_guessed() -> None:
    text = (DATA / "node-journal.log").read_text().replace("sandbox=", "of=")
    found = pods_of(read_log(text.encode()))
    assert [len(pod.requests) for pod in found.pods] == [4, 4], "sandbox, its container, its start, the container"
    assert [one.kind for one in found.unknown] == ["UpdateInterfaceRequest"] * 2 + ["UpdateRoutesRequest"] * 2
