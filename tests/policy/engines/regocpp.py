"""Rule of this file: rego-cpp, by way of regopy, in this process; what is compiled is kept for the last policies."""

import functools
import json
from typing import Any

from regopy import Interpreter
from regopy.rego_shared import RegoError

from tests.policy.engines.answer import Answer, Json


class RegoCpp:
    """The engine that PyPI carries. tests/policy/test_rules_text.py guards against its defects."""

    name = "rego-cpp"

    def ask(self, policy: str, entry_point: str, state: Json, request: Any) -> Answer:
        """Evaluate a rule."""
        try:
            engine, bundle = _compiled(policy, entry_point, json.dumps(state, sort_keys=True))
        except RegoError as error:
            return Answer("error", text=str(error)[:300])
        # as JSON: rego-cpp compares strings as they are escaped, and a Python value is not
        engine.set_input_term(json.dumps(request, ensure_ascii=False))
        text = str(engine.query_bundle(bundle))
        if "<error>" in text or text.startswith("error"):
            return Answer("error", text=text[:300])
        if text == "undefined" or not text:
            return Answer("undefined")
        if "bindings" not in text:
            return Answer("error", text=text[:300])
        return Answer("value", json.loads(text)["bindings"]["x"])


@functools.lru_cache(maxsize=64)
def _compiled(policy: str, entry_point: str, state: str) -> tuple[Any, Any]:
    engine = Interpreter()
    engine.add_module("policy", policy)
    engine.add_data_json(json.dumps({"pstate": json.loads(state)}))
    # a query of the bare rule prints "undefined" for false (docs/facts/kata-rules.md#engine-defects)
    return engine, engine.build(f"x := data.agent_policy.{entry_point}", [])
