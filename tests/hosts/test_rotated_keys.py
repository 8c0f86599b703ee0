"""docs/how-to/rotate-owner-keys.md on each host: a new key comes in, the old one goes out, and no pod changes."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.documents import pod_templates
from tests.hosts.running import EXAMPLES, Machine

HOSTS = {  # host -> its example, what of it, where the page has that
    "kustomize": ("kustomize", "confidential", "shop"),
    "helm": ("helm", ".", "."),
    "kpt": ("kpt", ".", "shop"),
    "files": ("quickstart", ".", "."),
}
RENDERS = {
    "kustomize": "kustomize build --enable-alpha-plugins --enable-exec shop > rendered.yaml",
    "helm": "set -o pipefail; helm template shop chart | contrast-krm generate --config config > rendered.yaml",
    "kpt": "kpt fn render --allow-exec shop;"
    " { cat shop/web.yaml; echo ---; cat shop/coordinator.yaml; } > rendered.yaml",
    "files": "contrast-krm generate resources --config config -o rendered.yaml",
}
KEY = r"(workloadOwnerKeys:\n)(?: +- \|\n)(?: +[^ ].*\n)*? +-----END PUBLIC KEY-----\n"  # the first one


def deployment(host: str, directory: Path) -> Path:
    """The example of a host where the page has it; its configuration."""
    example, part, place = HOSTS[host]
    top = directory / place if part == "." else directory
    shutil.copytree(EXAMPLES / example, top, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected*"))
    if part != ".":
        (directory / part).rename(directory / place)
    (config,) = directory.rglob("contrast.yaml")
    return config


@pytest.mark.parametrize("host", HOSTS)
def test_keys_rotate_and_no_pod_changes(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    config = deployment(host, tmp_path)
    where = str(config.relative_to(tmp_path))

    def bash(script: str) -> bytes:
        return krm_machine.run(["bash", "-ec", script], tmp_path).ok()

    def rendered() -> tuple[dict[str, Any], list[str], Any]:
        """Templates, owner keys and policies."""
        bash(RENDERS[host])
        bash(f"contrast-krm manifest {'shop' if host == 'kpt' else 'rendered.yaml'} > manifest.json")
        manifest = json.loads((tmp_path / "manifest.json").read_text())
        templates = pod_templates((tmp_path / "rendered.yaml").read_bytes())
        return templates, manifest["WorkloadOwnerPubKeys"], manifest["Policies"]

    bash(f"contrast-krm keys new --workload-owner -o alice-owner.pem --add-to {where}")
    before = rendered()
    bash(f"contrast-krm keys new --workload-owner -o bob-owner.pem --add-to {where}")
    both = rendered()
    text, removed = re.subn(KEY, r"\1", config.read_text(), count=1)
    assert removed == 1
    config.write_text(text)
    after = rendered()
    assert (before[0], before[2]) == (both[0], both[2]) == (after[0], after[2])
    assert len(both[1]) == len(before[1]) + 1
    assert set(before[1]) < set(both[1])
    assert set(both[1]) - set(after[1]) <= set(before[1])
    assert len(after[1]) == len(before[1])
    assert set(after[1]) != set(before[1])
