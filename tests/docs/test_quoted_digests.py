"""A digest that a how-to page quotes from a command's output is the one that the quickstart has today."""

import re
from pathlib import Path

from tests.hosts.digests import manifest_digest
from tests.hosts.running import EXAMPLES, ROOT, called, copied

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
PLAN = EXAMPLES / "quickstart" / "expected" / "plan.txt"


def quoted(pattern: str) -> set[str]:
    """What the group of the pattern is on any page."""
    return {one for page in PAGES for one in re.findall(pattern, page.read_text())}


def test_policies(tmp_path: Path) -> None:
    """One page shows the quickstart with eight GPUs, which no node has."""
    here = copied("quickstart", tmp_path)
    workload = here / "resources" / "recommendations.yaml"
    text = workload.read_text()
    workload.write_text(text.replace('pgpu: "1"', 'pgpu: "8"').replace('cpu: "4"', 'cpu: "8"'))
    with_eight = called("plan", str(here / "resources"), "--config", str(here / "config")).out.decode()
    known = set(re.findall(r"policy ([0-9a-f]{8})\b", PLAN.read_text() + with_eight))
    found = quoted(r"policy ([0-9a-f]{8})\b")
    assert len(found) >= 3
    assert found <= known, found - known


def test_manifests() -> None:
    assert quoted(r"manifest ([0-9a-f]{16})\b") == {manifest_digest()}
