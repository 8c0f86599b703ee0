"""Rule of this file: what an engine says of a rule is a value, undefined, or an error, and nothing else.

Engines word their errors differently, so two errors are one and the same answer.
"""

from typing import Any, NamedTuple, Protocol

Json = dict[str, Any]


class Answer(NamedTuple):
    """The answer of an engine. kind: value | undefined | error; value is JSON, or None; text is for people."""

    kind: str
    value: Any = None
    text: str = ""

    def same(self, other: "Answer") -> bool:
        """Whether both engines said the same."""
        return self.kind == other.kind and self.value == other.value and type(self.value) is type(other.value)


class Engine(Protocol):
    """One Rego engine: evaluates a rule of package agent_policy, keeps nothing between two questions."""

    name: str

    def ask(self, policy: str, entry_point: str, state: Json, request: Any) -> Answer:
        """Evaluate `data.agent_policy.<entry_point>`; `state` is the document `data.pstate`."""


class Disagreement(AssertionError):
    """Engines answered the same question differently."""
