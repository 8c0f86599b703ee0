"""Checking rendered output: docs/facts/contrast-manifest.md#set-and-verify."""

from collections.abc import Callable
from typing import Any

import pytest

from krm_function.check.pods import Checked, check_classes, check_manifest, check_workload
from krm_function.config.generate import ManifestOptions, PolicyOptions
from krm_function.config.references import References
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Ref
from krm_function.kubernetes.workload import INITDATA, POD_ROLE, Workload, workloads_of
from krm_function.policy.initdata import Initdata, annotation, encode_toml, from_annotation
from krm_function.policy.rules import load_rules
from krm_function.render.pod_checks import check_rendered
from tests.world import (
    HANDLERS,
    SCRIPT,
    WEB,
    an_object,
    config,
    coordinator,
    digests,
    good,
    manifest,
    named,
    pod_spec,
    pod_template,
    values,
    workload,
)

RENDERED = good(
    coordinator(),
    an_object(annotations={"contrast.edgeless.systems/servicemesh-ingress": "", "a": "b"}),
    an_object("CronJob", "night", spec=pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx")),
)
NAMES = ("coordinator", "web", "night")


def checked(subject: Workload) -> Checked:
    return check_workload(subject, References(values(RENDERED)))


def codes(of: Any) -> list[str]:
    return [found.code for found in of]


def edited(name: str, edit: Callable[[Any], object]) -> Workload:
    subject = named(RENDERED, name)
    edit(subject.pod_spec)
    return subject


@pytest.mark.parametrize("name", NAMES)
def test_what_a_render_made_passes_with_its_digest_and_platform(name: str) -> None:
    found = checked(named(RENDERED, name))
    assert found.findings == ()
    assert found.digest == digests(RENDERED)[name]
    assert found.platform == PLATFORMS["metal-qemu-tdx" if name == "night" else "metal-qemu-snp"]


@pytest.mark.parametrize("name", ["contrast-cc", "kata-cc-isolation", "contrast-cc-metal-qemu-snp", "contrast-cc-x"])
def test_a_placeholder_that_is_left_is_the_one_thing_to_say(name: str) -> None:
    found = checked(workload("CronJob", pod_template(runtimeClassName=name)))
    (left,) = found.findings
    assert (left.code, found.digest, found.platform) == ("CC1101", "", None)
    assert left.path[-1] == "runtimeClassName"
    assert name in left.message


def test_a_pod_without_initdata_has_no_policy() -> None:
    subject = workload(template=pod_template(runtimeClassName=HANDLERS["metal-qemu-snp"]))
    found = checked(subject)
    assert (codes(found.findings), found.digest) == (["CC1102"], "")
    assert found.findings[0].path == ("spec", "template", "metadata", "annotations", INITDATA)
    assert found.platform == PLATFORMS["metal-qemu-snp"]


def resealed(**data: str) -> Workload:
    subject = named(RENDERED, "web")
    subject.annotations[INITDATA] = annotation(encode_toml(Initdata("0.1.0", "sha256", data)))
    return subject


@pytest.mark.parametrize(
    "value", ["", "no base64!", "YQ==", annotation(b"a = 1"), annotation(encode_toml(Initdata("0.1.0", "sha256", {})))]
)
def test_initdata_that_cannot_be_read_is_told_with_the_reason(value: str) -> None:
    subject = named(RENDERED, "web")
    subject.annotations[INITDATA] = value
    found = checked(subject)
    assert (codes(found.findings), found.digest) == (["CC0610"], "")
    assert found.findings[0].path[-1] == INITDATA


@pytest.mark.parametrize("value", [5, None, ["x"]])
def test_initdata_of_another_type_is_no_policy(value: Any) -> None:
    subject = named(RENDERED, "web")
    subject.annotations[INITDATA] = value
    assert codes(checked(subject).findings) == ["CC1102"]


@pytest.mark.parametrize(
    "rego", ["", "package agent_policy\n", "\npolicy_data := {", "\npolicy_data := []", "\npolicy_data := {}"]
)
def test_a_policy_without_data_is_told(rego: str) -> None:
    assert codes(checked(resealed(**{"policy.rego": rego})).findings) == ["CC0610"]


def test_a_policy_of_somebody_else_never_raises() -> None:
    text = (
        '\npolicy_data := {"containers": [{}, {"OCI": {"Annotations": {"io.kubernetes.cri.container-name": "web"}}}]}'
    )
    found = checked(resealed(**{"policy.rego": text}))
    assert set(codes(found.findings)) == {"CC0654", "CC1103"}
    assert found.digest


MOVES: dict[str, Callable[[Any], object]] = {
    "env": lambda spec: spec["containers"][0].update(env=[{"name": "A", "value": "1"}]),
    "image": lambda spec: spec["containers"][0].update(image=SCRIPT),
    "mounts": lambda spec: spec["containers"][0].pop("volumeMounts"),
    "args": lambda spec: spec["containers"][0].update(args=["x"]),
    "initializer": lambda spec: spec["initContainers"].pop(0),
    "mesh": lambda spec: spec["initContainers"][-1].update(command=["x"]),
    "user": lambda spec: spec.update(securityContext={"runAsUser": 1, "runAsGroup": 1}),
    "host network": lambda spec: spec.update(hostNetwork=True),
    "host processes": lambda spec: spec.update(hostPID=True),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moved_after_sealing_is_told_and_the_digest_stays(name: str) -> None:
    found = checked(edited("web", MOVES[name]))
    assert set(codes(found.findings)) == {"CC1103"}
    assert all(one.path == ("spec", "template", "spec") for one in found.findings)
    assert found.digest == digests(RENDERED)["web"]


@pytest.mark.parametrize(
    ("key", "reported"), [("io.katacontainers.x", True), ("contrast.edgeless.systems/x", True), ("a", False)]
)
def test_only_annotations_that_the_node_or_contrast_reads_are_compared(key: str, reported: bool) -> None:
    subject = named(RENDERED, "web")
    subject.annotations[key] = "c"
    assert [f"annotation {key}" in problem.message for problem in checked(subject).findings] == [True] * reported


def test_fields_that_our_generator_does_not_cover_are_no_change_under_a_policy_of_somebody_else() -> None:
    subject = edited("web", lambda spec: spec.update(hostPID=True))
    toml = from_annotation(subject.annotations[INITDATA]).decode()
    assert load_rules() in toml
    other = toml.replace(load_rules()[:40], "# genpolicy", 1)
    subject.annotations[INITDATA] = annotation(other.encode())
    assert codes(checked(subject).findings) == ["CC0654"]


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize(
    "image, code",
    [
        ("example.com/web:1", "CC0502"),
        ("example.com/web", "CC0502"),
        ("UPPER", "CC0503"),
        ("", "CC0501"),
        (None, "CC0501"),
    ],
)
def test_an_image_that_is_not_pinned_is_located_in_either_list(field: str, image: Any, code: str) -> None:
    good_one = {"name": "a", "image": WEB}
    bad = {"name": "b"} | ({} if image is None else {"image": image})
    fields: Any = {"containers": [{"name": "c", "image": WEB}], field: [good_one, bad]}
    subject = workload("Job", pod_template(runtimeClassName=HANDLERS["metal-qemu-snp"], **fields))
    found = [one for one in check_rendered(subject) if one.severity == "error"]
    path = (field, 1) if code == "CC0501" else (field, 1, "image")
    assert [(one.code, one.path[-len(path) :]) for one in found] == [(code, path)]


def test_what_a_render_made_is_admissible() -> None:
    assert [found for name in NAMES for found in check_rendered(named(RENDERED, name))] == []


@pytest.mark.parametrize(
    "edit, code",
    [
        (lambda spec: spec["containers"].append(dict(spec["containers"][0])), "CC0208"),
        (lambda spec: spec["containers"].clear(), "CC0206"),
        (lambda spec: spec.update(volumes=[{"name": "contrast-secrets", "hostPath": {"path": "/"}}]), "CC0807"),
        (lambda spec: spec.update(volumes=[]), "CC0810"),
        (lambda spec: spec["containers"][0].update(resources={"limits": {"cpu": "300"}}), "CC0407"),
        (lambda spec: spec.update(containers="x"), "CC0207"),
    ],
)
def test_a_pod_that_is_refused_later_is_refused_now(edit: Callable[[Any], object], code: str) -> None:
    assert code in codes(check_rendered(edited("web", edit)))


# --- the manifest

WEB_REF, JOB_REF = Ref("apps/v1", "Deployment", "shop", "web"), Ref("batch/v1", "Job", "", "j")


def sealed(ref: Ref, digest: str, role: str = "") -> Workload:
    template = {"metadata": {"labels": {POD_ROLE: role} if role else {}}}
    return workloads_of({"kind": ref.kind, "spec": {"template": template}}, (), ref)[0]._replace(digest=digest)


def test_the_manifest_of_the_same_render_fits() -> None:
    assert not any(workload.skipped for workload in RENDERED.plan)
    assert check_manifest(RENDERED.plan, manifest(RENDERED)) == ()


def test_a_role_that_the_manifest_gives_to_another_pod_is_told() -> None:
    workloads = [sealed(WEB_REF, "a" * 64, "coordinator"), sealed(JOB_REF, "b" * 64)]
    policies = {"a" * 64: {"SANs": ["web"]}, "b" * 64: {"SANs": ["j"], "Role": "coordinator"}}
    found = check_manifest(workloads, {"Policies": policies})
    assert [(one.code, one.ref) for one in found] == [("CC1110", WEB_REF), ("CC1110", JOB_REF)]
    assert "role none, but its template has coordinator" in found[0].message


def test_two_workloads_of_one_digest_are_told_because_a_manifest_counts_them_once() -> None:
    workloads = [sealed(WEB_REF, "a" * 64), sealed(JOB_REF, "a" * 64)]
    (found,) = check_manifest(workloads, {"Policies": {"a" * 64: {"SANs": ["web"]}}})
    assert (found.code, found.ref) == ("CC0705", JOB_REF)
    assert "Deployment/shop/web and Job/j" in found.message


def test_a_digest_that_the_manifest_lacks_is_told_for_each_workload() -> None:
    found = check_manifest(
        [sealed(WEB_REF, "a" * 64), sealed(JOB_REF, "b" * 64)], {"Policies": {"b" * 64: {"SANs": ["j"]}}}
    )
    assert [(one.code, one.ref) for one in found] == [("CC1104", WEB_REF)]
    assert "a" * 64 in found[0].message


@pytest.mark.parametrize("policies", [None, {}])
def test_a_manifest_without_policies_lacks_all(policies: Any) -> None:
    assert codes(check_manifest([sealed(WEB_REF, "a" * 64)], {"Policies": policies})) == ["CC1104"]
    assert codes(check_manifest([sealed(WEB_REF, "a" * 64)], {})) == ["CC1104"]


def test_a_workload_without_a_digest_is_not_missed_in_the_manifest() -> None:
    assert check_manifest([sealed(WEB_REF, "")], {"Policies": {}}) == ()


def test_policies_of_no_workload_are_told_by_name_or_digest() -> None:
    policies = {"c" * 64: {"SANs": ["x", "*"]}, "d" * 64: None, "e" * 64: {}, "a" * 64: {"SANs": ["web"]}}
    (found,) = check_manifest([sealed(WEB_REF, "a" * 64)], {"Policies": policies})
    assert (found.code, found.severity) == ("CC1105", "error")
    assert found.message.endswith(f": x/*, {'d' * 16}, {'e' * 16}")


@pytest.mark.parametrize(
    "policies", [["x"], "x", 5, {"a" * 64: "x"}, {"a" * 64: {"SANs": [1]}}, {"a" * 64: {"SANs": "x"}}]
)
def test_a_manifest_of_another_shape_never_raises(policies: Any) -> None:
    found = codes(check_manifest([sealed(WEB_REF, "b" * 64)], {"Policies": policies}))
    assert found == (["CC1104", "CC1105"] if isinstance(policies, dict) else ["CC1104"])


# --- runtime classes


@pytest.mark.parametrize("classes", [(), (HANDLERS["metal-qemu-tdx"],)])
def test_a_class_that_is_not_in_the_input_may_be_in_the_cluster(classes: tuple[str, ...]) -> None:
    assert check_classes([named(RENDERED, "web")], classes, emitted=False) == ()


def test_a_handler_that_is_not_among_the_emitted_runtime_classes_is_told() -> None:
    workloads = [named(RENDERED, name) for name in NAMES]
    (found,) = check_classes(workloads, [HANDLERS["metal-qemu-snp"]], emitted=True)
    assert (found.code, found.ref) == ("CC1107", workloads[2].ref)
    assert found.path == ("spec", "jobTemplate", "spec", "template", "spec", "runtimeClassName")
    assert check_classes(workloads, list(HANDLERS.values()), emitted=True) == ()


def test_a_placeholder_needs_no_runtime_class() -> None:
    assert check_classes([workload()], [HANDLERS["metal-qemu-snp"]], emitted=True) == ()


def test_a_render_under_policy_engine_none_has_no_policy_to_check() -> None:
    to = config(policy=PolicyOptions(engine="none"), manifest=ManifestOptions(emit="none"))
    made = good(an_object(), to=to)
    assert codes(check_workload(named(made, "web"), References()).findings) == ["CC1102"]
