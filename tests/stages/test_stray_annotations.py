"""Annotations of Contrast's domain on objects without a pod: a finding, unless every object has them."""

from typing import Any

import pytest

from tests.world import EGRESS, INGRESS, SKIP, a_list, again, an_object, codes, config, coordinator, good, run

EXPOSE = "contrast.edgeless.systems/expose-service"


def other(kind: str = "Service", **annotations: Any) -> Any:
    metadata = {"name": "front", "namespace": "shop", "annotations": {"team": "shop", **annotations}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def said(*values: Any) -> list[tuple[str, str, str]]:
    made = run(coordinator(), an_object(), *values)
    return [(one.code, str(one.path[-1]), one.message) for one in made.findings if one.severity == "error"]


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", "Namespace", "Rollout", "Ingress"])
def test_an_annotation_of_the_pod_on_an_object_without_one_is_an_error(kind: str) -> None:
    message = f"annotation {INGRESS} has no effect on a {kind}, which has no pod"
    assert said(other(kind, **{INGRESS: ""})) == [("CC0202", INGRESS, message)]


def test_its_hint_works() -> None:
    made = run(coordinator(), an_object(), other(**{INGRESS: ""}))
    (hint,) = [one.hint for one in made.findings if one.code == "CC0202"]
    assert hint == "move it to the annotations of the pod template"
    good(coordinator(), an_object(annotations={INGRESS: ""}), other())


def test_a_member_of_a_list_is_found_at_its_place() -> None:
    made = run(coordinator(), an_object(), a_list(other("ConfigMap"), other(**{SKIP: "true"})))
    (found,) = [one for one in made.findings if one.severity == "error"]
    assert found.path == ("items", 1, "metadata", "annotations", SKIP)


def test_a_misspelt_key_is_named_with_the_right_one() -> None:
    found = said(other(**{"contrast.edgeless.systems/service-mesh-ingress": ""}))
    assert [code for code, _, _ in found] == ["CC0203"]


def test_what_contrast_reads_there_is_right() -> None:
    assert said(other(**{EXPOSE: "true"})) == []
    assert [code for code, _, _ in said(other("ConfigMap", **{EXPOSE: "true"}))] == ["CC0202"]


def test_an_annotation_that_the_pods_have_as_well_is_one_for_all_objects() -> None:
    subject = an_object(annotations={EGRESS: "db#127.0.0.1:4000#db:5432"})
    made = run(coordinator(), subject, other(**{EGRESS: "db#127.0.0.1:4000#db:5432"}))
    assert not made.failed
    assert run(coordinator(), subject, other(**{EGRESS: "db#127.0.0.1:4000#db:1"})).failed


def test_nothing_is_reported_where_there_is_no_contrast_workload() -> None:
    plain = an_object(spec={"containers": [{"name": "c", "image": "x"}]})
    assert codes(run(plain, other(**{INGRESS: ""}))) == ["CC0291"]


def test_rendered_output_is_no_stray() -> None:
    made = good(coordinator(), an_object(annotations={INGRESS: ""}), to=config(runtime_classes="emit"))
    assert not again(made, to=config(runtime_classes="emit")).failed


def test_a_document_that_cannot_be_read_is_left_to_its_reader() -> None:
    broken = f"kind: Service\nmetadata:\n  name: x\n  annotations: {{{INGRESS}: ''}}\n  annotations: {{}}\n"
    assert "CC0202" not in [code for code, _, _ in said(broken)]
