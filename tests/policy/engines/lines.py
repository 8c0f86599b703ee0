"""Rule of this file: OPA and regorus run as one process each, which ends when its standard input does.

`tools/opa`, `tools/regorus` and `tools/regorus-agent` speak the same lines; a policy is sent if it is another one.
"""

import atexit
import json
import os
import subprocess
from typing import Any

from tests.policy.engines.answer import Answer, Json
from tools.real import tool


class Lines:
    """An engine behind a pair of pipes. v0: read the policy as Rego before 1.0, as agents before 3.30 did."""

    def __init__(self, name: str, *, v0: bool = False) -> None:
        self.name = f"{name} (v0)" if v0 else name
        self._program = tool(name)
        self._v0 = v0
        self._process: subprocess.Popen[str] | None = None
        self._policy = ""
        self._loaded: Json = {}
        self._owner = os.getpid()
        self._of_the_parent: list[subprocess.Popen[str]] = []

    def ask(self, policy: str, entry_point: str, state: Json, request: Any) -> Answer:
        """Evaluate a rule; a policy that does not load makes every answer an error."""
        self._start_anew_after_a_fork()
        if policy != self._policy:
            self._loaded = self._said({"policy": policy, "v0": self._v0})
            self._policy = policy
        if "error" in self._loaded:
            return Answer("error", text=_short(self._loaded["error"]))
        said = self._said({"rule": f"data.agent_policy.{entry_point}", "state": state, "input": request})
        if "error" in said:
            return Answer("error", text=_short(said["error"]))
        return Answer("undefined") if "undefined" in said else Answer("value", said["value"])

    def failed(self, policy: str, entry_point: str, state: Json, request: Any) -> frozenset[int]:
        """OPA only: the lines of the policy on which something did not hold at some point."""
        self.ask(policy, entry_point, state, request)
        rule = f"data.agent_policy.{entry_point}"
        said = self._said({"rule": rule, "state": state, "input": request, "trace": True})
        return frozenset(said.get("failed") or ())

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _start_anew_after_a_fork(self) -> None:
        """Two processes at the same pipes would get each other's answers."""
        if self._owner != os.getpid():
            self._of_the_parent += [self._process] if self._process else []
            self._process, self._policy, self._owner = None, "", os.getpid()

    def _said(self, question: Json) -> Json:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            atexit.register(self.close)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: exit status {self._process.wait()}")
        said = json.loads(line)
        assert isinstance(said, dict)
        return said


def _short(text: str) -> str:
    """The last line: what is wrong, without a copy of the policy."""
    return text.strip().splitlines()[-1][:300]
