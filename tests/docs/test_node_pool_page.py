"""The page about node pools and firmware: workloads of a pool that goes are named. The nodes are made up."""

import re
import shutil
from pathlib import Path

from tests.docs.commands import ROOT
from tests.hosts.running import EXAMPLES, machine

TEXT = (ROOT / "docs/how-to/node-pool-or-firmware.md").read_text()
KUBECTL = f"""#!/bin/sh -e
case "$*" in
*"-l example.com/tee!=tdx"*) exec sed '/# One with TDX/,$d' {EXAMPLES}/quickstart/nodes.yaml ;;
*) exit 9 ;;
esac
"""


def test_a_pool_that_goes_is_missed_by_its_workloads(tmp_path: Path) -> None:
    (commands,) = re.findall(r"(?ms)^```sh\n(.*?)^```", TEXT)
    (missed,) = re.findall(r"(?ms)^```text\n(.*?)^```", TEXT)
    shutil.copytree(EXAMPLES / "quickstart", tmp_path / "shop")
    reader = machine(tmp_path).with_program("kubectl", KUBECTL)
    ran = reader.run(["bash", "-ec", commands], tmp_path / "shop")
    assert ran.code == 1
    assert [line for line in ran.err.splitlines() if line.startswith(missed.strip())]
    assert ran.err.count("error CC0311") == 1
