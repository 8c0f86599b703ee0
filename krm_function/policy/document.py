"""The policy document: the rules, then policy_data (docs/facts/kata.md#policy-data).

Rule of this file: what is written can be read back by `describe`, exactly.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.policy.pretty import pretty

HEAD = "policy_data := "


def rego_document(rules: str, data: Mapping[str, Any]) -> str:
    """The rules with their data."""
    return f"{rules}\n{HEAD}{pretty(dict(data))}"


def rego_text(rules: str, containers: list[dict[str, Any]], shared_text: str) -> str:
    """The same document from the containers and the settings' text: what all pods share is written once a render."""
    return f'{rules}\n{HEAD}{{\n  "containers": {pretty(containers, 1)},\n{shared_text}\n}}'


def read_policy_data(rego: str) -> dict[str, Any]:
    """The policy_data of a policy document, whoever generated it. Raises ValueError if there is none."""
    return _parts(rego)[0]


def rules_of(rego: str) -> str:
    """All of a policy document but its policy_data: also what stands behind it. Raises ValueError as `describe`."""
    _, start, end = _parts(rego)
    return rego[:start] + rego[end:].strip()


def _parts(rego: str) -> tuple[dict[str, Any], int, int]:
    """The policy_data, and where it begins and ends."""
    import json

    start = rego.find("\n" + HEAD)
    if start < 0:
        raise ValueError("the policy has no policy_data")
    try:
        data, end = json.JSONDecoder(object_pairs_hook=_unique_keys).raw_decode(rego, start + 1 + len(HEAD))
    except (json.JSONDecodeError, RecursionError) as problem:
        raise ValueError(f"policy_data is no JSON: {getattr(problem, 'msg', 'nested too deeply')}") from None
    if not isinstance(data, dict) or not isinstance(data.get("containers"), list):
        raise ValueError("policy_data has no containers")  # noqa: TRY004 - input, not a bug
    return data, start, end


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once: of two, each engine could take another."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("policy_data has a key twice in one object")
    return made
