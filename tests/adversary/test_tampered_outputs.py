"""Rendered output that somebody changed: what `check` says of it without and with the configuration of its render."""

from pathlib import Path

import pytest

from tests.adversary.outputs import Deployment, deployments
from tests.adversary.tampers import TAMPERS, Tamper


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployment]:
    return deployments(tmp_path_factory.mktemp("tampered"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shop", "file", "local", "gpu"])
@pytest.mark.parametrize("configured", [False, True])
def test_what_nobody_changed_passes(made: dict[str, Deployment], tmp_path: Path, name: str, configured: bool) -> None:
    codes, said = made[name].check(made[name].output(), tmp_path, configured=configured)
    assert codes == [], said


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.name)
def test_what_somebody_changed_is_seen(made: dict[str, Deployment], tmp_path: Path, tamper: Tamper) -> None:
    deployment = made[tamper.where]
    output = deployment.output()
    before = output.stream(), output.file
    tamper.change(output)
    assert (output.stream(), output.file) != before
    for configured, expected in ((False, tamper.alone), (True, tamper.configured)):
        codes, said = deployment.check(output, tmp_path, configured=configured)
        assert set(codes) == set(expected.split()), said


def test_what_passes_even_beside_the_configuration_is_marked_with_its_reason() -> None:
    passing = {tamper.name for tamper in TAMPERS if not tamper.configured}
    assert passing == {tamper.name for tamper in TAMPERS if tamper.accepted}


def test_there_is_a_reason_for_each() -> None:
    assert len({tamper.name for tamper in TAMPERS}) == len(TAMPERS) >= 60
    assert all(tamper.why for tamper in TAMPERS)


def test_a_difference_names_its_field_and_its_place_and_no_value(made: dict[str, Deployment], tmp_path: Path) -> None:
    tampers = {tamper.name: tamper for tamper in TAMPERS}
    for name, field in (
        ("a file more", r"cc_init_data\"].data[\"aa.toml\"]"),
        ("the mesh no sidecar", "spec.template.spec.initContainers[1].restartPolicy"),
        ("TCB 0", "ReferenceValues.snp[0].MinimumTCB.SNPVersion"),
        ("another name in the certificate", "…].SANs".replace("…]", "\\u2026")),
    ):
        output = made["shop"].output()
        tampers[name].change(output)
        _, said = made["shop"].check(output, tmp_path, configured=True)
        assert field in said, said
        assert "x = 1" not in said
        assert "bank.example.com" not in said
