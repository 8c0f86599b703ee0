"""In a mixed cluster each node installer runs on the nodes of its platform alone, like the pods of its class."""

from pathlib import Path

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.hosts.running import EXAMPLES

SNP = (EXAMPLES / "from-scratch/assets/runtime-metal-qemu-snp.yml").read_text()
HANDLER = "contrast-cc-metal-qemu-snp-18a1a065"
TDX = SNP.replace("-snp", "-tdx").replace("-SNP", "-TDX")
SCHEDULING = {
    "metal-qemu-snp": {"nodeSelector": {"hardware": "sev-snp"}, "tolerations": [{"key": "snp", "operator": "Exists"}]},
    "metal-qemu-tdx": {"nodeSelector": {"hardware": "tdx"}},
}


@pytest.fixture
def mixed(shop: Shop) -> Shop:
    """A release of two platforms, its files, and nodes of both."""
    group = "contrast-krm.dev/v1alpha1"
    handlers = {name: {"handler": HANDLER.replace("metal-qemu-snp", name)} for name in SCHEDULING}
    for facts in handlers.values():
        facts["overhead"] = {"memory": "682Mi"}  # type: ignore[assignment]
    release = {"apiVersion": group, "kind": "ContrastRelease", "metadata": {"name": "r"}}
    release["spec"] = {"version": "v1.25.0", "platforms": handlers}
    options = {"apiVersion": group, "kind": "ContrastGenerate", "metadata": {"name": "c"}}
    options["spec"] = {"scheduling": SCHEDULING}
    shop.write("cluster.yaml", yaml.safe_dump_all([release, options]))
    shop.write("runtime-snp.yml", f"# of SNP\n{SNP}")
    shop.write("runtime-tdx.yml", TDX)
    return shop


COMMAND = ("release", "runtime-classes", "--config", "cluster.yaml")


def test_the_scheduling_reaches_class_and_installer_of_its_platform(mixed: Shop) -> None:
    run = mixed(*COMMAND, "runtime-snp.yml", "runtime-tdx.yml")
    assert run.code == 0, run.stderr
    values = [value for value in yaml.safe_load_all(run.stdout) if value]
    assert [value["kind"] for value in values].count("RuntimeClass") == 2, "none is added beside those of the files"
    for value in values:
        name = value["metadata"]["name"]
        wanted = SCHEDULING["metal-qemu-snp" if "snp" in name else "metal-qemu-tdx"]
        if value["kind"] == "RuntimeClass":
            assert value["scheduling"] == wanted
        if value["kind"] == "DaemonSet":
            pod = value["spec"]["template"]["spec"]
            assert {key: pod[key] for key in ("nodeSelector", "tolerations") if key in pod} == wanted
    added = set(run.stdout.decode().splitlines()) - set(f"# of SNP\n{SNP}{TDX}".splitlines())
    assert {line.strip(" -") for line in added} <= {
        *("scheduling:", "nodeSelector:", "tolerations:", "hardware: sev-snp", "hardware: tdx", "key: snp"),
        *("operator: Exists", ""),
    }, "nothing else is touched"
    again = mixed.write("again.yaml", run.stdout)
    assert mixed(*COMMAND, again).stdout == run.stdout


def test_an_installer_of_another_release_is_an_error(mixed: Shop) -> None:
    mixed.write("runtime-snp.yml", SNP.replace("18a1a065", "00000000"))
    run = mixed(*COMMAND, "runtime-snp.yml", "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    assert [found["code"] for found in run.errors] == ["CC0324"]


def test_an_installer_that_somebody_sends_elsewhere_is_an_error(mixed: Shop) -> None:
    mixed.write("runtime-snp.yml", SNP.replace("      hostPID: true", "      nodeSelector: {hardware: tdx}"))
    run = mixed(*COMMAND, "runtime-snp.yml", "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    assert [found["code"] for found in run.errors] == ["CC0304"]


def test_without_files_it_makes_the_classes_as_before(mixed: Shop, tmp_path: Path) -> None:
    run = mixed(*COMMAND)
    assert run.code == 0, run.stderr
    assert [value["kind"] for value in yaml.safe_load_all(run.stdout)] == ["RuntimeClass"] * 2
