"""Each word of an entry of spec.podTemplates: what may stand behind it, and what is said of anything else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import dotted
from krm_function.kubernetes.pod_kinds import ADDS, BESIDE, ENTRIES, KIND_ENTRY
from krm_function.schema.check import faults
from krm_function.schema.table import read_value

Json = dict[str, Any]
TEMPLATES: Any = KIND_ENTRY.fields["templates"].spec
GOOD: Json = {
    "group": "example.com",
    "kind": "Fleet",
    "versions": ["v1", "v1beta1"],
    "sources": ["example.com/fleet@v1.2.3, pkg/pods.go"],
    "templates": [
        {
            "path": "spec.groups[*].dlrover-master.template",
            "part": "group-{.name}",
            "names": ["{metadata.name}-{number}", "{metadata.name}-{suffix}"],
            "longestName": 52,
            "when": {"spec.mode": ["Fast", ""], ".params['num-cpus']": [">=2.53"]},
            "unless": {"metadata.annotations['example.com/off']": ["true"]},
            "claims": "spec.volumeClaimTemplates",
            "refuses": [{"reason": "why", "instead": "what", "when": {"spec.mode": ["Slow"]}}],
            "warns": [{"reason": "why", "instead": "what", "unless": {"spec.mode": [""]}}],
            "adds": {
                "labels": {"example.com/fleet": "{metadata.name}"},
                "annotations": {"example.com/hash": "{hash}"},
                "env": [
                    {"name": "SIZE", "value": "{spec.size=1}", "place": "missing", "containers": "first"},
                    {"name": "NAME", "fieldPath": "metadata.name", "place": "last", "containers": "initContainers"},
                ],
                "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}, "place": "missing"}],
                "volumeMounts": [{"name": "shm", "mountPath": "/cache", "containers": "containers"}],
                "initContainers": [
                    {"name": "wait", "like": "first", "command": ["/wait", "{spec.size=1}"], "args": []}
                ],
                "process": [{"command": ["/run"], "args": ["{pod}"], "instead": "write a command"}],
                "probes": [{"name": "livenessProbe", "command": ["/probe"]}],
            },
        }
    ],
}


def said(entry: Json) -> list[str]:
    """What is wrong with one entry, each with its place."""
    return [f"{dotted(one.path[1:])} {one.problem}" for one in read_value(ENTRIES, [entry])[1]]


def changed(path: str, value: Any) -> Json:
    """The good entry with another value at a path such as `templates.0.path`; None leaves the field out."""
    made: Any = GOOD
    steps = [int(step) if step.isdigit() else step for step in path.split(".")]

    def put(at: Any, rest: list[Any]) -> Any:
        copy: Any = dict(at) if isinstance(at, dict) else list(at)
        if len(rest) > 1:
            copy[rest[0]] = put(at[rest[0]], rest[1:])
        elif value is None:
            del copy[rest[0]]
        else:
            copy[rest[0]] = value
        return copy

    entry: Json = put(made, steps)
    return entry


def test_every_word_has_a_good_form() -> None:
    assert said(GOOD) == []
    (template,) = GOOD["templates"]
    assert set(KIND_ENTRY.fields) - set(GOOD) == {"refused", "instead"}  # in place of templates
    assert set(TEMPLATES.items.fields) == set(template)
    assert set(ADDS.fields) == set(template["adds"])
    assert said({"group": "example.com", "kind": "Fleet", "refused": "a reason", "instead": "a remedy"}) == []


ADDED = "templates.0.adds"
FORMS = "number, index, suffix, templateHash, hash, pod, digest, uid"
A_TEXT = f"has {{spec size}}, which is no field of the object and none of {FORMS}"
BRACE = "has a brace without its other one; write {{ or }} for a brace"
BAD = [
    ("group", "Example", "group must be an API group, such as example.com"),
    ("group", "apps", "group must be an API group, such as example.com"),
    ("group", None, "group is missing"),
    ("kind", "fleet", "kind must be a kind, such as Thing"),
    ("kind", None, "kind is missing"),
    ("versions", ["1"], "versions[0] must be a version, such as v1"),
    ("versions", "v1", "versions must be a list"),
    ("sources", ["two\nlines"], "sources[0] must be a source"),
    ("templates", None, "needs either templates or refused"),
    ("refused", "a reason", "needs either templates or refused"),
    ("templates.0.path", "spec..template", "templates[0].path must be a path such as spec.workers[*].template"),
    ("templates.0.path", "spec.list[0]", "templates[0].path must be a path such as spec.workers[*].template"),
    ("templates.0.path", None, "templates[0].path is missing"),
    ("templates.0.part", "{spec size}", f"templates[0].part {A_TEXT}"),
    ("templates.0.names", ["{"], f"templates[0].names[0] {BRACE}"),
    ("templates.0.names", ["a}"], f"templates[0].names[0] {BRACE}"),
    ("templates.0.names", "one", "templates[0].names must be a list"),
    ("templates.0.longestName", 0, "templates[0].longestName must be "),
    ("templates.0.when", {"spec mode": ["a"]}, "must be a field of the object"),
    ("templates.0.when", {"spec.mode": "a"}, "must be a list"),
    ("templates.0.unless", {"spec.mode": [1]}, "must be a string"),
    ("templates.0.unless", [], "templates[0].unless must be a map"),
    ("templates.0.claims", "spec.claims", "templates[0].claims must be one of spec.volumeClaimTemplates"),
    ("templates.0.refuses", [{"reason": "why"}], "templates[0].refuses[0].instead is missing"),
    ("templates.0.refuses", [{"instead": "what"}], "templates[0].refuses[0].reason is missing"),
    ("templates.0.warns", [{"reason": "a\nb", "instead": "c"}], "templates[0].warns[0].reason must be a sentence"),
    ("templates.0.also", "x", "templates[0].also unknown field"),
    (f"{ADDED}.sidecars", [], "must be one of labels, annotations, env"),
    (f"{ADDED}.labels", {"a b": "c"}, "must be a label or annotation key"),
    (f"{ADDED}.labels", {"a": "{spec size}"}, f"templates[0].adds.labels.a {A_TEXT}"),
    (f"{ADDED}.annotations", {"a": 1}, "templates[0].adds.annotations.a must be a string"),
    (f"{ADDED}.annotations", {"a": "b\0"}, "contains a NUL byte"),
    (f"{ADDED}.env.0.name", "1A", "templates[0].adds.env[0].name must be the name of a variable"),
    (f"{ADDED}.env.0.value", None, "templates[0].adds.env[0] needs either value or fieldPath"),
    (f"{ADDED}.env.0.fieldPath", "metadata.name", "templates[0].adds.env[0] needs either value or fieldPath"),
    (f"{ADDED}.env.0.containers", "second", "templates[0].adds.env[0].containers must be one of all, containers"),
    (f"{ADDED}.env.0.place", "middle", "templates[0].adds.env[0].place must be one of first, last, missing"),
    (f"{ADDED}.env.0.when", {"": ["a"]}, "must be a field of the object"),
    (f"{ADDED}.volumes.0.place", "middle", "templates[0].adds.volumes[0].place must be one of first, last, missing"),
    (f"{ADDED}.volumeMounts.0.containers", "second", "templates[0].adds.volumeMounts[0].containers must be one of"),
    (f"{ADDED}.initContainers.0.like", "second", "templates[0].adds.initContainers[0].like must be one of first"),
    (f"{ADDED}.initContainers.0.command", "/wait", "templates[0].adds.initContainers[0].command must be a list"),
    (f"{ADDED}.initContainers.0.args", ["{x y}"], "which is no field of the object"),
    (f"{ADDED}.process.0.instead", None, "templates[0].adds.process[0].instead is missing"),
    (f"{ADDED}.process.0.command", "/run", "templates[0].adds.process[0].command must be a list"),
    (f"{ADDED}.probes.0.name", "probe", "templates[0].adds.probes[0].name must be one of livenessProbe"),
    (f"{ADDED}.probes.0.command", None, "templates[0].adds.probes[0].command is missing"),
]


@pytest.mark.parametrize(("path", "value", "problem"), BAD, ids=[f"{path}-{value}" for path, value, _ in BAD])
def test_anything_else_is_named_with_its_place(path: str, value: Any, problem: str) -> None:
    found = said(changed(path, value))
    assert len(found) == 1, found
    assert problem in found[0]


def test_every_word_has_a_bad_form() -> None:
    words = {step for path, _, _ in BAD for step in path.split(".") if not step.isdigit()}
    named = {*KIND_ENTRY.fields, *TEMPLATES.items.fields, *ADDS.fields, *BESIDE.fields, "name", "value", "fieldPath"}
    assert named <= words


def test_a_kind_is_there_once() -> None:
    twice = read_value(ENTRIES, [GOOD, {**GOOD, "versions": ["v2"]}])[1]
    assert [(one.path, one.problem) for one in twice] == [((1,), "is there twice")]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted({path for path, _, _ in BAD})), values)
def test_no_value_anywhere_raises(path: str, value: Any) -> None:
    entry = changed(path.rpartition(".")[0] or "kind", {path.rpartition(".")[2]: value})
    found = read_value(ENTRIES, [entry])
    assert all(one.problem for one in found[1])
    assert list(faults(ENTRIES, found[0])) == list(found[1])
