"""The digests of the rendered quickstart, of its policies and its manifest, as they are committed."""

import functools
import hashlib
import json

from tests.hosts.running import EXAMPLES

MANIFEST = EXAMPLES / "quickstart" / "expected" / "manifest.json"


@functools.cache
def digest(name: str) -> str:
    """As much of the digest of a workload as messages show."""
    policies = json.loads(MANIFEST.read_text())["Policies"]
    return next(str(key) for key, entry in policies.items() if entry["SANs"][0] == name)[:16]


def manifest_digest() -> str:
    """As much of the digest of the manifest as messages show."""
    return hashlib.sha256(MANIFEST.read_bytes()).hexdigest()[:16]
