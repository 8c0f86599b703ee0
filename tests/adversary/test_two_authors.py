"""Two authors of one deployment: whatever the second writes, the first one's workloads are in the manifest as before.

The first author's objects are those of an example. The second adds workloads of their own, in another namespace or of
another name, with any kind, label and annotation: to the same render, or as a release with the first one's manifest as
base. Either the render fails, or nothing of the first author's is touched or shared.
"""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.config.collect import Config
from krm_function.contrast.manifest import decode
from krm_function.findings import Ref
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig, objects, reference
from krm_function.kubernetes.resource import Resource
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.render.select import select
from krm_function.text.parse import parse
from krm_function.text.writer import dump
from tests.test_pipeline_examples import WITH_RESOURCES, configuration, rendered, resources
from tests.world import ROLE

SECRET = "contrast.edgeless.systems/workload-secret-id"
Json = dict[str, Any]
EXAMPLES = 15  # of each property and example; make nightly tries others


@cache
def first_refs(name: str) -> tuple[Ref, ...]:
    """The workloads of the first author."""
    return tuple(one.ref for one in rendered(name).plan if one.digest)


@cache
def templates(name: str) -> tuple[Json, ...]:
    """Pod templates whose images the example has locked."""
    found = [one for each in resources(name) for one in select(parse(each.text).value).workloads]
    return tuple(one.at(one.template_path) for one in found)


@cache
def before(name: str) -> Json:
    policies: Json = decode(rendered(name).manifest)["Policies"]
    return policies


def taken(name: str) -> tuple[list[str], list[str]]:
    """The names and the secrets of the first author."""
    entries = before(name).values()
    return [san for one in entries for san in one["SANs"]], [one["WorkloadSecretID"] for one in entries]


@st.composite
def added(draw: st.DrawFn, name: str) -> Json:
    """A workload of the second author."""
    names, secrets = taken(name)
    kind = draw(st.sampled_from(sorted(KINDS)))
    called = draw(st.sampled_from(["own", "other"]) | st.sampled_from([*names, "*", "*.example.com"]))
    namespace = draw(st.sampled_from(["evil", "shop", "default", ""]))
    version, path, *_ = KINDS[kind]
    template = deepcopy(draw(st.sampled_from(templates(name))))
    metadata = template.setdefault("metadata", {})
    labels, notes = dict(metadata.get("labels") or {}), dict(metadata.get("annotations") or {})
    labels.pop(ROLE, None)
    notes.pop(SECRET, None)
    labels |= draw(st.fixed_dictionaries({}, optional={ROLE: st.sampled_from(["coordinator", "", "Coordinator"])}))
    ids = st.sampled_from([*secrets, "mine", "", "apps/v1/Deployment/elsewhere/x"])
    notes |= draw(st.fixed_dictionaries({"for": st.text("abc", max_size=3)}, optional={SECRET: ids}))
    metadata |= {"labels": labels, "annotations": notes}
    owner: Json = {"name": called} | ({"namespace": namespace} if namespace else {})
    value: Json = {"apiVersion": version, "kind": kind}
    if kind == "Pod":
        return value | {"metadata": {**metadata, **owner}, "spec": template["spec"]}
    metadata.pop("name", None)
    metadata.pop("namespace", None)
    for key in reversed(path[1:]):
        template = {str(key): template}
    return value | {"metadata": owner, "spec": template}


def as_resources(values: list[Json]) -> tuple[Resource, ...]:
    return decode_stream("".join(f"---\n{dump(value)}" for value in values).encode()).resources


def with_base(name: str) -> Config:
    """The configuration of the second author's release: without names of the first one's workloads."""
    config = configuration(name)
    base = decode(rendered(name).manifest)
    for entry in base["ReferenceValues"].get("snp") or ():  # an example may leave to its reader what only they know
        entry["MinimumTCB"] = {field: 1 if value is None else value for field, value in entry["MinimumTCB"].items()}
    options = config.generate.manifest._replace(base=base, policies={})
    return config._replace(generate=config.generate._replace(manifest=options))


def hosts(made: Rendered) -> dict[Ref, str]:
    """COORDINATOR_HOST of every initializer, by workload."""
    found: dict[Ref, str] = {}
    for text in made.texts:
        for _, value in objects(parse(text).value) if text is not None else ():
            ref = reference(value)
            pod = dig(value, (*KINDS[ref.kind][1], "spec")) if ref.kind in KINDS else None
            for container in (pod or {}).get("initContainers") or ():
                for one in container.get("env") or ():
                    if one["name"] == "COORDINATOR_HOST":
                        found[ref] = one["value"]
    return found


def alike(first: str, second: str) -> bool:
    """Whether a client may take one name for the other; said once more than the program does."""

    def covers(pattern: str, name: str) -> bool:
        rest = pattern.removeprefix("*.")
        return pattern in {name, "*"} or (rest != pattern and "." in name and name.split(".", 1)[1] == rest)

    return covers(first, second) or covers(second, first)


def untouched(name: str, made: Rendered, theirs: set[Ref]) -> None:
    """Assert the invariant. theirs: the workloads of the first author that are in this render."""
    after = decode(made.manifest)["Policies"]
    assert {digest: after.get(digest) for digest in before(name)} == before(name)
    names, secrets = taken(name)
    for digest, entry in after.items():
        if digest not in before(name):
            assert "Role" not in entry
            assert entry["WorkloadSecretID"] not in secrets
            assert not [san for san in entry["SANs"] if any(alike(san, other) for other in names)]
    told, was = hosts(made), hosts(rendered(name))
    assert {ref: told.get(ref) for ref in theirs & was.keys()} == {ref: was[ref] for ref in theirs & was.keys()}


def own(name: str, values: list[Json]) -> bool:
    """Whether no value is an object of the first author."""
    keys = {(ref.kind, ref.namespace or "default", ref.name) for ref in first_refs(name)}
    keys |= {(kind, "shop", called) for kind, space, called in keys if space == "default"}
    refs = [reference(value) for value in values]
    return not any(
        (ref.kind, ref.namespace or space, ref.name) in keys for ref in refs for space in ("default", "shop")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_RESOURCES)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_in_one_render_nothing_of_the_first_author_changes(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(added(name), min_size=1, max_size=2).filter(lambda values: own(name, values)))
    place = data.draw(st.sampled_from([0, 1, len(resources(name))]))
    firsts = resources(name)
    made = render((*firsts[:place], *as_resources(values), *firsts[place:]), configuration(name))
    if not made.failed:
        untouched(name, made, set(first_refs(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_RESOURCES)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_upon_a_base_nothing_of_the_first_author_changes(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(added(name), min_size=1, max_size=2).filter(lambda values: own(name, values)))
    made = render(as_resources(values), with_base(name))
    if not made.failed:
        untouched(name, made, set())


@pytest.mark.parametrize("name", WITH_RESOURCES)
@pytest.mark.parametrize("chosen", [None, "mine"])
def test_an_honest_second_author_is_let_in(name: str, chosen: str | None) -> None:
    plain = next(one for one in templates(name) if ROLE not in (dig(one, ("metadata", "labels")) or {}))
    annotations = {"for": "x"} | ({SECRET: chosen} if chosen else {})
    template = plain | {"metadata": {**plain.get("metadata", {}), "annotations": annotations}}
    value = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "own", "namespace": "shop"}}
    second = as_resources([value | {"spec": {"template": template}}])
    for made in (render((*resources(name), *second), configuration(name)), render(second, with_base(name))):
        assert [one for one in made.findings if one.severity == "error" and one.code.startswith("CC07")] == []
