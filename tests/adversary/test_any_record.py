"""Any record at all: the render fails, or what it seals is what it would seal without the record.

The expectation knows nothing of records. It takes from the object everything that a render could have added, and
renders what is left.
"""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import EMITTED, INITDATA, ORIGINAL
from krm_function.text.undo_records import escape
from tests.world import (
    HANDLERS,
    IMAGES,
    INGRESS,
    LOCK,
    SKIP,
    WEB,
    an_object,
    config,
    coordinator,
    good,
    pod_spec,
    run,
    values,
)

Json = dict[str, Any]

NAMES = ("contrast-initializer", "contrast-service-mesh", "pvc-holder")
VOLUMES = ("contrast-secrets", "image-store")
IMAGE = next(name for name in IMAGES if "coordinator" in name)
SIDECAR = {"name": "side", "image": IMAGE, "args": ["a"], "volumeMounts": [{"name": "data", "mountPath": "/d"}]}
SPEC = pod_spec(containers=[*pod_spec()["containers"], SIDECAR], volumes=[{"name": "data", "emptyDir": {}}])
PODS: dict[str, Json] = {
    "plain": an_object(spec=SPEC),
    "mesh": an_object(spec=SPEC, annotations={INGRESS: "", "team": "shop"}),
    "nothing": an_object(spec=SPEC, annotations={SKIP: "true"}),
    "pod": an_object("Pod", spec=SPEC),
    "cron": an_object("CronJob", spec=SPEC, schedule="@daily"),
}
VALUES: tuple[Any, ...] = (
    *(None, True, 0, "", "x", "runc", "contrast-cc", "contrast-cc-metal-qemu-snp", HANDLERS["metal-qemu-tdx"], WEB),
    *(*IMAGES, *IMAGES.values(), [], {}, ["sh"], {"emptyDir": {}}, {"name": "web", "image": WEB, "command": ["sh"]}),
    *({"name": name, "image": WEB, "command": ["sh"]} for name in NAMES),
    *({"name": "contrast-secrets", "mountPath": path} for path in ("/contrast", "/other")),
    [{"name": "contrast-secrets", "mountPath": "/contrast", "readOnly": True}],
    *([{"name": name, "image": WEB, "command": ["sh"]}] for name in NAMES),
)
KEYS = ("command", "hostPID", "volumeMounts", "initContainers", "volumes", "annotations", "labels", "<<", "#0", SKIP)


def of_input(name: str) -> list[Json]:
    """The object before and after a render, the second with its record."""
    return [PODS[name], values(good(coordinator(), PODS[name]))[1]]


OBJECTS = {name: of_input(name) for name in PODS}


def addresses(value: Any, at: str = "") -> list[str]:
    """Every address in a value, items of lists by name and by index."""
    found = [at]
    if isinstance(value, dict):
        for key, child in value.items():
            found += addresses(child, f"{at}/{escape(key)}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            found += addresses(child, f"{at}/#{index}")
            if isinstance(child, dict) and "name" in child:
                found += addresses(child, f"{at}/@{escape(child['name'])}")
    return found


@st.composite
def records(draw: st.DrawFn, value: Json) -> list[list[Any]]:
    """Some records about places of an object; `-` with maps around it, `+` with new keys."""
    places = st.sampled_from(addresses(value))
    made: list[list[Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        at, op = draw(places), draw(st.sampled_from("-=~+"))
        new = draw(st.sampled_from(VALUES))
        match op:
            case "-":
                made.append([op, at, draw(st.integers(0, 4))])
            case "~":
                made.append([op, at, f" {json.dumps(new)}"])
            case "=":
                made.append([op, at, new])
            case _:
                made.append([op, f"{at}/{escape(draw(st.sampled_from(KEYS)))}", new])
    own = value["metadata"].get("annotations", {}).get(ORIGINAL)
    genuine = json.loads(own) if own else [["-", "/metadata/annotations/contrast-krm.dev~1original", 1]]
    chosen = genuine if draw(st.booleans()) else [genuine[-1]]
    return draw(st.permutations([*made, *chosen])) if draw(st.booleans()) else [*made, *chosen]


def marked(value: Json, undo: list[list[Any]]) -> Json:
    annotations = {**value["metadata"].get("annotations", {}), ORIGINAL: json.dumps(undo)}
    return {**value, "metadata": {**value["metadata"], "annotations": annotations}}


def without(entries: list[Json] | None, *names: str) -> list[Json]:
    return [entry for entry in entries or [] if entry["name"] not in names]


def stripped(value: Json) -> Json:
    """An object without anything that a render adds; images and the class may stay as a render left them."""
    value = deepcopy(value)
    template = dig(value, KINDS[value["kind"]][1])
    spec = template["spec"]
    spec["initContainers"] = without(spec.get("initContainers"), *NAMES)
    spec["volumes"] = without(spec.get("volumes"), *VOLUMES)
    for container in (*spec["initContainers"], *spec["containers"]):
        container["volumeMounts"] = without(container.get("volumeMounts"), "contrast-secrets")
    for metadata in (template["metadata"], value["metadata"]):
        notes = metadata.get("annotations") or {}
        ours = (ORIGINAL, INITDATA, "io.katacontainers.config.hypervisor.snp_")
        metadata["annotations"] = {key: text for key, text in notes.items() if not key.startswith(ours)}
    return value


def normal(value: Any) -> Any:
    """A value without records, and without maps and lists of which nothing is left."""
    if isinstance(value, dict):
        kept = {key: normal(child) for key, child in value.items() if key != ORIGINAL}
        return {key: child for key, child in kept.items() if child not in ({}, [], None)}
    return [normal(child) for child in value] if isinstance(value, list) else value


def workload(objects: list[Any]) -> Any:
    (found,) = (value for value in objects if value.get("metadata", {}).get("name") == "web" and value["kind"] in KINDS)
    return normal(found)


EXPECTED = {
    (name, index): workload(values(good(coordinator(), stripped(value))))
    for name, pair in OBJECTS.items()
    for index, value in enumerate(pair)
}


@pytest.mark.parametrize("index", [0, 1], ids=["of the input", "rendered before"])
@pytest.mark.parametrize("name", PODS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_render_fails_or_seals_the_pod_of_the_input(name: str, index: int, data: st.DataObject) -> None:
    value = OBJECTS[name][index]
    undo = data.draw(records(value))
    made = run(coordinator(), marked(value, undo), to=config(images=LOCK))
    if made.failed:
        assert made.added == ()
        return
    assert workload(values(made)) == EXPECTED[name, index]
    assert not [one for one in values(made) if one["kind"] not in ("StatefulSet", "ConfigMap", value["kind"])]
    assert all(EMITTED in one["metadata"]["annotations"] for one in made.added)
