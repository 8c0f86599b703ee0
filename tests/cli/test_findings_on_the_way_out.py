"""--format and --report: the same findings and the same exit code in every output."""

import json
import re

import pytest

from tests.cli.conftest import Shop, warned
from tests.failures.checking import CONFIG, RESOURCES
from tests.failures.world import World


def failing() -> World:
    """A deployment with two errors and no warning."""
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-nope"
    world["coordinator"]["spec"]["template"]["spec"]["nodeSelector"] = {"hardware": "tdx"}
    return world


def test_json_says_what_the_text_says(shop: Shop) -> None:
    shop.change(failing())
    text, machine = shop.generate().stderr, shop.generate("--format", "json").findings
    shown = [found for found in machine if found["severity"] != "info"]
    heads = [f"{found['severity']} {found['code']} " for found in shown]
    *lines, more = [line for line in text.splitlines() if not line.startswith("  ")]
    assert more == f"more: contrast-krm explain CODE ({', '.join(sorted({found['code'] for found in shown}))})"
    assert len(lines) == len(heads) == 2
    for line, head, found in zip(lines, heads, shown, strict=True):
        assert line.startswith(head)
        assert line.endswith(found["message"])
        assert f"  at: {found['file']}:{found['line']}" in text
        assert f"  hint: {found['hint']}" in text


def test_json_goes_to_standard_error_also_when_there_is_nothing_to_say(shop: Shop) -> None:
    run = shop("schema", "ImageLock")
    assert run.stderr == ""
    run = shop.generate("--format", "json")
    assert {found["severity"] for found in run.findings} == {"info"}


def test_github_annotations_name_file_and_line(shop: Shop) -> None:
    world = World()
    world.replace("web", "runtimeClassName: contrast-cc-metal-qemu-snp", "runtimeClassName: 'contrast-50%\\n'")
    shop.change(world)
    text = world.stream().decode()
    line = text[: text.index("runtimeClassName: 'contrast-50%")].count("\n") + 1
    (said,) = shop.generate("--format", "github").stderr.splitlines()
    head, _, message = said.removeprefix("::error ").partition("::")
    fields = dict(field.split("=", 1) for field in head.split(","))
    assert fields["file"] == RESOURCES
    assert fields["line"] == str(line)
    assert fields["title"] == "CC0401 shop/web spec.template.spec.runtimeClassName"
    assert "contrast-50%25\\n" in message
    assert "%0Ahint: did you mean contrast-cc? use one of" in message


@pytest.mark.parametrize("world", [World, warned, failing], ids=["fine", "warned", "failing"])
@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_a_report_is_written_whatever_happens(world: type[World], form: str, shop: Shop) -> None:
    shop.change(world())
    run = shop.generate("--format", form, "--report", "report")
    report = (shop.directory / "report").read_text()
    if form == "json":
        assert report == run.stderr
    else:
        assert set(run.stderr.splitlines()) <= set(report.splitlines())
    assert run.code == int(world is failing)


def test_a_report_tells_what_was_done_and_standard_error_does_not(shop: Shop) -> None:
    run = shop.generate("--report", "report")
    assert run.stderr == ""
    report = (shop.directory / "report").read_text()
    assert "info CC0606 shop/web" in report
    assert "info CC0706: manifest has 2 policies" in report


@pytest.mark.parametrize("command", ["fn", "post-render", "plan", "check", "uninject", "manifest"])
def test_every_command_writes_a_report(command: str, shop: Shop) -> None:
    shop.change(failing())
    world = failing()
    data = world.resource_list() if command == "fn" else world.stream()
    config = ("--config", CONFIG) if command in {"post-render", "plan"} else ()
    run = shop(command, *config, "--format", "json", "--report", "report.json", data=data)
    assert (shop.directory / "report.json").read_text() == run.stderr
    assert run.code == int(command != "uninject")


def test_a_report_that_cannot_be_written_is_an_environment_error(shop: Shop) -> None:
    run = shop.generate("--report", "nowhere/report")
    assert run.code == 3
    assert "error CC1002 nowhere/report: cannot be written: no such file or directory" in run.stderr


def test_files_that_cannot_be_read_are_reported_in_the_requested_format(shop: Shop) -> None:
    run = shop("generate", "nothing", "--format", "json", "--report", "report.json")
    assert run.code == 3
    (error,) = run.errors
    assert (error["code"], error["file"]) == ("CC1001", "nothing")
    assert json.loads((shop.directory / "report.json").read_text())["findings"] == [error]


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_no_format_has_a_line_of_the_resource_list_in_a_pipe(form: str, shop: Shop) -> None:
    world = failing()
    run = shop("fn", "--format", form, "--report", "report", data=world.resource_list())
    assert run.code == 1
    for said in (run.stderr, (shop.directory / "report").read_text()):
        assert "CC0401" in said
        assert "spec.template.spec.runtimeClassName" in said
        assert "<stdin>" not in said
        assert not re.search(r'"(line|column|startLine)":|[ ,](line|col)=', said)
    if form == "text":
        assert run.stderr.count("buildMetadata: [originAnnotations]") == 1


def test_a_list_that_cannot_be_read_has_its_line_in_every_format(shop: Shop) -> None:
    broken = failing().resource_list() + b"\n  :: [\n"
    run = shop("fn", "--format", "json", data=broken)
    (error,) = run.errors
    assert error["line"] > 0
