"""`policy show`, `diff --policy` and `check --no-weaker` on a deployment in files."""

import json
import re
import tomllib
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import (
    annotation,
    decode_toml,
    digest,
    encode_toml,
    from_annotation,
    read_policy_data,
    rules_of,
)
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import listing
from tests.failures.world import CANARY, World, canaries
from tests.policy.bound import with_images, without_images
from tests.policy.pods import rego_document
from tests.wording import wording

WEB = "Deployment/web"


@pytest.fixture
def output(shop: Shop, rendered: bytes) -> str:
    """A file with the rendered deployment."""
    return shop.write("rendered.yaml", rendered)


def test_every_form_of_a_policy(shop: Shop, output: str) -> None:
    shown = {form: shop("policy", "show", WEB, output, "-o", form) for form in ("rego", "data", "initdata", "digest")}
    assert {run.code for run in shown.values()} == {0}
    assert {run.stderr for run in shown.values()} == {""}
    toml = shown["initdata"].stdout
    rego = tomllib.loads(toml.decode())["data"]["policy.rego"]
    assert shown["rego"].stdout.decode() == rego
    assert json.loads(shown["data"].stdout) == read_policy_data(rego)
    assert shown["digest"].stdout.decode() == sha256(toml).hexdigest() + "\n"
    manifest = json.loads(shop("manifest", output).stdout)
    assert shown["digest"].stdout.decode().strip() in manifest["Policies"]
    assert shop("policy", "show", WEB, output).stdout == shown["rego"].stdout


def test_the_digest_as_the_hardware_reports_it(shop: Shop, output: str) -> None:
    digest = shop("policy", "show", WEB, output, "-o", "digest").stdout.decode().strip()
    lines = shop("policy", "show", WEB, output, "-o", "host-data").stdout.decode().splitlines()
    assert lines == [f"snp {digest}", f"tdx {digest}{'0' * 32}"]


def test_an_input_is_rendered_first(shop: Shop, output: str) -> None:
    before = listing(shop.directory)
    run = shop("policy", "show", WEB, "deployment", "--config", CONFIG, "-o", "digest")
    assert run.code == 0, run.stderr
    assert run.stdout == shop("policy", "show", WEB, output, "-o", "digest").stdout
    assert listing(shop.directory) == before


def test_a_render_that_fails_shows_nothing(shop: Shop) -> None:
    world = World()
    world.pod["hostPID"] = True
    shop.change(world)
    run = shop("policy", "show", WEB, "deployment", "--config", CONFIG)
    assert (run.code, run.stdout) == (1, b"")
    assert "hostPID" in run.stderr


@pytest.mark.parametrize("name", ["deploy/web", "deployments/web", "DEPLOYMENT/shop/web", "Deployment/web"])
def test_spellings_of_a_workload(shop: Shop, output: str, name: str) -> None:
    assert shop("policy", "show", name, output, "-o", "digest").code == 0


@pytest.mark.parametrize(
    "name, problem, hint",
    [
        ("web", "web is not a workload name (KIND/NAME, e.g. Deployment/web)", "did you mean Deployment/shop/web?"),
        ("Deployment/", "Deployment/ is not a workload name (KIND/NAME, e.g. Deployment/web)", "did you mean"),
        (
            "a/b/c/d",
            "a/b/c/d is not a workload name (KIND/NAME, e.g. Deployment/web)",
            "use one of StatefulSet/shop/coordinator, Deployment/shop/web",
        ),
        ("Deploymnt/web", "Deploymnt/web is not in the input", "did you mean Deployment/shop/web?"),
        ("Service/web", "Service/web is not in the input", "did you mean Deployment/shop/web?"),
        ("Deployment/wbe", "Deployment/wbe is not in the input", "did you mean Deployment/shop/web?"),
        ("StatefulSet/web", "StatefulSet/web is not in the input", "did you mean Deployment/shop/web?"),
        ("Deployment/other/web", "Deployment/other/web is not in the input", "did you mean Deployment/shop/web?"),
        ("Pod/xyzzy", "Pod/xyzzy is not in the input", "use one of StatefulSet/shop/coordinator, Deployment/shop/web"),
        ("Deployment/\x1b[31m", "Deployment/\\x1b[31m is not in the input", "hint"),
    ],
)
def test_a_name_that_fits_nothing(shop: Shop, output: str, name: str, problem: str, hint: str) -> None:
    run = shop("policy", "show", name, output)
    assert (run.code, run.stdout) == (2, b"")
    assert problem in run.stderr
    assert hint in run.stderr


def test_a_name_that_fits_several(shop: Shop, rendered: bytes) -> None:
    other = rendered.replace(b"namespace: shop", b"namespace: test")
    shop.write("both.yaml", rendered + b"---\n" + other)
    run = shop("policy", "show", WEB, "both.yaml")
    assert run.code == 2
    assert wording("CC0909.several", count="2", text="Deployment/web") in run.stderr
    assert "use one of Deployment/shop/web, Deployment/test/web" in run.stderr
    assert shop("policy", "show", "Deployment/test/web", "both.yaml").code == 0


def test_a_pod_without_a_policy_or_with_something_else(shop: Shop) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu-snp-1a2b3c4d"
    shop.change(world)
    run = shop("policy", "show", WEB, "deployment", "--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (1, ["CC1102"])
    world.notes["io.katacontainers.config.hypervisor.cc_init_data"] = "nothing"
    shop.change(world)
    run = shop("policy", "show", WEB, "deployment", "--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (1, ["CC0610"])


def changed(shop: Shop) -> str:
    """The deployment rendered again after a change of web, as the file new.yaml."""
    world = World()
    world.spec["runtimeClasses"] = "emit"
    world.container["env"].append({"name": "DEBUG", "value": f"{CANARY}-debug"})
    world.container["command"] = ["/bin/main", f"--password={CANARY}-env"]
    world.container["securityContext"] = {"allowPrivilegeEscalation": False}
    shop.change(world)
    run = shop.generate("-o", "new.yaml")
    assert run.code == 0, run.stderr
    return "new.yaml"


def test_the_differences_of_two_outputs(shop: Shop, output: str) -> None:
    new = changed(shop)
    run = shop("diff", "--policy", output, new)
    assert run.code == 0
    assert run.stdout.decode().splitlines() == [
        "Deployment shop/web",
        "  weaker    web: env added DEBUG: the host may set one more variable",
        (
            "  different web: command changed $(PATH)/main -> $(PATH)/main --password=$(PLAIN): "
            "another program or other arguments run"
        ),
        "  stronger  web: noNewPrivileges changed false -> true: the process may not gain privileges",
        "1 weaker, 1 stronger, 1 different",
    ]
    said = json.loads(shop("diff", "--policy", output, new, "-o", "json").stdout)
    assert (said["version"], said["totals"]) == (1, {"weaker": 1, "stronger": 1, "different": 1})
    (web,) = said["workloads"]
    assert web["resource"] == {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    assert web["differences"][0] == {
        "container": "web",
        "field": "env",
        "op": "added",
        "what": "DEBUG",
        "verdict": "weaker",
        "why": "the host may set one more variable",
    }
    assert not list(canaries(run.stdout.decode() + json.dumps(said)))


def test_the_exit_code_of_a_diff(shop: Shop, output: str) -> None:
    new = changed(shop)
    assert shop("diff", "--policy", output, new, "--exit-code").code == 1
    same = shop("diff", "--policy", output, output, "--exit-code")
    assert (same.code, same.stdout) == (0, b"no difference\n")
    assert (
        shop("diff", "--policy", output, "-", data=(shop.directory / output).read_bytes()).stdout == b"no difference\n"
    )


def test_a_diff_needs_two_outputs_that_can_be_read(shop: Shop, output: str) -> None:
    assert shop("diff", output, output).code == 2
    assert shop("diff", "--policy", output, "none.yaml").code == 3
    assert shop("diff", "--policy", "-", "-").code == 2
    broken = (shop.directory / output).read_bytes().replace(b"cc_init_data: ", b"cc_init_data: x", 1)
    run = shop("diff", "--policy", output, shop.write("broken.yaml", broken), "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    assert [error["code"] for error in run.errors] == ["CC0610"]


def test_the_gate_names_every_weaker_line_and_nothing_else(shop: Shop, output: str) -> None:
    new = changed(shop)
    assert shop("check", new).code == 0
    run = shop("check", new, "--no-weaker", output, "--format", "json")
    assert run.code == 1
    (error,) = run.errors
    assert (error["code"], error["resource"]["name"], error["field"]) == ("CC0617", "web", "spec.template.spec")
    assert error["message"] == (
        wording("CC0617", what="web", why="env added DEBUG: the host may set one more variable")
    )
    back = shop("check", output, "--no-weaker", new, "--format", "json")
    said = "web: noNewPrivileges changed true -> false: the process may gain privileges"
    assert [error["message"] for error in back.errors] == [f"weaker than the previous policy: {said}"]
    assert shop("check", output, "--no-weaker", output).code == 0
    assert shop("check", output, "--no-weaker", "none.yaml").code == 3


def resealed(rendered: bytes, edit: Callable[[Any], Any]) -> bytes:
    """The output with other policy data in every pod, and the manifest that fits."""
    text = rendered.decode()
    for value in re.findall(rf"{re.escape(INITDATA)}: \"?([A-Za-z0-9+/=]+)", text):
        toml = from_annotation(value)
        initdata = decode_toml(toml)
        rego = initdata.data["policy.rego"]
        again = rego_document(rules_of(rego), edit(read_policy_data(rego)))
        other = encode_toml(initdata._replace(data={**initdata.data, "policy.rego": again}))
        text = text.replace(value, annotation(other)).replace(digest(toml), digest(other))
    return text.encode()


@pytest.fixture
def bound_and_not(shop: Shop, rendered: bytes) -> tuple[str, str]:
    """The deployment with policies that bind images, and with such that do not."""
    bound = shop.write("bound.yaml", resealed(rendered, with_images))
    return bound, shop.write("loose.yaml", resealed(rendered, without_images))


def test_the_gate_says_what_is_stronger_and_why(shop: Shop, bound_and_not: tuple[str, str]) -> None:
    bound, loose = bound_and_not
    run = shop("check", bound, "--no-weaker", loose)
    assert run.code == 0, run.stderr
    lines = run.stderr.splitlines()
    places = [line for line in lines if line.startswith(("info CC0619 ", "  also: "))]
    assert len([line for line in places if "shop/web spec.template.spec" in line]) == 3
    web = [line for line in lines if "web: image added registry.example.com/shop/web:1.0@sha256:aa" in line]
    assert [line.partition(": ")[2].split(" web:")[0] for line in web] == ["stronger than the previous policy:"]
    assert web[0].endswith(": the image is bound to its digest")
    assert any(line.endswith("(pause): image added pause: the sandbox's image is the VM's own") for line in lines)
    said = shop("check", bound, "--no-weaker", loose, "--format", "json").findings
    assert {one["severity"] for one in said if one["code"] == "CC0619"} == {"info"}
    assert "CC0619" in shop("check", bound, "--no-weaker", loose, "--format", "github").stderr


def test_the_gate_closes_when_images_are_bound_no_more(shop: Shop, bound_and_not: tuple[str, str]) -> None:
    bound, loose = bound_and_not
    differences = shop("diff", "--policy", bound, loose).stdout.decode().splitlines()
    weaker = [line for line in differences if line.strip().startswith("weaker")]
    assert weaker
    assert all("image removed" in line and "the host may have any image pulled" in line for line in weaker)
    assert differences[-1].endswith("0 stronger, 0 different")


def test_other_rules_still_count_as_weaker(shop: Shop, bound_and_not: tuple[str, str]) -> None:
    bound, loose = bound_and_not
    other = shop.write("strict.yaml", resealed_rules((shop.directory / bound).read_bytes()))
    differences = shop("diff", "--policy", loose, other).stdout.decode()
    assert "weaker    rules changed: different rules: their effect cannot be compared by the data" in differences
    assert "stronger  web: image added" in differences


def resealed_rules(rendered: bytes) -> bytes:
    """The output with other rules of the same data in every pod."""
    text = rendered.decode()
    for value in re.findall(rf"{re.escape(INITDATA)}: \"?([A-Za-z0-9+/=]+)", text):
        initdata = decode_toml(from_annotation(value))
        rego = f"# other rules\n{initdata.data['policy.rego']}"
        text = text.replace(value, annotation(encode_toml(initdata._replace(data={"policy.rego": rego}))))
    return text.encode()


def test_no_weaker_prints_no_other_infos(shop: Shop, output: str) -> None:
    run = shop("check", output, "--no-weaker", output)
    assert run.stderr.startswith("checked 2 Contrast workloads\nadd --config to also compare")


def variations(rendered: bytes) -> dict[str, tuple[bytes, bytes, str]]:
    """name -> the output before, the one now, and what the gate says of it."""
    renamed = rendered.replace(b"name: web\n", b"name: web2\n")
    outside = rendered.replace(b"runtimeClassName: contrast-cc-metal-qemu-snp-1a2b3c4d", b"runtimeClassName: runc")
    return {
        "another name": (rendered, renamed, "workload added: the manifest trusts one policy more"),
        "no VM": (rendered, outside, "policy removed: it runs outside of a VM"),
        "unsealed": (
            rendered,
            rendered.replace(b"io.katacontainers.config.hypervisor.cc_init_data", b"example.com/other"),
            "policy removed: nothing limits the host",
        ),
    }


@pytest.mark.parametrize("name", ["another name", "no VM", "unsealed"])
def test_a_gate_cannot_be_walked_around(shop: Shop, rendered: bytes, name: str) -> None:
    old, new, says = variations(rendered)[name]
    assert old != new
    shop.write("old.yaml", old)
    shop.write("new.yaml", new)
    lines = shop("diff", "--policy", "old.yaml", "new.yaml").stdout.decode().splitlines()
    assert any(line.strip().startswith("weaker") and says in line for line in lines)


def test_policy_without_a_command_prints_the_commands_it_has(shop: Shop) -> None:
    run = shop("policy")
    assert run.code == 2
    assert run.stderr.startswith("usage: contrast-krm policy [-h] COMMAND ...")
    run = shop("policy", "shwo", WEB)
    assert run.code == 2
    assert "did you mean show?" in run.stderr


def test_names_with_control_characters_are_shown_escaped(shop: Shop, output: str) -> None:
    from krm_function.findings import Ref
    from krm_function.policy.compare import WorkloadDifferences
    from krm_function.policy.compare_values import Difference
    from krm_function.report.policy_text import policy_diff_json, policy_diff_text

    line = Difference("added", "B\nC\u202e", "weaker", "because", "env", "a\x1b[2J")
    compared: Any = [WorkloadDifferences(Ref("v1", "Pod", "x\x07", "y"), (line,))]
    text = policy_diff_text(compared)
    assert text.count("\n") == 3
    assert text.replace("\n", "").isprintable()
    data = json.loads(policy_diff_json(compared))
    assert data["workloads"][0]["differences"][0]["what"].isprintable()


def test_a_file_in_the_place_of_the_workload_is_named(shop: Shop, output: str) -> None:
    run = shop("policy", "show", output)
    assert (run.code, run.stdout) == (1, b"")
    name = f"contrast-krm policy show KIND/NAME {output}"
    assert f"  hint: {output} was read as WORKLOAD; write {name}\n" in run.stderr
    assert "was read as WORKLOAD" not in shop("policy", "show", WEB).stderr
