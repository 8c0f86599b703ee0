"""A chart that renders nothing: what both Helms send a post-renderer, and what they make of its answer."""

from pathlib import Path

import pytest

from tests.hosts.conftest import krm_machine
from tests.hosts.running import Machine, Ran, recorder

__all__ = ["krm_machine"]

HOOK = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    helm.sh/hook: pre-install\n"
OFF = "{{ if false }}\nkind: ConfigMap\n{{ end }}\n"
NOTHING = {"no template": {}, "templates that are switched off": {"a.yaml": OFF}, "notes": {"NOTES.txt": "hello"}}


def templated(machine: Machine, directory: Path, helm: str, templates: dict[str, str]) -> Ran:
    chart = directory / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    for name, text in templates.items():
        (chart / "templates" / name).write_text(text)
    command = ["helm", "template", "x", str(chart), "--post-renderer", "contrast-krm"]
    return machine.run([*command, *(["--post-renderer-args", "post-render"] if helm == "helm3" else [])], helm=helm)


@pytest.mark.parametrize("what", NOTHING)
@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_a_chart_that_renders_nothing_fails(what: str, helm: str, krm_machine: Machine, tmp_path: Path) -> None:
    ran = templated(krm_machine, tmp_path, helm, NOTHING[what])
    assert (ran.code, ran.out) == (1, b"")
    assert "CC0109" in ran.err


@pytest.mark.parametrize("what", NOTHING)
def test_helm_3_sends_no_byte_then_as_it_does_under_output_dir(what: str, tmp_path: Path) -> None:
    """So the two cannot be told apart, and the second one would leave every pod unsealed."""
    (tmp_path / "machine").mkdir()
    machine = recorder(tmp_path / "machine")
    ran = templated(machine, tmp_path, "helm3", NOTHING[what])
    assert ran.code == 0
    assert (machine.home / "seen").read_bytes() == b""


@pytest.mark.parametrize("what", NOTHING)
def test_helm_4_takes_an_empty_answer_of_no_post_renderer(what: str, tmp_path: Path) -> None:
    (tmp_path / "machine").mkdir()
    ran = templated(recorder(tmp_path / "machine"), tmp_path, "helm4", NOTHING[what])
    assert ran.code == 1
    assert "produced empty output" in ran.err


def test_a_chart_of_hooks_fails_with_helm_3_and_passes_with_helm_4(krm_machine: Machine, tmp_path: Path) -> None:
    assert templated(krm_machine, tmp_path / "3", "helm3", {"a.yaml": HOOK}).code == 1
    assert b"kind: ConfigMap" in templated(krm_machine, tmp_path / "4", "helm4", {"a.yaml": HOOK}).ok()
