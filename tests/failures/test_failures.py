"""Bad input, host by host: one located error, the exit code, unchanged input, nothing written, nothing told."""

import json
from pathlib import Path

import pytest

from tests import quick_yaml as yaml
from tests.failures import config_cases, issue_cases, pod_cases, text_cases
from tests.failures.case import Case
from tests.failures.checking import CONFIG, REPORT, RESOURCES, check_list, check_said, check_text, written
from tests.failures.running import Zygote, listing, spawned
from tests.failures.world import World, canaries

ISSUE = list(issue_cases.cases)
MORE = [*text_cases.cases, *pod_cases.cases, *config_cases.cases]
ALL = [*ISSUE, *MORE]


def named(case: Case) -> str:
    return case.name


def on(host: str, cases: list[Case]) -> list[Case]:
    return [case for case in cases if host in case.hosts]


def broken(case: Case) -> World:
    world = World()
    case.change(world)
    return world


@pytest.mark.slow
@pytest.mark.parametrize("case", on("function", ISSUE), ids=named)
def test_the_installed_function_answers_with_its_items_and_the_error(case: Case) -> None:
    sent = broken(case).resource_list()
    run = spawned(data=sent)
    assert run.code == case.exit
    check_list(run, sent, case)
    check_text(run, case)


@pytest.mark.parametrize("case", on("function", ALL), ids=named)
def test_the_function_names_one_error_and_keeps_the_items(case: Case, call: Zygote) -> None:
    sent = broken(case).resource_list()
    run = call("fn", "--format", "json", data=sent)
    check_said(run, case, in_pipe=True)
    check_list(run, sent, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", on("post-render", ALL), ids=named)
def test_the_post_renderer_prints_nothing_and_reports_the_same(case: Case, call: Zygote, tmp_path: Path) -> None:
    world = broken(case)
    written(world, tmp_path)
    before = listing(tmp_path)
    arguments = ("--config", CONFIG, "--format", "json", "--report", REPORT)
    run = call("post-render", *arguments, data=world.stream(), directory=tmp_path)
    assert run.stdout == b""
    error = check_said(run, case)
    report = (tmp_path / REPORT).read_text()
    assert error in json.loads(report)["findings"]
    assert not list(canaries(report))
    (tmp_path / REPORT).unlink()
    assert listing(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("case", on("in-place", ALL), ids=named)
def test_files_stay_as_they_are(case: Case, call: Zygote, tmp_path: Path) -> None:
    written(broken(case), tmp_path)
    before = listing(tmp_path)
    run = call("generate", "deployment", "--config", CONFIG, "--in-place", directory=tmp_path)
    assert run.code == case.exit
    assert run.stdout == b""
    check_text(run, case)
    assert listing(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("case", on("generate", ISSUE), ids=named)
@pytest.mark.parametrize("where", [(), ("-o", "out.yaml")], ids=["to standard output", "to a file"])
def test_nothing_is_generated(case: Case, where: tuple[str, ...], call: Zygote, tmp_path: Path) -> None:
    written(broken(case), tmp_path)
    before = listing(tmp_path)
    run = call("generate", "deployment", "--config", CONFIG, "--format", "json", *where, directory=tmp_path)
    assert run.stdout == b""
    error = check_said(run, case)
    if case.place == "line":
        assert error["file"] in {RESOURCES, CONFIG}
    assert listing(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("case", on("generate", ISSUE), ids=named)
def test_a_plan_never_shows_a_secret(case: Case, call: Zygote, tmp_path: Path) -> None:
    written(broken(case), tmp_path)
    run = call("plan", "deployment", "--config", CONFIG, "-o", "json", directory=tmp_path)
    assert run.code == case.exit
    assert json.loads(run.stdout)["failed"]
    assert not list(canaries(run.stdout.decode() + run.stderr))


def test_the_deployment_renders_when_nothing_is_broken(call: Zygote, tmp_path: Path) -> None:
    world = World()
    written(world, tmp_path)
    for run in (
        call("fn", data=world.resource_list()),
        call("post-render", "--config", CONFIG, data=world.stream(), directory=tmp_path),
        call("generate", "deployment", "--config", CONFIG, directory=tmp_path),
    ):
        assert run.code == 0
        assert run.stderr == ""
        assert b"contrast-cc-metal-qemu-snp-1a2b3c4d" in run.stdout


def test_an_unfilled_minimum_tcb_is_no_error_for_a_new_manifest(call: Zygote, tmp_path: Path) -> None:
    world = World()
    del world.spec["manifest"]["referenceValues"]
    written(world, tmp_path)
    run = call("generate", "deployment", "--config", CONFIG, "--format", "json", directory=tmp_path)
    assert run.code == 0
    warning = run.findings[0]
    assert (warning["code"], warning["severity"]) == ("CC0703", "warning")
    assert "MinimumTCB" in warning["hint"]
    assert run.stdout


def test_no_case_breaks_the_deployment_in_the_way_of_another() -> None:
    texts: dict[bytes, str] = {}
    for case in ALL:
        world = broken(case)
        text = world.stream() + world.config()
        assert text not in texts, f"{case.name} is {texts[text]}"
        texts[text] = case.name
    assert len(MORE) > 60


def test_errors_come_in_the_same_words_from_every_host(call: Zygote, tmp_path: Path) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-nope"
    written(world, tmp_path)
    position = ("  at: ", "for the files: ")  # each host has its own text
    said = [
        call("fn", data=world.resource_list()).stderr,
        call("post-render", "--config", CONFIG, data=world.stream(), directory=tmp_path).stderr,
        call("generate", "deployment", "--config", CONFIG, directory=tmp_path).stderr,
        call("plan", "deployment", "--config", CONFIG, directory=tmp_path).stderr,
    ]
    words = ["".join(line for line in text.splitlines() if not line.startswith(position)) for text in said]
    assert len(set(words)) == 1


def test_every_broken_workload_is_named_at_once(call: Zygote) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-nope"
    world["coordinator"]["spec"]["template"]["spec"]["runtimeClassName"] = "contrast-cc-typo"
    run = call("fn", "--format", "json", data=world.resource_list())
    assert sorted(error["resource"]["name"] for error in run.errors) == ["coordinator", "web"]


def test_a_workload_that_is_fine_is_not_blamed_for_another(call: Zygote) -> None:
    world = World()
    world.pod["hostPID"] = True
    run = call("fn", data=world.resource_list())
    results = yaml.safe_load(run.stdout)["results"]
    assert [result["resourceRef"]["name"] for result in results] == ["web"]
