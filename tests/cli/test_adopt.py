"""`adopt`: one call finds what the pods need, writes what was chosen, and says what is left."""

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import EXECUTABLE, Run
from tests.failures.world import REGISTRY, World, canaries
from tests.hosts.running import ROOT
from tests.wording import wording

DB = {"kind": "Secret", "name": "db", "namespace": "shop", "keys": ["password"], "variables": ["DB_PASSWORD"]}


def application() -> World:
    """One variable comes from a Secret of the cluster, and one workload does not ask."""
    world = World()
    world.env("DB_PASSWORD", secretKeyRef={"name": "db", "key": "password"})
    pod = {"containers": [{"name": "docs", "image": f"{REGISTRY}/docs:1.0", "command": ["/docs"]}]}
    labels = {"app": "docs"}
    world["docs"] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "docs", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }
    return world


def adopt(shop: Shop, *arguments: str) -> Run:
    run = shop("adopt", "deployment", "--config", CONFIG, "--no-lock", *arguments)
    assert not list(canaries(run.stdout.decode() + run.stderr))
    return run


def options(shop: Shop) -> dict[str, Any]:
    """The spec of the ContrastGenerate as it stands in the file."""
    documents = yaml.safe_load_all((shop.directory / CONFIG).read_text())
    spec: dict[str, Any] = next(one["spec"] for one in documents if one["kind"] == "ContrastGenerate")
    return spec


def test_without_a_choice_nothing_is_written_and_each_choice_has_its_consequence(shop: Shop) -> None:
    shop.change(application())
    before = (shop.directory / CONFIG).read_bytes()
    run = adopt(shop)
    said = run.stdout.decode()
    assert run.code == 1
    assert said.startswith("2 pods ask for Contrast: 1 refused before, 1 with this configuration\n")
    assert "externalSources, for 1 workload: Deployment/shop/web" in said
    assert "consequence: the host can read each of these variables, and give it any value" in said
    assert "CC0602" in said
    assert "Deployment/shop/docs" in said
    assert (shop.directory / CONFIG).read_bytes() == before


def test_what_was_chosen_is_written_renders_and_a_second_call_changes_nothing(shop: Shop) -> None:
    shop.change(application())
    decided = ("--yes-to", "externalSources", "--plain", "Deployment/docs=public pages")
    run = adopt(shop, *decided)
    assert run.code == 0, run.stderr
    assert f"{CONFIG}: changed" in run.stdout.decode()
    assert options(shop)["policy"] == {"externalSources": [DB]}
    assert options(shop)["workloads"] == [
        {"kind": "Deployment", "name": "docs", "namespace": "shop", "plain": "public pages"}
    ]
    assert shop.generate().code == 0
    after = (shop.directory / CONFIG).read_bytes()
    again = adopt(shop, "--yes-to", "externalSources")
    assert again.code == 0
    assert f"{CONFIG}: nothing to change" in again.stdout.decode()
    assert (shop.directory / CONFIG).read_bytes() == after


def test_an_error_about_the_whole_input_counts_for_the_pod_that_it_names(shop: Shop) -> None:
    world = World()
    world.template["metadata"]["labels"]["azure.workload.identity/use"] = "true"
    shop.change(world)
    run = adopt(shop, "-o", "json")
    assert run.code == 1
    report = json.loads(run.stdout)
    assert (report["totals"]["refusedBefore"], report["totals"]["refused"], report["left"]) == (1, 1, [])
    after = {pod["name"]: [finding["code"] for finding in pod["after"]] for pod in report["pods"]}
    assert after == {"web": ["CC0260"], "coordinator": []}
    assert b"1 refused before, 1 with this configuration" in adopt(shop).stdout


def resource_list(objects: list[Any]) -> Any:
    return {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": objects}


@pytest.mark.parametrize(
    "form",
    [
        yaml.safe_dump_all,
        lambda objects: yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": objects}),
        lambda objects: yaml.safe_dump(resource_list(objects)),
        lambda objects: json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
    ],
    ids=["stream", "List", "ResourceList", "JSON"],
)
def test_what_any_host_renders_is_adopted_alike(shop: Shop, form: Any) -> None:
    shop.change(application())
    objects = [one for one in yaml.safe_load_all((shop.directory / "deployment/resources.yaml").read_text()) if one]
    data = form(objects).encode()
    run = shop("adopt", "--config", CONFIG, "--no-lock", "--yes-to", "externalSources", data=data)
    assert run.code == 0, run.stderr
    assert options(shop)["policy"] == {"externalSources": [DB]}


def test_comments_of_the_configuration_stay(shop: Shop) -> None:
    shop.change(application())
    file = shop.directory / CONFIG
    file.write_text("# why this is so\n" + file.read_text().replace("spec:", "spec: # ours", 1))
    before = file.read_text()
    assert adopt(shop, "--yes-to", "externalSources").code == 0
    kept = [line for line in file.read_text().splitlines(keepends=True) if line in before]
    assert "".join(kept) == before


def test_a_workload_that_does_not_ask_becomes_confidential_by_an_entry(shop: Shop) -> None:
    shop.change(application())
    run = adopt(shop, "--yes-to", "externalSources", "--confidential", "Deployment/d*", "-o", "json")
    assert run.code == 0
    told = json.loads(run.stdout)
    assert told["totals"] == {"asking": 3, "refusedBefore": 1, "refused": 0, "plain": 0}
    assert told["selected"] == [{"kind": "Deployment", "name": "docs", "namespace": "shop"}]
    assert told["written"] == [f"{CONFIG}: changed"]
    assert [pod["after"] for pod in told["pods"]] == [[], [], []]
    plan = shop("plan", "deployment", "--config", CONFIG)
    assert b"named by spec.workloads[0]" in plan.stdout or b"docs" in plan.stdout


def test_a_dry_run_tells_the_same_and_writes_nothing(shop: Shop) -> None:
    shop.change(application())
    before = (shop.directory / CONFIG).read_bytes()
    run = adopt(shop, "--yes-to", "externalSources", "--dry-run")
    assert run.code == 0
    assert f"{CONFIG}: would be changed" in run.stdout.decode()
    assert (shop.directory / CONFIG).read_bytes() == before


def test_a_registry_that_does_not_answer_leaves_the_report_and_writes_nothing(shop: Shop) -> None:
    world = application()
    pod = world["docs"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "127.0.0.1:1/docs:1.0"
    shop.change(world)
    before = (shop.directory / CONFIG).read_bytes()
    arguments = (
        "--yes-to",
        "externalSources",
        "--confidential",
        "Deployment/docs",
        "--insecure-registry",
        "127.0.0.1:1",
    )
    run = shop("adopt", "deployment", "--config", CONFIG, *arguments, "--format", "json")
    assert (run.code, {finding["code"] for finding in run.findings if finding["severity"] == "error"}) == (
        3,
        {"CC1250"},
    )
    assert "externalSources, for 1 workload: Deployment/shop/web" in run.stdout.decode()
    assert f"{CONFIG}: would be changed" in run.stdout.decode()
    assert (shop.directory / CONFIG).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--confidential", "Deployment/nothing"), "Deployment/nothing matches none of the pods"),
        (("--plain", "Deployment/web=it asks"), "Deployment/web matches none of the pods"),
        (("--yes-to", "splitSubpaths"), "there is no choice 'splitSubpaths'"),
        (("--plain", "Deployment/docs"), "write KIND/NAME=REASON"),
        (("--volume-owner", "busybox:1.37"), "write an image with its digest"),
        (("--keys", "Pod/db=a"), "write Secret/NAME=KEY,KEY"),
        (("--keys", "Secret/db=a b"), "write Secret/NAME=KEY,KEY"),
        (("--plain", f"Deployment/docs={'x' * 301}"), "write KIND/NAME=REASON"),
    ],
)
def test_a_wrong_call_is_code_2_and_writes_nothing(shop: Shop, arguments: tuple[str, ...], says: str) -> None:
    shop.change(application())
    before = (shop.directory / CONFIG).read_bytes()
    run = adopt(shop, *arguments)
    assert run.code == 2
    assert says in run.stderr
    assert (shop.directory / CONFIG).read_bytes() == before


def test_a_configuration_without_a_file_to_write_into_is_code_2(shop: Shop) -> None:
    world = application()
    del world.documents["options"]
    shop.change(world)
    run = adopt(shop)
    assert run.code == 2
    assert wording("CC0909.no-generate") in run.stderr
    assert run.stdout == b""


def test_an_input_that_cannot_be_judged_is_told_and_nothing_is_written(shop: Shop) -> None:
    shop.change(application())
    (shop.directory / "deployment/broken.yaml").write_text("kind: Deployment\nspec: [\n")
    before = (shop.directory / CONFIG).read_bytes()
    run = adopt(shop, "--yes-to", "externalSources")
    assert run.code == 1
    assert "CC01" in run.stderr
    assert run.stdout == b""
    assert (shop.directory / CONFIG).read_bytes() == before


def test_keys_that_nobody_can_know_are_a_warning_with_the_option_to_write(shop: Shop) -> None:
    world = application()
    world.pod["containers"][0]["envFrom"] = [{"secretRef": {"name": "all"}}]
    shop.change(world)
    run = adopt(shop, "--yes-to", "externalSources")
    assert run.code == 1
    assert "CC1341" in run.stderr
    assert "--keys Secret/all=KEY,KEY" in run.stderr
    run = adopt(shop, "--yes-to", "externalSources", "--keys", "Secret/all=A,B")
    assert run.code == 0, run.stderr
    assert shop.generate().code == 0


def test_a_terminal_is_asked_for_each_choice(shop: Shop, tmp_path: Path) -> None:
    shop.change(application())
    said = on_a_terminal(
        ["adopt", "deployment", "--config", CONFIG, "--no-lock"],
        shop.directory,
        ["p", "public pages", "maybe", "y"],
    )
    assert "Deployment/shop/docs does not ask for Contrast" in said
    assert said.count("externalSources? [y/N]") == 2, "an answer that is not understood is asked for again"
    assert options(shop)["policy"] == {"externalSources": [DB]}
    assert options(shop)["workloads"][0]["plain"] == "public pages"


def test_an_end_of_the_answers_chooses_nothing(shop: Shop) -> None:
    shop.change(application())
    before = (shop.directory / CONFIG).read_bytes()
    arguments = ["adopt", "deployment", "--config", CONFIG, "--no-lock"]
    assert "externalSources? [y/N]" in on_a_terminal(arguments, shop.directory, ["q", ""])
    assert (shop.directory / CONFIG).read_bytes() == before


@pytest.mark.parametrize("rounds", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_runs_at_once_keep_the_decisions_of_each(rounds: int, shop: Shop) -> None:
    names = [f"docs-{number}" for number in range(6 * rounds)]
    world = application()
    for name in names:
        world[name] = {**world["docs"], "metadata": {"name": name, "namespace": "shop"}}
    shop.change(world)
    call = [str(EXECUTABLE), "adopt", "deployment", "--config", CONFIG, "--no-lock", "--yes-to", "externalSources"]
    for start in range(0, len(names), 6):
        runs = [
            subprocess.Popen(
                [*call, "--plain", f"Deployment/{name}=public"], cwd=shop.directory, stdout=subprocess.DEVNULL
            )
            for name in names[start : start + 6]
        ]
        assert {run.wait() for run in runs} <= {0, 1}
    assert {entry["name"] for entry in options(shop)["workloads"]} == set(names)


def test_what_a_colleague_writes_while_a_question_is_open_stays(shop: Shop) -> None:
    shop.change(application())
    theirs = (shop.directory / CONFIG).read_bytes() + b"# theirs\n"

    def write() -> None:
        (shop.directory / CONFIG).write_bytes(theirs)

    arguments = ["adopt", "deployment", "--config", CONFIG, "--no-lock"]
    printed = on_a_terminal(arguments, shop.directory, ["p", "public pages", "y"], write)
    assert "CC1002" in printed
    assert (shop.directory / CONFIG).read_bytes() == theirs


def on_a_terminal(
    arguments: list[str], directory: Path, answers: list[str], meanwhile: Callable[[], None] | None = None
) -> str:
    """Call the program on a terminal of its own, and type the answers. meanwhile: called at the first question."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(directory)
        program = str(ROOT / ".venv/bin/contrast-krm")
        os.execv(program, [program, *arguments])  # noqa: S606
    said = b""
    if meanwhile:
        while b"?" not in said:
            said += os.read(terminal, 4096)
        meanwhile()
    os.write(terminal, "".join(f"{answer}\n" for answer in answers).encode())
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass  # Linux says EIO at the end of a terminal
    os.waitpid(pid, 0)
    return said.decode()
