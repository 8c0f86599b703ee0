"""Which spellings of apiVersion and kind a real API server takes, by kubectl and by both Helms: the table holds.

kubectl is asked with and without its own check of fields, since a user may turn that off.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.hosts.running import Machine
from tests.krm.spellings import SPELLINGS
from tools.real import tool

TABLE = {spelling.name: spelling.taken for spelling in SPELLINGS}
BY_HELM = [one for one in SPELLINGS if one.version in ("v1", "/v1", "/", "''") or one.kind == "pod"]
CLASS = "runtimeClassName: contrast-cc, "  # there is no such class in the cluster, and pods would be refused for it


@pytest.mark.parametrize(
    "flags", [("apply",), ("apply", "--server-side"), ("create", "--validate=false")], ids=" ".join
)
def test_kubectl_and_the_api_server_take_what_the_table_says(
    cluster: ControlPlane, namespace: str, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """One call of kubectl, which goes on with the next file when the server does not take one."""
    for number, spelling in enumerate(SPELLINGS):
        (tmp_path / f"web{number}.yaml").write_text(spelling.text(f"web{number}", namespace).replace(CLASS, ""))
    ran = cluster.kubectl(*flags, "--dry-run=server", "-f", str(tmp_path))
    said = set(re.findall(r"(?m)^[\w.]+/(web\d+) ", ran.stdout))
    assert {spelling.name: f"web{number}" in said for number, spelling in enumerate(SPELLINGS)} == TABLE


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_both_helms_take_what_the_table_says(
    cluster: ControlPlane, krm_machine: Machine, namespace: str, tmp_path: Path, helm: str
) -> None:
    def taken(number: int) -> bool:
        chart = tmp_path / f"chart{number}"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: chart{number}\nversion: 1.0.0\n")
        text = BY_HELM[number].text(f"web{number}", namespace).replace(CLASS, "")
        (chart / "templates" / "web.yaml").write_text(text)
        kubeconfig = ("--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace)
        return krm_machine.run([tool(helm), "install", f"chart{number}", str(chart), *kubeconfig]).code == 0

    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(taken, range(len(BY_HELM))))
    assert verdicts == [spelling.taken for spelling in BY_HELM]
