"""The whole line on plain data: what is said, what is written, and when nothing is."""

import itertools
import json
from hashlib import sha256
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.config.generate import Acknowledged, ManifestOptions, PolicyOptions, Scheduling, WorkloadPolicy
from krm_function.contrast.manifest import decode, encode
from krm_function.findings import finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig, reference
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED, INITDATA, ORIGINAL
from krm_function.policy.initdata import Initdata, annotation, from_annotation
from krm_function.policy.initdata import encode_toml as encode_initdata
from krm_function.policy.rules import load_rules
from krm_function.render.pipeline import render
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from tests.world import (
    HANDLERS,
    INITIALIZER,
    LOCK,
    PLATFORMS,
    RELEASE,
    RTMR0,
    SCRIPT,
    TDX_RTMRS,
    WEB,
    a_list,
    again,
    an_object,
    codes,
    config,
    coordinator,
    digests,
    documents,
    emitted,
    good,
    manifest,
    named,
    pod_spec,
    run,
    said,
    stream,
    values,
)

NO_MANIFEST = ManifestOptions(emit="none")
ENGINE_NONE = PolicyOptions(engine="none")
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
RC = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}


def broken(name: str, **fields: Any) -> Any:
    return an_object(name=name, spec=pod_spec(**fields))


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "web", "image": WEB, **fields}


# --- nothing of Contrast's


@pytest.mark.parametrize("known", [True, False])
def test_a_stream_without_contrast_workloads_passes_through(*, known: bool) -> None:
    text = "# a comment\nkind: Service # another\nmetadata: {name: 'x'}\n"
    resources = stream(text, an_object(spec=pod_spec(runtimeClassName="kata")), "{}\n", "")
    no_release = (finding("CC0903"),)
    made = render(resources, config(workloads=("optional",)) if known else None, () if known else no_release)
    assert made.texts == tuple(one.text for one in resources)
    assert (made.added, made.findings, made.manifest) == ((), (), b"")
    assert [(one.ref.name, one.skipped) for one in made.plan] == [("web", "runtime class kata is not Contrast's")]


def test_the_text_of_what_is_not_contrasts_is_the_very_same() -> None:
    odd = "# keep\napiVersion: v1\nkind:   Service\nmetadata: {name: odd, x: 0o17}  \n\n\n"
    resources = stream(coordinator(), odd, an_object(), SERVICE)
    made = render(resources, config())
    assert not made.failed
    assert made.texts[1] is resources[1].text
    assert made.texts[3] is resources[3].text
    assert made.texts[0] != resources[0].text


class Watched(str):
    """A text that counts the searches in it; libyaml does not read it."""

    __slots__ = ()
    searches: ClassVar[int] = 0

    def __contains__(self, word: object) -> bool:
        Watched.searches += 1
        return super().__contains__(str(word))


@pytest.mark.parametrize(("kind", "most"), [("ConfigMap", 2), ("Secret", 2), ("ServiceAccount", 8), ("Service", 8)])
def test_the_checks_do_not_search_a_text_again_and_again(kind: str, most: int) -> None:
    text = Watched(f"---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: x}}\n")
    unsealed = config(policy=ENGINE_NONE, manifest=NO_MANIFEST)
    Watched.searches = 0
    made = render((*stream(coordinator()), Resource(text, api_version="v1", kind=kind, name="x")), unsealed)
    assert [found for found in made.findings if found.severity == "error"] == []
    assert 0 < Watched.searches <= most  # names of Contrast's are looked for twice; it was 16 before


def test_with_workloads_a_missing_release_is_an_error() -> None:
    resources = stream(an_object())
    made = render(resources, None, (finding("CC0903"),))
    assert (codes(made), made.texts) == (["CC0903"], (resources[0].text,))


@pytest.mark.parametrize(
    "values_", [(SERVICE,), (coordinator(), an_object()), (broken("x", runtimeClassName="contrast-cc-x"),)]
)
def test_a_configuration_error_wins_over_everything(values_: Any) -> None:
    problem = finding("CC0904", kind="ContrastRelease")
    for to in (config(), None):
        resources = stream(*values_)
        made = render(resources, to, (problem, finding("CC0903")))
        assert set(codes(made)) == {"CC0904", "CC0903"}
        assert made.texts == tuple(one.text for one in resources)
        assert (made.added, made.plan, made.manifest) == ((), (), b"")


def test_a_configuration_that_was_not_read_is_not_called_missing() -> None:
    unread = finding("CC0910", problem="x", remedy="y")
    assert codes(render(stream(an_object()), None, (unread, finding("CC0903")))) == ["CC0910"]


def test_warnings_of_the_configuration_are_kept() -> None:
    warning = finding("CC0309", label="a", successor="b")
    made = run(coordinator(), an_object(), findings=(warning,))
    assert not made.failed
    assert warning in made.findings


# --- errors

WRONG: dict[str, tuple[Any, str]] = {
    "a template that is text": (an_object(name="w1") | {"spec": {"template": "x"}}, "CC0207"),
    "a runtime class that is a number": (broken("w2", runtimeClassName=5), "CC0207"),
    "a name that is not understood": (broken("w3", runtimeClassName="contrast-cc-x"), "CC0401"),
    "an insecure platform": (broken("w4", runtimeClassName="contrast-insecure"), "CC0405"),
    "an image without a digest": (broken("w5", containers=[container(image="web:1")]), "CC0502"),
    "an image that the lock lacks": (broken("w6", containers=[container(image=SCRIPT.replace("b", "d"))]), "CC0504"),
    "an annotation that is misspelt": (
        an_object(name="w7", annotations={"contrast.edgeless.systems/x": "y"}),
        "CC0203",
    ),
    "an empty egress": (
        an_object(name="w8", annotations={"contrast.edgeless.systems/servicemesh-egress": ""}),
        "CC0205",
    ),
    "too many vCPUs": (broken("w9", resources={"limits": {"cpu": "300"}}), "CC0407"),
    "a vCPU count without RTMR0": (
        broken("wa", runtimeClassName="contrast-cc-metal-qemu-tdx", resources={"limits": {"cpu": "7"}}),
        "CC0609",
    ),
    "a field that is not covered": (broken("wb", hostPID=True), "CC0601"),
    "a ConfigMap that is not there": (
        broken("wc", containers=[container(envFrom=[{"configMapRef": {"name": "no"}}])]),
        "CC0602",
    ),
    "a mount of a host path": (
        broken(
            "wd",
            containers=[container(volumeMounts=[{"name": "h", "mountPath": "/h"}])],
            volumes=[{"name": "h", "hostPath": {"path": "/"}}],
        ),
        "CC0807",
    ),
    "initdata that is none": (an_object(name="we", annotations={INITDATA: "x"}), "CC0610"),
}


def only(name: str) -> list[tuple[str, str]]:
    value, code = WRONG[name]
    return [(code, reference(value).name)]


@pytest.mark.parametrize("name", WRONG)
def test_one_error_means_that_nothing_is_written(name: str) -> None:
    resources = stream(coordinator(), an_object(), WRONG[name][0], SERVICE)
    made = render(resources, config())
    assert said(made) == only(name)
    assert made.texts == tuple(one.text for one in resources)
    assert (made.added, made.manifest, made.failed) == ((), b"", True)


@pytest.mark.parametrize("one, two", list(itertools.combinations(WRONG, 2)))
def test_the_error_of_one_workload_does_not_hide_that_of_another(one: str, two: str) -> None:
    expected = sorted(only(one) + only(two))
    assert said(run(coordinator(), WRONG[one][0], WRONG[two][0])) == expected
    assert said(run(a_list(WRONG[two][0], coordinator(), WRONG[one][0]))) == expected


def test_all_errors_of_all_workloads_are_told_at_once() -> None:
    made = run(coordinator(), *(value for value, _ in WRONG.values()))
    assert said(made) == sorted(pair for name in WRONG for pair in only(name))


def test_the_plan_of_a_failed_render_says_how_far_each_workload_came() -> None:
    made = run(coordinator(), broken("x", runtimeClassName="contrast-cc-x"), an_object(), SERVICE)
    plan = {one.ref.name: one for one in made.plan}
    assert plan["x"].platform == plan["x"].digest == ""
    assert plan["web"].platform == "metal-qemu-snp"
    assert plan["web"].digest


def test_a_document_that_cannot_be_read_is_the_first_thing_to_say() -> None:
    unread = Resource("kind: Pod\na: b: c\n", kind="Pod")
    resources = (*stream(coordinator()), unread, *stream(broken("x", runtimeClassName="contrast-cc-x")))
    made = render(resources, config())
    assert set(codes(made)) == {"CC0101"}
    assert made.texts == tuple(one.text for one in resources)


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_a_broken_config_map_is_an_error_only_where_workloads_may_refer_to_it(kind: str) -> None:
    unread = Resource(f"kind: {kind}\nmetadata: {{name: x}}\ndata: [\n", kind=kind, name="x")
    assert codes(render((unread, *stream(SERVICE)), config())) == []
    assert codes(render((unread, *stream(coordinator())), config())) == ["CC0101"]


def test_an_image_lock_that_is_missing_is_said_once() -> None:
    to = config(images=None)
    assert codes(run(coordinator(), an_object(), to=to)) == ["CC0906"]


def test_settings_that_are_wrong_are_said_once_and_where() -> None:
    made = run(coordinator(), an_object(), to=config(policy=PolicyOptions(settings={"a": 1})))
    assert set(codes(made)) == {"CC0641"}
    assert {found.path for found in made.findings} == {("spec", "policy", "settings")}
    by_release = config(RELEASE._replace(policy_settings={"a": 1}))
    assert {found.path for found in run(coordinator(), to=by_release).findings} == {("spec", "policySettings")}


def test_wrong_reference_values_do_not_hide_what_is_wrong_with_a_pod() -> None:
    options = ManifestOptions(reference_values={"snp": ({"TrustedMeasurement": "00" * 48},)})
    made = run(coordinator(), WRONG["a field that is not covered"][0], to=config(manifest=options))
    assert sorted(codes(made)) == ["CC0601", "CC0702"]


def test_without_a_coordinator_nothing_is_written() -> None:
    resources = stream(an_object())
    made = render(resources, config())
    assert (codes(made), made.texts, made.added) == (["CC0701"], (resources[0].text,), ())


def test_the_name_of_the_manifest_may_not_be_taken() -> None:
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "contrast-manifest", "namespace": "shop"}}
    resources = stream(coordinator(), value)
    made = render(resources, config())
    assert (codes(made), made.added, made.manifest) == (["CC0710"], (), b"")
    assert made.texts == tuple(one.text for one in resources)


def test_two_pods_that_are_the_same_cannot_share_a_manifest() -> None:
    named = {"DaemonSet/shop/same": WorkloadPolicy(), "ReplicaSet/shop/same": WorkloadPolicy()}
    to = config(manifest=ManifestOptions(policies=named))
    made = run(coordinator(), an_object("DaemonSet", "same"), an_object("ReplicaSet", "same"), to=to)
    assert codes(made) == ["CC0705"]


def test_one_object_twice_is_told_at_both_places_and_not_by_its_digest() -> None:
    job = an_object("Job", "same")
    made = run(coordinator(), job, {**job, "metadata": {"name": "same", "namespace": "shop", "labels": {"x": "y"}}})
    assert codes(made) == ["CC0118", "CC0118"]


# --- what is written


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_of_every_kind_is_rendered(kind: str) -> None:
    made = good(coordinator(), an_object(kind, "x"))
    one = named(made, "x")
    assert one.runtime_class == HANDLERS["metal-qemu-snp"]
    assert [entry["name"] for entry in one.init_containers] == ["contrast-initializer"]
    assert sum("snp_id_block" in key for key in one.annotations) == 2
    assert digests(made)["x"] in manifest(made)["Policies"]
    assert ORIGINAL in one.object["metadata"]["annotations"]


def test_the_digests_of_the_plan_are_those_of_the_output_and_the_manifest() -> None:
    made = good(
        coordinator(), an_object(), an_object("Job", "j", spec=pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx"))
    )
    for name, digest in digests(made).items():
        assert sha256(from_annotation(named(made, name).annotations[INITDATA])).hexdigest() == digest
    assert set(manifest(made)["Policies"]) == set(digests(made).values())
    assert len(digests(made)) == 3


def test_the_manifest_is_one_text_in_the_output_and_in_the_result() -> None:
    made = good(coordinator(), an_object())
    (carrier,) = made.added
    assert carrier["data"]["manifest.json"].encode() == made.manifest == encode(decode(made.manifest))


def test_the_order_of_resources_changes_no_digest_and_no_byte_of_the_manifest() -> None:
    objects = [coordinator(), an_object(name="a"), an_object("Job", "b"), an_object("Pod", "c")]
    first = good(*objects)
    for order in itertools.permutations(objects):
        made = good(*order)
        assert (digests(made), made.manifest) == (digests(first), first.manifest)


def test_a_list_and_single_documents_are_rendered_alike() -> None:
    objects = [coordinator(), an_object(name="a"), an_object("CronJob", "b")]
    alone, together = good(*objects), good(a_list(*objects))
    assert len(together.texts) == 1
    assert values(together) == values(alone)
    assert together.manifest == alone.manifest


def test_other_members_of_a_list_stay_as_they_are() -> None:
    made = good(a_list(SERVICE, coordinator(), {"kind": "X", "a": [1]}, an_object()))
    rendered = values(made)
    assert (rendered[0], rendered[2]) == (SERVICE, {"kind": "X", "a": [1]})
    assert [reference(one).name for one in rendered[1:4:2]] == ["coordinator", "web"]


def test_gpu_pods_bring_the_reference_values_of_their_platform() -> None:
    gpu = pod_spec(containers=[container(resources={"limits": {"cpu": "2", "nvidia.com/pgpu": "1"}})])
    made = good(coordinator(), an_object(spec=gpu))
    assert {one["Platform"] for one in manifest(made)["ReferenceValues"]["snp"]} == {
        "Metal-QEMU-SNP",
        "Metal-QEMU-SNP-GPU",
    }
    explicit = {**gpu, "runtimeClassName": "contrast-cc-metal-qemu-tdx"}
    assert codes(run(coordinator(), an_object(spec=explicit))) == ["CC0409"]


def test_only_platforms_in_use_bring_reference_values() -> None:
    made = good(coordinator(runtimeClassName="contrast-cc-metal-qemu-tdx"), to=config(platform=""))
    assert "snp" not in manifest(made)["ReferenceValues"]
    (entry,) = manifest(made)["ReferenceValues"]["tdx"]
    assert entry["Rtmrs"] == [RTMR0["1"], *TDX_RTMRS[1:]]


def test_rtmr0_covers_the_vcpu_counts_of_all_pods_on_tdx() -> None:
    big = pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx", resources={"limits": {"cpu": "2"}})
    small = pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx", containers=[container()])
    elsewhere = pod_spec(resources={"limits": {"cpu": "9"}})
    made = good(
        coordinator(),
        an_object(name="a", spec=big),
        an_object(name="b", spec=small),
        an_object(name="c", spec=elsewhere),
    )
    (entry,) = manifest(made)["ReferenceValues"]["tdx"]
    assert (entry["Rtmrs"][0], entry["Rtmr0Alternatives"]) == (RTMR0["3"], [RTMR0["1"]])
    assert {one.ref.name: one.vcpus for one in made.plan} == {"coordinator": 1, "a": 3, "b": 1, "c": 10}


def test_the_guest_policy_of_the_operator_reaches_the_id_block() -> None:
    options = ManifestOptions(reference_values={"snp": ({"GuestPolicy": {"SMT": False}},)})
    made = good(coordinator(), to=config(manifest=options))
    key = "io.katacontainers.config.hypervisor.snp_guest_policy_Milan"
    assert named(made, "coordinator").annotations[key] == "131072"


def test_initdata_of_the_user_that_the_configuration_has_too_is_kept_beside_the_policy() -> None:
    own = annotation(encode_initdata(Initdata("0.1.0", "sha256", {"aa.toml": "a"})))
    to = config(policy=PolicyOptions(initdata={"aa.toml": "a"}))
    plain = good(coordinator(), an_object())
    before = stream(coordinator(), an_object(annotations={INITDATA: own}))
    made = good(coordinator(), an_object(annotations={INITDATA: own}), to=to)
    assert digests(made)["web"] != digests(plain)["web"]
    assert digests(made) == digests(good(coordinator(), an_object(), to=to))
    assert digests(again(made, to)) == digests(made)
    taken_back = read(stream(*(str(text).removeprefix("---\n") for text in made.texts)))
    assert [one.text for one in documents(taken_back).values()] == [one.text for one in before]


def test_config_maps_of_any_position_are_found_and_their_text_stays() -> None:
    spec = pod_spec(containers=[container(envFrom=[{"configMapRef": {"name": "look"}}])])
    look = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "look", "namespace": "shop"},
        "data": {"A": "1"},
    }
    after, before = good(coordinator(), an_object(spec=spec), look), good(look, coordinator(), an_object(spec=spec))
    inside = good(coordinator(), an_object(spec=spec), a_list(SERVICE, look))
    assert digests(after) == digests(before) == digests(inside)
    changed = {**look, "data": {"A": "2"}}
    assert digests(good(coordinator(), an_object(spec=spec), changed))["web"] != digests(after)["web"]


# --- runtime classes


def test_runtime_classes_are_emitted_for_the_platforms_in_use() -> None:
    to = config(runtime_classes="emit", scheduling={"metal-qemu-snp": Scheduling({"a": "b"})})
    made = good(coordinator(), an_object(spec=pod_spec(runtimeClassName="contrast-cc-metal-qemu-tdx")), to=to)
    names = [reference(one).name for one in made.added if one["kind"] == "RuntimeClass"]
    assert sorted(names) == [HANDLERS["metal-qemu-snp"], HANDLERS["metal-qemu-tdx"]]
    assert all(EMITTED in one["metadata"]["annotations"] for one in made.added)
    assert {one.ref.name: dict(one.node_selector) for one in made.plan} == {"coordinator": {"a": "b"}, "web": {}}
    assert values(again(made, to)) == values(made)


def test_a_runtime_class_alone_is_filled_in_without_a_manifest() -> None:
    to = config(scheduling={"metal-qemu-snp": Scheduling({"a": "b"})}, runtime_classes="check")
    value = {**RC, "metadata": {"name": HANDLERS["metal-qemu-snp"]}, "handler": HANDLERS["metal-qemu-snp"]}
    value["overhead"] = {"podFixed": {"memory": "682Mi"}}
    made = good(value, SERVICE, to=to)
    assert (made.added, made.manifest) == ((), b"")
    assert values(made)[0]["scheduling"] == {"nodeSelector": {"a": "b"}}
    assert values(again(made, to)) == values(made)


def test_logins_that_no_vm_gets_are_one_warning() -> None:
    with_login = {"imagePullSecrets": [{"name": "registry"}]}
    pods = [an_object(name=name, spec=pod_spec(**with_login)) for name in ("web", "api")]
    plain = an_object(name="plain", spec=pod_spec(runtimeClassName=None, **with_login))
    made = good(coordinator(), *pods, plain)
    assert [finding.message for finding in made.findings if finding.code == "CC0512"] == [
        "imagePullSecrets has no effect in a VM; it is set by Deployment shop/web, Deployment shop/api"
    ]
    assert "CC0512" not in codes(good(coordinator(), an_object(), plain), "warning")


def test_secrets_of_the_input_that_policies_show_are_one_warning() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}}
    secret |= {"stringData": {"user": "made-up-1", "password": "made-up-2"}}
    of_key = {"secretKeyRef": {"name": "db", "key": "password"}}
    optional = {"secretKeyRef": {"name": "db", "key": "none", "optional": True}}
    variables = [{"name": "PASSWORD", "valueFrom": of_key}, {"name": "MAYBE", "valueFrom": optional}]
    fields = {
        "web": {"env": variables},
        "api": {"envFrom": [{"secretRef": {"name": "db"}, "prefix": "DB_"}, {"configMapRef": {"name": "settings"}}]},
    }
    pods = [
        an_object(name=name, spec=pod_spec(containers=[pod_spec()["containers"][0] | more]))
        for name, more in fields.items()
    ]
    settings = {
        **secret,
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop"},
        "data": {"A": "b"},
    }
    made = good(coordinator(), *pods, secret, settings)
    (found,) = (finding for finding in made.findings if finding.code == "CC0675")
    assert found.message.endswith("Secret db (PASSWORD, DB_password, DB_user)")
    assert (found.ref and found.ref.name, found.severity) == ("web", "warning")
    assert "made-up" not in found.message + found.hint
    accepted = config(acknowledged=(Acknowledged("CC0675", "not secret"),))
    assert "CC0675" not in codes(good(coordinator(), *pods, secret, settings, to=accepted), "warning")
    assert "CC0675" not in codes(good(coordinator(), an_object(), secret, settings), "warning")


def test_the_plan_names_a_variable_that_flux_may_replace() -> None:
    env = [{"name": "URL", "value": "https://${DOMAIN}/x"}, {"name": "PRICE", "value": "$5 {a} $(URL) ${"}]
    script = {"command": ["sh", "-c", "echo ${HOME}"], "env": env}
    made = good(coordinator(), an_object(spec=pod_spec(containers=[pod_spec()["containers"][0] | script])))
    assert [note.split()[1] for line in made.plan for note in line.notes if "Flux" in note] == ["URL"]


# --- without our policy


def test_without_an_engine_pods_are_measured_and_injected_but_not_sealed() -> None:
    made = good(coordinator(), an_object(), to=config(images=None, policy=ENGINE_NONE, manifest=NO_MANIFEST))
    one = named(made, "web")
    assert INITDATA not in one.annotations
    assert one.init_containers
    assert sum("snp_id_block" in key for key in one.annotations) == 2
    assert (made.added, made.manifest, digests(made)) == ((), b"", {})


def test_without_an_engine_the_digest_is_that_of_the_initdata_there_is() -> None:
    toml = encode_initdata(Initdata("0.1.0", "sha256", {"policy.rego": "x"}))
    other = encode_initdata(Initdata("0.1.0", "sha256", {"policy.rego": "y"}))
    leader = coordinator()
    leader["spec"]["template"]["metadata"]["annotations"] = {INITDATA: annotation(other)}
    made = good(leader, an_object(annotations={INITDATA: annotation(toml)}), to=config(policy=ENGINE_NONE))
    assert digests(made)["web"] == sha256(toml).hexdigest()
    assert named(made, "web").annotations[INITDATA] == annotation(toml)
    assert set(manifest(made)["Policies"]) == {sha256(toml).hexdigest(), sha256(other).hexdigest()}


def test_without_an_engine_a_manifest_needs_initdata_of_every_pod() -> None:
    assert codes(run(coordinator(), an_object(), to=config(policy=ENGINE_NONE))) == ["CC0711", "CC0711"]


def test_without_an_engine_damaged_initdata_is_an_error_of_its_workload() -> None:
    made = run(
        coordinator(), an_object(annotations={INITDATA: "x"}), to=config(policy=ENGINE_NONE, manifest=NO_MANIFEST)
    )
    assert said(made) == [("CC0610", "web")]


# --- again


TEXT = f"""\
# c
apiVersion: v1
kind: Pod
metadata:
    name: p # n
spec: {{runtimeClassName: contrast-cc, containers: [{{name: web, image: '{WEB}'}}]}}
"""
VARIATIONS: dict[str, tuple[Any, ...]] = {
    "plain": (coordinator(), an_object()),
    "a list": (a_list(coordinator(), an_object(), SERVICE),),
    "lists in lists": (a_list(coordinator(), a_list(an_object(), an_object("CronJob", "x"))),),
    "mesh": (coordinator(), an_object(annotations={"contrast.edgeless.systems/servicemesh-ingress": "a#1#false"})),
    "tdx": (coordinator(runtimeClassName="contrast-cc-metal-qemu-tdx"), an_object("Pod", "p")),
    "text": (
        coordinator(),
        TEXT,
    ),
    "own annotations": (coordinator(), an_object("Pod", "p", annotations={"a": "b"})),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_rendering_twice_is_rendering_once(name: str) -> None:
    first = good(*VARIATIONS[name])
    second = again(first)
    assert second.added == ()
    strip = [text.removeprefix("---\n") for text in second.texts if text is not None]
    assert strip[: len(first.texts)] == [str(text).removeprefix("---\n") for text in first.texts]
    assert values(second) == values(first)
    assert (second.manifest, digests(second)) == (first.manifest, digests(first))


@pytest.mark.parametrize("name", VARIATIONS)
def test_every_render_can_be_taken_back_to_the_byte(name: str) -> None:
    before = stream(*VARIATIONS[name])
    first = good(*VARIATIONS[name])
    after = [one._replace(text=text or "") for one, text in zip(before, first.texts, strict=True)]
    source = read(after)
    assert source.findings == ()
    assert [documents(source)[index].text for index in range(len(before))] == [one.text for one in before]


def by_name(made: Rendered) -> list[Any]:
    return sorted(values(made), key=reference)


def content(made: Rendered) -> list[Any]:
    """What leaves a render, whatever its order; records of text depend on the text."""
    found = values(made)
    for one in found:
        one.get("metadata", {}).get("annotations", {}).pop(ORIGINAL, None)
    return sorted(found, key=reference)


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_list_that_a_host_takes_apart_or_makes_changes_nothing(name: str) -> None:
    first = good(*VARIATIONS[name])
    rendered = [value for value in values(first) if EMITTED not in value["metadata"].get("annotations", {})]
    for objects in (rendered, [a_list(*reversed(rendered))], list(reversed(rendered))):
        made = good(*objects)
        assert content(made) == content(first)


def test_a_render_with_other_options_is_like_the_first_with_them() -> None:
    objects = (coordinator(), an_object(), an_object("Job", "j"))
    options = [
        config(),
        config(initializer=False),
        config(manifest=NO_MANIFEST),
        config(manifest=ManifestOptions(emit="LocalConfig", name="other")),
        config(manifest=ManifestOptions(emit="LocalConfig")),
        config(platform="metal-qemu-tdx"),
        config(policy=ENGINE_NONE, manifest=NO_MANIFEST),
        config(runtime_classes="emit"),
    ]
    for one, two in itertools.permutations(options, 2):
        assert by_name(again(good(*objects, to=one), two)) == by_name(good(*objects, to=two))


def test_an_explicit_platform_survives_a_change_of_the_default() -> None:
    objects = (coordinator(), an_object(spec=pod_spec(runtimeClassName="contrast-cc-metal-qemu-snp")))
    made = again(good(*objects), config(platform="metal-qemu-tdx"))
    assert named(made, "web").runtime_class == HANDLERS["metal-qemu-snp"]
    assert named(made, "coordinator").runtime_class == HANDLERS["metal-qemu-tdx"]


def test_another_release_replaces_what_the_last_one_wrote() -> None:
    platforms = {name: one._replace(handler=f"contrast-cc-{name}-ffffffff") for name, one in PLATFORMS.items()}
    to = config(RELEASE._replace(version="v1.25.0", platforms=platforms), runtime_classes="emit")
    objects = (coordinator(), an_object())
    made = again(good(*objects, to=config(runtime_classes="emit")), to)
    assert by_name(made) == by_name(good(*objects, to=to))
    assert len(emitted(made)) == 2


def test_a_manifest_made_upon_the_last_one_is_the_same() -> None:
    filled = {
        "snp": ({"MinimumTCB": {"BootloaderVersion": 1, "TEEVersion": 2, "SNPVersion": 3, "MicrocodeVersion": 4}},)
    }
    first = good(coordinator(), an_object(), to=config(manifest=ManifestOptions(reference_values=filled)))
    base = ManifestOptions(reference_values=filled, base=manifest(first))
    assert again(first, config(manifest=base)).manifest == first.manifest


words = st.text("ab$ #:-'\"\n\u00e4", max_size=8)
processes = st.fixed_dictionaries(
    {},
    optional={
        "args": st.lists(words, max_size=2),
        "env": st.lists(st.builds(lambda value: {"name": "A", "value": value}, words), max_size=1),
        "tty": st.booleans(),
        "workingDir": st.sampled_from(["/a"]),
    },
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(KINDS)), processes, st.dictionaries(words, words, max_size=2)), max_size=3
    ),
    st.booleans(),
)
def test_any_deployment_is_rendered_the_same_twice_and_in_any_order(pods: Any, together: bool) -> None:
    objects = [coordinator()]
    for index, (kind, process, notes) in enumerate(pods):
        objects.append(
            an_object(kind, f"p{index}", spec=pod_spec(containers=[container(**process)]), annotations=notes)
        )
    made = run(*([a_list(*objects)] if together else objects))
    backwards = run(*reversed(objects))
    assert said(made) == said(backwards)
    if not made.failed:
        assert values(again(made)) == values(made)
        assert (digests(made), made.manifest) == (digests(backwards), backwards.manifest)


def test_a_result_without_findings_has_not_failed() -> None:
    assert not Rendered(()).failed
    assert not Rendered((), findings=(finding("CC0309", label="a", successor="b"),)).failed
    assert Rendered((), findings=(finding("CC0701"),)).failed


def test_the_plan_tells_what_every_workload_becomes() -> None:
    made = good(coordinator(), an_object(), SERVICE, an_object(name="not", spec=pod_spec(runtimeClassName=None)))
    plan = {one.ref.name: one for one in made.plan}
    assert list(plan) == ["coordinator", "web", "not"]
    web = plan["web"]
    assert (web.placeholder, web.platform, web.runtime_class) == (
        "contrast-cc",
        "metal-qemu-snp",
        HANDLERS["metal-qemu-snp"],
    )
    assert (web.vcpus, web.skipped, len(web.digest)) == (2, "", 64)
    assert {edit.code for edit in web.edits} >= {"CC0404", "CC0606", "CC0607", "CC0801"}
    assert (plan["not"].skipped, plan["not"].edits, plan["not"].is_plain) == ("no runtimeClassName", (), True)
    assert dig(values(made)[3], ("spec", "template", "spec")) == pod_spec(runtimeClassName=None)


def test_no_value_of_a_pod_is_in_a_finding() -> None:
    secret = "CANARY-9f3a"
    spec = pod_spec(containers=[container(env=[{"name": "A", "value": secret}], args=[secret])], hostPID=True)
    made = run(coordinator(), an_object(spec=spec, annotations={"long": secret + "x" * 90}))
    assert codes(made) == ["CC0601"]
    assert secret not in json.dumps([found[:4] for found in made.findings])


# --- the base of the manifest


def a_base(name: str = "last", text: str = "", namespace: str = "shop") -> Any:
    filled = {
        "snp": ({"MinimumTCB": {"BootloaderVersion": 1, "TEEVersion": 2, "SNPVersion": 3, "MicrocodeVersion": 4}},)
    }
    options = ManifestOptions(reference_values=filled)
    data = text or good(coordinator(), an_object("Job", "gone"), to=config(manifest=options)).manifest.decode()
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"manifest.json": data}}


BY_NAME = config(manifest=ManifestOptions(base={"configMap": "last"}))


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: a_list(SERVICE, one)])
def test_a_base_may_be_a_config_map_of_the_input(wrap: Any) -> None:
    made = good(wrap(a_base()), an_object(), to=BY_NAME)
    assert sorted(one["SANs"][0] for one in manifest(made)["Policies"].values()) == ["coordinator", "gone", "web"]


@pytest.mark.parametrize(
    "others",
    [
        (),
        (a_base("other"),),
        (a_base() | {"kind": "Secret"},),
        (a_base(text="x"),),
        (a_base(), a_base(namespace="else")),
    ],
)
def test_a_base_that_cannot_be_found_is_an_error(others: Any) -> None:
    resources = stream(coordinator(), *others)
    made = render(resources, BY_NAME)
    assert (codes(made), made.texts) == (["CC0713"], tuple(one.text for one in resources))


def test_a_base_that_cannot_be_found_hides_no_wrong_shape_and_no_warning() -> None:
    warning = finding("CC0309", label="a", successor="b")
    made = run(coordinator(), WRONG["a template that is text"][0], to=BY_NAME, findings=(warning,))
    assert codes(made) == ["CC0207", "CC0713"]
    assert warning in made.findings


def test_a_config_map_that_cannot_be_read_is_told_before_it_is_missed() -> None:
    unread = Resource("data: [\n", kind="ConfigMap", name="last")
    assert codes(render((*stream(coordinator()), unread), BY_NAME)) == ["CC0101"]


# --- places


def test_a_finding_of_an_init_container_names_its_place_in_the_input() -> None:
    first = {"name": "first", "image": WEB}
    bad = {"name": "bad", "image": SCRIPT.replace("b", "d")}
    made = run(coordinator(), an_object(spec=pod_spec(initContainers=[first, bad])))
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert (found.code, found.path[-3:]) == ("CC0504", ("initContainers", 1, "image"))


def test_a_finding_of_an_injected_container_is_about_the_pod_spec() -> None:
    lock = {image: facts for image, facts in LOCK.items() if image != INITIALIZER}
    made = run(coordinator(), an_object(), to=config(images=lock))
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert (found.code, found.path) == ("CC0504", ("spec", "template", "spec"))


def test_errors_have_line_and_column_in_their_file_or_stream_and_nothing_else_has() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  runtimeClassName: contrast-cc-x\n"
    resource = Resource(text, 11, "pods.yaml", "v1", "Pod", "p")
    wrong = render((resource,), config()).findings
    assert [(one.code, one.file, one.line) for one in wrong if one.code == "CC0401"] == [("CC0401", "pods.yaml", 16)]
    assert all(one.column > 1 for one in wrong if one.code == "CC0401")
    nameless = render((resource._replace(file=""),), config()).findings
    assert [(one.code, one.file, one.line) for one in nameless if one.code == "CC0401"] == [("CC0401", "", 16)]
    good_files = [one._replace(file="x.yaml") for one in stream(coordinator(), an_object())]
    infos = [one for one in render(good_files, config()).findings if one.severity == "info"]
    assert infos
    assert all((one.file, one.line) == ("", 0) for one in infos)


def test_the_default_platform_brings_its_reference_values_even_without_a_pod_on_it() -> None:
    made = good(coordinator(runtimeClassName="contrast-cc-metal-qemu-tdx"), to=config(platform="metal-qemu-snp"))
    assert set(manifest(made)["ReferenceValues"]) == {"snp", "tdx"}


def test_the_rules_of_the_configuration_take_the_place_of_our_own() -> None:
    rules = "package agent_policy\n\ndefault AllowRequestsFailingPolicy := false\n"
    for chosen, wanted in ((rules, rules), (None, load_rules())):
        made = good(coordinator(), to=config(policy=PolicyOptions(rules=chosen)))
        text = from_annotation(named(made, "coordinator").annotations[INITDATA]).decode()
        assert wanted in text
        assert (load_rules() in text) == (chosen is None)
