"""The policy digests of the rendered quickstart, as its committed manifest has them."""

import functools
import json

from tests.hosts.running import EXAMPLES


@functools.cache
def digest(name: str) -> str:
    """As much of the digest of a workload as messages show."""
    policies = json.loads((EXAMPLES / "quickstart/expected/manifest.json").read_text())["Policies"]
    return next(str(key) for key, entry in policies.items() if entry["SANs"][0] == name)[:16]
