"""A warning that nobody acknowledged is an error on request; of pods outside of a VM, also in hosts that hide it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.hosts.hosts import HOSTS, READABLE, Deployment, make_chart, make_files, quickstart, run_helm3, run_helm4
from tests.hosts.running import Machine, Ran

TEXT = """apiVersion: v1
kind: ConfigMap
metadata: {name: later, namespace: shop}
data: {pod.yaml: "runtimeClassName: contrast-cc"}
"""
CODE = "CC0285"  # the placeholder in the text, which another program would read
SCRIPT = "CC0821"  # of the quickstart
ENTRIES = """    - {code: CC0821, reason: it prints public figures}
    - {code: CC0285, kind: ConfigMap, name: later, reason: a page of the manual}
"""
STRICT = "  warnings: error\n"
REPORT = ("--post-renderer-args", "--report", "--post-renderer-args", "findings.txt")
HIDING = ("legacy", "helm3", "helm4")  # they show what a program prints only if it fails
SHOWING = [name for name in HOSTS if name not in HIDING]


def with_warning(entries: str = "", spec: str = "") -> Deployment:
    shop = quickstart()
    shop = shop._replace(resources={**shop.resources, "later.yaml": TEXT})
    return shop.configured(READABLE, f"{spec}{READABLE}{entries}")


def code_and_warning(ran: Ran) -> tuple[bool, bool]:
    """Whether a host succeeded, and whether it shows the code."""
    return ran.code == 0, CODE in ran.err


@pytest.mark.parametrize("host", SHOWING)
def test_other_hosts_show_a_warning(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    assert code_and_warning(HOSTS[host].render(krm_machine, tmp_path, with_warning())) == (True, True)


@pytest.mark.parametrize("host", HIDING)
def test_a_host_that_would_hide_it_stops(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS[host].render(krm_machine, tmp_path, with_warning())
    assert (ran.out, code_and_warning(ran)) == (b"", (False, True))


@pytest.mark.parametrize("run", [run_helm3, run_helm4])
def test_a_report_shows_it(run: Callable[..., Ran], krm_machine: Machine, tmp_path: Path) -> None:
    make_chart(krm_machine, tmp_path, with_warning())
    assert code_and_warning(run(krm_machine, tmp_path, *REPORT)) == (True, False)
    assert CODE in (tmp_path / "findings.txt").read_text()


@pytest.mark.parametrize("run", [run_helm3, run_helm4])
def test_other_warnings_stop_no_post_renderer(run: Callable[..., Ran], krm_machine: Machine, tmp_path: Path) -> None:
    make_chart(krm_machine, tmp_path, quickstart())
    run(krm_machine, tmp_path).ok()
    make_chart(krm_machine, tmp_path, quickstart().configured("spec:\n", f"spec:\n{STRICT}"))
    strict = run(krm_machine, tmp_path)
    assert (strict.code, SCRIPT in strict.err) == (1, True)


@pytest.mark.parametrize("host", HOSTS)
def test_an_acknowledged_warning_is_none_in_any_host(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    deployment = with_warning(ENTRIES, STRICT)
    assert code_and_warning(HOSTS[host].render(krm_machine, tmp_path, deployment)) == (True, False)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("entry", ["", ENTRIES.replace("later", "other"), ENTRIES.replace("ConfigMap", "Secret")])
def test_any_other_warning_is_an_error_on_request(entry: str, host: str, krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS[host].render(krm_machine, tmp_path, with_warning(entry, STRICT))
    assert code_and_warning(ran) == (False, True)


def test_options_of_the_command_line(krm_machine: Machine, tmp_path: Path) -> None:
    """Strict: nothing is written. The plan shows a reviewer what was acknowledged; check agrees."""
    make_files(krm_machine, tmp_path, with_warning())
    (tmp_path / "acknowledging").mkdir()
    make_files(krm_machine, tmp_path / "acknowledging", with_warning(ENTRIES))

    def krm(*arguments: str, config: str = "config") -> Ran:
        return krm_machine.krm(*arguments, "resources", "--config", config, "--warnings-as-errors", cwd=tmp_path)

    assert (krm("generate", "-o", "out.yaml").code, (tmp_path / "out.yaml").exists()) == (1, False)
    assert krm("plan").code == 1
    accepted = "acknowledging/config"
    assert krm("generate", "-o", "out.yaml", config=accepted).code == 0
    planned = krm("plan", config=accepted)
    assert (planned.code, "CC0294" in planned.err, "a page of the manual" in planned.err) == (0, True, True)
    for config, code in (("config", 1), (accepted, 0)):
        checked = krm_machine.krm("check", "out.yaml", "--config", config, "--warnings-as-errors", cwd=tmp_path)
        assert checked.code == code, checked.err


@pytest.mark.parametrize("code", ["CC0291", "CC0294", "CC9999", "other"])
def test_only_a_warning_can_be_acknowledged(code: str, krm_machine: Machine, tmp_path: Path) -> None:
    ran = HOSTS["files"].render(krm_machine, tmp_path, with_warning(ENTRIES.replace(CODE, code)))
    assert (ran.code, ran.out) == (2, b"")


def test_a_mistake_in_the_options_is_shown_by_helm_4(krm_machine: Machine, tmp_path: Path) -> None:
    make_chart(krm_machine, tmp_path, quickstart())
    wrong = run_helm4(krm_machine, tmp_path, "--post-renderer-args", "--confg")
    assert (wrong.code, wrong.out) == (1, b"")
    assert "--confg" in wrong.err
    missing = run_helm4(krm_machine, tmp_path, "--post-renderer-args", "--config", "--post-renderer-args", "nowhere")
    assert (missing.code, "nowhere" in missing.err) == (1, True)


def test_the_output_is_the_same_with_and_without_an_acknowledged_warning(krm_machine: Machine, tmp_path: Path) -> None:
    before = HOSTS["files"].render(krm_machine, tmp_path, with_warning())
    (tmp_path / "again").mkdir()
    after = HOSTS["files"].render(krm_machine, tmp_path / "again", with_warning(ENTRIES))
    assert list(yaml.safe_load_all(before.out)) == list(yaml.safe_load_all(after.out))
