"""No false alarm on what a cluster gives back: every example as the API server stores it, with Kubernetes' defaults."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.applied import APPLIED, Example
from tests.hosts.running import EXAMPLES, called
from tests.real_tools import needing
from tools.real import tool

pytestmark = needing("defaults")

CLUSTER_WIDE = ("RuntimeClass", "Namespace", "ClusterRole", "ClusterRoleBinding")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def stored(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects as `kubectl get` prints them after `kubectl apply`: defaults, status, and what the server writes."""
    lines = "\n".join(map(json.dumps, values)).encode()
    told = subprocess.run([tool("defaults")], input=lines, capture_output=True, timeout=60, check=True)
    made = [json.loads(line) for line in told.stdout.splitlines()]
    for number, (value, before) in enumerate(zip(made, values, strict=True)):
        metadata = value["metadata"]
        metadata |= {
            "creationTimestamp": "2026-11-22T12:00:00Z",
            "generation": 1,
            "resourceVersion": str(1000 + number),
            "uid": f"00000000-0000-4000-8000-{number:012}",
        }
        metadata.setdefault("annotations", {})[LAST_APPLIED] = json.dumps(before) + "\n"
        if value["kind"] not in CLUSTER_WIDE:
            metadata.setdefault("namespace", "default")
    return made


def test_defaults_are_added_at_all() -> None:
    before = next(value for value in APPLIED[0].applied() if value["kind"] == "Deployment")
    (after,) = stored([before])
    assert "terminationMessagePath" in after["spec"]["template"]["spec"]["containers"][0]
    assert "terminationMessagePath" not in before["spec"]["template"]["spec"]["containers"][0]
    assert after["spec"]["strategy"]["type"] == "RollingUpdate"


@pytest.mark.slow
@pytest.mark.parametrize("example", APPLIED, ids=lambda example: example.rendered)
@pytest.mark.parametrize("form", ["stream", "List"])
def test_check_is_content_with_what_the_cluster_has(tmp_path: Path, example: Example, form: str) -> None:
    found = stored(example.applied())
    listed = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": found}
    text = json.dumps(listed) if form == "List" else "\n---\n".join(map(json.dumps, found))
    (tmp_path / "cluster.yaml").write_text(text + "\n")
    manifest = (EXAMPLES / example.rendered).parent / "manifest.json"
    inside = any("manifest.json" in (one.get("data") or {}) for one in found)
    options = [] if inside else ["--manifest", str(manifest)]
    for more in (example.options, []):
        before = said(str(EXAMPLES / example.rendered), *options, *more)
        after = said(str(tmp_path / "cluster.yaml"), *options, *more)
        assert after == before
        assert example.rendered.startswith("gpu/") or not after  # that manifest is to be filled in by hand


def said(*arguments: str) -> list[tuple[str, str]]:
    """What `check` says of a file: codes and sentences."""
    ran = called("check", *arguments, "--format", "json")
    findings = json.loads(ran.err)["findings"]
    found = [(one["code"], one["message"]) for one in findings if one["severity"] == "error"]
    assert ran.code == bool(found), ran.err
    return found
