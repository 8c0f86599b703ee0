"""Every example does what its README says, and what comes out is committed: `WRITE_GOLDEN=1` writes it anew.

The commands are those of the READMEs, word for word, in the order given here; each runs in a copy of the example.
"""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.documents import by_name, digests, pod_templates, without_original
from tests.hosts.running import EXAMPLES, Machine, copied

STDOUT = ""


class Step(NamedTuple):
    """One command and the expected files it makes: their names, and where they come from (STDOUT, or a file)."""

    command: str
    expected: Mapping[str, str] = {}
    helm: str = "helm3"
    in_readme: bool = True


GENERATE = Step("contrast-krm generate resources --config config -o rendered.yaml", {"rendered.yaml": "rendered.yaml"})
CLASSES = Step(
    "contrast-krm release runtime-classes --config config > runtime-classes.yaml",
    {"runtime-classes.yaml": "runtime-classes.yaml"},
)
FILES = (Step("contrast-krm plan resources --config config", {"plan.txt": STDOUT}), GENERATE)
MANIFEST = Step("contrast-krm manifest rendered.yaml", {"manifest.json": STDOUT}, in_readme=False)
KUSTOMIZE = "kustomize build --enable-alpha-plugins --enable-exec confidential"
LEGACY = "export KUSTOMIZE_PLUGIN_HOME=$PWD/plugin\nkustomize build --enable-alpha-plugins ."
HELM = "helm template shop chart --namespace shop --post-renderer contrast-krm --post-renderer-args "
HELM3 = HELM + "post-render --post-renderer-args --config --post-renderer-args config"
REPORT = " --post-renderer-args --report --post-renderer-args report.txt"
HELM4 = HELM + "--config --post-renderer-args config" + REPORT
KPT_PIPE = "set -o pipefail\nkpt fn source . | contrast-krm | kpt fn sink ../out"

STEPS: dict[str, tuple[Step, ...]] = {
    "quickstart": (
        Step("contrast-krm plan resources --config config --nodes nodes.yaml", {"plan.txt": STDOUT}),
        Step("contrast-krm plan resources --config config --nodes nodes.yaml -o plan.html"),
        CLASSES,
        GENERATE,
        Step("contrast-krm check rendered.yaml"),
        Step("contrast-krm manifest rendered.yaml > manifest.json", {"manifest.json": "manifest.json"}),
        Step("contrast-krm uninject rendered.yaml"),
    ),
    "multi-runtime": (*FILES, CLASSES, MANIFEST),
    "gpu": (*FILES, MANIFEST),
    "custom-resources": (*FILES, Step("contrast-krm check rendered.yaml"), MANIFEST),
    "every-field": (*FILES, Step("contrast-krm check rendered.yaml"), MANIFEST),
    "strict": (*FILES, Step("contrast-krm check rendered.yaml"), MANIFEST),
    "from-scratch": (
        Step("cp assets/coordinator.yml shop"),
        Step("contrast-krm init shop --platform metal-qemu-snp", {"kustomization.yaml": "shop/kustomization.yaml"}),
        Step("contrast-krm release import assets/* -o shop/release.yaml", {"release.yaml": "shop/release.yaml"}),
        Step("cp images.yaml shop/images.yaml"),
        Step("kustomize build --enable-alpha-plugins --enable-exec shop", {"rendered.yaml": STDOUT}),
    ),
    "kustomize": (
        Step(KUSTOMIZE, {"rendered.yaml": STDOUT}),
        Step(f"{KUSTOMIZE} | contrast-krm check"),
        Step(f"{KUSTOMIZE} | contrast-krm manifest", {"manifest.json": STDOUT}, in_readme=False),
    ),
    "kustomize-legacy": (
        Step(LEGACY, {"rendered.yaml": STDOUT}),
        Step(f"{LEGACY} | contrast-krm manifest", {"manifest.json": STDOUT}, in_readme=False),
    ),
    "helm": (
        CLASSES,
        Step(HELM3, {"helm3.yaml": STDOUT}),
        Step(f"{HELM3} | contrast-krm manifest", {"manifest.json": STDOUT}, in_readme=False),
        Step("HELM_DATA_HOME=$PWD/data helm plugin install ../../helm_plugin", helm="helm4", in_readme=False),
        Step(HELM4, {"helm4.yaml": STDOUT, "helm4-report.txt": "report.txt"}, helm="helm4"),
        Step(f"{HELM4} | contrast-krm manifest", {"manifest.json": STDOUT}, helm="helm4", in_readme=False),
    ),
    "kpt": (
        Step(KPT_PIPE),
        Step("kpt fn render --allow-exec -o unwrap", {"rendered.yaml": STDOUT}),
        Step("kpt fn render --allow-exec"),
        Step(
            "kpt fn render --allow-exec -o unwrap | contrast-krm manifest", {"manifest.json": STDOUT}, in_readme=False
        ),
    ),
}
ELSEWHERE = {"argo-cd", "fleet", "flux"}  # test_argo_cd.py, test_fleet.py and test_flux.py run those
NOT_RUN = {
    "make demo": "the Makefile's own tests",
    "kubectl ": "kustomize with kubectl's flags instead; tests/cluster applies what comes out",
    "helm plugin install ../../helm_plugin": "the machine of these tests did so; and once more, into another directory",
}


def shell_lines(readme: str) -> list[str]:
    """The commands of a README: what is indented like code and looks like one."""
    lines: list[str] = []
    for line in readme.splitlines():
        if lines and lines[-1].endswith("\\"):
            lines[-1] = lines[-1].removesuffix("\\").rstrip() + " " + line.strip()
        elif line.startswith("    "):
            lines.append(line.strip())
    return [line for line in lines if line.split(" ", 1)[0] in COMMANDS]


COMMANDS = {"contrast-krm", "cp", "export", "helm", "kpt", "kubectl", "kustomize", "make", "set"}


def run_steps(machine: Machine, name: str, directory: Path) -> dict[str, bytes]:
    """Run an example; the files it is expected to make."""
    work = copied(name, directory)
    made: dict[str, bytes] = {}
    for step in STEPS[name]:
        out = machine.run(["bash", "-euc", step.command], work, helm=step.helm).ok()
        for expected, source in step.expected.items():
            data = (work / source).read_bytes() if source else out
            assert made.setdefault(expected, data) == data, f"two steps do not agree about {expected}"
    return made


def difference(expected: bytes, actual: bytes, path: Path) -> str:
    lines = difflib.unified_diff(
        expected.decode().splitlines(), actual.decode().splitlines(), str(path), "now", lineterm="", n=2
    )
    return "\n".join(line if len(line) < 200 else f"{line[:200]}…" for line in lines) or "only line ends differ"


@pytest.mark.parametrize("name", STEPS)
def test_an_example_gives_what_is_committed(krm_machine: Machine, tmp_path: Path, name: str) -> None:
    made = run_steps(krm_machine, name, tmp_path)
    expected = EXAMPLES / name / "expected"
    if os.environ.get("WRITE_GOLDEN"):
        expected.mkdir(exist_ok=True)
        for file, data in made.items():
            (expected / file).write_bytes(data)
    for file, data in made.items():
        assert (expected / file).exists(), f"{expected / file} is missing: WRITE_GOLDEN=1 writes it"
        committed = (expected / file).read_bytes()
        if committed != data:
            pytest.fail(f"{difference(committed, data, expected / file)}\nmeant so? WRITE_GOLDEN=1", pytrace=False)


@pytest.mark.parametrize("name", STEPS)
def test_every_expected_file_of_an_example_is_made_by_a_command(name: str) -> None:
    made = {file for step in STEPS[name] for file in step.expected}
    assert {path.name for path in (EXAMPLES / name / "expected").iterdir()} == made


def test_every_directory_of_examples_is_tested() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == {*STEPS, *ELSEWHERE}


@pytest.mark.parametrize("name", STEPS)
def test_the_commands_of_an_example_are_those_of_its_readme(name: str) -> None:
    readme = shell_lines((EXAMPLES / name / "README.md").read_text())
    run = {line for step in STEPS[name] if step.in_readme for line in step.command.split("\n")}
    assert run <= set(readme)
    assert [line for line in readme if line not in run and not line.startswith(tuple(NOT_RUN))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(STEPS) - {"helm", "gpu", "from-scratch", "custom-resources"}))
def test_the_committed_result_of_an_example_passes_check(krm_machine: Machine, name: str) -> None:
    ran = krm_machine.krm("check", str(EXAMPLES / name / "expected" / "rendered.yaml"))
    assert ran.ok() == b""
    assert ran.err.startswith("checked ")


@pytest.mark.parametrize("file", ["helm3.yaml", "helm4.yaml"])
def test_the_committed_result_of_helm_passes_check(krm_machine: Machine, file: str) -> None:
    assert krm_machine.krm("check", str(EXAMPLES / "helm" / "expected" / file)).ok() == b""


@pytest.mark.parametrize("name", ["gpu", "from-scratch"])
def test_check_says_of_an_example_only_that_values_are_left_to_fill_in(krm_machine: Machine, name: str) -> None:
    ran = krm_machine.krm("check", str(EXAMPLES / name / "expected" / "rendered.yaml"))
    assert ran.code == 1
    said = [line for line in ran.err.splitlines() if line.startswith("error")]
    (line,) = said
    assert line.startswith("error CC0702: ReferenceValues.snp[0].MinimumTCB.BootloaderVersion, .TEEVersion, ")
    assert line.endswith(": not filled in")


def test_helm_3_and_helm_4_render_the_same_objects() -> None:
    expected = EXAMPLES / "helm" / "expected"
    third, fourth = (by_name((expected / file).read_bytes()) for file in ("helm3.yaml", "helm4.yaml"))
    assert without_original(third) == without_original(fourth)


def test_the_pipe_of_kpt_writes_the_objects_that_render_writes(krm_machine: Machine, tmp_path: Path) -> None:
    work = copied("kpt", tmp_path)
    krm_machine.run(["bash", "-euc", KPT_PIPE], work).ok()
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], work).ok()
    piped = {
        path.relative_to(tmp_path / "examples" / "out"): path
        for path in (tmp_path / "examples" / "out").rglob("*.yaml")
    }
    assert {path.relative_to(work) for path in work.rglob("*.yaml")} == set(piped)
    for name, path in piped.items():
        assert by_name(path.read_bytes()) == by_name((work / name).read_bytes())


@pytest.mark.parametrize("file", ["kustomize-legacy/expected/rendered.yaml", "kpt/expected/rendered.yaml"])
def test_two_examples_with_the_same_pods_have_the_same_digests(file: str) -> None:
    name = "StatefulSet/shop/coordinator"
    committed = [(EXAMPLES / one).read_bytes() for one in ("quickstart/expected/rendered.yaml", file)]
    assert digests(committed[0])[name] == digests(committed[1])[name]
    assert pod_templates(committed[0])[name] == pod_templates(committed[1])[name]
