"""`upgrade`, `manifest keep` and `manifest workloads`: the plan of waves, and the commands in it that are ours."""

import json
import re
import shutil
from pathlib import Path

import pytest

from krm_function.operations.upgrade import HOSTS
from tests.docs.commands import blocks
from tests.hosts.running import EXAMPLES, ROOT, Ran, called, copied
from tests.wording import wording

PAGE = ROOT / "docs/how-to/upgrade-contrast.md"
NAME = "    name: contrast-manifest\n"
SHARED = "    sharedSecrets: [{id: shop/db, workloads: [StatefulSet/shop/db]}]\n"
WAVES = ["render", "runtime", "classes", "manifest", "coordinator", "workloads", "prune"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The quickstart, and beside it a made-up next release."""
    here = copied("quickstart", tmp_path)
    (here / "next.yaml").write_text(_newer((here / "config/release.yaml").read_text()))
    return here


def _newer(text: str) -> str:
    return text.replace("v1.25.0", "v1.26.0").replace("18a1a065", "28a1a065")


def plan(here: Path, *more: str) -> Ran:
    arguments = (str(here / "resources"), "--config", str(here / "config"), "--to", str(here / "next.yaml"))
    return called("upgrade", *arguments, *more)


def test_the_waves_have_their_order_and_each_host_its_commands(shop: Path) -> None:
    told = json.loads(plan(shop, "-o", "json").ok())
    assert [one["name"] for one in told["waves"]] == WAVES
    assert (told["from"], told["to"], told["coordinator"]) == ("v1.25.0", "v1.26.0", "StatefulSet/shop/coordinator")
    assert all(list(one["commands"]) == [*HOSTS] for one in told["waves"])
    changed = {one["name"]: (one["from"][-8:], one["to"][-8:]) for one in told["platforms"]}
    assert changed == dict.fromkeys(
        ("metal-qemu-snp", "metal-qemu-snp-gpu", "metal-qemu-tdx"), ("18a1a065", "28a1a065")
    )
    by_name = {one["name"]: one for one in told["waves"]}
    for name in HOSTS:
        applied = [by_name[wave]["commands"][name] for wave in ("coordinator", "workloads", "prune")]
        assert applied[0] or by_name["coordinator"]["notes"][name]
        assert applied[1]
        assert "manifest prune" in applied[2][0]
    assert by_name["coordinator"]["commands"]["kubectl"][0].endswith("-l app.kubernetes.io/name=coordinator")
    applied = [command for command in by_name["runtime"]["commands"]["kubectl"] if command.startswith("kubectl")]
    assert applied == [f"kubectl apply -f new-runtime-{platform}.yml" for platform in changed]


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    spec:
      runtimeClassName: contrast-cc
      restartPolicy: Never
      containers: [{name: migrate, image: "IMAGE", resources: {limits: {memory: 1Gi}}}]
"""
IMAGE = re.compile(r"image: (\S+)")
DELETE = "kubectl delete job/migrate --namespace shop --ignore-not-found"


def add_job(shop: Path, metadata: str = "name: migrate") -> None:
    (image,) = IMAGE.findall((shop / "resources/web.yaml").read_text())
    text = JOB.replace("IMAGE", image).replace("{name: migrate,", f"{{{metadata},", 1)
    (shop / "resources/job.yaml").write_text(text)


def test_a_job_is_deleted_before_its_template_changes(shop: Path) -> None:
    add_job(shop)
    told = json.loads(plan(shop, "-o", "json").ok())
    for wave in told["waves"]:
        for host, commands in wave["commands"].items():
            assert (DELETE in commands) == (wave["name"] == "workloads"), host
    (workloads,) = (one for one in told["waves"] if one["name"] == "workloads")
    commands = workloads["commands"]
    assert commands["kubectl"].index(DELETE) < commands["kubectl"].index("kubectl apply -f rendered.yaml")
    assert commands["flux"].index("git push") < commands["flux"].index(DELETE)
    for host, words in (("helm4", "before-hook-creation"), ("argo-cd", "Replace=true"), ("flux", "force: enabled")):
        assert words in workloads["notes"][host]
    assert DELETE in plan(shop).ok().decode()
    planned = called("plan", str(shop / "resources"), "--config", str(shop / "config")).ok().decode()
    assert "kubectl delete job/migrate --namespace shop" in " ".join(planned.split())


@pytest.mark.parametrize(
    "metadata",
    [
        "generateName: migrate-",
        "name: migrate, annotations: {helm.sh/hook: post-upgrade}",
        "name: migrate, annotations: {argocd.argoproj.io/hook: PostSync}",
    ],
)
def test_a_job_that_its_host_makes_anew_needs_nothing(shop: Path, metadata: str) -> None:
    add_job(shop, metadata)
    assert "kubectl delete" not in plan(shop).ok().decode()


@pytest.mark.parametrize(
    ("example", "paths", "hosts"),
    [
        ("kpt", ["."], ["kpt"]),
        ("helm", ["chart"], ["helm3", "helm4"]),
        ("quickstart", ["resources"], [*HOSTS]),
        ("kustomize", ["confidential"], ["kustomize"]),
    ],
    ids=["kpt", "helm", "files", "kustomize"],
)
def test_the_hosts_are_those_whose_files_are_there(
    tmp_path: Path, example: str, paths: list[str], hosts: list[str]
) -> None:
    """The resources of the quickstart with the files of a host beside them."""
    here = copied("quickstart", tmp_path)
    (here / "next.yaml").write_text(_newer((here / "config/release.yaml").read_text()))
    for name in ("Kptfile", "Chart.yaml", "kustomization.yaml"):
        file = EXAMPLES / example / paths[0] / name
        if file.exists():
            shutil.copy(file, here / "config")
    told = json.loads(plan(here, "-o", "json").ok())
    assert [*told["waves"][0]["commands"]] == hosts
    (only,) = json.loads(plan(here, "-o", "json", "--host", "flux").ok())["waves"][0]["commands"]
    assert only == "flux"


def test_what_helm_template_prints_is_helms(shop: Path) -> None:
    text = "".join(
        f"---\n# Source: shop/templates/{file.name}\n{file.read_text()}"
        for file in sorted((shop / "resources").iterdir())
    )
    ran = called(
        "upgrade", "--config", str(shop / "config"), "--to", str(shop / "next.yaml"), "-o", "json", stdin=text.encode()
    )
    told = json.loads(ran.ok())
    assert [*told["waves"][0]["commands"]] == ["helm3", "helm4"]


def test_a_release_without_a_platform_in_use_is_refused_by_name(shop: Path) -> None:
    file = shop / "next.yaml"
    text = file.read_text()
    start = text.index("    metal-qemu-tdx:")
    end = text.index("    metal-qemu-tdx-gpu:")
    file.write_text(text[:start] + text[end:])
    ran = plan(shop)
    assert (ran.code, ran.out) == (1, b"")
    assert re.findall(r"error (CC\d+) (\S+):? ", ran.err) == [("CC1377", "shop/payments:")]


def test_the_same_release_is_nothing_to_upgrade(shop: Path) -> None:
    shutil.copy(shop / "config/release.yaml", shop / "next.yaml")
    ran = plan(shop)
    assert (ran.code, ran.out) == (1, b"")
    assert "CC1378" in ran.err


@pytest.mark.parametrize(("text", "code"), [("a: b\n", "CC0903"), ("{", "CC0910")], ids=["no-release", "no-yaml"])
def test_a_file_without_a_release_is_an_error(shop: Path, text: str, code: str) -> None:
    (shop / "next.yaml").write_text(text)
    ran = plan(shop)
    assert (ran.code, ran.out) == (2, b"")
    assert code in ran.err


def test_a_name_of_the_input_is_quoted_in_every_command(shop: Path) -> None:
    file = shop / "resources/coordinator.yaml"
    file.write_text(re.sub(r"(name|app\.kubernetes\.io/name): coordinator\b", r"\1: x;touch pwned", file.read_text()))
    waves = json.loads(plan(shop, "-o", "json").out)["waves"]
    commands = [text for wave in waves for texts in wave["commands"].values() for text in texts]
    assert any("'" in text and "pwned" in text for text in commands)
    for text in commands:
        assert not any(";touch" in word for word in re.sub(r"'[^']*'", "", text).split()), text


@pytest.mark.parametrize(
    ("others", "copies"),
    [("", True), ("namespace.yaml", False), ("settings.yaml", False), ("web.yaml", False)],
)
def test_no_command_overwrites_a_file_with_other_objects(shop: Path, others: str, *, copies: bool) -> None:
    coordinator = shop / "resources/coordinator.yaml"
    if others:
        coordinator.write_text(coordinator.read_text() + "---\n" + (shop / "resources" / others).read_text())
        (shop / "resources" / others).unlink()
    (render, *_) = json.loads(plan(shop, "-o", "json").ok())["waves"]
    for commands in render["commands"].values():
        assert (f"cp coordinator.yml {coordinator}" in commands) is copies
        assert any(command.startswith("# ") and "coordinator.yml" in command for command in commands) is not copies


def test_of_a_stream_no_file_of_the_coordinator_is_known(shop: Path) -> None:
    stream = b"---\n".join(file.read_bytes() for file in (shop / "resources").iterdir())
    ran = called("upgrade", "-", "--config", str(shop / "config"), "--to", str(shop / "next.yaml"), stdin=stream)
    assert b"cp coordinator.yml" not in ran.ok()


def test_without_a_coordinator_its_wave_is_another_deployments(shop: Path) -> None:
    (shop / "resources/coordinator.yaml").unlink()
    ran = plan(shop, "-o", "json", "--host", "kubectl")
    assert ran.code == 0, ran.err
    assert "warning CC1380: " in ran.err
    assert json.loads(ran.out)["waves"][4]["commands"] == {"kubectl": []}


def test_with_the_next_release_in_the_configuration_the_present_one_is_named(shop: Path) -> None:
    before = plan(shop, "-o", "json").ok()
    (shop / "config/release.yaml").rename(shop / "earlier.yaml")
    shutil.copy(shop / "next.yaml", shop / "config/release.yaml")
    for file in (shop / "resources").iterdir():
        file.write_text(_newer(file.read_text()))
    told = json.loads(plan(shop, "--from", str(shop / "earlier.yaml"), "-o", "json").ok())
    assert told["platforms"] == json.loads(before)["platforms"]
    assert plan(shop).code == 1, "without --from both are the same"


def test_nodes_show_how_far_the_runtime_is(shop: Path) -> None:
    text = (shop / "nodes.yaml").read_text()
    handlers = re.findall(r"(?m)^ +- name: contrast-.*\n", text)
    states = []
    for count in range(len(handlers) + 1):
        for line in handlers[:count]:
            text = text.replace(line, line + _newer(line)) if _newer(line) not in text else text
        (shop / "nodes.yaml").write_text(text)
        told = json.loads(plan(shop, "-o", "json", "--nodes", str(shop / "nodes.yaml")).ok())
        states.append((told["waves"][1]["state"], told["waves"][1]["seen"]))
    assert [state for state, _ in states] == ["open", "open", "open", "done"]
    assert states[0][1].startswith("not yet on snp-1, snp-2, snp-gpu-1, tdx-1")
    assert states[2][1].startswith("not yet on tdx-1;")


def render(here: Path, name: str) -> Path:
    ran = called("generate", str(here / "resources"), "--config", str(here / "config"), "-o", str(here / name))
    assert ran.code == 0, ran.err
    return here / name


def test_keep_and_workloads_give_contrast_set_each_policy_once(shop: Path) -> None:
    """Policies of the manifest, and Contrast workloads of the file, are the same number and the same digests."""
    config = shop / "config/contrast.yaml"
    deployed = render(shop, "deployed.yaml")
    before = config.read_text()
    called("manifest", "keep", str(deployed), "--in", str(config)).ok()
    config.write_text(config.read_text().replace(NAME, NAME + SHARED))  # what CC0723 asks for
    web = shop / "resources/web.yaml"
    web.write_text(web.read_text().replace("args: [serve, ", "args: [serve, --fast, "))
    rendered = render(shop, "rendered.yaml")
    policies = json.loads(called("manifest", str(rendered)).ok())["Policies"]
    both = called("manifest", "workloads", str(deployed), str(rendered))
    listed = both.ok()
    assert len(policies) == len(re.findall(rb"(?m)^---$", listed)) == 7, "six of now, and the earlier web"
    assert listed.count(b'"name": "web", "namespace": "shop"') == 2
    checked = called("check", "--manifest", str(_manifest(shop, rendered)), stdin=listed)
    assert "CC1104" not in checked.err
    alone = called("manifest", "workloads", str(rendered))
    assert (alone.code, alone.out) == (1, b"")
    assert f"CC1376: {wording('CC1376', names='web')}\n" in alone.err
    called("manifest", "keep", "--end", "--in", str(config)).ok()
    again = render(shop, "again.yaml")
    pruned = json.loads(called("manifest", str(again)).ok())["Policies"]
    assert len(pruned) == 6
    left = called("manifest", "workloads", str(deployed), str(again))
    assert "left out: Deployment/shop/web" in left.err
    assert len(re.findall(rb"(?m)^---$", left.ok())) == 6
    assert config.read_text().replace(SHARED, "").startswith(before.rstrip("\n")), "everything else stays as it was"


def _manifest(here: Path, rendered: Path) -> Path:
    (here / "manifest.json").write_bytes(called("manifest", str(rendered)).ok())
    return here / "manifest.json"


def test_keep_writes_nothing_that_it_does_not_understand(shop: Path) -> None:
    config = shop / "config/contrast.yaml"
    text = config.read_bytes()
    for arguments in (
        ("--end", "--in", str(config)),  # no keep in it
        (str(shop / "resources"), "--in", str(config)),  # no rendered output
        (str(shop / "resources"), "--end", "--in", str(config)),
    ):
        assert called("manifest", "keep", *arguments).code != 0
        assert config.read_bytes() == text


def test_the_page_has_the_commands_that_it_prints_for_plain_files(shop: Path) -> None:
    """But for the directory with the files of the release, and what is asked before the next wave."""
    commands = [line for block in blocks(PAGE.read_text().partition("\n## Go back")[0]) for line in block.splitlines()]
    here = re.sub(
        rf"{re.escape(str(shop))}/?", "", json.dumps(json.loads(plan(shop, "-o", "json", "--host", "kubectl").ok()))
    )
    told = json.loads(here)
    printed = [line for wave in told["waves"] for line in wave["commands"]["kubectl"]]
    printed += [gate["command"] for wave in told["waves"] for gate in wave["before"]]
    beginnings = ("contrast-krm release import", "contrast-krm upgrade", "kubectl get nodes", "wave", "now:")
    page = [line.replace("v1.25.1/", "").strip() for line in commands if not line.strip().startswith(beginnings)]
    assert [line for line in page if line not in printed] == []
