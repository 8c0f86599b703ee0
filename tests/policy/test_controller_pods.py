"""What each word of `adds` makes of a pod, in the order of the controller: places, containers, likeness, conditions."""

from typing import Any

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.objects import maps
from krm_function.kubernetes.pod_kinds import ENTRIES, Kinds, kinds_of
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.policy.made_pod import made_pod
from krm_function.schema.table import filled, read_value

Json = dict[str, Any]


def workload(adds: Json, pod: Json, spec: Json | None = None, **entry: Any) -> Workload:
    """The workload of an object whose kind has an entry with these `adds`."""
    one = {"path": "spec.template", "adds": adds, **entry}
    reading = read_value(ENTRIES, [{"group": "example.com", "kind": "Fleet", "templates": [one]}])
    assert not reading[1]
    kinds = Kinds(kinds_of(filled(ENTRIES, reading[0]), "configuration"))
    value = {
        "apiVersion": "example.com/v1",
        "kind": "Fleet",
        "metadata": {"name": "llm", "namespace": "shop"},
        "spec": {**(spec or {}), "template": {"metadata": {}, "spec": pod}},
    }
    (made,) = workloads_of(value, (), Ref("example.com/v1", "Fleet", "shop", "llm"), kinds=kinds)
    return made


def spec_of(adds: Json, pod: Json, spec: Json | None = None) -> Json:
    made, findings = made_pod(workload(adds, pod, spec))
    assert findings == []
    return made.spec


def env(container: Json) -> dict[str, str]:
    return {one["name"]: one.get("value", str(one.get("valueFrom"))) for one in maps(container.get("env"))}


POD: Json = {
    "initContainers": [{"name": "start", "image": "a"}],
    "containers": [
        {"name": "one", "image": "b", "env": [{"name": "MINE", "value": "1"}, {"name": "A", "value": "mine"}]},
        {"name": "two", "image": "c"},
    ],
}
WHO = {
    "all": ["start", "one", "two"],
    "containers": ["one", "two"],
    "first": ["one"],
    "initContainers": ["start"],
}


def everyone(spec: Json) -> list[Json]:
    return [*spec["initContainers"], *spec["containers"]]


@pytest.mark.parametrize("which", WHO)
def test_a_variable_goes_to_the_containers_that_the_entry_says(which: str) -> None:
    made = spec_of({"env": [{"name": "NEW", "value": "x", "containers": which}]}, POD)
    assert [one["name"] for one in everyone(made) if "NEW" in env(one)] == WHO[which]


@pytest.mark.parametrize("which", WHO)
def test_a_mount_goes_to_the_containers_that_the_entry_says(which: str) -> None:
    made = spec_of({"volumeMounts": [{"name": "v", "mountPath": "/v", "containers": which}]}, POD)
    assert [one["name"] for one in everyone(made) if maps(one.get("volumeMounts"))] == WHO[which]
    assert all(
        mount == {"name": "v", "mountPath": "/v"} for one in everyone(made) for mount in maps(one.get("volumeMounts"))
    )


@pytest.mark.parametrize(
    ("place", "names", "value"),
    [
        (None, ["A", "MINE"], "theirs"),
        ("first", ["A", "MINE"], "theirs"),
        ("last", ["MINE", "A", "A"], "theirs"),
        ("missing", ["MINE", "A"], "mine"),
    ],
)
def test_a_variable_that_the_template_has_too(place: str | None, names: list[str], value: str) -> None:
    entry = {"name": "A", "value": "theirs", **({"place": place} if place else {})}
    one = spec_of({"env": [entry]}, POD)["containers"][0]
    assert [each["name"] for each in one["env"]] == names
    assert env(one)["A"] == value


def test_a_missing_variable_stands_behind_those_of_the_template() -> None:
    made = spec_of({"env": [{"name": "B", "value": "x", "place": "missing"}]}, POD)
    assert list(env(made["containers"][0])) == ["MINE", "A", "B"]


def test_a_variable_of_a_field_of_the_pod() -> None:
    made = spec_of({"env": [{"name": "B", "fieldPath": "metadata.name"}]}, POD)
    assert made["containers"][1]["env"] == [{"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]


def test_conditions_of_variables() -> None:
    adds = {
        "env": [
            {"name": "A1", "value": "x", "when": {"spec.mode": ["fast"]}},
            {"name": "A2", "value": "x", "unless": {"spec.mode": ["fast"]}},
        ]
    }
    assert list(env(spec_of(adds, POD, {"mode": "fast"})["containers"][1])) == ["A1"]
    assert list(env(spec_of(adds, POD)["containers"][1])) == ["A2"]


def test_an_init_container_like_the_first_one() -> None:
    first = {
        "name": "one",
        "image": "b",
        "imagePullPolicy": "Always",
        "env": [{"name": "MINE", "value": "1"}],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "securityContext": {"runAsUser": 7},
        "command": ["/one"],
        "ports": [{"containerPort": 1}],
    }
    adds = {
        "initContainers": [{"name": "wait", "like": "first", "command": ["/wait"], "args": ["{metadata.name}"]}],
        "env": [{"name": "THEIRS", "value": "x", "containers": "first"}],
    }
    made = spec_of(adds, {"containers": [first]})
    (wait,) = made["initContainers"]
    shared = ("image", "imagePullPolicy", "env", "volumeMounts", "securityContext")
    assert wait == {"name": "wait", "command": ["/wait"], "args": ["llm"], **{key: first[key] for key in shared}}


def test_an_init_container_of_its_own_replaces_one_of_its_name() -> None:
    made = spec_of({"initContainers": [{"name": "start", "image": "z"}]}, POD)
    assert made["initContainers"] == [{"name": "start", "image": "z"}]
    made = spec_of({"initContainers": [{"name": "wait", "image": "z"}]}, POD)
    assert [one["name"] for one in made["initContainers"]] == ["start", "wait"]


def test_the_process_of_a_template_without_one() -> None:
    adds = {"process": [{"command": ["/run"], "args": ["--of={metadata.name}", "{number}"], "instead": "write it"}]}
    one, two = spec_of(adds, POD)["containers"]
    assert (one["command"], one["args"]) == (["/run"], ["--of=llm", "\0pod-index\0"])
    assert "command" not in two


@pytest.mark.parametrize("own", [{"command": ["/mine"]}, {"args": ["mine"]}])
def test_the_process_of_a_template_that_has_one_is_refused_with_what_to_do(own: Json) -> None:
    adds = {"process": [{"command": ["/run"], "instead": "write it all"}]}
    made, findings = made_pod(workload(adds, {"containers": [{"name": "one", "image": "b", **own}]}))
    assert [(one.code, one.hint) for one in findings] == [("CC0694", "write it all")]
    assert made.spec["containers"][0].get("command") == own.get("command")


def test_a_condition_keeps_the_process_and_its_refusal_away() -> None:
    adds = {"process": [{"command": ["/run"], "instead": "x", "unless": {"spec.own": ["true"]}}]}
    pod = {"containers": [{"name": "one", "image": "b", "command": ["/mine"]}]}
    assert spec_of(adds, pod, {"own": True})["containers"][0]["command"] == ["/mine"]


def test_probes_where_the_template_has_none() -> None:
    adds = {
        "probes": [{"name": name, "command": ["/p", "{spec.port=80}"]} for name in ("livenessProbe", "startupProbe")]
    }
    mine = {"httpGet": {"port": 1}}
    pod = {"containers": [{"name": "one", "image": "b", "livenessProbe": mine}, {"name": "two", "image": "c"}]}
    one, two = spec_of(adds, pod)["containers"]
    assert one["livenessProbe"] == mine
    assert one["startupProbe"] == {"exec": {"command": ["/p", "80"]}}
    assert "startupProbe" not in two


SHM = {"name": "shm", "emptyDir": {"medium": "Memory"}}


@pytest.mark.parametrize(
    ("mounted", "own", "volumes"),
    [
        (True, [], [SHM]),
        (False, [], None),
        (True, [{"name": "shm", "emptyDir": {}}], [{"name": "shm", "emptyDir": {}}]),
    ],
)
def test_a_volume_for_missing_is_there_if_it_is_mounted(*, mounted: bool, own: list[Json], volumes: Any) -> None:
    adds = {"volumes": [{**SHM, "place": "missing"}]}
    mounts = [{"name": "shm", "mountPath": "/cache"}] if mounted else []
    pod = {"containers": [{"name": "one", "image": "b", "volumeMounts": mounts}], **({"volumes": own} if own else {})}
    assert spec_of(adds, pod).get("volumes") == volumes


def test_a_volume_and_a_mount_replace_what_the_template_has() -> None:
    adds = {"volumes": [SHM], "volumeMounts": [{"name": "shm", "mountPath": "/cache"}]}
    mine = [{"name": "mine", "mountPath": "/cache"}]
    pod = {
        "containers": [{"name": "one", "image": "b", "volumeMounts": mine}],
        "volumes": [{"name": "shm", "hostPath": {}}],
    }
    made = spec_of(adds, pod)
    assert made["volumes"] == [SHM]
    assert made["containers"][0]["volumeMounts"] == [{"name": "shm", "mountPath": "/cache"}]


def test_a_mount_for_missing_leaves_a_path_that_is_taken() -> None:
    adds = {"volumeMounts": [{"name": "shm", "mountPath": "/cache", "place": "missing"}]}
    mine = [{"name": "mine", "mountPath": "/cache"}]
    pod = {"containers": [{"name": "one", "image": "b", "volumeMounts": mine}]}
    assert spec_of(adds, pod)["containers"][0]["volumeMounts"] == mine


def test_labels_and_annotations_are_texts_of_the_object() -> None:
    adds = {"labels": {"a": "{metadata.name}"}, "annotations": {"b": "{hash}"}}
    made, findings = made_pod(workload(adds, POD))
    assert findings == []
    assert dict(made.controlled) == {("labels", "a"): "llm", ("annotations", "b"): "\0controller-hash\0"}


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        ([], ""),
        (["{metadata.name}-{number}"], "llm-[0-9]{1,10}"),
        (["{metadata.name}", "other"], "(?:llm|other)"),
    ],
)
def test_names_of_pods(names: list[str], pattern: str) -> None:
    made, findings = made_pod(workload({}, POD, names=names))
    assert (made.name_pattern, findings) == (pattern, [])


def test_refuses_has_a_reason_and_a_remedy() -> None:
    refuses = [
        {"reason": "it is slow", "instead": "be fast", "when": {"spec.mode": ["slow"]}},
        {"reason": "never", "instead": "x", "when": {"spec.mode": ["other"]}},
    ]
    _, findings = made_pod(workload({}, POD, {"mode": "slow"}, refuses=refuses))
    assert [(one.code, one.hint) for one in findings] == [("CC0694", "be fast")]
    assert "it is slow" in findings[0].message


def test_a_field_that_the_object_does_not_have_is_an_error_with_its_place() -> None:
    _, findings = made_pod(workload({"env": [{"name": "A", "value": "{spec.size}"}]}, POD))
    assert [(one.code, one.path) for one in findings] == [("CC0690", ("spec", "size"))]


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH"])
def test_no_form_for_a_variable_that_steers_a_program(name: str) -> None:
    _, findings = made_pod(workload({"env": [{"name": name, "value": "/x/{hash}"}]}, POD))
    assert [one.code for one in findings] == ["CC0693"]
    _, findings = made_pod(workload({"env": [{"name": name, "value": "/x/{metadata.name}"}]}, POD))
    assert findings == []
