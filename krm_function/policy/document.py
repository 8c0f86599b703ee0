"""Write and read a policy document: the rules, then policy_data (docs/facts/kata.md#policy-data).

Rule of this file: `read_policy_data` returns exactly what was written.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.policy.pretty import pretty

HEAD = "policy_data := "


def rego_document(rules: str, data: Mapping[str, Any]) -> str:
    """Join the rules and their data to a policy document."""
    return f"{rules}\n{HEAD}{pretty(dict(data))}"


def rego_text(rules: str, containers: list[dict[str, Any]], shared_text: str) -> str:
    """Build the same document from the containers and the serialised settings, which all pods of a render share."""
    return f'{rules}\n{HEAD}{{\n  "containers": {pretty(containers, 1)},\n{shared_text}\n}}'


def read_policy_data(rego: str) -> dict[str, Any]:
    """Parse the policy_data of a policy document, of any generator. Raises ValueError if there is none."""
    return _parts(rego)[0]


def rules_of(rego: str) -> str:
    """Return a policy document without its policy_data, including text behind it. Raises as `read_policy_data`."""
    _, start, end = _parts(rego)
    return rego[:start] + rego[end:].strip()


def _parts(rego: str) -> tuple[dict[str, Any], int, int]:
    """Return the policy_data, and the offsets at which it begins and ends."""
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
    """Build an object; refuse one with a duplicate key, of which Rego engines could take different values."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("policy_data has a key twice in one object")
    return made
