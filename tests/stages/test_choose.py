"""spec.workloads: which pod templates become confidential, which are plain on purpose, and what is refused."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.config.collect import collect, from_config_map
from krm_function.config.document import ConfigDocument
from krm_function.config.generate import WorkloadEntry, naming, parse_generate
from krm_function.findings import Finding, Ref
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from tests.wording import remedy
from tests.world import (
    HANDLERS,
    a_list,
    again,
    an_object,
    codes,
    config,
    coordinator,
    good,
    named,
    pod_spec,
    run,
    said,
    stream,
    values,
)

Json = dict[str, Any]
SNP, TDX = "metal-qemu-snp", "metal-qemu-tdx"
WEB = WorkloadEntry("Deployment", "web")
LANDING = WorkloadEntry("Deployment", "landing", plain="static pages")


def plain(kind: str = "Deployment", name: str = "web", **more: Any) -> Json:
    """A workload whose pods name no runtime class; `runtimeClassName` gives it one."""
    names = {"runtimeClassName": more.pop("runtimeClassName", None)}
    return an_object(kind, name, spec=pod_spec(**names), **more)


def chosen(*objects: Any, entries: Any = (WEB,), **options: Any) -> Rendered:
    return run(coordinator(), *objects, to=config(workloads=tuple(entries), **options))


def the(made: Rendered, code: str) -> Finding:
    (found,) = [one for one in made.findings if one.code == code]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_that_an_entry_names_becomes_what_its_placeholder_would_make_of_it(kind: str) -> None:
    entry = WorkloadEntry(kind, "web", platform=TDX)
    made = good(coordinator(), plain(kind), to=config(workloads=(entry,)))
    own = good(coordinator(), plain(kind, runtimeClassName="contrast-cc-metal-qemu-tdx"), to=config())
    assert named(made, "web", kind).pod_spec == named(own, "web", kind).pod_spec
    assert named(made, "web", kind).runtime_class == HANDLERS[TDX]
    assert made.manifest == own.manifest


def test_an_entry_without_platform_means_the_bare_placeholder() -> None:
    made = good(coordinator(), plain(), to=config(workloads=(WEB,), platform=TDX))
    assert named(made, "web").runtime_class == HANDLERS[TDX]


@pytest.mark.parametrize("unset", ["", None])
def test_a_class_that_is_empty_or_null_is_none(unset: str | None) -> None:
    value = plain()
    value["spec"]["template"]["spec"]["runtimeClassName"] = unset
    assert named(good(coordinator(), value, to=config(workloads=(WEB,))), "web").runtime_class == HANDLERS[SNP]


def test_a_member_of_a_list_is_chosen_like_a_document_and_its_neighbour_is_left_alone() -> None:
    both = a_list(plain(), plain(name="other"))
    made = good(coordinator(), both, to=config(workloads=(WEB,)))
    assert named(made, "web").runtime_class == HANDLERS[SNP]
    assert named(made, "other").runtime_class == ""


def test_rendering_the_output_again_changes_nothing() -> None:
    to = config(workloads=(WEB, LANDING))
    first = good(coordinator(), plain(), plain(name="landing"), to=to)
    assert values(again(first, to)) == values(first)


def test_the_plan_names_the_entries_that_chose_a_workload_and_the_reason_of_a_plain_one() -> None:
    entries = (WorkloadEntry("Deployment", "w*"), WEB, LANDING)
    made = good(coordinator(), plain(), plain(name="landing"), to=config(workloads=entries))
    by_name = {one.ref.name: one for one in made.plan}
    assert by_name["web"].notes == ("named by spec.workloads[0] (Deployment w*), spec.workloads[1] (Deployment web)",)
    assert by_name["landing"].skipped == "plain by spec.workloads[2] (Deployment landing): static pages"
    edit = by_name["web"].edits[0]
    assert (edit.code, edit.after) == ("CC0250", "contrast-cc")
    assert edit.reason == "spec.workloads of the configuration names Deployment w*"


@pytest.mark.parametrize(
    ("entry", "variant"),
    [
        (WorkloadEntry("Deployment", "api"), "the input has no such workload"),
        (WorkloadEntry("StatefulSet", "web"), "the input has no such workload"),
        (WorkloadEntry("Deployment", "web", namespace="bank"), "the workload of that name in the input is in shop"),
        (WorkloadEntry("Deployment", "api", plain="why not"), "the input has no such workload"),
        (WorkloadEntry("Rollout", "web", plain="why not"), "the input has no such workload"),
    ],
)
def test_an_entry_that_names_nothing_is_an_error(entry: WorkloadEntry, variant: str) -> None:
    found = the(chosen(plain(), entries=[WEB, entry]), "CC0251")
    assert found.path == ("spec", "workloads", 1)
    assert found.message.endswith(variant)


def test_an_entry_names_nothing_in_an_input_without_any_contrast_workload_either() -> None:
    made = run(plain(name="other"), to=config(workloads=(WEB,)))
    assert codes(made) == ["CC0251"]
    assert "".join(text or "" for text in made.texts) == "".join(one.text for one in stream(plain(name="other")))


@pytest.mark.parametrize(
    "other",
    [
        WorkloadEntry("Deployment", "*", platform=TDX),
        WorkloadEntry("Deployment", "w*", namespace="shop"),
        WorkloadEntry("Deployment", "*", plain="static pages"),
    ],
)
@pytest.mark.parametrize("own", [None, "contrast-cc"])
def test_two_entries_that_contradict_each_other_are_an_error(other: WorkloadEntry, own: str | None) -> None:
    first = WEB._replace(platform=SNP)
    for entries in ([first, other], [other, first]):
        made = chosen(plain(runtimeClassName=own), entries=entries)
        assert said(made) == [("CC0252", "web")]


def test_two_entries_that_say_the_same_are_good() -> None:
    entries = (WEB, WorkloadEntry("Deployment", "*", namespace="shop"))
    assert named(good(coordinator(), plain(), to=config(workloads=entries)), "web").runtime_class == HANDLERS[SNP]


@pytest.mark.parametrize(
    ("own", "entry", "code"),
    [
        ("contrast-cc", {"plain": "why not"}, "CC0253"),
        ("contrast-cc-metal-qemu-snp", {"plain": "why not"}, "CC0253"),
        (HANDLERS[SNP], {"plain": "why not"}, "CC0253"),
        ("contrast-cc-metal-qemu-snp", {"platform": TDX}, "CC0253"),
        ("gvisor", {"platform": SNP}, "CC0253"),
        ("gvisor", {}, "CC0253"),
        ("contrast-insecure", {}, "CC0405"),
        ("contrast-cc-typo", {}, "CC0401"),
        ("gvisor", {"plain": "why not"}, ""),
        ("contrast-cc", {}, ""),
        ("contrast-cc", {"platform": SNP}, ""),
        ("contrast-cc-metal-qemu-snp", {}, ""),
        ("contrast-cc-metal-qemu-snp", {"platform": SNP}, ""),
        ("kata-cc-isolation", {}, ""),
    ],
)
def test_a_class_of_the_pods_own_must_say_what_its_entry_says(own: str, entry: dict[str, Any], code: str) -> None:
    made = chosen(plain(runtimeClassName=own), entries=[WorkloadEntry("Deployment", "web", **entry)])
    assert said(made) == ([(code, "web")] if code else [])
    if code == "CC0253":
        assert the(made, code).path == ("spec", "template", "spec", "runtimeClassName")


def test_a_pod_that_leaves_the_platform_to_the_configuration_gets_that_of_its_entry() -> None:
    entries = (WEB._replace(platform=TDX),)
    made = good(coordinator(), plain(runtimeClassName="contrast-cc"), to=config(workloads=entries))
    assert named(made, "web").runtime_class == HANDLERS[TDX]


def test_another_version_of_the_kind_is_an_error_since_nothing_seals_it() -> None:
    made = chosen(plain() | {"apiVersion": "apps/v1beta1"})
    assert said(made) == [("CC0254", "web")]


def test_a_pod_template_without_a_spec_is_an_error() -> None:
    value = plain()
    del value["spec"]["template"]["spec"]
    assert said(chosen(value)) == [("CC0206", "web")]


def test_an_entry_with_a_namespace_names_what_the_configuration_puts_there() -> None:
    entry = WEB._replace(namespace="shop")
    bare = an_object(namespace="", spec=pod_spec(runtimeClassName=None))
    made = good(coordinator(), bare, to=config(workloads=(entry,), namespace="shop"))
    assert named(made, "web").runtime_class == HANDLERS[SNP]
    found = the(chosen(bare, entries=[entry]), "CC0251")
    assert found.message.endswith("is in no namespace")


ROLLOUT = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Rollout",
    "metadata": {"name": "canary", "namespace": "shop"},
    "spec": {"template": {"spec": {"containers": [{"name": "canary", "image": "example.com/canary"}]}}},
}
EXPORTER = plain("DaemonSet", "exporter")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (plain(name="new"), "new"),
        (plain(name="new", runtimeClassName="gvisor"), "new"),
        (plain("DaemonSet", "exporter"), "exporter"),
        (a_list(plain(name="new")), "new"),
        (plain(name="new") | {"apiVersion": "apps/v1beta1"}, "new"),
        (ROLLOUT, "canary"),
        (a_list(ROLLOUT), "canary"),
    ],
)
def test_the_strict_form_refuses_every_pod_that_is_neither_confidential_nor_named_as_plain(
    value: Json, name: str
) -> None:
    assert said(chosen(value, entries=["required"])) == [("CC0255", name)]
    assert said(chosen(plain(), value, entries=[WEB, "required"])) == [("CC0255", name)]
    assert said(chosen(plain(), value, entries=[WEB])) == []


def test_the_strict_form_passes_when_each_plain_pod_has_a_reason() -> None:
    reasons = [WorkloadEntry(kind, "*", plain="why not") for kind in ("DaemonSet", "Rollout")]
    made = chosen(plain(), EXPORTER, ROLLOUT, entries=[WEB, "required", *reasons])
    assert said(made) == []


def test_the_strict_form_says_what_to_write() -> None:
    assert the(chosen(EXPORTER, entries=["required"]), "CC0255").hint == (
        remedy("CC0255", entry="{kind: DaemonSet, name: exporter}")
    )


def test_the_strict_form_takes_no_text_and_no_schema_for_a_pod() -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"pod": "containers: []"}}
    schema = {"properties": {"containers": [{"type": "object"}]}}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": schema}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    assert said(chosen(held, crd, service, entries=["required"])) == []


def test_entries_choose_templates_and_no_copies_that_controllers_made() -> None:
    owner = plain()
    owner["metadata"]["uid"] = "1"
    copy = plain("ReplicaSet", "web-7f9c")
    copy["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": True}
    ]
    entries = (WEB, WorkloadEntry("ReplicaSet", "*"))
    live = render(stream(coordinator(), owner, copy), config(workloads=entries), live=True)
    assert said(live) == [("CC0220", "web-7f9c")]
    live = render(stream(coordinator(), owner, copy), config(workloads=(WEB,)), live=True)
    assert named(live, "web-7f9c").runtime_class == ""
    reasoned = (WEB._replace(plain="why not"), "required")
    assert codes(render(stream(coordinator(), owner, copy), config(workloads=reasoned), live=True)) == []
    strict = render(stream(coordinator(), owner, copy), config(workloads=(WEB, "required")), live=True)
    assert said(strict) == [("CC0255", "web-7f9c")]


def test_entries_without_a_release_are_an_error_even_where_the_input_has_nothing_of_contrast() -> None:
    spec = {"workloads": [{"kind": "Deployment", "name": "web"}]}
    value = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ContrastGenerate", "metadata": {"name": "c"}}
    made, findings = collect([ConfigDocument(value | {"spec": spec}, "contrast.yaml", 1)])
    assert made is None
    assert "CC0257" in codes(render(stream(plain()), made, findings))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("required", ("required",)),
        ('[{"kind": "Deployment", "name": "web"}, "required"]', (WEB, "required")),
        ('{"kind": "Deployment", "name": "web"}', (WEB,)),
    ],
)
def test_a_config_map_has_the_word_or_the_entries_as_json(text: str, expected: tuple[Any, ...]) -> None:
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"workloads": text}}
    document, findings = from_config_map(ConfigDocument(value, "", 1))
    assert document is not None
    generate, wrong = parse_generate(document)
    assert (*findings, *wrong) == ()
    assert generate is not None
    assert generate.workloads == expected


def test_an_idle_entry_is_told_together_with_a_pod_that_none_names() -> None:
    made = chosen(plain(name="new"), entries=[WEB, "required"])
    assert sorted(code for code, _ in said(made)) == ["CC0251", "CC0255"]


def test_who_says_that_a_controller_made_it_is_no_less_named() -> None:
    owner = plain(name="other")
    owner["metadata"]["uid"] = "1"
    forged = plain()
    forged["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other", "uid": "1", "controller": True}
    ]
    for live in (False, True):
        made = render(stream(coordinator(), owner, forged), config(workloads=(WEB,)), live=live)
        assert said(made) == [("CC0220", "web")]


NAMES = st.text("ab-*", min_size=1, max_size=4)
ENTRIES = st.tuples(st.sampled_from(["Deployment", "Job"]), NAMES, st.sampled_from(["", "a", "b"])).map(
    lambda parts: WorkloadEntry(*parts)
)


@given(
    st.lists(ENTRIES, max_size=4),
    st.sampled_from(["Deployment", "Job"]),
    st.sampled_from(["", "a", "b"]),
    st.text("ab-", min_size=1, max_size=4),
    st.sampled_from(["", "a"]),
)
def test_an_entry_names_what_its_kind_namespace_and_pattern_say(
    entries: list[WorkloadEntry], kind: str, namespace: str, name: str, given_namespace: str
) -> None:
    expected = []
    for index, entry in enumerate(entries):
        pattern = ".*".join(map(re.escape, entry.name.split("*")))
        where = namespace or given_namespace
        if entry.kind == kind and re.fullmatch(pattern, name) and (not entry.namespace or entry.namespace == where):
            expected.append(index)
    found = naming(("required", *entries), Ref("apps/v1", kind, namespace, name), given_namespace)
    assert [index - 1 for index, _ in found] == expected


TWO = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["web", "w*", "*", "db", "d*"]),
        "platform": st.sampled_from(["", SNP]),
        "plain": st.sampled_from(["", "", "why not"]),
    }
)


@given(st.lists(TWO, min_size=1, max_size=3), st.booleans())
def test_a_named_workload_is_confidential_or_plain_by_its_entry_or_nothing_is_written(
    found: list[dict[str, Any]], strict: bool
) -> None:
    entries = [WorkloadEntry("Deployment", **(one | ({"platform": ""} if one["plain"] else {}))) for one in found]
    made = chosen(plain(), plain(name="db"), entries=[*entries, *(["required"] if strict else [])])
    if codes(made):
        assert all(ORIGINAL not in (text or "") for text in made.texts)
        return
    for name in ("web", "db"):
        named_by = naming(entries, Ref("apps/v1", "Deployment", "shop", name), "")
        sealed = bool(named(made, name).runtime_class)
        assert sealed == any(not entry.plain for _, entry in named_by)
        assert not (strict and not sealed and not named_by)
