"""A Secret that only the cluster has, from the error to the review: what a person does and sees."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import Run
from tests.failures.world import World, canaries
from tests.wording import wording

DB = {"kind": "Secret", "name": "db"}
ANY = "web DB_PASSWORD (Secret db, key password)"
WARNING = wording("CC0674", container="web", variables="DB_PASSWORD (Secret db, key password)")
RULES = "package agent_policy\n"


def closed() -> World:
    """The deployment, of which one variable comes from a Secret that the input does not have."""
    world = World()
    world.env("DB_PASSWORD", secretKeyRef={"name": "db", "key": "password"})
    return world


def opened(**entry: Any) -> World:
    world = closed()
    world.spec["policy"] = {"externalSources": [{**DB, **entry}]}
    return world


def fixed(world: World) -> None:
    """Put the Secret into the input."""
    metadata = {"name": "db", "namespace": "shop"}
    world["db"] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"password": "CANARY-db"}}


def call(shop: Shop, *arguments: str, data: bytes = b"") -> Run:
    run = shop(*arguments, data=data)
    assert not list(canaries(run.stdout.decode() + run.stderr)) or arguments[0] == "generate"
    return run


def render(shop: Shop, world: World) -> bytes:
    shop.change(world)
    run = shop.generate("--format", "json")
    assert run.code == 0, run.stderr
    return run.stdout


def warnings(run: Run) -> list[tuple[str, str]]:
    return [(found["code"], found["message"]) for found in run.findings if found["severity"] == "warning"]


# --- the three ways that the hint of the error names


def together(world: World) -> None:
    fixed(world)


def volume(world: World) -> None:
    world.container["env"].pop()
    world.mount("db", {"secret": {"secretName": "db"}})


def named(world: World) -> None:
    world.spec["policy"] = {"externalSources": [dict(DB)]}


@pytest.mark.parametrize(
    ("way", "words", "warns"),
    [
        (together, "render it together with the pod", []),
        (volume, "mount it as a volume", []),
        (named, "list it in spec.policy.externalSources", ["CC0674"]),
    ],
)
def test_each_way_out_that_the_hint_names_renders(
    way: Callable[[World], None], words: str, warns: list[str], shop: Shop
) -> None:
    world = closed()
    shop.change(world)
    run = shop.generate("--format", "json")
    (found,) = run.errors
    assert (run.code, found["code"]) == (1, "CC0602")
    assert words in found["hint"]
    way(world)
    shop.change(world)
    run = shop.generate("--format", "json")
    assert run.code == 0
    assert [code for code, _ in warnings(run)] == warns


@pytest.mark.parametrize("policy", [{"profile": "strict"}, {"rules": RULES}], ids=["strict", "rules"])
def test_where_nothing_may_be_open_the_hint_names_two_ways(policy: dict[str, str], shop: Shop) -> None:
    world = closed()
    world.spec["policy"] = policy
    shop.change(world)
    (found,) = shop.generate("--format", "json").errors
    assert found["code"] == "CC0602"
    assert "render it together with the pod" in found["hint"]
    assert "externalSources" not in found["hint"]


# --- hints, followed to the letter


def fixed_in_the_pod(world: World) -> None:
    world.container["env"][-1] = {"name": world.container["env"][-1]["name"], "value": "x"}


def as_steering(world: World) -> None:
    world.container["env"][-1]["name"] = "LD_PRELOAD"


def as_argument(world: World) -> None:
    world.container["command"] = ["/web", "$(DB_PASSWORD)"]


def without_argument(world: World) -> None:
    world.container["command"].pop()


def all_keys(world: World) -> None:
    world.container["envFrom"].append({"prefix": "DB_", "secretRef": {"name": "db"}})


def entry(**fields: Any) -> Callable[[World], None]:
    """Set fields of the entry; None removes one."""

    def change(world: World) -> None:
        made = {**world.spec["policy"]["externalSources"][0], **fields}
        world.spec["policy"]["externalSources"] = [{name: one for name, one in made.items() if one is not None}]

    return change


@pytest.mark.parametrize(
    ("wrong", "code", "words", "right"),
    [
        (as_steering, "CC0670", "write its value into the pod", fixed_in_the_pod),
        (as_steering, "CC0670", "add the Secret to the input", fixed),
        (as_argument, "CC0671", "let the program read the variable DB_PASSWORD itself", without_argument),
        (as_argument, "CC0671", "add its ConfigMap or Secret to the input", fixed),
        (entry(namespace="bank"), "CC0672", "correct the namespace of the entry", entry(namespace="shop")),
        (entry(namespace="bank"), "CC0672", "or remove it", entry(namespace=None)),
        (entry(keys=["user"]), "CC0672", "add password to the keys of the entry", entry(keys=["user", "password"])),
        (all_keys, "CC0672", "list the keys under keys of the entry", entry(keys=["password", "user"])),
    ],
)
def test_a_hint_leads_to_a_render_without_errors(
    wrong: Callable[[World], None], code: str, words: str, right: Callable[[World], None], shop: Shop
) -> None:
    world = opened()
    wrong(world)
    shop.change(world)
    (found,) = shop.generate("--format", "json").errors
    assert (found["code"], words in found["hint"]) == (code, True)
    right(world)
    shop.change(world)
    run = shop.generate("--format", "json")
    assert (run.code, run.errors) == (0, [])


@pytest.mark.parametrize("name", ["other", "db"], ids=["unused", "in the input"])
def test_without_the_entry_that_opens_nothing_there_is_no_warning(name: str, shop: Shop) -> None:
    world = opened(name=name)
    fixed(world)
    shop.change(world)
    (found,) = [one for one in shop.generate("--format", "json").findings if one["severity"] == "warning"]
    assert (found["code"], found["hint"].startswith("remove the entry")) == ("CC0673", True)
    del world.spec["policy"]
    shop.change(world)
    assert warnings(shop.generate("--format", "json")) == []


# --- the render


def test_a_render_of_rendered_output_changes_nothing_and_uninject_gives_the_input_back(shop: Shop) -> None:
    world = opened(keys=["password", "user"])
    world.container["envFrom"].append({"prefix": "DB_", "secretRef": {"name": "db"}})
    once = render(shop, world)
    shop.write("deployment/resources.yaml", once)
    again = shop.generate()
    assert (again.code, again.stdout) == (0, once)
    back = shop("uninject", "-", data=once)
    assert (back.code, back.stdout) == (0, world.stream())


def test_a_deployment_without_open_variables_keeps_its_bytes(shop: Shop) -> None:
    before = render(shop, World())
    world = World()
    world.spec["policy"] = {"externalSources": [DB]}
    shop.change(world)
    run = shop.generate("--format", "json")
    assert run.stdout == before
    says = "spec.policy.externalSources[0], Secret db, opens no variable of this input"
    assert warnings(run) == [("CC0673", says)]


def test_an_entry_for_an_object_of_the_input_changes_nothing_and_says_so(shop: Shop) -> None:
    world = opened()
    fixed(world)
    shop.change(world)
    run = shop.generate("--format", "json")
    says = "spec.policy.externalSources[0], Secret db, is in the input, so its values are fixed"
    assert warnings(run) == [("CC0673", says)]
    del world.spec["policy"]
    assert render(shop, world) == run.stdout


def test_nothing_else_allows_open_variables(shop: Shop) -> None:
    shop.change(opened())
    shop.write("rules.rego", RULES)
    run = shop.generate("--format", "json", "--policy", "rules.rego")
    assert run.code == 2
    assert [(found["code"], "your own rules" in found["message"]) for found in run.errors] == [("CC0901", True)]


# --- what a review sees


def test_the_plan_has_a_line_for_each_workload_with_open_variables(shop: Shop) -> None:
    shop.change(opened())
    text = " ".join(call(shop, "plan", "deployment", "--config", CONFIG).stdout.decode().split())
    assert f" open variables, of which the host may choose any value: {ANY} " in text
    shop.change(World())
    assert "open variables" not in call(shop, "plan", "deployment", "--config", CONFIG).stdout.decode()


def test_the_plan_as_json_and_as_a_page_names_them(shop: Shop) -> None:
    shop.change(opened())
    data = json.loads(call(shop, "plan", "deployment", "--config", CONFIG, "-o", "json").stdout)
    found = {one["name"]: one["openVariables"] for one in data["workloads"]}
    (one,) = found.pop("web")
    assert one == {"container": "web", "name": "DB_PASSWORD", "source": "Secret db, key password"}
    assert found == {"coordinator": []}
    page = call(shop, "plan", "deployment", "--config", CONFIG, "-o", "html").stdout.decode()
    assert "<h3>Variables of which the host may choose any value</h3>" in page
    assert "<b>web</b> <code>DB_PASSWORD</code></span> <span>Secret db, key password</span>" in page
    assert WARNING in page


def test_the_explanation_names_them(shop: Shop) -> None:
    shop.change(opened())
    text = call(shop, "explain", "Deployment/web", "deployment", "--config", CONFIG).stdout.decode()
    assert f"  open variables  {ANY}\n" in text
    assert f"warning CC0674 shop/web spec.template.spec: {WARNING}\n" in text
    data = call(shop, "explain", "Deployment/web", "deployment", "--config", CONFIG, "-o", "json").stdout
    assert json.loads(data)["openVariables"][0]["name"] == "DB_PASSWORD"


@pytest.mark.parametrize("arguments", [(), ("--config", CONFIG)], ids=["alone", "with the configuration"])
def test_check_names_them_and_passes(arguments: tuple[str, ...], shop: Shop) -> None:
    run = call(shop, "check", "-", *arguments, "--format", "json", data=render(shop, opened()))
    assert run.code == 0
    assert warnings(run) == [("CC0674", WARNING)]


def test_check_names_both_sources_if_it_cannot_tell(shop: Shop) -> None:
    world = World()
    world.container["envFrom"] += [{"secretRef": {"name": "db"}}, {"configMapRef": {"name": "more"}}]
    sources = [{**DB, "keys": ["USER"]}, {"kind": "ConfigMap", "namePattern": "mor*", "keys": ["LEVEL"]}]
    world.spec["policy"] = {"externalSources": sources}
    run = call(shop, "check", "-", "--format", "json", data=render(shop, world))
    messages = [found["message"] for found in run.findings if found["code"] == "CC0674"]
    names = [f"{name} (Secret db, key {name} or ConfigMap more, key {name})" for name in ("USER", "LEVEL")]
    assert messages == [wording("CC0674", container="web", variables=", ".join(names))]


def _set_open(env: list[Any]) -> None:
    env[3] = {"name": "DB_PASSWORD", "value": "hunter2"}


def _set_fixed(env: list[Any]) -> None:
    env[0]["value"] = "another"


def _add(env: list[Any]) -> None:
    env.append({"name": "MORE", "value": "x"})


@pytest.mark.slow
@pytest.mark.parametrize("change", [_set_open, _set_fixed, _add])
@pytest.mark.parametrize("arguments", [(), ("--config", CONFIG)], ids=["alone", "with the configuration"])
def test_check_finds_a_change_of_the_other_variables(
    change: Callable[[list[Any]], None], arguments: tuple[str, ...], shop: Shop
) -> None:
    documents = list(yaml.safe_load_all(render(shop, opened())))
    (web,) = [one for one in documents if one["kind"] == "Deployment"]
    change(next(one for one in web["spec"]["template"]["spec"]["containers"] if one["name"] == "web")["env"])
    data = yaml.safe_dump_all(documents).encode()
    run = call(shop, "check", "-", *arguments, "--format", "json", data=data)
    assert run.code == 1
    assert "CC1103" in [found["code"] for found in run.errors]


def test_an_open_variable_is_weaker_than_a_fixed_one(shop: Shop) -> None:
    world = closed()
    fixed(world)
    shop.write("fixed.yaml", render(shop, world))
    shop.write("none.yaml", render(shop, World()))
    shop.write("open.yaml", render(shop, opened()))

    for old, says in (
        ("fixed.yaml", "env changed DB_PASSWORD: any value is allowed"),
        ("none.yaml", "env added DB_PASSWORD: the host may set one more variable, to any value"),
    ):
        run = call(shop, "check", "open.yaml", "--no-weaker", old, "--format", "json")
        assert run.code == 1
        assert [found["message"] for found in run.errors] == [wording("CC0617", what="web", why=says)]
        back = call(shop, "check", old, "--no-weaker", "open.yaml", "--format", "json")
        assert back.code == 0, back.stderr
        text = call(shop, "diff", "--policy", "open.yaml", old).stdout.decode()
        assert text.splitlines()[-1] == "0 weaker, 1 stronger, 0 different"
    assert call(shop, "check", "open.yaml", "--no-weaker", "open.yaml").code == 0
