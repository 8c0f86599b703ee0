"""Helm finds its documents again: `# Source:` lines in Helm 3, file name annotations in Helm 4."""

from pathlib import Path
from typing import Protocol

import pytest

from tests.hosts.documents import by_name, load, name_of, pod_templates
from tests.hosts.hosts import CONFIG, POST_RENDER, Deployment, make_chart, quickstart, run_helm3, run_helm4, shared
from tests.hosts.running import Machine, snapshot


class Outputs(Protocol):
    def __getitem__(self, host: str) -> bytes: ...

    def directory(self, host: str) -> Path: ...


RUN = {"helm3": run_helm3, "helm4": run_helm4}


def sources(output: bytes) -> list[str]:
    return [line.removeprefix("# Source: ") for line in output.decode().splitlines() if line.startswith("# Source: ")]


def test_helm_3_keeps_its_source_lines_and_its_order(with_classes: Outputs, untouched: Outputs) -> None:
    plain, ours = untouched["helm3"], with_classes["helm3"]
    before, after = sources(plain), sources(ours)
    assert after[3 : 3 + len(before)] == before  # behind the three RuntimeClasses, in front of the manifest
    assert [name_of(value) for value in load(ours)][3:-1] == [name_of(value) for value in load(plain)]


def test_helm_3_creates_a_runtime_class_before_the_pods_that_need_it(with_classes: Outputs) -> None:
    kinds = [value["kind"] for value in load(with_classes["helm3"])]
    assert kinds[:3] == ["RuntimeClass"] * 3
    assert kinds[-1] == "ConfigMap"


@pytest.mark.parametrize("host", RUN)
def test_helm_keeps_the_runtime_classes_when_it_uninstalls(with_classes: Outputs, host: str) -> None:
    classes = [value for value in load(with_classes[host]) if value["kind"] == "RuntimeClass"]
    assert [value["metadata"]["annotations"]["helm.sh/resource-policy"] for value in classes] == ["keep"] * 3


@pytest.mark.parametrize("host", RUN)
def test_show_only_finds_a_template_of_the_chart(krm_machine: Machine, rendered: Outputs, host: str) -> None:
    shown = RUN[host](krm_machine, rendered.directory(host), "-s", "templates/web.yaml").ok()
    assert list(pod_templates(shown)) == ["Deployment/shop/web"]
    assert by_name(shown).items() <= by_name(rendered[host]).items()


@pytest.mark.parametrize("host", RUN)
def test_show_only_finds_what_we_added(krm_machine: Machine, with_classes: Outputs, host: str) -> None:
    chart = with_classes.directory(host)
    shown = RUN[host](krm_machine, chart, "-s", "templates/contrast-manifest.yaml").ok()
    assert [name_of(value) for value in load(shown)] == ["ConfigMap/shop/contrast-manifest"]
    name = "contrast-cc-metal-qemu-tdx-18a1a065"
    shown = RUN[host](krm_machine, chart, "-s", f"templates/{name}.yaml").ok()
    assert [name_of(value) for value in load(shown)] == [f"RuntimeClass//{name}"]


@pytest.mark.parametrize("host", RUN)
def test_no_annotation_of_helm_is_left_in_the_output(rendered: Outputs, host: str) -> None:
    assert b"postrenderer.helm.sh" not in rendered[host]


def test_output_dir_of_helm_4_files_what_we_added_beside_the_templates(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    run_helm4(krm_machine, chart, "--output-dir", "out").ok()
    files = set(snapshot(chart / "out"))
    assert "shop/templates/web.yaml" in files
    assert "shop/templates/contrast-manifest.yaml" in files
    assert not [file for file in files if "generated-by-postrender" in file]


def test_helm_3_sends_crds_in_front_and_they_stay_there(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: carts.example.com\n"
    (chart / "chart" / "crds").mkdir()
    (chart / "chart" / "crds" / "carts.yaml").write_text(f"# raw\n{crd}")
    ours = run_helm3(krm_machine, chart, "--include-crds").ok()
    assert crd.encode() in ours
    assert krm_machine.krm("check", stdin=ours).err.startswith("checked 6 Contrast workloads\n")


@pytest.mark.parametrize("host", RUN)
def test_a_chart_without_anything_of_contrast_gets_nothing(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    ordinary = Deployment(quickstart("landing.yaml", "settings.yaml").resources, shared().config)
    out = RUN[host](krm_machine, make_chart(krm_machine, tmp_path, ordinary)).ok()
    plain = krm_machine.run(["helm", "template", "shop", "chart"], tmp_path, helm=host).ok()
    assert by_name(out) == by_name(plain)
    assert b"contrast-krm.dev" not in out


def test_the_same_chart_renders_the_same_bytes_wherever_it_lies(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path
) -> None:
    for host, run in RUN.items():
        assert run(krm_machine, make_chart(krm_machine, tmp_path / host, quickstart())).ok() == rendered[host]


def test_helm_4_takes_the_word_that_helm_3_needs(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    word = ("--post-renderer-args", "post-render")
    said = krm_machine.run(
        ["helm", "template", "shop", "chart", *POST_RENDER, *word, *CONFIG], chart, helm="helm4"
    ).ok()
    assert said == run_helm4(krm_machine, chart).ok()
