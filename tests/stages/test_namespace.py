"""The namespace of workloads that name none: written into object, policy and manifest, or a warning."""

from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, ManifestOptions
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.workload import INITDATA, ORIGINAL
from krm_function.policy.initdata import decode_toml, from_annotation, read_policy_data
from krm_function.render.read import read
from krm_function.render.rendered import Rendered
from krm_function.text.parse import parse
from krm_function.text.writer import dump
from tests.wording import wording
from tests.world import (
    a_list,
    again,
    an_object,
    codes,
    config,
    coordinator,
    documents,
    good,
    manifest,
    named,
    run,
    stream,
    values,
)

SANDBOX = "io.kubernetes.cri.sandbox-namespace"
TCB = {"BootloaderVersion": 4, "TEEVersion": 0, "SNPVersion": 24, "MicrocodeVersion": 219}
TO = config(namespace="shop")


def of(made: Rendered, code: str) -> list[str]:
    return [found.message for found in made.findings if found.code == code]


def sealed_namespaces(made: Rendered, name: str) -> set[str]:
    """What the policy of a workload says of its pods' namespace."""
    text = named(made, name).annotations[INITDATA]
    data = read_policy_data(decode_toml(from_annotation(text)).data["policy.rego"])
    return {one["OCI"]["Annotations"].get(SANDBOX) for one in data["containers"]}


def host_of(made: Rendered, name: str) -> str:
    """The coordinator for which the initializer of a workload looks."""
    (initializer,) = [one for one in named(made, name).init_containers if one["name"] == "contrast-initializer"]
    return str({one["name"]: one["value"] for one in initializer["env"]}["COORDINATOR_HOST"])


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("written", ["absent", "null", "empty"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_workload_of_any_kind_gets_it(kind: str, written: str, *, listed: bool) -> None:
    web = an_object(kind, "web", "")
    if written != "absent":
        web["metadata"]["namespace"] = None if written == "null" else ""
    given = [a_list(coordinator(namespace=""), web)] if listed else [coordinator(namespace=""), web]
    made = good(*given, to=TO)
    assert named(made, "web").object["metadata"]["namespace"] == "shop"
    assert sealed_namespaces(made, "web") == {"shop"}
    assert host_of(made, "web") == "coordinator-ready.shop"
    assert [policy["WorkloadSecretID"].split("/")[-2] for policy in manifest(made)["Policies"].values()] == ["shop"] * 2
    assert [value["metadata"]["namespace"] for value in values(made) if value["kind"] == "ConfigMap"] == ["shop"]
    assert {one.ref.namespace for one in made.plan} == {"shop"}
    assert again(made, to=TO).texts[: len(given)] == made.texts[: len(given)]


def test_it_seals_exactly_what_a_workload_that_names_it_has() -> None:
    given = good(coordinator(namespace=""), an_object(namespace=""), to=TO)
    written = good(coordinator(namespace="shop"), an_object(namespace="shop"))
    assert given.manifest == written.manifest
    assert [one.digest for one in given.plan] == [one.digest for one in written.plan]


def test_a_workload_that_names_a_namespace_keeps_it_and_is_not_edited_for_it() -> None:
    made = good(coordinator(namespace="vault"), an_object(namespace="vault"), an_object("Job", "job", ""), to=TO)
    assert {one.ref.name: one.ref.namespace for one in made.plan} == {
        "coordinator": "vault",
        "web": "vault",
        "job": "shop",
    }
    assert host_of(made, "job") == "coordinator-ready.vault"
    edited = [one.ref.name for one in made.plan if any(edit.code == "CC0209" for edit in one.edits)]
    assert edited == ["job"]


def test_without_it_one_warning_names_all_such_workloads_and_no_byte_differs() -> None:
    made = good(coordinator(namespace=""), an_object(namespace=""), an_object("Job", "job"))
    (said,) = of(made, "CC0210")
    assert said.startswith("no namespace in StatefulSet/coordinator, Deployment/web:")
    assert all(ORIGINAL not in text or "metadata/namespace" not in text for text in map(str, made.texts))
    assert host_of(made, "web") == "coordinator-ready.default"
    assert sealed_namespaces(made, "web") == {""}


def test_many_names_are_counted() -> None:
    made = good(coordinator(), *(an_object(name=f"w{number}", namespace="") for number in range(9)))
    assert "Deployment/w4 and 4 more" in of(made, "CC0210")[0]


@pytest.mark.parametrize("namespace", ["", "shop"])
def test_there_is_no_warning_where_every_workload_names_one(namespace: str) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {}}
    made = good(coordinator(), an_object(), service, to=config(namespace=namespace))
    assert {"CC0210", "CC0211"}.isdisjoint(codes(made))


def other(kind: str, name: str, **metadata: Any) -> Any:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}


def test_other_objects_without_one_stay_and_are_named_in_one_warning() -> None:
    others = [
        other("Service", "web"),
        other("ConfigMap", "settings"),
        other("Namespace", "shop"),
        other("Secret", "there", namespace="shop"),
        other("ConfigMap", "local", annotations={"config.kubernetes.io/local-config": "true"}),
        an_object("Deployment", "plain", "", {"containers": [{"name": "c", "image": "x"}]}),
    ]
    made = good(coordinator(namespace=""), *others, a_list(other("Role", "r"), an_object(namespace="")), to=TO)
    (said,) = of(made, "CC0211")
    assert "but Service/web, ConfigMap/settings, Deployment/plain, Role/r have none" in said
    assert made.texts[1 : 1 + len(others)] == tuple(f"---\n{dump(one)}" for one in others)


def test_the_warning_is_about_the_source_again_after_a_second_render() -> None:
    made = good(coordinator(namespace=""), an_object(namespace=""), other("Service", "web"), to=TO)
    second = again(made, to=TO)
    assert of(second, "CC0211") == of(made, "CC0211")
    assert "ConfigMap" not in of(second, "CC0211")[0]


def test_a_variable_comes_from_the_config_map_that_will_be_beside_the_pod() -> None:
    def settings(namespace: str, value: str) -> Any:
        return other("ConfigMap", "settings", namespace=namespace) | {"data": {"MODE": value}}

    spec = an_object()["spec"]["template"]["spec"]
    source = {"configMapKeyRef": {"name": "settings", "key": "MODE"}}
    spec["containers"][0]["env"] = [{"name": "MODE", "valueFrom": source}]
    pods = coordinator(namespace=""), an_object(namespace="", spec=spec)
    made = good(*pods, settings("other", "wrong"), settings("shop", "right"), to=TO)
    text = named(made, "web").annotations[INITDATA]
    assert b"MODE=right" in from_annotation(text)
    assert b"MODE=wrong" not in from_annotation(text)
    assert "CC0602" in codes(run(*pods, settings("other", "wrong"), to=TO))


def test_without_a_coordinator_in_the_input_its_namespace_is_the_configured_one() -> None:
    values_of_tcb = {"snp": ({"MinimumTCB": TCB},)}
    base = manifest(good(coordinator(), to=config(manifest=ManifestOptions(reference_values=values_of_tcb))))
    made = good(an_object("Job", "job", ""), to=config(namespace="shop", manifest=ManifestOptions(base=base)))
    assert host_of(made, "job") == "coordinator-ready.shop"
    assert [value["metadata"]["namespace"] for value in made.added] == ["shop"]


def test_a_namespace_of_another_type_is_an_error_and_not_overwritten() -> None:
    web = an_object()
    value: Any
    for value in (12, True, ["shop"], {}):
        web["metadata"]["namespace"] = value
        made = run(coordinator(), web, to=TO)
        assert [found.path for found in made.findings if found.code == "CC0207"] == [("metadata", "namespace")]


def test_an_object_without_metadata_is_an_error_as_before() -> None:
    web = an_object()
    del web["metadata"]
    assert "CC0712" in codes(run(coordinator(), web, to=TO))
    made = good(web, to=config(namespace="shop", manifest=ManifestOptions(emit="none")))
    assert reference(parse(str(made.texts[0])).value).namespace == "shop"


# --- in the text: bytes, and what an undo record may take away

BLOCK = """# a comment
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # its name
  labels: {app: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: contrast-cc
      containers:
        - name: web
          image: example.com/web@sha256:DIGEST
""".replace("DIGEST", "a" * 64)
TEXTS = {
    "block": BLOCK,
    "crlf": BLOCK.replace("\n", "\r\n"),
    "flow": BLOCK.replace("metadata:\n  name: web   # its name\n  labels: {app: web}\n", "metadata: {name: web}\n"),
    "json": '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": '
    '{"spec": {"runtimeClassName": "contrast-cc", "containers": '
    '[{"name": "web", "image": "example.com/web@sha256:%s"}]}}}}\n' % ("a" * 64),
    "list": "apiVersion: v1\nkind: List\nitems:\n"
    + "".join(f"{'- ' if not number else '  '}{line}\n" for number, line in enumerate(BLOCK.splitlines()[1:])),
    "generated name": BLOCK.replace("  name: web   # its name", "  generateName: web-"),
}


def alone(namespace: str = "shop") -> Config:
    """A configuration with a namespace and without a manifest."""
    return config(namespace=namespace, manifest=ManifestOptions(emit="none"))


@pytest.mark.parametrize("form", TEXTS)
def test_uninject_returns_the_source_whatever_the_text_is(form: str) -> None:
    source = stream(TEXTS[form])
    made = good(TEXTS[form], to=alone())
    (text,) = made.texts
    found = [value for _, value in objects(parse(str(text)).value) if reference(value).kind in KINDS]
    assert [value["metadata"]["namespace"] for value in found] == ["shop"]
    restored = documents(read([source[0]._replace(text=str(text))]))[0]
    if form in {"block", "crlf", "list"}:
        assert restored.text == source[0].text
    assert restored.value == parse(source[0].text).value


def rendered_text(namespace: str = "shop") -> str:
    made = good(BLOCK, to=alone(namespace))
    return str(made.texts[0]).removeprefix("---\n")


@pytest.mark.parametrize("namespace", ["", "prod"])
def test_rendered_output_is_not_moved_into_another_namespace_by_its_record(namespace: str) -> None:
    made = run(rendered_text(), to=alone(namespace))
    (found,) = [found for found in made.findings if found.severity == "error"]
    assert (found.code, found.path[-1]) == ("CC0115", ORIGINAL)
    assert found.message.endswith(wording("CC0115.namespace", namespace="shop"))
    assert found.hint.startswith("render with --namespace shop or spec.namespace: shop")


def test_its_hints_work() -> None:
    text = rendered_text()
    assert good(text, to=alone()).texts[0] == f"---\n{text}"
    good(BLOCK, to=alone("prod"))


def test_the_configuration_may_name_one_where_an_earlier_render_had_none() -> None:
    first = good(BLOCK, to=alone(""))
    second = good(str(first.texts[0]).removeprefix("---\n"), to=alone())
    assert second.texts == good(BLOCK, to=alone()).texts


def test_a_render_without_one_is_the_default() -> None:
    assert Generate().namespace == ""
