"""A guest that the configuration opens: a warning in a render and in a plan, an error in check unless acknowledged."""

from collections.abc import Mapping
from typing import Any

import pytest

from krm_function.contrast.profiles import CONTRAST, CONTRAST_VARIABLES, DEFAULT, KATA, STRICT
from krm_function.findings import finding
from krm_function.policy.open_guest import opening_findings
from krm_function.policy.rules import load_rules
from krm_function.policy.settings import default_document, settings
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.world import World
from tests.policy import pods


def _requests(**requests: Any) -> dict[str, Any]:
    document = default_document(DEFAULT)
    document["request_defaults"] |= requests
    return {"settings": document}


def _exec(**members: list[Any]) -> dict[str, Any]:
    return _requests(ExecProcessRequest={"allowed_commands": [], "regex": [], **members})


def _variables(*patterns: str) -> dict[str, Any]:
    return _requests(CreateContainerRequest={"allow_env_regex": [*CONTRAST_VARIABLES, *patterns]})


OPEN: Mapping[str, tuple[dict[str, Any], str]] = {
    "rules of somebody else": ({"rules": f"{load_rules()}\n# more\n"}, "rules"),
    "a debug shell": ({"initdata": {"contrast.insecure-debug": "true"}}, "shell"),
    "a console": ({"initdata": {"agent.toml": "debug_console = true\n"}}, "console"),
    "no TOML": ({"initdata": {"agent.toml": "debug_console ="}}, "console"),
    "any command": (_exec(regex=["^.*"]), "exec"),
    "stdin": (_requests(WriteStreamRequest=True), "stdin"),
    "any variable": (_variables("^.*$"), "variables"),
    "one variable or any": (_variables("^A=1$|^.*$"), "variables"),
}
CLOSED: Mapping[str, dict[str, Any]] = {
    "another key of the agent": {"initdata": {"agent.toml": 'log_level = "debug"\ndebug_console = false\n'}},
    "one command": _exec(allowed_commands=[["pg_dump", "shop"]]),
    "one command of the configuration": {"requests": {"exec": [["pg_dump", "shop"]]}},
    "one variable": _variables("^COLOUR=(.*)$"),
    "the settings of the profile": _requests(),
}


def _find(shop: Shop, *arguments: str, data: bytes = b"") -> list[tuple[str, str]]:
    found = shop(*arguments, "--format", "json", data=data).findings
    return [
        (entry["severity"], entry["message"]) for entry in found if "CC0654" in (entry["code"], entry["message"][:6])
    ]


def _write(shop: Shop, policy: dict[str, Any], **spec: Any) -> bytes:
    world = World()
    world.spec.update(policy=policy, **spec)
    shop.change(world)
    run = shop.generate()
    assert run.code == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("name", OPEN)
def test_an_open_guest_is_a_warning_and_check_refuses_it(name: str, shop: Shop) -> None:
    policy, opening = OPEN[name]
    message = finding(f"CC0654.{opening}").message
    rendered = _write(shop, policy)
    assert set(_find(shop, "generate", "deployment", "--config", CONFIG)) == {("warning", message)}
    assert b"warning CC0654" in shop("plan", "deployment", "--config", CONFIG).stdout
    assert shop("check", data=rendered).code == 1
    for arguments in ([], ["--config", CONFIG]):
        assert set(_find(shop, "check", *arguments, data=rendered)) == {("error", message)}


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_guest_is_no_warning(name: str, shop: Shop) -> None:
    rendered = _write(shop, CLOSED[name])
    assert _find(shop, "check", data=rendered) == []


def test_an_acknowledged_opening_is_shown_and_accepted(shop: Shop) -> None:
    entry = {"code": "CC0654", "reason": "a shell for one day"}
    rendered = _write(shop, OPEN["a debug shell"][0], acknowledged=[entry])
    found = _find(shop, "check", "--config", CONFIG, data=rendered)
    assert {severity for severity, _ in found} == {"info"}
    assert _find(shop, "check", data=rendered)[0][0] == "error"


@pytest.mark.parametrize("profile", [CONTRAST, KATA, STRICT], ids=lambda profile: profile.name)
def test_no_profile_is_open(profile: Any) -> None:
    shared = settings(None, profile)[0].shared
    assert opening_findings(pods.simple(), shared, {}, own_rules=False) == ()
