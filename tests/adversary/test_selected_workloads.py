"""The configuration names a workload: nothing that an author of the input writes keeps its pods out of their VM.

And the other way round: a record that takes a runtime class away counts only where the configuration gives one again.
"""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.cli.lock_task import needed
from krm_function.config.collect import Config
from krm_function.config.generate import WorkloadEntry
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import EMITTED, LOCAL_CONFIG, ORIGINAL
from krm_function.render.rendered import Rendered
from krm_function.text.writer import dump
from tests import quick_yaml as yaml
from tests.adversary.record_cases import CLASS, OWN, POD, plain, rendered
from tests.adversary.test_any_record import marked, records
from tests.hosts.running import called
from tests.world import HANDLERS, SKIP, WEB, an_object, codes, config, coordinator, good, pod_spec, run, stream, values

Json = dict[str, Any]
ENTRY = WorkloadEntry("Deployment", "web", platform="metal-qemu-snp")
TO = config(workloads=(ENTRY,))
WITHOUT = config()
PLAIN = config(workloads=(ENTRY._replace(platform="", plain="static pages"),))
HANDLER = HANDLERS["metal-qemu-snp"]
BARE = an_object(spec=pod_spec(runtimeClassName=None))


def with_record(value: Json, *found: list[Any]) -> Json:
    value = deepcopy(value)
    notes = {**value["metadata"].get("annotations", {}), ORIGINAL: json.dumps([*found, OWN])}
    return {**value, "metadata": {**value["metadata"], "annotations": notes}}


def output(to: Config = TO) -> Json:
    """The named Deployment as a render with its entry leaves it."""
    made: Json = values(good(coordinator(), BARE, to=to))[1]
    return made


def is_sealed(made: Rendered) -> bool:
    found = [value for value in values(made) if value["metadata"]["name"] == "web"]
    return all(value["spec"]["template"]["spec"].get("runtimeClassName") == HANDLER for value in found) and bool(found)


MARKS: dict[str, Any] = {
    "config.kubernetes.io/local-config": "true",
    EMITTED: "true",
    LOCAL_CONFIG: "true",
    "contrast-krm.dev/plain": "true",
    "contrast-krm.dev/skip": "true",
    SKIP: "true",
    "helm.sh/hook": "test",
    "config.k8s.io/function": "x",
}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("field", ["annotations", "labels"])
@pytest.mark.parametrize("place", [(), ("spec", "template")])
def test_no_annotation_and_no_label_deselects(mark: str, field: str, place: tuple[str, ...]) -> None:
    value = deepcopy(BARE)
    dig(value, (*place, "metadata")).setdefault(field, {})[mark] = MARKS[mark]
    made = run(coordinator(), value, to=TO)
    assert codes(made) or is_sealed(made)


@pytest.mark.parametrize("records_written", [[["-", CLASS]], [["=", CLASS, "runc"]], [["=", CLASS, ""]], []])
@pytest.mark.parametrize("own", [None, "contrast-cc", HANDLER, "runc", "gvisor"])
def test_no_record_deselects(own: str | None, records_written: list[Any]) -> None:
    value = with_record(an_object(spec=pod_spec(runtimeClassName=own)), *records_written)
    made = run(coordinator(), value, to=TO)
    assert codes(made) or is_sealed(made)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_record_at_all_ends_in_a_sealed_pod_or_in_an_error(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from([BARE, plain(), OUTPUT]))
    made = run(coordinator(), marked(value, data.draw(records(value))), to=TO)
    assert codes(made) or is_sealed(made)


OUTPUT = output()


@pytest.mark.parametrize("to", [WITHOUT, PLAIN], ids=["no entry", "plain"])
@pytest.mark.parametrize("value", [OUTPUT, with_record(rendered(), ["-", CLASS])], ids=["genuine", "forged"])
def test_a_class_never_goes_where_the_configuration_gives_none(to: Config, value: Json) -> None:
    made = run(coordinator(), value, to=to)
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert (found.code, found.path[-1]) == ("CC0115", ORIGINAL)
    assert "removes runtimeClassName" in found.message
    assert "spec.workloads" in found.hint
    assert made.texts == tuple(one.text for one in stream(coordinator(), value))


def test_lock_does_not_take_images_out_of_such_an_output_either() -> None:
    found = needed(stream(coordinator(), OUTPUT), WITHOUT)
    assert "CC0115" in [one.code for one in found.findings]
    assert not found.images


def test_lock_sees_the_images_of_the_workloads_that_entries_name() -> None:
    assert WEB in [str(image) for image in map(_reference, needed(stream(coordinator(), BARE), TO).images)]


def _reference(image: Any) -> str:
    return f"{image.name}@{image.digest}"


def test_a_stream_of_nothing_but_such_an_output_is_an_error_without_the_entry() -> None:
    made = run(OUTPUT, to=WITHOUT)
    assert codes(made) == ["CC0291", "CC0115"]


def test_another_platform_in_the_entry_moves_the_pods_of_an_output() -> None:
    moved = config(workloads=(ENTRY._replace(platform="metal-qemu-tdx"),))
    made = good(coordinator(), OUTPUT, to=moved)
    assert values(made)[1]["spec"]["template"]["spec"]["runtimeClassName"] == HANDLERS["metal-qemu-tdx"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_takes_more_than_the_class_is_refused_beside_an_entry(kind: str) -> None:
    way = "".join(f"/{part}" for part in (*KINDS[kind][1], "spec"))
    entry = WorkloadEntry(kind, "web")
    made = an_object(kind, spec=pod_spec(runtimeClassName=HANDLER))
    for more in (["-", f"{way}/containers"], ["+", f"{way}/containers/@web/command", ["sh"]], ["-", way]):
        value = with_record(made, more, ["-", f"{way}/runtimeClassName"])
        assert "CC0115" in codes(run(coordinator(), value, to=config(workloads=(entry,))))


def test_a_placeholder_of_the_input_does_not_go_by_a_record() -> None:
    for name in ("contrast-cc", "contrast-cc-metal-qemu-snp"):
        value = with_record(an_object(spec=pod_spec(runtimeClassName=name)), ["-", CLASS], ["+", f"{POD}/x", 1])
        assert "CC0115" in codes(run(coordinator(), value, to=TO))


def test_uninject_takes_the_class_back_and_says_what_makes_the_pods_confidential() -> None:
    ran = called("uninject", stdin=dump(OUTPUT).encode())
    assert ran.code == 0
    assert yaml.safe_load(ran.out.decode()) == BARE
    assert "CC0256" in ran.err
    assert "Deployment/web" in ran.err
