"""On an error nothing half done gets out, and every host says why in our words."""

from pathlib import Path

import pytest

from tests.hosts.documents import load
from tests.hosts.hosts import (
    HOSTS,
    WEB,
    Deployment,
    make_chart,
    make_files,
    make_kpt,
    make_kustomize,
    put,
    quickstart,
    run_helm3,
    run_helm4,
    run_kpt,
    run_kustomize,
)
from tests.hosts.running import Machine, Ran, copied, snapshot

PLACEHOLDER = "contrast-cc-metal-qemu-snp"
SENTENCE = "error CC0401 shop/web spec.template.spec.runtimeClassName: unknown runtime class contrast-cc-metal-qemu-snq"
SMALL = quickstart("coordinator.yaml", "web.yaml", "settings.yaml", "payments.yaml")
WRONG = SMALL.changed("web.yaml", PLACEHOLDER, "contrast-cc-metal-qemu-snq")


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error ")]


def test_kustomize_prints_nothing_but_our_line(krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS["kustomize"].render(krm_machine, tmp_path, WRONG)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.err.startswith(SENTENCE)


def test_the_legacy_plugin_prints_nothing_but_our_line(krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS["legacy"].render(krm_machine, tmp_path, WRONG)
    assert (ran.code, ran.out) == (1, b"")
    assert SENTENCE in ran.err


def test_helm_3_prints_nothing_but_our_line(krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS["helm3"].render(krm_machine, tmp_path, WRONG)
    assert (ran.code, ran.out) == (1, b"")
    assert SENTENCE in ran.err


def test_helm_4_shows_our_line_and_the_report_file_has_it(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, WRONG)
    ran = run_helm4(krm_machine, chart, "--post-renderer-args", "--report", "--post-renderer-args", "report.txt")
    assert (ran.code, ran.out) == (1, b"")
    assert SENTENCE in ran.err
    assert (chart / "report.txt").read_text().startswith(SENTENCE)


@pytest.mark.parametrize("form", ["json", "github"])
def test_the_report_file_of_helm_4_takes_the_other_formats(krm_machine: Machine, tmp_path: Path, form: str) -> None:
    chart = make_chart(krm_machine, tmp_path, WRONG)
    more = ("--report", "report", "--format", form)
    ran = run_helm4(krm_machine, chart, *(part for word in more for part in ("--post-renderer-args", word)))
    assert ran.code == 1
    assert "contrast-cc-metal-qemu-snq" in (chart / "report").read_text()


def test_kpt_fails_with_results_and_writes_nothing(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "package", WRONG)
    before = snapshot(package)
    results = tmp_path / "results"
    command = ["kpt", "fn", "render", "--allow-exec", "--results-dir", str(results)]
    ran = krm_machine.run(command, package)
    assert (ran.code, ran.out) == (1, b"")
    assert '[FAIL] "contrast-krm"' in ran.err
    assert "[error] apps/v1/Deployment/shop/web spec.template.spec.runtimeClassName: CC0401" in ran.err
    assert snapshot(package) == before
    (told,) = load((results / "results.yaml").read_bytes())[0]["items"]
    assert told["exitCode"] == 1
    assert told["results"][0]["tags"] == {"code": "CC0401"}
    assert told["results"][0]["resourceRef"]["name"] == "web"


def test_kpt_unwraps_nothing_after_a_failure(krm_machine: Machine, tmp_path: Path) -> None:
    ran = run_kpt(krm_machine, make_kpt(krm_machine, tmp_path, WRONG))
    assert (ran.code, ran.out) == (1, b"")


def test_a_failing_function_answers_with_the_items_as_they_came(krm_machine: Machine, tmp_path: Path) -> None:
    source = krm_machine.run(["kpt", "fn", "source", "."], make_kpt(krm_machine, tmp_path, WRONG)).ok()
    ran = krm_machine.krm(stdin=source)
    assert ran.code == 1
    assert lines(ran.err)[0].startswith(SENTENCE)
    assert ran.out.startswith(source + b"results:\n")
    (answer,) = load(ran.out)
    assert answer["results"][0]["severity"] == "error"
    assert answer["results"][0]["message"].startswith(
        "CC0401 web.yaml: unknown runtime class contrast-cc-metal-qemu-snq"
    )


def test_a_pipe_of_kpt_without_pipefail_writes_what_came(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path / "package", WRONG)
    script = "kpt fn source . | contrast-krm | kpt fn sink ../out"
    assert krm_machine.run(["bash", "-c", script], package).code == 0
    assert krm_machine.run(["bash", "-o", "pipefail", "-c", script.replace("out", "out2")], package).code == 1
    identity = script.replace("contrast-krm", "cat").replace("out", "plain")
    assert krm_machine.run(["bash", "-c", identity], package).code == 0
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "plain")


def test_in_place_leaves_every_file_as_it_was(krm_machine: Machine, tmp_path: Path) -> None:
    work = make_files(krm_machine, tmp_path, WRONG)
    before = snapshot(work)
    stamps = {path: path.stat().st_mtime_ns for path in work.rglob("*")}
    ran = krm_machine.krm("generate", "resources", "--config", "config", "--in-place", cwd=work)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.err.startswith(SENTENCE)
    assert snapshot(work) == before
    assert {path: path.stat().st_mtime_ns for path in work.rglob("*")} == stamps


def test_the_output_and_the_manifest_are_not_made(krm_machine: Machine, tmp_path: Path) -> None:
    work = make_files(krm_machine, tmp_path, WRONG)
    before = snapshot(work)
    command = ("generate", "resources", "--config", "config", "-o", "out.yaml", "--manifest", "manifest.json")
    assert krm_machine.krm(*command, cwd=work).code == 1
    assert snapshot(work) == before


def test_an_earlier_output_and_manifest_stay(krm_machine: Machine, tmp_path: Path) -> None:
    work = make_files(krm_machine, tmp_path, SMALL)
    command = ("generate", "resources", "--config", "config", "-o", "out.yaml", "--manifest", "manifest.json")
    krm_machine.krm(*command, cwd=work).ok()
    put(work / "resources", WRONG.resources)
    before = snapshot(work)
    assert krm_machine.krm(*command, cwd=work).code == 1
    assert snapshot(work) == before


def test_files_print_nothing(krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS["files"].render(krm_machine, tmp_path, WRONG)
    assert (ran.code, ran.out) == (1, b"")
    assert lines(ran.err)[0].startswith(SENTENCE)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_without_a_release_no_host_renders(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    config = {name: text for name, text in SMALL.config.items() if name != "release.yaml"}
    ran = HOSTS[host].render(krm_machine, tmp_path, SMALL._replace(config=config))
    assert ran.code == (2 if host == "files" else 1)
    assert ran.out == b""
    assert "CC0903" in ran.err


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"helm3", "helm4"}))
def test_broken_yaml_stops_every_host(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    broken = SMALL._replace(resources={**SMALL.resources, "broken.yaml": "a: [\n"})
    ran = HOSTS[host].render(krm_machine, tmp_path, broken)
    assert (ran.code, ran.out) == (1, b"")


def test_helm_3_bypasses_us_under_output_dir_and_we_say_so(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, SMALL)
    ran = run_helm3(krm_machine, chart, "--output-dir", "out")
    assert ran.code == 1
    assert "error CC0109: the input is empty" in ran.err
    assert "--output-dir" in ran.err


def test_helm_4_renders_under_output_dir(krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, SMALL)
    run_helm4(krm_machine, chart, "--output-dir", "out").ok()
    written = b"---\n".join(snapshot(chart / "out").values())
    assert krm_machine.krm("check", stdin=written).err.startswith("checked 3 Contrast workloads\n")


def test_check_finds_what_kustomize_skipped_without_a_word(krm_machine: Machine, tmp_path: Path) -> None:
    ran = run_kustomize(krm_machine, make_kustomize(krm_machine, tmp_path, SMALL), "--enable-alpha-plugins")
    assert (ran.code, ran.err) == (0, "")
    assert f"runtimeClassName: {PLACEHOLDER}\n".encode() in ran.out
    checked = krm_machine.krm("check", stdin=ran.out)
    assert checked.code == 1
    assert len(lines(checked.err)) >= 3


def test_check_finds_a_hook_that_helm_3_kept_to_itself(krm_machine: Machine, tmp_path: Path) -> None:
    ran = hooked(krm_machine, tmp_path, "helm3")
    assert b"runtimeClassName: contrast-cc-metal-qemu-snp\n" in ran.ok()
    checked = krm_machine.krm("check", stdin=ran.out)
    assert checked.code == 1
    assert all(line.split()[2] == "shop/announce" for line in lines(checked.err))


def test_helm_4_hands_us_hooks_and_we_render_them(krm_machine: Machine, tmp_path: Path) -> None:
    ran = hooked(krm_machine, tmp_path, "helm4")
    assert b"runtimeClassName: contrast-cc-metal-qemu-snp\n" not in ran.ok()
    assert b"helm.sh/hook: pre-install" in ran.out
    assert krm_machine.krm("check", stdin=ran.out).err.startswith("checked 4 Contrast workloads\n")


HOOK = """apiVersion: batch/v1
kind: Job
metadata:
  name: announce
  namespace: shop
  annotations:
    helm.sh/hook: pre-install
spec:
  template:
    spec:
      runtimeClassName: contrast-cc-metal-qemu-snp
      restartPolicy: Never
      containers:
        - name: announce
          image: IMAGE
          securityContext: {runAsUser: 65532, runAsGroup: 65532}
          resources: {limits: {memory: 64Mi}}
""".replace("IMAGE", WEB)


def hooked(machine: Machine, directory: Path, host: str) -> Ran:
    deployment = SMALL._replace(resources={**SMALL.resources, "announce.yaml": HOOK})
    return HOSTS[host].render(machine, directory, deployment)


LIST = """apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
    namespace: shop
    labels: &labels {tier: web}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
    namespace: shop
    labels: *labels
"""
WITH_LIST = Deployment({**SMALL.resources, "list.yaml": LIST}, SMALL.config)


def test_helm_4_cannot_read_back_the_anchors_of_a_list(
    recording_machine: Machine, krm_machine: Machine, tmp_path: Path
) -> None:
    chart = make_chart(recording_machine, tmp_path, WITH_LIST)
    identity = run_helm4(recording_machine, chart)
    assert identity.code == 1
    assert "labels" in identity.err


def test_with_us_helm_4_can_use_a_list_with_anchors(krm_machine: Machine, tmp_path: Path) -> None:
    ran = run_helm4(krm_machine, make_chart(krm_machine, tmp_path, WITH_LIST))
    labels = {value["metadata"]["name"]: value["metadata"].get("labels") for value in load(ran.ok())}
    assert labels["a"] == labels["b"] == {"tier": "web"}
    assert krm_machine.krm("check", stdin=ran.out).code == 0


def test_the_recorded_list_of_helm_4_loses_its_dangling_alias_and_nothing_else(krm_machine: Machine) -> None:
    data = (Path(__file__).parent / "data" / "helm4-list.yaml").read_bytes()
    assert b"  labels: *l\n" in data
    assert krm_machine.krm("post-render", stdin=data).ok() == data.replace(b"labels: *l\n", b'labels: {"x": y}\n')


@pytest.mark.parametrize(
    "more",
    [
        ("-o", "resources/coordinator.yaml"),
        ("-o", "config/../config/release.yaml"),
        ("-o", "made", "--manifest", "./made"),
    ],
    ids=["an input", "the configuration", "the manifest"],
)
def test_an_output_cannot_be_another_file_of_the_same_call(
    krm_machine: Machine, tmp_path: Path, more: tuple[str, ...]
) -> None:
    work = copied("gpu", tmp_path)
    before = snapshot(work)
    ran = krm_machine.krm("generate", "resources", "--config", "config", *more, cwd=work)
    assert (ran.code, ran.out) == (2, b"")
    assert "error CC0909" in ran.err
    assert snapshot(work) == before


OPEN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: last\ndata:\n  a: |\n    x"


def test_a_string_that_a_following_document_would_change_is_an_error(krm_machine: Machine, tmp_path: Path) -> None:
    work = make_files(krm_machine, tmp_path, SMALL._replace(resources={**SMALL.resources, "open.yaml": OPEN}))
    command = ("generate", "resources", "--config", "config")
    ran = krm_machine.krm(*command, cwd=work)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.err.startswith("error CC0108 resources/open.yaml: the last line is part of a string and has no line end")
    krm_machine.krm(*command, "--in-place", cwd=work).ok()
    assert (work / "resources" / "open.yaml").read_text() == OPEN
    assert krm_machine.krm("generate", stdin=OPEN.encode()).ok() == OPEN.encode()
