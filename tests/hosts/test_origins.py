"""A finding names the file that its object comes from, in the words of each real host; kpt shows each error once."""

import re
from pathlib import Path

import pytest

from tests.hosts.documents import load
from tests.hosts.hosts import (
    HOSTS,
    Deployment,
    make_chart,
    make_kpt,
    make_kustomize,
    quickstart,
    run_helm3,
    run_helm4,
    run_kpt,
    run_kustomize,
)
from tests.hosts.running import Machine, called

SENTENCE = "CC0401 shop/web spec.template.spec.runtimeClassName: unknown runtime class"
WRONG = quickstart("coordinator.yaml", "web.yaml", "settings.yaml", "payments.yaml").changed(
    "web.yaml", "contrast-cc-metal-qemu-snp", "contrast-cc-metal-qemu-snq"
)


def position(text: str) -> str:
    """What a report says below the first error about where it is."""
    below = text.partition(SENTENCE)[2].splitlines()
    return next(line for line in below if line.startswith("  at: "))


def test_helm_3_gets_the_template(krm_machine: Machine, tmp_path: Path) -> None:
    ran = run_helm3(krm_machine, make_chart(krm_machine, tmp_path, WRONG))
    assert position(ran.err).startswith("  at: shop/templates/web.yaml (<stdin>:")


def test_helm_4_gets_the_template_in_the_report(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, WRONG)
    run_helm4(krm_machine, chart, "--post-renderer-args", "--report", "--post-renderer-args", "report.txt")
    assert position((chart / "report.txt").read_text()).startswith("  at: shop/templates/web.yaml (<stdin>:")


@pytest.mark.parametrize("command", ["check", "plan", "generate"])
def test_what_helm_template_prints_keeps_its_places_in_a_pipe(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path, command: str
) -> None:
    chart = make_chart(krm_machine, tmp_path, WRONG)
    stream = run_helm3(recording_machine, chart).ok()
    said = krm_machine.krm(command, "--config", "config", stdin=stream, cwd=chart).err
    assert "  at: shop/templates/web.yaml (<stdin>:" in said


def test_kustomize_without_notes_names_object_and_field_and_says_once_how_to_get_the_file(
    krm_machine: Machine, tmp_path: Path
) -> None:
    ran = HOSTS["kustomize"].render(krm_machine, tmp_path, WRONG)
    assert SENTENCE in ran.err
    assert "<stdin>" not in ran.err, "nobody sees the ResourceList in the pipe"
    assert ran.err.count("buildMetadata: [originAnnotations]") == 1


def test_kustomize_with_origin_annotations_gets_the_file(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_kustomize(krm_machine, tmp_path, WRONG)
    file = directory / "kustomization.yaml"
    file.write_text(f"{file.read_text()}buildMetadata: [originAnnotations]\n")
    ran = run_kustomize(krm_machine, directory)
    assert ran.code == 1
    assert position(ran.err) == "  at: web.yaml"
    assert "buildMetadata" not in ran.err


def two_in_one_file(deployment: Deployment) -> Deployment:
    """The web server as the second document of its file."""
    first = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n  namespace: shop\n---\n"
    return deployment.changed("web.yaml", "apiVersion: apps/v1", f"{first}apiVersion: apps/v1")


def test_kpt_shows_each_error_once_with_the_file_in_the_package(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "package", two_in_one_file(WRONG))
    results = tmp_path / "results"
    command = ["kpt", "fn", "render", "--allow-exec", "--results-dir", str(results)]
    ran = krm_machine.run(command, package)
    assert ran.code == 1
    assert ran.err.count("unknown runtime class contrast-cc-metal-qemu-snq") == 1
    assert "CC0401 web.yaml, document 2: unknown runtime class" in ran.err
    assert "Stderr:" not in ran.err
    (said,) = load((results / "results.yaml").read_bytes())[0]["items"]
    assert said["results"][0]["file"] == {"path": "web.yaml", "index": 1}


def test_kpt_shows_all_results_on_one_line_with_the_errors_first(krm_machine: Machine, tmp_path: Path) -> None:
    """Where kpt 1.0.0-beta.56 cut after four."""
    names = [f"web{number}" for number in range(6)]
    files = {f"{name}.yaml": WRONG.resources["web.yaml"].replace("name: web", f"name: {name}") for name in names}
    with_node = quickstart("web.yaml").resources["web.yaml"].replace("name: web", "name: early")
    files["a.yaml"] = with_node.replace("      containers:\n", "      nodeName: node-1\n      containers:\n", 1)
    package = make_kpt(krm_machine, tmp_path, WRONG._replace(resources={**WRONG.resources, **files}))
    ran = krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package)
    assert ran.code == 1
    (line,) = [line for line in ran.err.splitlines() if line.startswith("[Results]: ")]
    shown = re.findall(r"\[(error|warning)\] \S+/(\w+) ", line)
    assert shown == [("error", name) for name in ("web", *names)] + [("warning", "early")]


def test_a_warning_of_a_render_that_succeeds_is_shown_by_kpt_once(krm_machine: Machine, tmp_path: Path) -> None:
    pinned = quickstart("coordinator.yaml", "web.yaml", "settings.yaml", "payments.yaml").changed(
        "web.yaml", "      containers:\n", "      nodeName: node-1\n      containers:\n"
    )
    ran = krm_machine.run(["kpt", "fn", "render", "--allow-exec"], make_kpt(krm_machine, tmp_path, pinned))
    assert ran.code == 0
    assert ran.err.count("CC0310") == 1
    assert "[warning] apps/v1/Deployment/shop/web spec.template.spec.nodeName: CC0310 web.yaml: " in ran.err


def test_a_pipe_of_kpt_shows_no_results_so_standard_error_has_them(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "package", WRONG)
    script = "kpt fn source . | contrast-krm | kpt fn sink ../out"
    ran = krm_machine.run(["bash", "-c", script], package)
    assert position(ran.err) == "  at: web.yaml"


def test_a_format_that_is_asked_for_is_printed_in_kpt_as_well(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "package", WRONG)
    assert run_kpt(krm_machine, package).code == 1
    ran = krm_machine.run(
        ["kpt", "fn", "eval", "--exec", "contrast-krm fn --format github", "--truncate-output=false"], package
    )
    assert "::error file=web.yaml,title=CC0401" in ran.err.replace('"', "")


@pytest.mark.parametrize("arguments", [("check",), ("plan",), ("post-render",)], ids=" ".join)
def test_yaml_that_cannot_be_read_names_the_template(arguments: tuple[str, ...]) -> None:
    first = "---\n# Source: shop/templates/a.yaml\nkind: Pod\nspec: {\n"
    ran = called(*arguments, stdin=f"{first}---\n# Source: shop/templates/b.yaml\nkind: Service\n".encode())
    assert ran.code == 1
    assert "error CC0101 shop/templates/a.yaml (<stdin>:5:1): not valid YAML" in ran.err
