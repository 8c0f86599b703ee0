"""`keys list`, `add` and `remove`: owners come and go in a configuration, and the manifest of a render follows."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from krm_function.contrast.owner_keys import key_of
from tests.failures.running import Zygote, listing
from tests.hosts.running import EXAMPLES

QUICKSTART = EXAMPLES / "quickstart"
OLD = "3e1f9731cf9a30c7"  # of the quickstart
FILE = "config/contrast.yaml"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    shutil.copytree(QUICKSTART / "config", tmp_path / "config")
    shutil.copytree(QUICKSTART / "resources", tmp_path / "resources")
    return tmp_path


def ran(call: Zygote, here: Path, *arguments: str) -> str:
    run = call(*arguments, directory=here)
    assert run.code == 0, run.stderr
    return run.stdout.decode()


def rows(call: Zygote, here: Path, *arguments: str) -> list[tuple[str, ...]]:
    keys = json.loads(ran(call, here, "keys", "list", "-o", "json", *arguments))["keys"]
    return [(one["owner"], one["fingerprint"], one["name"], one["since"], *one["in"]) for one in keys]


def render(call: Zygote, here: Path) -> list[str]:
    """Render, write the manifest, and answer the pods."""
    ran(call, here, "generate", "resources", "--config", "config", "-o", "rendered.yaml")
    (here / "manifest.json").write_text(ran(call, here, "manifest", "rendered.yaml"))
    values = yaml.safe_load_all((here / "rendered.yaml").read_text())
    return [json.dumps(one) for one in values if one["kind"] != "ConfigMap"]


def test_a_rotation_adds_the_new_key_first_and_changes_no_pod(here: Path, call: Zygote) -> None:
    before, pods = (here / FILE).read_bytes(), render(call, here)
    ran(call, here, "keys", "new", "--workload-owner", "-o", "bob-owner.pem", "--public", "bob.pub")
    ran(call, here, "keys", "add", "bob.pub", "--to", FILE, "--name", "bob", "--since", "2026-11-25")
    new = key_of((here / "bob.pub").read_text(), "workload")
    both = ("--config", "config", "--manifest", "manifest.json")
    bob = ("workload", new.fingerprint, "bob", "2026-11-25", "configuration")
    old = ("workload", OLD, "", "", "configuration", "manifest")
    assert rows(call, here, *both) == [old, bob]
    assert render(call, here) == pods
    assert rows(call, here, *both) == [old, (*bob, "manifest")]
    ran(call, here, "keys", "remove", OLD[:8], "--from", FILE)
    assert rows(call, here, *both) == [(*bob, "manifest"), ("workload", OLD, "", "", "manifest")]
    assert render(call, here) == pods
    assert json.loads((here / "manifest.json").read_text())["WorkloadOwnerPubKeys"] == [new.entry]
    assert b"PRIVATE" not in before + (here / FILE).read_bytes()


def test_add_and_remove_give_back_the_same_bytes(here: Path, call: Zygote) -> None:
    before = (here / FILE).read_bytes()
    for owner in ("workload", "seedshare"):
        ran(call, here, "keys", "new", f"--{owner}-owner")
        ran(call, here, "keys", "add", f"{owner}-owner.pem", "--to", FILE, "--name", f"{owner} of ours")
        assert b"PRIVATE" not in (here / FILE).read_bytes()
    once = (here / FILE).read_bytes()
    assert "already" in call("keys", "add", "workload-owner.pem", "--to", FILE, "--name", "x", directory=here).stderr
    assert (here / FILE).read_bytes() == once
    ran(call, here, "keys", "remove", "workload of ours", "--from", FILE)
    ran(call, here, "keys", "remove", "seedshare of ours", "--from", FILE, "--last")
    assert (here / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("remove", OLD, "--from", FILE), 1, f"CC1375: {OLD} is the last workload owner key: nobody could update"),
        (("remove", "alice", "--from", FILE), 1, "CC1374: alice is neither the name nor the fingerprint of an owner"),
        (("remove", OLD[:7], "--from", FILE), 1, "CC1374"),
        (("remove", OLD, "--from", "config/release.yaml"), 1, "CC1374"),
        (("remove", OLD, "--from", "nowhere.yaml"), 3, "CC1001"),
        (("add", "resources/web.yaml", "--to", FILE, "--name", "a"), 2, "no PEM block found"),
        (("add", "resources/web.yaml", "--to", FILE, "--name", "a/b"), 2, "must be letters"),
        (("add", "resources/web.yaml", "--to", FILE, "--name", "a", "--since", "soon"), 2, "must be a date"),
        (("list",), 1, "CC1373"),
        (("list", "--manifest", "config/contrast.yaml"), 2, "CC0909"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_changes_nothing(
    here: Path, call: Zygote, arguments: tuple[str, ...], code: int, said: str
) -> None:
    before = listing(here)
    run = call("keys", *arguments, directory=here)
    assert (run.code, run.stdout) == (code, b""), run.stderr
    assert said in run.stderr
    assert listing(here) == before


def test_the_hints_lead_to_what_they_say(here: Path, call: Zygote) -> None:
    assert f"use one of {OLD}, which" in call("keys", "remove", "alice", "--from", FILE, directory=here).stderr
    assert "--last" in call("keys", "remove", OLD, "--from", FILE, directory=here).stderr
    ran(call, here, "keys", "remove", OLD, "--from", FILE, "--last")
    assert rows(call, here, "--config", "config") == []
    assert "CC0770" in call("generate", "resources", "--config", "config", directory=here).stderr
    assert ran(call, here, "keys", "list", "--config", "config") == "no owner keys\n"


def test_two_keys_of_one_name_are_told_apart_by_their_fingerprints(here: Path, call: Zygote) -> None:
    for number in ("1", "2"):
        ran(call, here, "keys", "new", "--workload-owner", "-o", number, "--public", f"{number}.pub")
        ran(call, here, "keys", "add", f"{number}.pub", "--to", FILE, "--name", "alice")
    run = call("keys", "remove", "alice", "--from", FILE, directory=here)
    assert (run.code, "CC1374: alice stands for 2 owner keys" in run.stderr) == (1, True)
    first = key_of((here / "1.pub").read_text(), "workload")
    ran(call, here, "keys", "remove", first.fingerprint, "--from", FILE)
    assert first.fingerprint not in [row[1] for row in rows(call, here, "--config", "config")]
