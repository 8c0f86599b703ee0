from pathlib import Path
from typing import Any

import pytest

from krm_function.kubernetes.pod_fields import ANY_MAP, TYPES
from krm_function.policy.pod_metadata import use_of
from krm_function.schema.values import Anything, Flag, ListOf, MapOf, Number, Only, Record, Spec, Text
from tests.policy import pods

Json = dict[str, Any]

# shape -> a pod spec around one value of that shape
AROUND: dict[str, Any] = {
    "PodSpec": lambda value: {"containers": [{"name": "a", "image": "i"}], **value},
    "Container": lambda value: {"containers": [{"name": "a", "image": "i", **value}]},
    "PodSecurityContext": lambda value: AROUND["PodSpec"]({"securityContext": value}),
    "SecurityContext": lambda value: AROUND["Container"]({"securityContext": value}),
    "Capabilities": lambda value: AROUND["SecurityContext"]({"capabilities": value}),
    "Sysctl": lambda value: AROUND["PodSecurityContext"]({"sysctls": [{"name": "n", "value": "v", **value}]}),
    "EnvVar": lambda value: AROUND["Container"]({"env": [{"name": "A", **value}]}),
    "EnvVarSource": lambda value: AROUND["EnvVar"]({"valueFrom": {"resourceFieldRef": {}, **value}}),
    "KeySelector": lambda value: AROUND["EnvVarSource"]({"secretKeyRef": {"name": "keys", "key": "token", **value}}),
    "FieldSelector": lambda value: AROUND["EnvVarSource"]({"fieldRef": {"fieldPath": "metadata.name", **value}}),
    "ResourceSelector": lambda value: AROUND["EnvVar"]({"valueFrom": {"resourceFieldRef": value}}),
    "EnvFromSource": lambda value: AROUND["Container"]({"envFrom": [value]}),
    "EnvSource": lambda value: AROUND["EnvFromSource"]({"configMapRef": {"name": "look", **value}}),
    "ResourceRequirements": lambda value: AROUND["Container"]({"resources": value}),
    "VolumeDevice": lambda value: AROUND["Container"]({"volumeDevices": [{"name": "v", "devicePath": "/d", **value}]}),
    "VolumeMount": lambda value: {
        **AROUND["Container"]({"volumeMounts": [{"name": "v", "mountPath": "/m", **value}]}),
        "volumes": [{"name": "v"}],
    },
    "Probe": lambda value: AROUND["Container"]({"startupProbe": value}),
    "Lifecycle": lambda value: AROUND["Container"]({"lifecycle": value}),
    "Handler": lambda value: AROUND["Lifecycle"]({"preStop": value}),
    "ExecAction": lambda value: AROUND["Probe"]({"exec": value}),
    "Volume": lambda value: AROUND["PodSpec"]({"volumes": [{"name": "v", **value}]}),
    "Projection": lambda value: AROUND["Volume"]({"projected": {"sources": [value]}}),
    "ClaimTemplate": lambda value: AROUND["Volume"]({"ephemeral": {"volumeClaimTemplate": value}}),
    "ClaimSpec": lambda value: AROUND["ClaimTemplate"]({"spec": value}),
    "HostPath": lambda value: AROUND["Volume"]({"hostPath": {"path": "/p", **value}}),
}


def _volume(source: str) -> Any:
    return lambda value: AROUND["Volume"]({source: value})


# every other kind of volume
NAMES = {id(known): name for name, known in TYPES.items()}
AROUND |= {
    NAMES[id(field.spec)]: _volume(source)
    for source, field in TYPES["Volume"].fields.items()
    if id(field.spec) in NAMES and NAMES[id(field.spec)] not in AROUND
}

ALL = [(shape, name, field) for shape, known in TYPES.items() for name, field in known.fields.items()]
REFUSED = [(shape, name) for shape, name, field in ALL if use_of(field) == "refused"]
INERT = [(shape, name) for shape, name, field in ALL if use_of(field) == "inert"]
HARMLESS = [
    (shape, name, value) for shape, name, field in ALL if isinstance(field.spec, Only) for value in field.spec.values
]
SHAPED = [(shape, name) for shape, name, field in ALL if use_of(field) == "policy"]


# a value for each type that an inert field may have
SOMETHING: dict[type, Any] = {
    Anything: {"any": ["thing"]},
    Record: {"any": ["thing"]},
    MapOf: {"any": "thing"},
    ListOf: [{"any": "thing"}],
    Text: "anything",
    Number: 7,
    Flag: True,
}


def test_the_table_is_closed() -> None:
    assert AROUND.keys() == TYPES.keys()
    for _, _, field in ALL:
        assert (use_of(field) == "refused") == isinstance(field.spec, Only)
        if use_of(field) == "policy":
            assert inner(field.spec) in NAMES.values() or holds(field.spec) != "?"


def inner(spec: Spec) -> str:
    """The name of the type that a spec holds, "" if it is none of the table's."""
    return NAMES.get(id(spec.items if isinstance(spec, ListOf) else spec), "")


def holds(spec: Spec) -> str:
    """A spec in the words of the list of the API's fields."""
    match spec:
        case ListOf():
            return f"[{holds(spec.items)}]"
        case Text():
            return "string"
        case Number():
            return "integer"
        case Flag():
            return "boolean"
        case Record(closed=False):
            return "map"
        case _:
            return "?"


@pytest.mark.parametrize(("shape", "name"), REFUSED)
def test_a_refused_field_is_a_finding(shape: str, name: str) -> None:
    found = pods.refused(pods.workload(AROUND[shape]({name: "anything"})))

    assert len(found) == 1
    assert found[0][0] == "CC0601"
    assert found[0][1].split(".")[-1] == name


@pytest.mark.parametrize(("shape", "name", "value"), HARMLESS)
def test_the_value_kubernetes_assumes_is_none(shape: str, name: str, value: Any) -> None:
    assert (
        pods.sealed(pods.workload(AROUND[shape]({name: value}))).data
        == pods.sealed(pods.workload(AROUND[shape]({}))).data
    )


@pytest.mark.parametrize(("shape", "name"), INERT)
def test_an_inert_field_changes_nothing(shape: str, name: str) -> None:
    around = AROUND[shape]
    anything = SOMETHING[type(TYPES[shape].fields[name].spec)]
    assert pods.sealed(pods.workload(around({name: anything}))).digest == pods.sealed(pods.workload(around({}))).digest


@pytest.mark.parametrize(("shape", "name"), SHAPED)
def test_a_field_of_the_policy_has_its_type(shape: str, name: str) -> None:
    assert "CC0207" in {code for code, _ in pods.refused(pods.workload(AROUND[shape]({name: 1.5})))}


@pytest.mark.parametrize(("shape", "name"), [*REFUSED, *INERT])
def test_null_is_absent(shape: str, name: str) -> None:
    assert pods.sealing(pods.workload(AROUND[shape]({name: None}))) == pods.sealing(pods.workload(AROUND[shape]({})))


@pytest.mark.parametrize("shape", TYPES)
def test_an_unknown_field_is_a_finding(shape: str) -> None:
    found = pods.refused(pods.workload(AROUND[shape]({"bogus": None})))

    assert [place[-5:] for code, place in found if code == "CC0605"] == ["bogus"]
    assert found[0][0] == "CC0605"


def test_an_unknown_field_comes_with_a_suggestion_and_its_place() -> None:
    _, findings = pods.sealing(pods.simple(volumeMount=[]))

    assert [(found.code, found.hint) for found in findings] == [("CC0605", "did you mean volumeMounts?")]
    assert findings[0].path == ("spec", "template", "spec", "containers", 0, "volumeMount")


def test_missing_fields_are_named() -> None:
    found = pods.refused(pods.workload({"containers": [{"image": "i"}, {"name": "b"}], "volumes": [{}]}))

    assert found == [("CC0604", "containers[0]"), ("CC0604", "containers[1]"), ("CC0604", "volumes[0]")]
    assert pods.refused(pods.workload({})) == [("CC0604", "")]


def test_numbers_are_no_strings_and_true_is_no_number() -> None:
    spec = {
        "containers": [{"name": "a", "image": "i", "args": [1], "env": [{"name": "A", "value": True}]}],
        "securityContext": {"runAsUser": True, "supplementalGroups": ["1"]},
    }
    assert pods.refused(pods.workload(spec)) == [
        ("CC0207", "containers[0].args[0]"),
        ("CC0207", "containers[0].env[0].value"),
        ("CC0207", "securityContext.runAsUser"),
        ("CC0207", "securityContext.supplementalGroups[0]"),
    ]


# --- the fields of the API itself: tools/make_pod_fields.py

FIELDS = (Path(__file__).parent / "data" / "pod_fields.txt").read_text().splitlines()
API: dict[str, dict[str, str]] = {}
for line in FIELDS[1:]:
    kind, name, type_name = line.replace(": ", " ", 1).split(" ", 2)
    API.setdefault(kind, {})[name] = type_name
# in the table, and in an earlier release of Kubernetes only
EARLIER = {"PodSpec": {"workloadRef"}}


def _pairs() -> dict[str, set[str]]:
    """Every shape of the table and the types of the API that are read as it."""
    found: dict[str, set[str]] = {}
    waiting = [("PodSpec", "PodSpec")]
    while waiting:
        shape, kind = waiting.pop()
        if kind in found.setdefault(shape, set()):
            continue
        found[shape].add(kind)
        for name, field in TYPES[shape].fields.items():
            within, of_api = inner(field.spec), API[kind].get(name, "").strip("[]")
            if within and of_api:
                waiting.append((within, of_api))
    return found


PAIRS = [(shape, kind) for shape, kinds in _pairs().items() for kind in sorted(kinds)]


def test_the_list_is_of_the_api_that_the_table_names() -> None:
    assert FIELDS[0].endswith("API release-1.37")
    assert {shape for shape, _ in PAIRS} == TYPES.keys()


@pytest.mark.parametrize(("shape", "kind"), PAIRS)
def test_every_field_of_the_api_is_classified_and_no_other(shape: str, kind: str) -> None:
    assert TYPES[shape].fields.keys() - EARLIER.get(shape, set()) == API[kind].keys()


@pytest.mark.parametrize(("shape", "kind"), PAIRS)
def test_what_is_read_has_the_type_of_the_api(shape: str, kind: str) -> None:
    for name, field in TYPES[shape].fields.items():
        if (
            isinstance(field.spec, Text | Number | Flag | ListOf)
            and not inner(field.spec)
            and use_of(field) == "policy"
        ):
            assert holds(field.spec) == API[kind][name], name
        elif field.spec == ANY_MAP:
            assert API[kind][name][0] == "{", name
