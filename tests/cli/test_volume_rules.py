"""The commands with `spec.volumes`: what a rule rewrites is counted, explained, shown, checked and taken back."""

import json
import re

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import WEB_IMAGE, World

CONFIG = ("--config", "config.yaml")


def world(*, rules: bool = True) -> World:
    made = World()
    made["lock"]["spec"]["images"][WEB_IMAGE]["config"]["Volumes"] = {"/srv": {}}
    made["claim"] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "web-data", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    made.mount("data", {"persistentVolumeClaim": {"claimName": "web-data"}})
    made.mount("tmp", {"emptyDir": {}}, subPath="a")
    made.container["volumeMounts"].append({"name": "tmp", "mountPath": "/b", "subPath": "b"})
    made.mount("models", {"hostPath": {"path": "/models"}})
    if rules:
        made.spec["volumes"] = {
            "splitSubPaths": True,
            "securePV": {"claims": ["web-data"]},
            "imageVolumes": "emptyDir",
            "hostPathCaches": {"paths": ["/models"]},
        }
    return made


@pytest.fixture
def ruled(shop: Shop) -> Shop:
    shop.change(world())
    return shop


def test_plan_counts_what_is_rewritten_and_says_that_a_claim_starts_empty(ruled: Shop) -> None:
    run = ruled("plan", "deployment", *CONFIG)

    assert run.code == 0, run.stderr
    text = " ".join(run.stdout.decode().split())
    assert "4 volumes rewritten" in text
    assert "claim data is encrypted from now on" in text
    assert json.loads(ruled("plan", "deployment", *CONFIG, "-o", "json").stdout)["workloads"]


def test_explain_has_each_edit_with_its_reason(ruled: Shop) -> None:
    text = ruled("explain", "deploy/web", "deployment", *CONFIG).stdout.decode()

    assert re.findall(r"^\d+\. (CC083\d) ", text, re.MULTILINE) == ["CC0834", "CC0831", "CC0832", "CC0833"]
    assert "emptyDir tmp is mounted by subPath, which would be a directory of the node" in text
    assert "spec.template.spec.containers[0].volumeMounts[1].name: tmp -> tmp-a" in text
    assert "the image of web declares VOLUME /srv" in text


def test_diff_shows_the_claim_as_well(ruled: Shop) -> None:
    text = ruled("diff", "deployment", *CONFIG).stdout.decode()

    assert "=== PersistentVolumeClaim/shop/web-data" in text
    assert "+  volumeMode: Block" in text
    assert re.search(r"^-\s+hostPath:", text, re.MULTILINE)


@pytest.mark.parametrize("lock", [True, False])
def test_check_renders_it_again(ruled: Shop, lock: bool) -> None:
    ruled.write("rendered.yaml", ruled.generate().stdout)
    if not lock:
        whole = world()
        del whole.documents["lock"]
        ruled.change(whole)
    checked = ruled("check", "rendered.yaml", *CONFIG)

    assert (checked.code, "error" in checked.stderr) == (0, False), checked.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("volumeMode: Block", "volumeMode: Filesystem"),
        ("mountPath: /srv", "mountPath: /elsewhere"),
        ("name: tmp-a\n", "name: tmp-b\n"),
    ],
)
def test_check_finds_a_later_change(ruled: Shop, old: str, new: str) -> None:
    text = ruled.generate().stdout.decode()
    assert old in text
    ruled.write("rendered.yaml", text.replace(old, new))

    assert ruled("check", "rendered.yaml", *CONFIG).code == 1


def test_uninject_gives_the_input_back(ruled: Shop) -> None:
    ruled.write("rendered.yaml", ruled.generate().stdout)

    assert ruled("uninject", "rendered.yaml").stdout == (ruled.directory / "deployment/resources.yaml").read_bytes()


@pytest.mark.parametrize("rule", [{"securePV": {"claims": ["data"]}}, {"hostPathCaches": {"paths": ["/models"]}}])
def test_a_stream_without_a_confidential_pod_does_not_pass_by_a_name(shop: Shop, rule: object) -> None:
    made = World()
    made.spec["volumes"] = rule
    shop.change(made)
    plain = made.stream("service")

    assert shop("post-render", *CONFIG, data=plain).code == 1
    made.spec["volumes"] = {"splitSubPaths": True}
    shop.change(made)
    passed = shop("post-render", *CONFIG, data=plain)
    assert (passed.code, passed.stdout) == (0, plain)


def test_without_rules_it_is_refused(shop: Shop) -> None:
    shop.change(world(rules=False))
    run = shop.generate("--format", "json")

    assert run.code == 1
    assert {error["code"] for error in run.errors} == {"CC0604", "CC0643", "CC0807"}


def test_rules_that_change_nothing_change_no_byte(shop: Shop) -> None:
    made = World()
    shop.change(made)
    plain = shop.generate()
    made.spec["volumes"] = {"splitSubPaths": True, "imageVolumes": "emptyDir"}
    shop.change(made)

    assert shop.generate().stdout == plain.stdout
    assert plain.code == 0
