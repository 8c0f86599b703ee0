"""Injected containers in pods that set users for all of their containers; on a node: tests/policy."""

from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.check.output import ManifestFile
from krm_function.config.generate import Generate, ManifestOptions, PolicyOptions
from krm_function.config.image_lock import ImageFacts
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.workload import Workload
from krm_function.render.inject import inject
from krm_function.report.explain_workload import explain_text
from krm_function.report.plan import make_plan
from krm_function.report.plan_text import plan_text
from tests.wording import wording
from tests.world import (
    INGRESS,
    INITIALIZER,
    MESH,
    ON,
    RELEASE,
    SECURE_PV,
    an_object,
    config,
    coordinator,
    good,
    named,
    pod_spec,
    pod_template,
    run,
    workload,
)

ROOT = ImageFacts("", {}, "", "")
IMAGES = {INITIALIZER: ROOT, MESH: ROOT}
STATED = {"runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": False}
NON_ROOT = {"runAsNonRoot": True}


def contexts(pod: Workload) -> dict[str, Any]:
    return {one["name"]: one["securityContext"] for one in pod.init_containers}


def in_pod(context: Any, images: Any = IMAGES, options: Generate = ON, **more: Any) -> Workload:
    subject = workload(template=pod_template({INGRESS: ""}, securityContext=context, **more))
    outcome = inject(subject, options, RELEASE, "default", images)
    assert outcome.findings == ()
    after = subject.after(outcome.edits)
    assert inject(after, options, RELEASE, "default", images) == ((), ()), "nothing is edited twice"
    return after


def test_all_three_containers_state_their_users_beside_what_they_had() -> None:
    assert contexts(in_pod(NON_ROOT)) == {
        "pvc-holder": {"privileged": True, **STATED},
        "contrast-initializer": {"capabilities": {"add": ["NET_ADMIN"]}, **STATED},
        "contrast-service-mesh": {"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}, **STATED},
    }


def test_the_initializer_of_an_encrypted_volume_as_well() -> None:
    claim = {"name": "state", "persistentVolumeClaim": {"claimName": "state"}}
    template = pod_template({SECURE_PV: "state:share"}, securityContext=NON_ROOT, volumes=[claim])
    subject = workload(template=template)
    made = subject.after(inject(subject, Generate(), RELEASE, "default", IMAGES).edits)
    assert contexts(made) == {"contrast-initializer": {"privileged": True, **STATED}}


@pytest.mark.parametrize(
    "context", [None, {}, {"runAsNonRoot": False}, {"runAsUser": None}, {"fsGroup": 1}, {"supplementalGroups": [5]}]
)
def test_a_pod_that_sets_no_user_is_injected_as_ever_whatever_is_known(context: Any) -> None:
    assert contexts(in_pod(context)) == contexts(in_pod(context, {})) == contexts(in_pod(None, {}))


def test_the_pods_own_containers_keep_theirs() -> None:
    own = [{"name": "web", "image": "x", "securityContext": {"runAsUser": 5}}, {"name": "other", "image": "x"}]
    after = in_pod({"runAsUser": 65532, **NON_ROOT}, containers=own, initContainers=[{"name": "init", "image": "x"}])
    assert [one.get("securityContext") for one in after.containers] == [{"runAsUser": 5}, None]
    assert "securityContext" not in next(one for one in after.init_containers if one["name"] == "init")
    assert after.pod_spec["securityContext"] == {"runAsUser": 65532, **NON_ROOT}


def test_each_container_states_the_user_of_its_own_image() -> None:
    images = {INITIALIZER: ROOT, MESH: ImageFacts("", {"User": "101:102"}, "", "")}
    made = contexts(in_pod({"runAsUser": 65532}, images))
    assert made["contrast-initializer"]["runAsUser"] == 0
    mesh = made["contrast-service-mesh"]
    assert (mesh["runAsUser"], mesh["runAsGroup"], mesh.get("runAsNonRoot")) == (101, 102, None)


def test_a_holder_that_the_pod_brings_along_is_not_touched() -> None:
    holder = {"name": "pvc-holder", "image": "x", "securityContext": {"privileged": True}}
    assert contexts(in_pod(NON_ROOT, initContainers=[holder]))["pvc-holder"] == {"privileged": True}


@pytest.mark.parametrize(
    ("images", "problem", "remedy"),
    [
        ({}, "the ImageLock has no entry for its image", "contrast-krm lock"),
        (
            {INITIALIZER: ImageFacts("", {"User": "nobody"}, "", "")},
            "does not contain the number",
            "run contrast-krm lock",
        ),
        ({INITIALIZER: ImageFacts("", {"User": "1000"})}, "does not contain the number", "contrast-krm lock"),
    ],
)
def test_an_image_of_unknown_user_is_a_warning_and_the_container_gets_the_users_of_the_pod(
    images: dict[str, ImageFacts], problem: str, remedy: str
) -> None:
    subject = workload(template=pod_template(securityContext={"runAsUser": 65532}))
    outcome = inject(subject, Generate(), RELEASE, "default", images)
    (found,) = outcome.findings
    assert (found.code, found.severity) == ("CC0813", "warning")
    assert found.path == ("spec", "template", "spec", "securityContext")
    assert problem in found.message
    assert "contrast-initializer" in found.message
    assert remedy in found.hint
    after = subject.after(outcome.edits)
    assert contexts(after) == {"contrast-initializer": {"capabilities": {"add": ["NET_ADMIN"]}}}


def test_without_policies_the_users_are_stated_too_and_without_a_lock_there_is_a_warning() -> None:
    pod = an_object(spec=pod_spec(securityContext={"runAsUser": 65532}))
    to = config(policy=PolicyOptions(engine="none"), manifest=ManifestOptions(emit="none"))
    assert contexts(named(good(pod, coordinator(), to=to), "web"))["contrast-initializer"].items() >= STATED.items()
    made = run(pod, to=to._replace(images=None))
    assert "CC0813" in [found.code for found in made.findings]


# --- what is said


def test_plan_and_explain_say_whom_the_injected_containers_run_as() -> None:
    pod = an_object(spec=pod_spec(securityContext={"runAsUser": 65532}), annotations={INGRESS: ""})
    made = good(pod, an_object("Job", "plain"), coordinator())
    table = plan_text(make_plan(made))
    assert "+2 containers as user 0:0, policy " in next(line for line in table.splitlines() if "  shop/web " in line)
    assert "+1 container, policy " in next(line for line in table.splitlines() if "  shop/plain " in line)
    said = explain_text(made, named(made, "web").ref)
    lines = [line for line in said.splitlines() if "user 0 and group 0 of its image" in line]
    assert [line.split()[1] for line in lines] == ["CC0801", "CC0802"]
    assert all(line.endswith("not as the pod's securityContext says") for line in lines)
    assert "of its image" not in explain_text(made, named(made, "plain").ref)


def test_a_container_of_the_pod_that_would_be_root_is_named() -> None:
    spec = pod_spec(securityContext=NON_ROOT)
    made = run(an_object(spec=spec), coordinator())
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert (found.code, found.path[-2:]) == ("CC0604", ("securityContext", "runAsNonRoot"))
    assert found.message.endswith(wording("CC0604.root", container="web"))
    spec["securityContext"] = {**NON_ROOT, "runAsUser": 1000}
    good(an_object(spec=spec), coordinator())


# --- a user that was changed after the render


@pytest.mark.parametrize("field", sorted(STATED))
@pytest.mark.parametrize("known", [True, False])
def test_check_finds_a_stated_user_that_was_changed(field: str, known: bool) -> None:
    to = config()
    pod = an_object(spec=pod_spec(securityContext={**NON_ROOT, "runAsUser": 65532}))
    made = good(pod, coordinator(), to=to)
    texts = [text for text in made.texts if text is not None]
    line = f"{field}: {str(STATED[field]).lower()}\n"
    assert texts[0].count(line) == 1

    def errors(text: str) -> list[str]:
        resources = decode_stream("".join((text, *texts[1:])).encode()).resources
        verdict = check_output(resources, ManifestFile("manifest.json", made.manifest), to if known else None)
        found = [one for one in verdict.findings if one.severity == "error" and one.code != "CC0702"]
        return [one.message for one in found]

    assert errors(texts[0]) == []
    changed = "true" if field == "runAsNonRoot" else "65532"
    assert errors(texts[0].replace(line, f"{field}: {changed}\n"))
