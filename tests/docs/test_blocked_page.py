"""The page on "blocked by policy" shows what the command prints."""

import re
from pathlib import Path
from typing import Any

from tests.docs.commands import ROOT
from tests.docs.scenes import agent_log, files
from tests.hosts.running import without_plugins
from tools.real import tool

PAGE = (ROOT / "docs/how-to/blocked-by-policy.md").read_text(encoding="utf-8")


def _changed(request: dict[str, Any]) -> None:
    """What a webhook does: a proxy for every container, and another user."""
    request["OCI"]["Process"]["Env"].append("HTTP_PROXY=http://proxy.example.com")
    request["OCI"]["Process"]["User"]["UID"] = 0


def _without_digest(text: str) -> str:
    return re.sub("policy [0-9a-f]{8}", "policy", text)


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    machine = without_plugins(tmp_path)
    files(machine, here)
    policy = machine.krm("policy", "show", "Deployment/web", "rendered.yaml", cwd=here).ok()
    (here / "agent.log").write_text(agent_log(policy, _changed))
    command = ("policy", "replay", "Deployment/web", "rendered.yaml", "--log", "agent.log", "--engine", tool("opa-cli"))
    ran = machine.krm(*command, cwd=here)
    assert ran.code == 1, ran.err
    shown = PAGE[PAGE.index("Deployment shop/web, policy") :].partition("```")[0]
    assert _without_digest(ran.out.decode()) == _without_digest(shown)
