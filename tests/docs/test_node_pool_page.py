"""The page about node pools and firmware: its commands run on each host, and say what stands there.

The nodes are made up, the facts and the reference values are those of the page.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.docs.commands import ROOT
from tests.hosts.running import EXAMPLES, Machine, Ran, machine

TEXT = (ROOT / "docs/how-to/node-pool-or-firmware.md").read_text()
FACTS, RAISED = (yaml.safe_load(one) for one in re.findall(r"(?ms)^```yaml\n(.*?)^```", TEXT))
SAID, GONE = re.findall(r"(?ms)^```text\n(.*?)^```", TEXT)
# host -> (its example, what of it, where the page has that, a word of its block)
HOSTS = {
    "kustomize": ("kustomize", "confidential", "shop", "kustomize build"),
    "helm": ("helm", ".", ".", "helm template"),
    "kpt": ("kpt", ".", "shop", "plan shop"),
    "files": ("quickstart", ".", ".", "plan resources"),
}
KUBECTL = f"""#!/bin/sh -e
case "$*" in
*"-l example.com/tee!=tdx"*) exec sed '/# One with TDX/,$d' {EXAMPLES}/quickstart/nodes.yaml ;;
*"get nodes -o yaml") exec cat {EXAMPLES}/quickstart/nodes.yaml ;;
*) exit 9 ;;
esac
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return machine(tmp_path_factory.mktemp("reader")).with_program("kubectl", KUBECTL)


def deployment(host: str, directory: Path) -> Path:
    """The example of a host where the page has it, and the facts; its configuration."""
    example, part, place, _ = HOSTS[host]
    top = directory / place if part == "." else directory
    shutil.copytree(EXAMPLES / example, top, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected*"))
    if part != ".":
        (directory / part).rename(directory / place)
    (directory / "node-facts.yaml").write_text(yaml.safe_dump(FACTS))
    (config,) = (path for path in directory.rglob("contrast.yaml"))
    return config


def raise_minimum(config: Path) -> None:
    document: Any = yaml.safe_load(config.read_text())
    document["spec"]["manifest"]["referenceValues"]["snp"] = RAISED["spec"]["manifest"]["referenceValues"]["snp"]
    config.write_text(yaml.safe_dump(document))


def run(word: str, on: Machine, directory: Path, without: str = "left.yaml") -> Ran:
    blocks = [one for one in re.findall(r"(?ms)^```sh\n(.*?)^```", TEXT) if word in one and without not in one]
    (block,) = blocks
    return on.run(["bash", "-ec", block], directory)


@pytest.mark.parametrize("host", HOSTS)
def test_a_raised_minimum_names_the_nodes_that_drop_out(host: str, reader: Machine, tmp_path: Path) -> None:
    config = deployment(host, tmp_path)
    before = run(HOSTS[host][3], reader, tmp_path)
    assert (before.code, "CC0326" in before.err) == (0, False), before.err
    raise_minimum(config)
    ran = run(HOSTS[host][3], reader, tmp_path)
    assert ran.code == 0, ran.err
    assert SAID in ran.err
    assert ran.err.count("CC0326 ") == 1
    facts = tmp_path / "node-facts.yaml"
    facts.write_text(facts.read_text().replace("MicrocodeVersion=84", "MicrocodeVersion=85"))
    updated = run(HOSTS[host][3], reader, tmp_path)
    assert (updated.code, "CC0326" in updated.err) == (0, False), updated.err


def test_a_pool_that_goes_is_missed_by_its_workloads(reader: Machine, tmp_path: Path) -> None:
    deployment("files", tmp_path)
    ran = run("left.yaml", reader, tmp_path, without="node-facts")
    assert ran.code == 1
    assert [line for line in ran.err.splitlines() if line.startswith(GONE.strip())]
    assert ran.err.count("error CC0311") == 1
