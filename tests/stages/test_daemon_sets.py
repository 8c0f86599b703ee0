"""DaemonSets: the scheduling of the class stands in the pod template, and every later render keeps it right.

Source: docs/facts/kubernetes.md#scheduling: the DaemonSet controller sees the template and not the class.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.config.generate import Scheduling
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.runtime_classes import RuntimeClass, merge_node_selector, merge_tolerations
from krm_function.kubernetes.workload import INITDATA, ORIGINAL
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests import quick_yaml as yaml
from tests.hosts.running import called
from tests.wording import wording
from tests.world import (
    HANDLERS,
    a_list,
    again,
    an_object,
    codes,
    config,
    coordinator,
    good,
    pod_spec,
    run,
    stream,
    values,
)

TEE = {"key": "tee", "operator": "Exists", "effect": "NoSchedule"}
GPU = {"key": "gpu", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}
MINE = {"key": "mine", "operator": "Exists"}
EVERYTHING = {"operator": "Exists"}
NAME = HANDLERS["metal-qemu-snp"]


def scheduled(selector: Mapping[str, str], *tolerations: Mapping[str, Any], **options: Any) -> Any:
    wanted = {"metal-qemu-snp": Scheduling(selector, tolerations)}
    return config(scheduling=wanted, **{"runtime_classes": "check", **options})


USUAL = scheduled({"hardware": "snp"}, TEE)


def daemon(**spec: Any) -> dict[str, Any]:
    return an_object("DaemonSet", "agent", spec=pod_spec(**spec))


def template(made: Rendered, kind: str = "DaemonSet") -> dict[str, Any]:
    (found,) = (one for one in values(made) if one["kind"] == kind)
    spec: dict[str, Any] = found["spec"]["template"]["spec"]
    return spec


def as_text(made: Rendered) -> bytes:
    return "---\n".join(dump(one) for one in values(made)).encode()


def policy(made: Rendered) -> str:
    (found,) = (one for one in values(made) if one["kind"] == "DaemonSet")
    text: str = found["spec"]["template"]["metadata"]["annotations"][INITDATA]
    return text


def test_a_daemon_set_gets_the_scheduling_of_its_class() -> None:
    made = good(coordinator(), daemon(), to=USUAL)
    assert template(made)["nodeSelector"] == {"hardware": "snp"}
    assert template(made)["tolerations"] == [TEE]
    (found,) = (one for one in made.findings if one.code == "CC0320")
    assert found.severity == "info"
    assert f"nodeSelector hardware=snp, toleration tee:NoSchedule of runtime class {NAME}" in found.message


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"DaemonSet", "Pod", "CronJob"}))
def test_the_template_of_no_other_kind_is_scheduled(kind: str) -> None:
    made = good(coordinator(), an_object(kind, "other"), to=USUAL)
    (found,) = (one for one in values(made) if one["metadata"]["name"] == "other")
    assert not {"nodeSelector", "tolerations"} & set(found["spec"]["template"]["spec"])


SELECTORS: dict[str, Any] = {
    "absent": {},
    "null": {"nodeSelector": None},
    "empty": {"nodeSelector": {}},
    "another key": {"nodeSelector": {"zone": "a"}},
    "the same key": {"nodeSelector": {"hardware": "snp", "zone": "a"}},
}
TOLERATIONS: dict[str, Any] = {
    "absent": {},
    "null": {"tolerations": None},
    "empty": {"tolerations": []},
    "another": {"tolerations": [MINE]},
    "the same": {"tolerations": [MINE, TEE]},
    "all": {"tolerations": [EVERYTHING]},
    "one of two": {"tolerations": [GPU]},
}
CLASSES = {
    "both": scheduled({"hardware": "snp", "tee": "yes"}, TEE, GPU),
    "selector": scheduled({"hardware": "snp"}),
    "tolerations": scheduled({}, TEE, GPU),
}


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("tolerations", TOLERATIONS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_the_controller_sees_what_admission_will_make_of_the_pod(selector: str, tolerations: str, cls: str) -> None:
    """With all of a class in the template, admission adds nothing, and nothing that was there is gone."""
    to = CLASSES[cls]
    subject = daemon(**SELECTORS[selector], **TOLERATIONS[tolerations])
    before = subject["spec"]["template"]["spec"]
    made = good(coordinator(), subject, to=to)
    after = template(made)
    wanted = to.generate.scheduling["metal-qemu-snp"]
    merged = RuntimeClass("c", "c", {}, wanted.node_selector, wanted.tolerations)
    assert merge_node_selector(after, merged)[0] == (after.get("nodeSelector") or {})
    assert merge_tolerations(after, merged) == merge_tolerations({"tolerations": after.get("tolerations")}, NO_CLASS)
    assert (before.get("nodeSelector") or {}).items() <= (after.get("nodeSelector") or {}).items()
    old = before.get("tolerations") or []
    assert (after.get("tolerations") or [])[: len(old)] == old
    assert values(again(made, to)) == values(made)
    back = list(yaml.safe_load_all(called("uninject", stdin=as_text(made)).ok()))
    assert [one for one in back if one["kind"] == "DaemonSet"] == [subject]


NO_CLASS = RuntimeClass("c", "c")


def test_a_contradiction_is_refused_and_nothing_is_written() -> None:
    made = run(coordinator(), daemon(nodeSelector={"hardware": "tdx"}), to=USUAL)
    assert codes(made) == ["CC0304"]


def test_the_policy_does_not_move() -> None:
    plain = good(coordinator(), daemon(), to=scheduled({}))
    assert policy(good(coordinator(), daemon(), to=USUAL)) == policy(plain)
    assert policy(good(coordinator(), daemon(), to=scheduled({}, GPU))) == policy(plain)


@pytest.mark.parametrize(
    ("selector", "tolerations", "gone"),
    [
        ({"hardware": "snp"}, (TEE,), ""),
        ({"hardware": "other"}, (TEE,), ""),
        ({"hardware": "snp", "zone": "a"}, (GPU, TEE), ""),
        ({"tee": "snp"}, (TEE,), "nodeSelector hardware=snp"),
        ({}, (), "nodeSelector hardware=snp, toleration tee:NoSchedule"),
        ({"hardware": "snp"}, (GPU,), "toleration tee:NoSchedule"),
        ({"hardware": "snp"}, (EVERYTHING,), ""),
    ],
)
def test_a_class_that_changes_replaces_what_an_earlier_render_wrote(
    selector: dict[str, str], tolerations: tuple[dict[str, Any], ...], gone: str
) -> None:
    """What goes for good is named in a warning: only the record says that a render wrote it."""
    first = good(coordinator(), daemon(nodeSelector={"own": "1"}, tolerations=[MINE]), to=USUAL)
    later = scheduled(selector, *tolerations)
    second = again(first, later)
    assert template(second)["nodeSelector"] == {"own": "1", **selector}
    assert template(second)["tolerations"] == [MINE, *tolerations]
    warned = [found for found in second.findings if found.code == "CC0322"]
    assert [found.severity for found in warned] == (["warning"] if gone else [])
    assert all(gone in found.message for found in warned)
    assert values(again(second, later)) == values(second)


def test_what_somebody_adds_to_a_rendered_template_stays() -> None:
    first = values(good(coordinator(), daemon(tolerations=[MINE]), to=USUAL))
    first[1]["spec"]["template"]["spec"]["nodeSelector"]["zone"] = "a"
    first[1]["spec"]["template"]["spec"]["tolerations"].append(GPU)
    second = good(*first, to=scheduled({"hardware": "other"}, TEE))
    assert template(second)["nodeSelector"] == {"zone": "a", "hardware": "other"}
    assert template(second)["tolerations"] == [MINE, GPU, TEE]


def test_a_record_that_takes_an_entry_of_the_user_away_is_not_silent() -> None:
    rendered = values(good(coordinator(), daemon(nodeSelector={"zone": "a"}), to=USUAL))
    notes = rendered[1]["metadata"]["annotations"]
    notes[ORIGINAL] = '[["-","/spec/template/spec/nodeSelector/zone",1],' + notes[ORIGINAL].removeprefix("[")
    made = run(*rendered, to=USUAL)
    assert [found.message for found in made.findings if found.code == "CC0322"] == [
        (wording("CC0322", name=NAME, what="nodeSelector zone=a"))
    ]


@pytest.mark.parametrize(
    "record",
    [
        '["+","/spec/template/spec/nodeSelector/pool","all"]',
        '["+","/spec/template/spec/nodeName","n1"]',
        '["=","/spec/template/spec/nodeSelector/zone","b"]',
    ],
)
def test_a_record_adds_no_scheduling(record: str) -> None:
    rendered = values(good(coordinator(), daemon(nodeSelector={"zone": "a"}), to=USUAL))
    notes = rendered[1]["metadata"]["annotations"]
    notes[ORIGINAL] = f"[{record}," + notes[ORIGINAL].removeprefix("[")
    assert "CC0115" in codes(run(*rendered, to=USUAL))


def test_a_member_of_a_list_gets_it_in_its_place() -> None:
    made = good(a_list(coordinator(), daemon()), to=USUAL)
    assert template(made)["nodeSelector"] == {"hardware": "snp"}
    assert template(again(made, scheduled({"hardware": "other"})))["nodeSelector"] == {"hardware": "other"}


def test_without_a_class_nothing_is_written() -> None:
    made = good(coordinator(), daemon(), to=scheduled({"hardware": "snp"}, TEE, runtime_classes="off"))
    assert "nodeSelector" not in template(made)
    assert "CC0320" not in {found.code for found in made.findings}


def a_class(selector: dict[str, str]) -> dict[str, Any]:
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": NAME}, "handler": NAME}
    return {**head, "overhead": {"podFixed": {"memory": "682Mi"}}, "scheduling": {"nodeSelector": selector}}


def test_the_class_of_the_input_counts() -> None:
    made = good(coordinator(), daemon(), a_class({"pool": "tee"}), to=USUAL)
    assert template(made)["nodeSelector"] == {"pool": "tee", "hardware": "snp"}


def test_check_warns_of_a_template_that_lacks_the_scheduling() -> None:
    rendered = values(good(coordinator(), daemon(), to=scheduled({})))
    verdict = check_output(stream(*rendered, a_class({"tee": "snp"})))
    (found,) = (one for one in verdict.findings if one.code == "CC0321")
    assert found.severity == "warning"
    assert "lacks nodeSelector tee=snp of runtime class" in found.message
    rendered = values(good(coordinator(), daemon(), a_class({"tee": "snp"}), to=scheduled({})))
    assert "CC0321" not in {one.code for one in check_output(stream(*rendered)).findings}
