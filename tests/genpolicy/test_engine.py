"""`--genpolicy PATH`: another generator makes the policies; everything else of a render stays as it is."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krm_function.contrast.profiles import KATA
from krm_function.policy.initdata import decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.rules import load_rules
from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import Run, listing, spawned
from tests.failures.world import CANARY, World, canaries
from tests.genpolicy import settings_files
from tests.genpolicy.standin_orders import INITDATA, ORDER, initdata_of, ordered


def run_with(shop: Shop, standin: str, order: str = "", *arguments: str, world: World | None = None) -> Run:
    shop.change(ordered(world or World(), order))
    return shop.generate("--genpolicy", standin, "--format", "json", *arguments)


def the_error(run: Run, code: str, exit_code: int = 1) -> Any:
    assert run.code == exit_code, run.stderr
    assert run.stdout == b""
    assert not list(canaries(run.stderr))
    (error,) = run.errors
    assert error["code"] == code
    assert error["hint"]
    return error


def test_the_policies_and_the_manifest_are_genpolicys(shop: Shop, standin: str) -> None:
    run = run_with(shop, standin)
    assert run.code == 0, run.stderr
    (manifest,) = [
        one for one in yaml.safe_load_all(run.stdout) if one["kind"] == "ConfigMap" and "manifest" in str(one)
    ]
    named = json.loads(manifest["data"]["manifest.json"])["Policies"]
    for name in ("web", "coordinator"):
        toml = from_annotation(initdata_of(run.stdout, name))
        made = decode_toml(toml)
        assert list(made.data) == ["policy.rego"]
        assert made.data["policy.rego"].startswith(load_rules(KATA))
        assert "standin" in read_policy_data(made.data["policy.rego"])
        assert digest(toml) in named
    again = run_with(shop, standin)
    assert again.stdout == run.stdout


def test_a_statement_about_the_render_names_the_program_by_its_digest(shop: Shop, standin: str) -> None:
    assert run_with(shop, standin, "", "-o", "out.yaml", "--attest", "statement.json").code == 0
    made = json.loads((shop.directory / "statement.json").read_bytes())["predicate"]["buildDefinition"]
    (program,) = (one for one in made["resolvedDependencies"] if one["annotations"]["role"] == "genpolicy")
    assert program["digest"]["sha256"] == hashlib.sha256(Path(standin).read_bytes()).hexdigest()
    assert program["name"] == made["externalParameters"]["options"]["genpolicy"] == standin
    assert made["internalParameters"]["engine"] == "genpolicy"


def test_no_lock_is_needed(shop: Shop, standin: str) -> None:
    world = World()
    del world.documents["lock"]
    assert run_with(shop, standin, world=world).code == 0


def test_it_sees_the_finished_pod_and_the_values_it_refers_to(shop: Shop, standin: str) -> None:
    run = run_with(shop, standin)
    policy = read_policy_data(decode_toml(from_annotation(initdata_of(run.stdout, "web"))).data["policy.rego"])
    containers = {
        one["OCI"]["Annotations"].get("io.kubernetes.cri.container-name"): one["OCI"] for one in policy["containers"]
    }
    assert set(containers) == {None, "contrast-initializer", "web"}
    env = containers["web"]["Process"]["Env"]
    assert f"MODE={CANARY}-config-map" in env
    assert f"WORD={CANARY}-secret" in env
    assert f"token={CANARY}-string-data" in env, "stringData is given in the form that genpolicy understands"


def test_its_world_is_small(shop: Shop, standin: str) -> None:
    shop.change(ordered(World(), ""))
    run = spawned(
        *("generate", "deployment", "--config", CONFIG, "--genpolicy", standin),
        directory=shop.directory,
        SECRET_TOKEN="x",
        RUST_BACKTRACE="full",
        DOCKER_CONFIG="y",
    )
    assert run.code == 0, run.stderr
    policy = read_policy_data(decode_toml(from_annotation(initdata_of(run.stdout, "web"))).data["policy.rego"])
    seen = policy["standin"]
    assert not {"SECRET_TOKEN", "RUST_BACKTRACE", "CONTRAST_KRM_DEBUG"} & set(seen["environment"])
    assert "DOCKER_CONFIG" in seen["environment"]
    assert seen["modes"] == [0], "its directory is the owner's alone"
    files = ["config.yaml", "layers-cache.json", "rules.rego", "settings.json", "workload.yaml"]
    assert seen["files"] == files, "it stands in its own directory, with nothing but its input"
    assert seen["configs"] == 1
    other = read_policy_data(decode_toml(from_annotation(initdata_of(run.stdout, "coordinator"))).data["policy.rego"])
    assert other["standin"]["configs"] == 0, "nothing is referred to"
    assert seen["cached"], "the layers that one call fetched are there for the next"


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[str]:
    """Where temporary files go; nothing may be left there."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    yield str(directory)
    assert not list(directory.iterdir())


@pytest.mark.parametrize(
    "order, code, says",
    [
        ("refuse", "CC0614", "error: UID 1000 is not in the YAML runAsUser: 1"),
        ("log", "CC0614", "no route to the registry"),
        ("silent", "CC0614", "exit code 3 and said nothing"),
        ("killed", "CC0614", "signal 9"),
        ("garbage", "CC0615", "no base64"),
        ("nothing", "CC0615", "printed nothing"),
        ("flood", "CC0615", "more than 1048576 bytes"),
        ("another rego", "CC0615", "no policy_data"),
        ("sha384", "CC0615", "sha384"),
        ("no policy", "CC0615", "no policy.rego"),
    ],
)
def test_a_call_that_fails_is_one_error_at_the_workload(
    shop: Shop, standin: str, scratch: str, order: str, code: str, says: str
) -> None:
    shop.change(ordered(World(), order))
    before = listing(shop.directory)
    arguments = ("deployment", "--config", CONFIG, "--genpolicy", standin, "--format", "json", "--in-place")
    run = spawned("generate", *arguments, directory=shop.directory, TMPDIR=scratch)
    error = the_error(run, code)
    assert says in error["message"]
    assert error["resource"]["name"] == "web"
    assert listing(shop.directory) == before


@pytest.mark.parametrize("order", ["hang", "chatter", "child"])
def test_a_call_is_ended_in_time(shop: Shop, standin: str, scratch: str, order: str) -> None:
    shop.change(ordered(World(), order))
    start = time.monotonic()
    arguments = ("deployment", "--config", CONFIG, "--genpolicy", standin, "--genpolicy-timeout", "3")
    run = spawned("generate", *arguments, "--format", "json", directory=shop.directory, TMPDIR=scratch)
    error = the_error(run, "CC0616")
    assert time.monotonic() - start < 30
    assert error["message"] == "genpolicy did not end within 3 seconds"


@pytest.mark.parametrize("order", ["", "old panic"])
def test_a_field_it_does_not_know_is_named_where_it_stands(shop: Shop, standin: str, order: str) -> None:
    world = World()
    world.container["workingDir"] = "/srv"
    error = the_error(run_with(shop, standin, order, world=world), "CC0614")
    assert error["message"] == "genpolicy: Unsupported field: spec.template.spec.containers[0].workingDir"
    assert error["field"] == "spec.template.spec.containers[0].workingDir"
    assert error["line"] > 0


def test_serdes_own_spelling_of_a_path_is_understood(shop: Shop, standin: str) -> None:
    world = World()
    world.container["stdinOnce"] = True
    error = the_error(run_with(shop, standin, world=world), "CC0614")
    assert error["field"] == "spec.template.spec.containers[0].stdinOnce"


def test_what_it_says_is_told_without_values(shop: Shop, standin: str) -> None:
    world = World()
    world.container["env"][0]["value"] = f'{CANARY} "quoted"\nin two lines {CANARY}'
    error = the_error(run_with(shop, standin, "quote", world=world), "CC0614")
    assert "invalid value: " in error["message"]
    assert "(value)" in error["message"]


def test_files_of_the_configuration_join_its_policy_in_one_order(shop: Shop, standin: str) -> None:
    world = World()
    world.spec["policy"] = {"initdata": {"aa.toml": "[token_configs]\n"}}
    made = {run_with(shop, standin, "shuffled", world=world).stdout for _ in range(6)}
    assert len(made) == 1
    data = decode_toml(from_annotation(initdata_of(made.pop(), "web"))).data
    assert list(data) == ["aa.toml", "policy.rego", "zz.toml"]


@pytest.mark.parametrize(
    "path, problem",
    [
        ("genpolicy", "genpolicy has no slash, and programs are not searched for"),
        ("./none", "./none is no file"),
        ("./deployment", "./deployment is no file"),
        ("./config.yaml", "./config.yaml is not executable"),
    ],
)
def test_a_path_that_names_no_program_is_a_mistake_of_the_call(shop: Shop, path: str, problem: str) -> None:
    error = the_error(shop.generate("--genpolicy", path, "--format", "json"), "CC0909", 2)
    assert error["message"] == f"--genpolicy: {problem}"


def test_a_file_that_is_no_program_says_so(shop: Shop) -> None:
    shop.write("broken", b"\x00\x01\x02")
    (shop.directory / "broken").chmod(0o755)
    run = shop.generate("--genpolicy", "./broken", "--format", "json")
    assert run.code == 1
    assert {error["code"] for error in run.errors} == {"CC0614"}
    assert "cannot be started: exec format error" in run.errors[0]["message"]


@pytest.mark.parametrize("value", ["0", "-1", "soon", "1.5"])
def test_a_time_that_is_none(shop: Shop, standin: str, value: str) -> None:
    run = shop.generate("--genpolicy", standin, "--genpolicy-timeout", value)
    assert run.code == 2
    assert "--genpolicy-timeout" in run.stderr


def test_the_function_and_the_post_renderer_take_it_too(shop: Shop, standin: str) -> None:
    world = ordered(World(), "")
    generated = run_with(shop, standin)
    function = shop("fn", "--genpolicy", standin, data=world.resource_list())
    assert function.code == 0, function.stderr
    items = yaml.safe_load(function.stdout)["items"]
    (web,) = [item for item in items if item["kind"] == "Deployment"]
    assert web["spec"]["template"]["metadata"]["annotations"][INITDATA] == initdata_of(generated.stdout, "web")
    helm = shop("post-render", "--config", CONFIG, "--genpolicy", standin, data=world.stream())
    assert helm.code == 0, helm.stderr
    assert initdata_of(helm.stdout, "web") == initdata_of(generated.stdout, "web")


def test_the_function_keeps_its_items_when_the_path_is_wrong(shop: Shop) -> None:
    sent = World().resource_list()
    run = shop("fn", "--genpolicy", "genpolicy", "--format", "json", data=sent)
    assert run.code == 2
    answered = yaml.safe_load(run.stdout)
    assert answered["items"] == yaml.safe_load(sent)["items"]
    assert [result["severity"] for result in answered["results"]] == ["error"]


def test_no_configuration_can_name_a_program(shop: Shop) -> None:
    world = World()
    world.spec["policy"] = {"genpolicy": "/bin/true"}
    shop.change(world)
    run = shop.generate("--format", "json")
    assert the_error(run, "CC0902", 2)["field"] == "spec.policy.genpolicy"


def test_its_settings_and_rules_are_the_operators(shop: Shop, standin: str) -> None:
    shop.write("settings.json", json.dumps({**settings_files.kata(), "of": "another release"}))
    shop.write("rules.rego", "package agent_policy\n# mine\n")
    run = run_with(shop, standin, "", "--settings", "settings.json", "--policy", "rules.rego")
    assert run.code == 0, run.stderr
    rego = decode_toml(from_annotation(initdata_of(run.stdout, "web"))).data["policy.rego"]
    assert "# mine" in rego
    assert set(read_policy_data(rego)["standin"]["settings"]) == {*settings_files.kata(), "of"}


def test_what_pipeline_tools_write_is_not_shown_to_it(shop: Shop, standin: str) -> None:
    world = World()
    world.notes["config.kubernetes.io/index"] = "1"
    run = run_with(shop, standin, world=world)
    policy = read_policy_data(decode_toml(from_annotation(initdata_of(run.stdout, "web"))).data["policy.rego"])
    assert "config.kubernetes.io/index" not in policy["standin"]["annotations"]
    assert ORDER in policy["standin"]["annotations"]


def test_nothing_else_is_started(shop: Shop, standin: str, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = (
        "import sys\n"
        "from krm_function.cli import main\n"
        f"file = open({str(started)!r}, 'w')\n"
        "sys.addaudithook(lambda event, args: event.startswith(('subprocess.', 'os.system', 'socket.connect'))"
        " and file.write(f'{event} {args[0]}\\n'))\n"
        "sys.argv = ['contrast-krm', *sys.argv[1:]]\n"
        "code = main()\nfile.close()\nsys.exit(code)\n"
    )
    import subprocess
    import sys

    shop.change(ordered(World(), ""))
    arguments = ("generate", "deployment", "--config", CONFIG, "--genpolicy", standin)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=shop.directory, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert started.read_text().splitlines() == [f"subprocess.Popen {standin}"] * 2
