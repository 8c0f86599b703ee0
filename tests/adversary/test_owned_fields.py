"""Any record at all changes nothing outside of what a render owns, in a render and in `uninject`.

The expectation is the table of contrast/owned.py: it is taken out of the object before and after, and what is left
must be the same. The objects are renders of this version and of an earlier one, and pods with parts of their own
that have names of Contrast's.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.config.generate import Scheduling
from krm_function.contrast.owned import OWNED, REPLACED_CONTAINERS
from krm_function.contrast.platforms import is_contrast_name
from krm_function.findings import has_errors
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import ORIGINAL
from krm_function.render.pipeline import find_unproven
from krm_function.render.read import read
from krm_function.text.parse import parse
from tests import quick_yaml as yaml
from tests.adversary.record_cases import RUNTIME_CLASS
from tests.adversary.test_any_record import VALUES, addresses, marked, normal, records
from tests.earlier_outputs.test_earlier_outputs import read as earlier
from tests.world import (
    INGRESS,
    SECURE_PV,
    SKIP,
    WEB,
    an_object,
    config,
    coordinator,
    documents,
    pod_spec,
    run,
    stream,
    values,
)

Json = dict[str, Any]

ASKING = {INGRESS: "", SECURE_PV: "disk:share"}
SCHEDULING = {"metal-qemu-snp": Scheduling({"pool": "tee"}, ({"key": "shop", "operator": "Exists"},))}
TO = config(image_store=True, namespace="shop", runtime_classes="check", scheduling=SCHEDULING)
DISK = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
SHARED = [DISK, *({"name": name, "emptyDir": {"medium": "Memory"}} for name in ("share", "contrast-secrets", "cache"))]
INITS = [{"name": name, "image": WEB, "command": ["sh"]} for name in ("a", "pvc-holder", "b")]
OWN = [{**INITS[0], "name": name} for name in ("contrast-initializer", "contrast-service-mesh")]
CLASS = {**RUNTIME_CLASS, "metadata": {"name": RUNTIME_CLASS["handler"], "annotations": {"team": "shop"}}}
SOURCES: dict[str, Json] = {
    "asks": an_object("StatefulSet", spec=pod_spec(volumes=SHARED), annotations=ASKING),
    "none": an_object(spec=pod_spec(volumes=SHARED, initContainers=[*INITS, *OWN]), annotations={SKIP: "true"}),
    "pod": an_object("Pod", namespace="", spec=pod_spec(volumes=SHARED, initContainers=INITS), annotations=ASKING),
    "class": CLASS,
}


def outputs() -> dict[str, Json]:
    """Objects with a record: renders of the sources, and what version 0.1.0 rendered."""
    made = {name: values(run(coordinator(), source, to=TO))[1] for name, source in SOURCES.items()}
    objects = [value for value in yaml.safe_load_all(earlier("0.1.0", "stream")) if value["kind"] != "ConfigMap"]
    return made | {f"0.1.0 {value['kind']} {value['metadata']['name']}": value for value in objects}


OBJECTS = {f"{name}, not rendered": source for name, source in SOURCES.items()} | outputs()


def holders(value: Json, owner: str) -> Iterator[Any]:
    """Yield the parts of an object that a row of the table is about."""
    kind = value["kind"]
    template = dig(value, KINDS[kind][1]) if kind in KINDS else {}
    pod = template.get("spec", {})
    match owner:
        case "object":
            yield value
        case "workload" if kind in KINDS:
            yield value
        case "pod template":
            yield template
        case "pod":
            yield pod
        case "container":
            yield from (*pod.get("initContainers", ()), *pod.get("containers", ()))
        case "pod of a DaemonSet" if kind == "DaemonSet":
            yield pod
        case _ if owner == kind:
            yield value


def left(value: Json) -> Any:
    """What of an object no render owns."""
    value = deepcopy(value)
    notes = dig(value, (*KINDS[value["kind"]][1], "metadata", "annotations")) if value["kind"] in KINDS else {}
    shared = str((notes or {}).get(SECURE_PV)).rpartition(":")[2]
    for owner, place, own_names in OWNED:
        names = (*own_names, shared) if place == "volumes" else own_names
        *around, field = place.split(".")
        for holder in holders(value, owner):
            parent = dig(holder, tuple(around))
            part = parent.get(field) if isinstance(parent, dict) else None
            if not names and part is not None:
                del parent[field]
            elif isinstance(part, dict):
                parent[field] = {key: text for key, text in part.items() if not key.startswith(names)}
            elif isinstance(part, list):
                parent[field] = [one for one in part if one["name"] not in names]
    return normal(value)


def theirs(value: Json) -> list[str]:
    """A pod's own init containers of Contrast's names, but for those that a render replaces: names and processes."""
    pod = dig(value, (*KINDS[value["kind"]][1], "spec")) if value["kind"] in KINDS else {}
    replaced = () if SKIP in json.dumps(value) else REPLACED_CONTAINERS
    own = [one for one in pod.get("initContainers", ()) if one.get("command") == ["sh"] and one["name"] not in replaced]
    return sorted(json.dumps([one.get(key) for key in ("name", "command", "args", "env")]) for one in own)


def check(before: Json, after: Json, *, deployed: bool) -> None:
    assert left(after) == left(before)
    assert set(theirs(after)) >= set(theirs(before))
    if before["kind"] in KINDS:
        name = dig(after, (*KINDS[before["kind"]][1], "spec")).get("runtimeClassName")
        assert is_contrast_name(name or "") or not (name or deployed)


@st.composite
def changed(draw: st.DrawFn, value: Json) -> list[list[Any]]:
    """The object's own record with some entries gone, moved to other addresses, or of another value."""
    text = value["metadata"].get("annotations", {}).get(ORIGINAL)
    made: list[list[Any]] = json.loads(text) if text else []
    places = st.sampled_from(addresses(value))
    for _ in range(draw(st.integers(1, 3))):
        if not made:
            break
        index = draw(st.integers(0, len(made) - 1))
        match draw(st.sampled_from(("drop", "move", "value", "again"))):
            case "drop":
                del made[index]
            case "move":
                made[index] = [made[index][0], draw(places), *made[index][2:]]
            case "value":
                made[index] = [draw(st.sampled_from("=+")), made[index][1], draw(st.sampled_from(VALUES))]
            case _:
                made.append(["-", draw(places)])
    return made


def any_record(value: Json) -> st.SearchStrategy[list[list[Any]]]:
    return st.one_of(records(value), changed(value))


PROPERTY = settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
@PROPERTY
@given(data=st.data())
def test_uninject_changes_only_what_a_render_owns(name: str, data: st.DataObject) -> None:
    value = marked(OBJECTS[name], data.draw(any_record(OBJECTS[name])))
    resources = stream(value)
    restored = read(resources, ())
    if not has_errors(
        (*restored.findings, *find_unproven(restored.resources, None, rendered=False, seals=False, taken_back=True))
    ):
        check(value, parse(documents(restored)[0].text).value, deployed=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
@PROPERTY
@given(data=st.data())
def test_a_render_changes_only_what_it_owns(name: str, data: st.DataObject) -> None:
    value = marked(OBJECTS[name], data.draw(any_record(OBJECTS[name])))
    made = run(coordinator(), value, to=TO)
    if not made.failed:
        check(value, values(made)[1], deployed=True)


@pytest.mark.parametrize("name", SOURCES)
def test_the_table_has_everything_that_a_render_changes(name: str) -> None:
    made = run(coordinator(), SOURCES[name], to=TO)
    assert not made.failed
    after = values(made)[1]
    assert left(after) == left(SOURCES[name])
    assert normal(after) != normal(SOURCES[name])


@pytest.mark.parametrize("name", [name for name in OBJECTS if "not rendered" not in name])
def test_its_own_record_counts(name: str) -> None:
    resources = stream(OBJECTS[name])
    restored = read(resources, ())
    assert ORIGINAL in str(OBJECTS[name]["metadata"])
    assert (*restored.findings, *find_unproven(restored.resources, None, rendered=False, seals=False)) == ()
    assert run(coordinator(), OBJECTS[name], to=TO).failed is name.startswith("0.1.0")
