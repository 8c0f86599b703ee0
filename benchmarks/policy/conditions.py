"""Rule of this file: a mutant is the rules with one condition replaced by `true`, where OPA's own parser saw it.

Every expression of every body is a condition, those inside comprehensions and `every` too. What does not compile
without it (a variable that is then bound nowhere) is no mutant.
"""

import json
import subprocess
from typing import NamedTuple

from tools.real import tool


class Condition(NamedTuple):
    """One expression. row: its line; offset: of its first byte in the text; file: the file of the rules it is in."""

    rule: str
    row: int
    offset: int
    text: str
    file: str = ""

    @property
    def line(self) -> str:
        """What a person looks for: the expression on one line."""
        return " ".join(self.text.split())


def conditions(rules: str) -> list[Condition]:
    """Every condition of the rules, in the order of the text."""
    question = json.dumps({"conditions": f"{rules}\npolicy_data := {{}}\n"}) + "\n"
    done = subprocess.run([tool("opa")], input=question, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    if "error" in said:
        raise ValueError(said["error"])
    found = {Condition(**each) for each in said["conditions"]}
    return sorted(found, key=lambda each: (each.offset, -len(each.text)))


def without(rules: str, condition: Condition) -> str:
    """Return the rules in which the condition always holds."""
    content, gone = rules.encode(), condition.text.encode()
    end = condition.offset + len(gone)
    if content[condition.offset : end] != gone:
        raise ValueError(f"line {condition.row}: not where OPA saw it")
    return (content[: condition.offset] + b"true" + content[end:]).decode()
