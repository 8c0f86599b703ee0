"""Rule of this file: a question that was put to the engines can be put again, to other rules.

With CONTRAST_KRM_CORPUS=DIRECTORY every question of a test run is written there, once: `<digest>.rego` holds a policy,
`<process>.jsonl` the questions. `python -m benchmarks.policy` reads them back.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from tests.policy.engines.answer import Answer, Json


class Question(NamedTuple):
    """One question and its answer.

    operations: those on the state that come with an allowed request; asked_by: the test, and what it changed in the
    request.
    """

    policy: str  # the key of its text in Corpus.policies
    entry_point: str
    state: Json
    request: Any
    allowed: bool
    asked_by: str
    operations: tuple[Json, ...] = ()


class Corpus(NamedTuple):
    """All questions, and the texts of their policies."""

    policies: dict[str, str]
    questions: list[Question]


_written: set[str] = set()


def allows(answer: Answer) -> bool:
    """Whether the agent would obey: anything but `true` or an object that says so is a denial."""
    if isinstance(answer.value, dict):
        return answer.value.get("allowed") is True
    return answer.value is True


def operations(answer: Answer) -> tuple[Json, ...]:
    """What an allowed request changes in the state."""
    return tuple(answer.value.get("ops") or ()) if isinstance(answer.value, dict) and allows(answer) else ()


def record(policy: str, entry_point: str, state: Json, request: Any, answer: Answer, what: str = "") -> None:
    """Write a question down, if somebody wants that."""
    place = os.environ.get("CONTRAST_KRM_CORPUS")
    if not place:
        return
    key = hashlib.sha256(policy.encode()).hexdigest()[:16]
    body = {"policy": key, "entry_point": entry_point, "state": state, "request": request}
    once = json.dumps(body, sort_keys=True)
    if once in _written:
        return
    if not Path(place, f"{key}.rego").exists():
        Path(place, f"{key}.rego").write_text(policy, encoding="utf-8")
    _written.add(once)
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit("::", 1)[-1].removesuffix(" (call)")
    verdict = {"allowed": allows(answer), "operations": operations(answer)}
    line = json.dumps({**body, **verdict, "asked_by": f"{test} {what}".strip()})
    with open(os.path.join(place, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
        file.write(line + "\n")


def read(place: str) -> Corpus:
    """Everything that was recorded, in a stable order, each question once."""
    policies = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(place).glob("*.rego"))}
    found: dict[str, Question] = {}
    for path in sorted(Path(place).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = json.loads(line)
            question = Question(**{**fields, "operations": tuple(fields["operations"])})
            found.setdefault(json.dumps(question[:4], sort_keys=True), question)
    return Corpus(policies, [found[key] for key in sorted(found)])
