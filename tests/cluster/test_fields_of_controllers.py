"""docs/facts/controllers.md lists each field of a CRD that may end on a pod beside its templates."""

import re
from collections.abc import Iterator

import pytest

from krm_function.kubernetes.kinds import Pattern
from krm_function.kubernetes.pod_kinds import shipped
from tests import quick_yaml as yaml
from tests.cluster.custom_controllers import (
    JOB_SET,
    KRUISE,
    KUBERAY,
    LWS,
    ROLLOUTS,
    SANDBOX,
    TRAINING,
    Controller,
    Json,
    source_of,
)
from tests.custom_resources.fields import ROWS
from tests.custom_resources.kinds import SEALED

ENDS_ON_PODS = re.compile(
    r"((?<!match)labels|annotations|metadata|patch|patches|template|templates|podspec|volumes|volumemounts"
    r"|labelshandler|params|options|policies|workloadref)$|^env",
    re.IGNORECASE,
)
CONTROLLERS = {
    "Sandbox": SANDBOX,
    "CloneSet": KRUISE,
    "StatefulSet": KRUISE,
    "DaemonSet": KRUISE,
    "Rollout": ROLLOUTS,
    "JobSet": JOB_SET,
    "PyTorchJob": TRAINING,
    "LeaderWorkerSet": LWS,
    "RayCluster": KUBERAY,
}


def definition(controller: Controller, group: str, kind: str) -> Json:
    for path in (source_of(controller) / crd for crd in controller.crds):
        for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
            for value in yaml.safe_load_all(file.read_text()):
                names = value.get("spec", {}).get("names") if value["kind"] == "CustomResourceDefinition" else None
                if names and (value["spec"]["group"], names["kind"]) == (group, kind):
                    found: Json = value
                    return found
    raise AssertionError(kind)


def fields(schema: Json, templates: set[Pattern], path: Pattern = ()) -> Iterator[str]:
    """The outermost fields with such a name that are not within, or around, a pod template."""
    below = [(name, part) for name, part in (schema.get("properties") or {}).items()]
    below += [("*", schema[key]) for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    for step, part in below:
        place = (*path, step)
        if place in templates or place in (("metadata",), ("status",)):
            continue
        if ENDS_ON_PODS.search(step) and not any(template[: len(place)] == place for template in templates):
            yield ".".join(place)
        else:
            yield from fields(part, templates, place)


def test_every_sealed_kind_is_looked_at() -> None:
    assert set(CONTROLLERS) == {planted.value["kind"] for planted in SEALED} == {row.kind for row in ROWS}


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_each_field_that_may_end_on_a_pod_is_in_the_table(kind: str) -> None:
    (group,) = {p.value["apiVersion"].partition("/")[0] for p in SEALED if p.value["kind"] == kind}
    entry = shipped(group, kind)
    assert entry is not None
    versions = definition(CONTROLLERS[kind], group, kind)["spec"]["versions"]
    templates = {tuple(template.path) for template in entry.templates}
    found = {
        field
        for version in versions
        if version["name"] in entry.versions
        for field in fields(version["schema"]["openAPIV3Schema"], templates)
    }
    assert found == {row.field for row in ROWS if row.kind == kind}
