"""Scheduling: the RuntimeClass objects of a stream, and pods against the class they will get.

Source: docs/facts/kubernetes.md#runtimeclass-admission.
"""

from copy import deepcopy
from typing import Any

import pytest

from krm_function.config.generate import Generate, Scheduling
from krm_function.config.release import PlatformRelease
from krm_function.contrast.platforms import PLATFORMS, Platform
from krm_function.findings import Finding, has_errors
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.resource import ObjectAt, ObjectEdits, Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import EMITTED, RESOURCE_POLICY
from krm_function.render.classes import RuntimeClasses, complete_classes, schedule
from krm_function.text.changes import ABSENT, apply
from tests.wording import wording
from tests.world import HANDLERS, RELEASE, pod_template, workload

SNP = PLATFORMS["metal-qemu-snp"]
TDX = PLATFORMS["metal-qemu-tdx"]
HANDLER = HANDLERS["metal-qemu-snp"]
CLASS = RuntimeClass(HANDLER, HANDLER, {"memory": "682Mi"}, {"hardware": "sev-snp", "tee": "snp"})


def said(subject: dict[str, Any], runtime_class: RuntimeClass | None = CLASS) -> list[tuple[str, str]]:
    outcome = schedule(workload(template=subject), runtime_class)
    assert outcome.edits == ()
    return [(found.code, found.message) for found in outcome.findings]


# --- pods


def test_a_pod_without_wishes_goes_where_its_class_says() -> None:
    assert said(pod_template()) == [("CC0301", "pods will run on nodes with hardware=sev-snp, tee=snp")]


def test_a_pods_selector_is_merged_with_the_class() -> None:
    assert said(pod_template(nodeSelector={"zone": "a", "tee": "snp"})) == [
        ("CC0301", "pods will run on nodes with hardware=sev-snp, tee=snp, zone=a")
    ]


def test_every_conflict_is_named_sorted_by_key() -> None:
    subject = workload(template=pod_template(nodeSelector={"tee": "tdx", "zone": "a", "hardware": "tdx"}))
    findings = schedule(subject, CLASS).findings
    assert [found.message for found in findings] == [
        wording("CC0304", key="hardware", name=HANDLER, pod="tdx", wanted="sev-snp"),
        wording("CC0304", key="tee", name=HANDLER, pod="tdx", wanted="snp"),
    ]
    assert {found.code for found in findings} == {"CC0304"}
    assert findings[0].path == ("spec", "template", "spec", "nodeSelector", "hardware")
    assert has_errors(findings)


@pytest.mark.parametrize(
    ("overhead", "of_class", "accepted"),
    [
        (None, {"memory": "682Mi"}, True),
        ({}, {"memory": "682Mi"}, True),
        ({"memory": "682Mi"}, {"memory": "682Mi"}, True),
        ({"memory": "698368Ki"}, {"memory": "682Mi"}, True),
        ({"cpu": 0.25}, {"cpu": "250m"}, True),
        ({"memory": "512Mi"}, {"memory": "682Mi"}, False),
        ({"memory": "682Mi", "cpu": "1"}, {"memory": "682Mi"}, False),
        ({"memory": "lots"}, {"memory": "682Mi"}, False),
        ({"memory": "682Mi"}, {}, False),
    ],
)
def test_overhead_is_compared_by_value(overhead: Any, of_class: dict[str, Any], accepted: bool) -> None:
    codes = [code for code, _ in said(pod_template(overhead=overhead), RuntimeClass("c", "c", of_class))]
    assert codes == ([] if accepted else ["CC0305"])


def test_a_node_name_is_a_warning() -> None:
    findings = schedule(workload(template=pod_template(nodeName="n1")), CLASS).findings
    assert [(found.code, found.severity) for found in findings] == [("CC0310", "warning"), ("CC0301", "info")]


def test_affinity_and_spread_are_not_looked_at() -> None:
    affinity: dict[str, Any] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}
    assert [code for code, _ in said(pod_template(affinity=affinity))] == ["CC0301"]


def test_without_a_class_nothing_is_said() -> None:
    assert said(pod_template(nodeName="n1", overhead={"memory": "1Gi"}, nodeSelector={"a": "b"}), None) == []


def test_a_class_without_scheduling_says_nothing() -> None:
    assert said(pod_template(), RuntimeClass("c", "c")) == []


# --- runtime classes

WANTED = Scheduling({"hardware": "sev-snp"}, ({"key": "tee", "operator": "Exists"},))


def configured(mode: Any = "check", scheduling: Scheduling = WANTED) -> Generate:
    return Generate(scheduling={"metal-qemu-snp": scheduling}, runtime_classes=mode)


def runtime_class(**fields: Any) -> dict[str, Any]:
    value = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": HANDLER},
        "handler": HANDLER,
        "overhead": {"podFixed": {"memory": "682Mi"}},
        **fields,
    }
    return {key: field for key, field in value.items() if field is not ...}


def present(value: Any, root: tuple[str | int, ...] = ("items", 1)) -> ObjectAt:
    return ObjectAt(Resource("", position=3), root, reference(value), value)


def run(value: Any, options: Generate | None = None) -> tuple[RuntimeClasses, Any]:
    """The answer for one object in a List, and the object after its edits."""
    copy = deepcopy(value)
    answer = complete_classes(options or configured(), RELEASE, {SNP}, [present(value)])
    assert value == copy
    document: Any = {"kind": "List", "items": [{}, value]}
    for position, one in answer.edits:
        assert (position, one) == (3, ObjectEdits(("items", 1), reference(value), one.edits))
        assert {edit.code for edit in one.edits} == {"CC0306"}
        document = apply(document, [edit.change for edit in one.edits])
    return answer, document["items"][1]


FILLED = {"nodeSelector": {"hardware": "sev-snp"}, "tolerations": [{"key": "tee", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("scheduling", "after"),
    [
        (..., FILLED),
        (None, FILLED),
        ({}, FILLED),
        ({"nodeSelector": None, "tolerations": None}, FILLED),
        ({"nodeSelector": {}, "tolerations": []}, FILLED),
        (FILLED, FILLED),
        (
            {"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "x", "operator": "Exists"}]},
            {
                "nodeSelector": {"zone": "a", "hardware": "sev-snp"},
                "tolerations": [{"key": "x", "operator": "Exists"}, {"key": "tee", "operator": "Exists"}],
            },
        ),
        # what tolerates everything tolerates this, too
        (
            {**FILLED, "tolerations": [{"operator": "Exists"}]},
            {**FILLED, "tolerations": [{"operator": "Exists"}]},
        ),
    ],
)
@pytest.mark.parametrize("mode", ["check", "emit"])
def test_missing_scheduling_is_written_into_the_object(scheduling: Any, after: Any, mode: str) -> None:
    answer, value = run(runtime_class(scheduling=scheduling), configured(mode))
    assert value["scheduling"] == after
    assert answer.findings == ()
    assert answer.added == ()
    assert bool(answer.edits) == (scheduling != after)
    assert answer.classes[HANDLER] == RuntimeClass(
        HANDLER, HANDLER, {"memory": "682Mi"}, after["nodeSelector"], tuple(after["tolerations"])
    )
    again, same = run(value, configured(mode))
    assert same == value
    assert again.edits == []


def test_without_configuration_the_object_is_used_as_it_is() -> None:
    answer, _ = run(runtime_class(scheduling=FILLED), Generate())
    assert answer.edits == []
    assert answer.findings == ()
    assert answer.classes[HANDLER].node_selector == {"hardware": "sev-snp"}


def test_edits_tell_null_from_absent() -> None:
    for value, before in ((runtime_class(), ABSENT), (runtime_class(scheduling=None), None)):
        answer, _ = run(value)
        assert [edit.before for _, one in answer.edits for edit in one.edits] == [before]
    answer, _ = run(runtime_class(scheduling={"tolerations": None}))
    assert [edit.before for _, one in answer.edits for edit in one.edits] == [ABSENT, None]


def codes(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(found.code, found.message) for found in findings]


def test_a_contradiction_is_an_error_and_no_edit() -> None:
    answer, _ = run(runtime_class(scheduling={"nodeSelector": {"hardware": "tdx"}}))
    assert codes(answer.findings) == [
        (
            "CC0308",
            wording("CC0308", field="scheduling.nodeSelector.hardware", found="tdx", name=HANDLER, wanted="sev-snp"),
        )
    ]
    assert answer.findings[0].path == ("items", 1, "scheduling", "nodeSelector", "hardware")
    assert answer.edits == []


@pytest.mark.parametrize(
    ("overhead", "agrees"),
    [
        ({"podFixed": {"memory": "682Mi"}}, True),
        ({"podFixed": {"memory": "715128832"}}, True),
        ({"podFixed": {"memory": "512Mi"}}, False),
        ({"podFixed": {"memory": "682Mi", "cpu": "1"}}, False),
        ({}, False),
        (..., False),
    ],
)
def test_overhead_is_the_releases_by_value(overhead: Any, agrees: bool) -> None:
    answer, _ = run(runtime_class(overhead=overhead))
    assert [code for code, _ in codes(answer.findings)] == ([] if agrees else ["CC0308"])


def test_a_release_that_knows_no_overhead_compares_none() -> None:
    release = RELEASE._replace(platforms={"metal-qemu-snp": PlatformRelease(HANDLER)})
    answer = complete_classes(Generate(), release, {SNP}, [present(runtime_class(overhead=...))])
    assert answer.findings == ()


def test_another_handler_under_the_releases_name_is_an_error() -> None:
    answer, _ = run(runtime_class(handler="kata"))
    assert codes(answer.findings) == [
        ("CC0308", wording("CC0308", field="handler", found="kata", name=HANDLER, wanted=HANDLER))
    ]


def test_a_class_of_somebody_else_is_left_alone() -> None:
    other = runtime_class(metadata={"name": "mine"}, scheduling=17)
    answer = complete_classes(configured(), RELEASE, set(), [present(other)])
    assert answer == RuntimeClasses({}, [], (), ())


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"apiVersion": "node.k8s.io/v1beta1"}, "apiVersion must be node.k8s.io/v1"),
        ({"scheduling": []}, "scheduling must be a map"),
        ({"scheduling": {"nodeSelector": "x"}}, "scheduling.nodeSelector must be a map"),
        ({"scheduling": {"tolerations": {}}}, "scheduling.tolerations must be a list"),
        ({"scheduling": {"nodeSelector": {"a b": "c"}}}, "is not a label key"),
        ({"scheduling": {"tolerations": ["x"]}}, "scheduling.tolerations[0] must be a map"),
        ({"overhead": {"podFixed": {"memory": "lots"}}}, "overhead.podFixed.memory is not a Kubernetes quantity"),
    ],
)
def test_an_invalid_object_is_an_error_and_no_edit(fields: dict[str, Any], problem: str) -> None:
    answer, _ = run(runtime_class(**fields))
    assert any(code == "CC0303" and problem in message for code, message in codes(answer.findings))
    assert answer.edits == []


def test_an_invalid_configuration_shows_in_the_class_it_makes() -> None:
    twice = Scheduling({}, ({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9},))
    old = {"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]}
    answer, _ = run(runtime_class(scheduling=old), configured(scheduling=twice))
    assert codes(answer.findings) == [("CC0303", f"RuntimeClass {HANDLER}: scheduling.tolerations[1] is there twice")]
    assert answer.edits == []


def test_deprecated_node_labels_are_a_warning() -> None:
    old = Scheduling({"beta.kubernetes.io/arch": "amd64"})
    answer, _ = run(runtime_class(), configured(scheduling=old))
    assert [(found.code, found.severity, found.hint) for found in answer.findings] == [
        ("CC0309", "warning", "use kubernetes.io/arch")
    ]
    assert len(answer.edits) == 1


def test_emit_adds_the_classes_that_are_missing() -> None:
    used: set[Platform] = {TDX, SNP}
    answer = complete_classes(configured("emit"), RELEASE, used, [])
    assert answer.added == (
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": HANDLER, "annotations": {EMITTED: "true", RESOURCE_POLICY: "keep"}},
            "handler": HANDLER,
            "overhead": {"podFixed": {"memory": "682Mi"}},
            "scheduling": FILLED,
        },
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": HANDLERS["metal-qemu-tdx"], "annotations": {EMITTED: "true", RESOURCE_POLICY: "keep"}},
            "handler": HANDLERS["metal-qemu-tdx"],
            "overhead": {"podFixed": {"memory": "682Mi"}},
        },
    )
    assert [found.code for found in answer.findings] == ["CC0307", "CC0307"]
    # a render of the output finds them there
    again = complete_classes(configured("emit"), RELEASE, used, [present(value, ()) for value in answer.added])
    assert (again.added, again.edits, again.findings) == ((), [], ())
    assert again.classes == answer.classes


def test_check_holds_pods_against_the_class_as_it_would_be() -> None:
    answer = complete_classes(configured(), RELEASE, {SNP}, [])
    assert answer.added == ()
    assert answer.findings == ()
    subject = workload(template=pod_template(nodeSelector={"hardware": "tdx"}))
    assert [found.code for found in schedule(subject, answer.classes[HANDLER]).findings] == ["CC0304"]


def test_off_says_and_does_nothing() -> None:
    answer = complete_classes(configured("off"), RELEASE, {SNP}, [present(runtime_class(handler="kata"))])
    assert answer == RuntimeClasses()


def test_a_platform_the_release_lacks_is_not_our_finding() -> None:
    release = RELEASE._replace(platforms={})
    assert complete_classes(configured("emit"), release, {SNP}, []) == RuntimeClasses({}, [], (), ())


def test_emitted_objects_share_nothing_with_the_configuration() -> None:
    selector = {"hardware": "sev-snp"}
    answer = complete_classes(configured("emit", Scheduling(selector)), RELEASE, {SNP}, [])
    answer.added[0]["scheduling"]["nodeSelector"]["x"] = "y"
    assert selector == {"hardware": "sev-snp"}
