"""Which workload is the coordinator, and where the initializers find it: docs/facts/contrast.md#selection."""

from typing import Any

import pytest

from krm_function.config.collect import Config
from krm_function.config.generate import Coordinator, ManifestOptions
from krm_function.kubernetes.kinds import KINDS
from krm_function.render.roles import ChosenCoordinator, choose_coordinator
from krm_function.render.select import select
from tests.world import an_object, config, coordinator

KEY = "contrast.edgeless.systems/pod-role"
LABEL = {KEY: "coordinator"}


def chosen(*documents: Any, to: Config | None = None, **more: Any) -> ChosenCoordinator:
    workloads = [one for document in documents for one in select(document).workloads]
    return choose_coordinator(workloads, (), to or config(), **more)


def namespaces(*documents: Any) -> str:
    found = chosen(*documents)
    assert found.findings == ()
    return found.namespace


def test_without_a_coordinator_the_namespace_is_default() -> None:
    assert namespaces() == "default"
    assert namespaces(an_object(namespace="shop")) == "default"
    assert chosen(to=config(namespace="shop")).namespace == "shop"


def test_a_coordinator_without_a_namespace_is_in_default() -> None:
    assert namespaces(coordinator(namespace="")) == "default"


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a"), ("a", "")])
def test_of_two_coordinators_none_is_chosen_by_its_place(names: tuple[str, str]) -> None:
    found = chosen(*(coordinator(namespace=name) for name in names))
    assert [one.code for one in found.findings] == ["CC0720", "CC0720"]
    assert all(one.path[-2:] == ("labels", KEY) for one in found.findings)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"StatefulSet"}))
def test_another_kind_is_a_coordinator_only_if_it_is_named(kind: str) -> None:
    value = an_object(kind, labels=LABEL)
    assert [one.code for one in chosen(value).findings] == ["CC0720"]
    named = config(manifest=ManifestOptions(coordinator=Coordinator("shop", kind, "web")))
    found = chosen(value, to=named)
    assert (found.ref and found.ref.kind, found.namespace, found.findings) == (kind, "shop", ())
    assert namespaces(an_object("StatefulSet", labels=LABEL)) == "shop"


@pytest.mark.parametrize("role", ["Coordinator", "", "web"])
def test_another_role_is_no_coordinator(role: str) -> None:
    assert namespaces(an_object("StatefulSet", labels={KEY: role})) == "default"


def test_the_role_is_a_label_of_the_pod_template_and_nothing_else() -> None:
    as_annotation = an_object("StatefulSet", annotations=LABEL)
    on_the_object = an_object("StatefulSet")
    on_the_object["metadata"]["labels"] = LABEL
    assert namespaces(as_annotation, on_the_object) == "default"


def test_what_is_left_out_by_an_error_is_not_called_absent() -> None:
    named = config(manifest=ManifestOptions(coordinator=Coordinator("shop", "StatefulSet", "coordinator")))
    assert [one.code for one in chosen(an_object(), to=named).findings] == ["CC0720"]
    assert chosen(an_object(), to=named, complete=False).findings == ()
