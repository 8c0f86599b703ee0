"""A placeholder, or anything else of Contrast's, where nothing reads it is an error; text about Contrast is none."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from krm_function.check.check_output import check_output
from krm_function.hosts.pass_through import passes_through
from krm_function.kubernetes.kinds import KINDS, template_paths
from krm_function.kubernetes.objects import dig
from krm_function.render.read import read
from krm_function.render.select import select
from krm_function.render.unsealed import find_unsealed
from krm_function.text.writer import dump
from tests.hosts.running import EXAMPLES
from tests.quick_yaml import safe_load_all
from tests.world import Json, an_object, codes, coordinator, good, pod_spec, run, stream

INGRESS = "contrast.edgeless.systems/servicemesh-ingress"
INSTALLER = {"contrast.edgeless.systems/platform": "Metal-QEMU-SNP", "contrast.edgeless.systems/pod-role": "node"}
SOURCES = sorted(
    path
    for top in (EXAMPLES, Path(__file__).parent.parent / "real_manifests")
    for path in top.rglob("*.yaml")
    if "{{" not in path.read_text() and not {"expected", "config"} & set(path.parts)
)


def plain() -> Json:
    return an_object(spec=pod_spec(runtimeClassName=None))


def template(value: Json) -> Json:
    found: Json = value["spec"]["template"]
    return found


def container(value: Json) -> Json:
    found: Json = template(value)["spec"]["containers"][0]
    return found


def null_class(value: Json) -> None:
    template(value)["spec"]["runtimeClassName"] = None
    value["metadata"]["annotations"] = {INGRESS: ""}


MISPLACED: dict[str, tuple[str, Callable[[Json], Any]]] = {
    "another key": ("CC0240", lambda it: template(it)["spec"].update(runtimeClass="contrast-cc")),
    "a key in lower case": ("CC0240", lambda it: template(it)["spec"].update(runtimeclassName="contrast-cc")),
    "a key in upper case": ("CC0240", lambda it: template(it)["spec"].update(RuntimeClassName="contrast-cc")),
    "a letter is missing": ("CC0240", lambda it: template(it)["spec"].update(runtimeClasName="contrast-cc")),
    "letters change places": ("CC0240", lambda it: template(it)["spec"].update(runtimeCalssName="contrast-cc-x")),
    "a mistyped platform too": ("CC0240", lambda it: template(it)["spec"].update(runtimeClass="contrast-cc-snp")),
    "one level too high": ("CC0240", lambda it: it["spec"].update(runtimeClassName="contrast-cc")),
    "in the template": ("CC0240", lambda it: template(it).update(runtimeClassName="contrast-cc")),
    "in a container": ("CC0240", lambda it: container(it).update(runtimeClassName="contrast-cc")),
    "as an annotation": ("CC0240", lambda it: template(it)["metadata"].update(annotations={"class": "contrast-cc"})),
    "as a key": ("CC0240", lambda it: template(it)["metadata"]["labels"].update({"contrast-cc": "true"})),
    "in capitals, with blanks": ("CC0240", lambda it: it["metadata"].update(labels={"class": " CONTRAST_CC "})),
    "of an older release": ("CC0240", lambda it: it["spec"].update(runtimeClassName="kata-cc-isolation")),
    "an annotation of Contrast's": ("CC0241", lambda it: template(it)["metadata"].update(annotations={INGRESS: ""})),
    "one of the object": ("CC0241", lambda it: it["metadata"].update(annotations={INGRESS: ""})),
    "one beside null": ("CC0241", null_class),
    "the coordinator's label": (
        "CC0241",
        lambda it: template(it)["metadata"]["labels"].update({"contrast.edgeless.systems/pod-role": "coordinator"}),
    ),
    "a kind with a typo": (
        "CC1109",
        lambda it: (it.update(kind="Deploymnet"), template(it)["spec"].update(runtimeClassName="contrast-cc")),
    ),
    "an old version": (
        "CC1109",
        lambda it: (it.update(apiVersion="apps/v1beta1"), template(it)["spec"].update(runtimeClass="contrast-cc")),
    ),
    "a custom resource's own field": (
        "CC1109",
        lambda it: (it.update(apiVersion="example.com/v1", kind="Model"), it["spec"].update(isolation="contrast-cc")),
    ),
}


@pytest.mark.parametrize("name", MISPLACED)
def test_what_asks_in_the_wrong_place_is_an_error_of_every_command(name: str) -> None:
    code, change = MISPLACED[name]
    value = plain()
    change(value)
    assert set(codes(run(value))) == {code}, "also where there is nothing else to render"
    made = run(coordinator(), an_object(name="api"), value)
    assert {one.code for one in made.findings if one.severity == "error"} == {code}
    assert made.texts == tuple(one.text for one in stream(coordinator(), an_object(name="api"), value))
    assert code in {one.code for one in check_output(stream(value)).findings}
    assert not passes_through(dump(value).encode())


CLASS_IN_TEXT = "spec: {template: {spec: {runtimeClassName: contrast-cc}}}"
SCHEMA = {"properties": {"runtimeClassName": {"type": "string", "default": "contrast-cc", "enum": ["contrast-cc"]}}}
HARMLESS: dict[str, Json] = {
    "a manifest in a ConfigMap": {"kind": "ConfigMap", "apiVersion": "v1", "data": {"it.yaml": CLASS_IN_TEXT}},
    "a value in a Secret": {"kind": "Secret", "apiVersion": "v1", "stringData": {"class": "contrast-cc"}},
    "a schema": {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "spec": {"versions": [{"schema": {"openAPIV3Schema": SCHEMA}}]},
    },
    "a name of something else": {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "contrast-cc"}},
    "a custom resource that is about contrast": {"kind": "Screen", "apiVersion": "example.com/v1", "contrast": "high"},
}


@pytest.mark.parametrize("name", HARMLESS)
def test_text_and_descriptions_ask_for_nothing(name: str) -> None:
    value = {"metadata": {"name": "it", "namespace": "shop"}, **HARMLESS[name]}
    good(coordinator(), an_object(), value)
    assert codes(run(value)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda it: template(it)["metadata"].update(annotations=INSTALLER),
        lambda it: it["metadata"].update(name="contrast-cc-metal-qemu-snp-nodeinstaller"),
        lambda it: template(it)["spec"].update(runtimeClassName="gvisor", nodeSelector={"contrast": "high"}),
        lambda it: container(it).update(args=["--note=not contrast-cc", "contrast-ccd"]),
        lambda it: template(it)["spec"].update(runtimeClass="gvisor"),
    ],
    ids=["the node installer", "its name", "another class", "text with the word", "another class below another key"],
)
def test_a_pod_that_only_mentions_contrast_stays_as_it_is(change: Callable[[Json], Any]) -> None:
    value = plain()
    change(value)
    assert codes(run(value)) == ["CC0291"]
    good(coordinator(), an_object(name="api"), value)


def test_a_comment_asks_for_nothing() -> None:
    resources = [one._replace(text=f"# runtimeClassName: contrast-cc\n{one.text}") for one in stream(plain())]
    assert find_unsealed(read(resources).resources) == ()


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in entries:
        yield from paths(part, (*path, key))


def planted(value: Json, path: tuple[Any, ...], key: str | None) -> Json:
    """The object with a placeholder at a path; key: below which, in the map that stands there."""
    changed = deepcopy(value)
    if key is not None:
        dig(changed, path)[key] = "contrast-cc"
    else:
        dig(changed, path[:-1])[path[-1]] = "contrast-cc"
    return changed


def objects_with_pods() -> Iterator[tuple[str, Json]]:
    """Each workload of the examples and of the real manifests, without its class and what else is Contrast's."""
    known: set[str] = set()
    for source in SOURCES:
        for value in safe_load_all(source.read_text()):
            kind = value.get("kind") if isinstance(value, dict) else None
            if kind not in KINDS or value.get("apiVersion") != KINDS[kind][0]:
                continue
            for path in template_paths(kind, value):
                pod = dig(value, (*path, "spec")) or {}
                pod.pop("runtimeClassName", None)
            for path in ((), *template_paths(kind, value)):
                for field in ("annotations", "labels"):
                    entries = dig(value, (*path, "metadata", field)) or {}
                    for key in [key for key in entries if "contrast.edgeless.systems" in key]:
                        del entries[key]
            if (text := dump(value)) not in known:
                known.add(text)
                yield f"{source.name} {value['kind']}/{value['metadata'].get('name')}", value


OBJECTS = dict(objects_with_pods())


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_a_placeholder_at_any_path_of_a_workload_is_sealed_or_found(name: str) -> None:
    value = OBJECTS[name]
    assert find_unsealed(read(stream(value)).resources) == (), "what asks for nothing is no error"
    silent = []
    for path in paths(value):
        keys = ("runtimeClassName", "runtimeClass", "note") if isinstance(dig(value, path), dict) else ()
        for key in (None, *keys) if path else keys:
            changed = planted(value, path, key)
            resources = read(stream(changed)).resources
            chosen = [select(one.value, one) for one in resources if one.document is not None]
            sealed = any(one.workloads or one.findings for one in chosen)
            if not sealed and not find_unsealed(resources):
                silent.append((path, key))
    assert silent == []
